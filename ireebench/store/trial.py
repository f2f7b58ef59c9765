"""A trial: a candidate or baseline with its outcome, as stored and as other programs read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ireebench.compiler.artifact import KernelEvidence
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import RunResult, Samples
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.variants import Ship


@dataclass(frozen=True, slots=True)
class Environment:
    """Where trials were made: rows that differ here are never joined silently. Unknown is None."""

    device: str
    device_uri: str
    driver: str | None
    runtime_version: str | None
    compiler_version: str | None
    ireebench_version: str
    host: str  # "x86_64, 2 cores, Linux 6.1": what the machine is, never its name
    python: str
    protocol: str  # JSON of the Protocol
    details: tuple[tuple[str, str], ...] = ()  # clocks, power, caps, tool versions


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate (variant, form, config) or baseline on one target, and how it ended.

    Exactly one of `variant` and `baseline` is set. `runs` hold the samples, one per process and cache policy.
    """

    key: str  # unique: problem, target, variant/baseline, form, config, timer, device, protocol
    problem: Problem
    target: str
    variant: str | None
    baseline: str | None
    form: str | None
    ship: Ship
    config: Config
    status: Status
    stage: Stage
    reason: str | None = None
    known: str | None = None
    applied: bool | None = None
    check: CheckResult | None = None
    kernels: tuple[KernelEvidence, ...] = ()
    compile_key: str | None = None
    measure_key: str | None = None
    compile_s: float | None = None
    command: str | None = None
    mlir: str | None = None
    spec: str | None = None
    timer: str | None = None
    runs: tuple[RunResult, ...] = ()

    @property
    def label(self) -> str:
        """Short and unique within a problem and target: "vd/rows SG=4,PR=2048" or "baseline numpy"."""
        return f"baseline {self.baseline}" if self.baseline else f"{self.variant}/{self.form} {self.config}"

    def kernel_ns(self, cache: CachePolicy) -> Samples:
        """All samples (sum of kernels) of all processes under one cache policy; empty when there are none."""
        parts = [r.kernel_ns for r in self.runs if r.cache == cache]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def span_ns(self, cache: CachePolicy) -> Samples:
        """As `kernel_ns`, from the first start to the last end."""
        parts = [r.span_ns for r in self.runs if r.cache == cache]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

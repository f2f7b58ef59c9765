"""A trial: a candidate or baseline with its outcome, as stored and as other programs read it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.compiler.artifact import KernelEvidence
from ireebench.isa.emulate.report import Counts
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.variants import Ship

# How the reason of a compiled trial begins whose code the emulator could not execute.
NOT_EMULATED = "not emulated: "


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
class KernelSummary:
    """One kernel of an invocation: its median and what the profiler says of it (None where it does not)."""

    name: str
    median_ns: float
    registers: int | None = None
    local_bytes: int | None = None
    shared_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One process's samples under one cache policy, in five numbers. Times are ns of one invocation.

    `median_ns`, `q1_ns`, `q3_ns` are of the sum of kernels; `span_ns` is the median from the first start to the last
    end. The samples themselves are kept apart: `Store.samples`.
    """

    process: int
    cache: CachePolicy
    timer: str
    samples: int
    median_ns: float
    q1_ns: float
    q3_ns: float
    span_ns: float
    kernels: Sequence[KernelSummary] = ()
    foreign: tuple[tuple[str, int], ...] = ()


def summarise(run: RunResult) -> RunSummary:
    """The five numbers of a run's samples."""
    q1, median, q3 = np.percentile(run.kernel_ns, [25, 50, 75])
    return RunSummary(
        process=run.process,
        cache=run.cache,
        timer=run.timer,
        samples=len(run.kernel_ns),
        median_ns=float(median),
        q1_ns=float(q1),
        q3_ns=float(q3),
        span_ns=float(np.median(run.span_ns)),
        kernels=tuple(
            KernelSummary(k.name, float(np.median(k.ns)), k.registers, k.local_bytes, k.shared_bytes)
            for k in run.kernels
        ),
        foreign=run.foreign,
    )


@dataclass(frozen=True, slots=True)
class Timing:
    """A trial's figure under one cache policy: the median over processes of each process's own figure, ns.

    `final`: from the final processes; else from the search, which is not quoted where there are finals.
    """

    cache: CachePolicy
    timer: str
    processes: int
    samples: int
    median_ns: float
    q1_ns: float
    q3_ns: float
    span_ns: float
    final: bool

    @property
    def gap_ns(self) -> float:
        """Time between an invocation's kernels: span minus their sum, never negative."""
        return max(0.0, self.span_ns - self.median_ns)


def _timing_of(run: RunSummary) -> Timing:
    """The figure of a single run."""
    figures = (run.median_ns, run.q1_ns, run.q3_ns, run.span_ns)
    return Timing(run.cache, run.timer, 1, run.samples, *figures, run.process > 0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate (variant, form, config) or baseline on one target, and how it ended.

    Exactly one of `variant` and `baseline` is set. `runs` hold the samples, one per process and cache policy. `counts`
    are what the emulator executed, one a dispatch: never times. `figure_ns` is what a publication or a vendor's program
    says a call takes: no sample of ours, so it is in no ranking.
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
    kernels: Sequence[KernelEvidence] = ()
    compile_key: str | None = None
    measure_key: str | None = None
    compile_s: float | None = None
    command: str | None = None
    mlir: str | None = None
    spec: str | None = None
    timer: str | None = None
    runs: tuple[RunSummary, ...] = ()
    counts: Sequence[Counts] = ()
    figure_ns: float | None = None
    environment: int | None = None  # row of the store's environment table

    @property
    def label(self) -> str:
        """Short and unique within a problem and target: "vd/rows SG=4,PR=2048" or "baseline numpy"."""
        return f"baseline {self.baseline}" if self.baseline else f"{self.variant}/{self.form} {self.config}"

    def timing(self, cache: CachePolicy = "hot") -> Timing | None:
        """The figure under one cache policy; None when it was not timed so.

        Process 0 searches; later ones time the finalists again. Where those exist they alone count, so that the luck
        which made a finalist is not in its figure.
        """
        runs = self.runs
        if len(runs) == 1:  # most of a large store
            return None if runs[0].cache != cache else _timing_of(runs[0])
        runs = tuple(r for r in runs if r.cache == cache)
        runs = tuple(r for r in runs if r.process > 0) or runs
        if not runs:
            return None
        if len(runs) == 1:
            return _timing_of(runs[0])
        first = runs[0]
        return Timing(
            cache=cache,
            timer=first.timer,
            processes=len({r.process for r in runs}),
            samples=sum(r.samples for r in runs),
            median_ns=statistics.median(r.median_ns for r in runs),
            q1_ns=statistics.median(r.q1_ns for r in runs),
            q3_ns=statistics.median(r.q3_ns for r in runs),
            span_ns=statistics.median(r.span_ns for r in runs),
            final=first.process > 0,
        )

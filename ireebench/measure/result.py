"""What measuring gave. Samples are nanoseconds of one invocation; arrays are int64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.measure.job import CachePolicy
from ireebench.outcome import Failure
from ireebench.problems.check import CheckResult

Samples = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KernelSamples:
    """One kernel's samples within an invocation, with what the profiler says of it (None where it does not)."""

    name: str
    ns: Samples
    registers: int | None = None
    local_bytes: int | None = None
    shared_bytes: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """Samples of one entry in one process under one cache policy.

    `kernel_ns` is the sum of one invocation's kernels; `span_ns` from the first start to the last end (equal for one
    kernel; both are the invocation's wall time for timers that see no kernels). `kernels` is empty for those timers.
    `foreign` counts records that were dropped, by cause.
    """

    entry: str
    process: int
    cache: CachePolicy
    timer: str
    kernel_ns: Samples
    span_ns: Samples
    rounds: Samples  # the round that each sample was taken in
    kernels: tuple[KernelSamples, ...] = ()
    foreign: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The outcome of one entry of a job in one process. `failure` is None when it was checked and timed."""

    entry: str
    check: CheckResult | None
    runs: tuple[RunResult, ...]
    failure: Failure | None

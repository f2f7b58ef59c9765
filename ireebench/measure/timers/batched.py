"""Time per invocation from many invocations back to back, without a profiler: an upper bound on the kernel time.

Two batches of different length are launched, each waited for once; the difference of their wall times over the
difference of their lengths is one sample. What every batch pays once (the wait, the clock, the first launch's
latency) cancels. What is left is the slower of two rates: the device's, which includes the gap between kernels on one
stream (about a microsecond), and the host's rate of launching. Where the host is slower (short kernels, and any
runnable that waits inside its launch) the figure is the host's: `host_bound` says so of the last call. For kernels
over some 20 us launched asynchronously, it agrees with a profiler to a few percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns

from ireebench.measure.job import CachePolicy
from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation

_BATCH_NS = 2_000_000  # the long batch is planned to take this long
_LONGEST = 256
_SHORTEST = 4
_ATTEMPTS = 5
_HOST_BOUND = 0.9  # share of a batch spent launching, from which the host sets the pace


class BatchedTimer:
    """Wall time per invocation, by the slope between two batch lengths; kernel and span time are both that.

    `cache` may be set to tell hot from cold where a single copy of several is asked for: a cold batch goes on to the
    following copies. Unset, copy 0 alone counts as hot.
    """

    name = "batched"

    def __init__(self) -> None:
        self.cache: CachePolicy | None = None
        self.host_bound = False

    def missing(self, device: str) -> str | None:
        """None on a GPU; the CPU has better timers."""
        if device.startswith(("cuda", "hip")):
            return None
        return f"timer batched is for GPUs, not {device}; host times invocations on the CPU"

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Nothing to set up."""
        yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """One Invocation per entry of `copies`, each the slope of two batches of its own that begin at that copy.

        Raises RuntimeError when a longer batch keeps taking no longer than a shorter one.
        """
        if not copies:
            return []
        cold = any(copies) if self.cache is None else self.cache == "cold"
        step = 1 if cold else 0
        long = self._plan(runnable, copies[0], step)
        return [Invocation(t, t) for t in (self._slope(runnable, copy, step, long) for copy in copies)]

    def _plan(self, runnable: Runnable, copy: int, step: int) -> int:
        """Length of the long batch: from one batch of four, after one that warms up."""
        self._batch(runnable, copy, step, 1)
        took_ns, _ = self._batch(runnable, copy, step, 4)
        return max(_SHORTEST, min(_LONGEST, _BATCH_NS * 4 // max(took_ns, 1)))

    def _slope(self, runnable: Runnable, copy: int, step: int, long: int) -> int:
        short = max(1, long // 4)
        for _ in range(_ATTEMPTS):
            short_ns, _ = self._batch(runnable, copy, step, short)
            long_ns, launching_ns = self._batch(runnable, copy + step * short, step, long)
            self.host_bound = launching_ns >= _HOST_BOUND * long_ns
            slope = (long_ns - short_ns) // (long - short)
            if slope > 0:
                return slope
        raise RuntimeError(f"batched: {long} invocations take no longer than {short}; the machine is too busy to time")

    @staticmethod
    def _batch(runnable: Runnable, copy: int, step: int, length: int) -> tuple[int, int]:
        """(wall time until all have ended, wall time of the launches alone) of `length` launches, ns."""
        order = [(copy + step * i) % runnable.copies for i in range(length)]
        start = perf_counter_ns()
        for c in order:
            runnable.launch(c)
        launched = perf_counter_ns()
        runnable.sync()
        return perf_counter_ns() - start, launched - start

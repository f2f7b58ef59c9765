"""The host clock around one invocation: launch, wait, read the clock. For the CPU only, and always labelled `host`.

It includes the call's overhead (VM or library call, allocation of results, thread hand-off). On a GPU that overhead is
many times the kernel's time, so this timer refuses GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns

from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation
from ireebench.measure.timers.cadence import paced


class HostTimer:
    """Wall time of whole invocations, in ns of the monotonic clock."""

    name = "host"

    def missing(self, device: str) -> str | None:
        """None on the CPU; on a GPU why the host's clock is no kernel timer."""
        if device.startswith("local"):
            return None
        return (
            f"timer host times whole invocations on the CPU, not kernels on {device}; use cupti, batched or rocprofv3"
        )

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Nothing to set up."""
        yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """One Invocation per entry of `copies`; kernel and span time are both the invocation's wall time."""
        times_ns = []
        for copy in copies:
            start = perf_counter_ns()
            runnable.launch(copy)
            runnable.sync()
            times_ns.append(perf_counter_ns() - start)
        return [Invocation(t, t) for t in times_ns]


class LaunchOnlyTimer:
    """Launches and times nothing: a profiler around the whole process records the kernels."""

    name = "launch_only"

    def missing(self, device: str) -> str | None:
        """Always usable."""
        return None

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Nothing to set up."""
        yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """Launches once per entry of `copies`, at the common cadence, and returns no samples."""
        for copy, _ in paced(copies, perf_counter_ns):
            runnable.launch(copy)
            runnable.sync()
        return []

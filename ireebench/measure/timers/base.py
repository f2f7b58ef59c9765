"""The interface of an in-process timer: every implementation is launched by the same loop, at the same cadence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ireebench.measure.runnable import Runnable


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One kernel, copy or fill within an invocation. Times are ns on the device's clock; None: the timer cannot see it.

    `kind` is "kernel", "copy" or "fill".
    """

    name: str
    kind: str
    start_ns: int
    end_ns: int
    registers: int | None = None
    local_bytes: int | None = None
    shared_bytes: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """One timed invocation. `kernel_ns` sums the records; `span_ns` is last end minus first start.

    For timers that see no kernels both are the invocation's own time and `records` is empty.
    """

    kernel_ns: int
    span_ns: int
    records: tuple[KernelRecord, ...] = ()


class Timer(Protocol):
    """Times invocations of anything runnable. In-process: `cupti`, `torch_profiler`, `batched`, `host`."""

    name: str

    def missing(self, device: str) -> str | None:
        """None when usable on `device`; else what is missing and how to get it, in one line."""

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Sets up and tears down the profiler around one process's measuring."""
        yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """Launches once per entry of `copies` (launch, sync, in order) and returns one Invocation each, in order.

        Raises RuntimeError when records cannot be attributed to invocations (some are missing or in excess).
        """

"""Kernel times from CUPTI's activity records, through cupti-python: every kernel, copy and fill on its own.

Times are the device's own, so neither launch overhead nor Python is in them. Records are read once a `sample` call,
after the last invocation. Needs cupti-python of the driver's CUDA generation (13.0 for CUDA 13).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

from ireebench.measure import cuda_driver
from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation, KernelRecord
from ireebench.measure.timers.cadence import paced
from ireebench.measure.timers.cupti_records import (
    AttributionError,
    Signature,
    attribute,
    readable_name,
    signature_of,
)
from ireebench.measure.timers.profiler_lock import exclusive

# A kernel's record has about 220 bytes: one buffer holds some 4700 of them.
_BUFFER_BYTES = 1 << 20
# Records become complete a little after the device is idle: how often, and how far apart, to ask again.
_FLUSHES = 25
_FLUSH_PAUSE_S = 0.002
_INSTALL = "pip install 'cupti-python==13.0.*' (the release of the driver's CUDA: nvidia-smi shows it)"


def _ordinal(device: str) -> int:
    path = device.partition("://")[2]
    return int(path) if path.isdecimal() else 0


class CuptiTimer:
    """Times every kernel, copy and fill of an invocation. One session a process; never beside torch.profiler."""

    name = "cupti"

    def __init__(self) -> None:
        self._cupti: Any = None
        self._kinds: tuple[Any, ...] = ()
        self._ordinal = 0
        self._records: list[KernelRecord] = []
        self._callback_error: Exception | None = None
        # What each runnable's invocations run: a later call that sees something else has lost or gained records.
        self._signatures: WeakKeyDictionary[Runnable, Signature] = WeakKeyDictionary()

    def missing(self, device: str) -> str | None:
        """None when CUPTI answers in this process; else what is missing and how to get it, in one line."""
        if not device.startswith("cuda"):
            return f"timer cupti times NVIDIA cards, not {device}"
        try:
            from cupti import cupti

            cupti.get_timestamp()
        except ImportError as e:
            return f"cupti-python is not usable ({e}): {_INSTALL}"
        except Exception as e:  # cupti-python raises classes of its own for a missing or foreign library
            return f"CUPTI does not answer ({e}): it has to match the driver; {_INSTALL}"
        return None

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Registers with CUPTI for this process. Raises RuntimeError when another profiler is active."""
        from cupti import cupti

        with exclusive(self.name):
            self._cupti = cupti
            self._kinds = (cupti.ActivityKind.CONCURRENT_KERNEL, cupti.ActivityKind.MEMCPY, cupti.ActivityKind.MEMSET)
            self._ordinal = _ordinal(device)
            try:
                cupti.activity_register_callbacks(self._buffer_requested, self._buffer_completed)
            except cupti.cuptiError as e:
                raise RuntimeError(self._refused(e)) from e
            with self._recording():  # a refusal shows here, before anything is measured
                pass
            try:
                yield
            finally:
                # The last records, so that no buffer is out when the interpreter ends; an error would hide the cause.
                with suppress(cupti.cuptiError):
                    cupti.activity_flush_all(1)
                self._records.clear()
                self._cupti = None

    @staticmethod
    def _refused(error: Exception) -> str:
        return f"CUPTI refuses to record ({error}); another profiler (ncu, nsys, compute-sanitizer) may be attached"

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Enables kernel, copy and fill records, and disables them again.

        Only around launches and waits, which give up Python's lock: CUPTI asks for buffers in the thread that launches,
        which with IREE is not Python's, and an upload that waits for it while holding the lock would never end.
        """
        enabled = []
        try:
            for kind in self._kinds:
                try:
                    self._cupti.activity_enable(kind)
                except self._cupti.cuptiError as e:
                    raise RuntimeError(self._refused(e)) from e
                enabled.append(kind)
            yield
        finally:
            for kind in enabled:
                self._cupti.activity_disable(kind)

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """Launches once per entry of `copies` (launch, sync, at the common cadence); one Invocation each, in order.

        Raises RuntimeError when records cannot be attributed, or differ from what this runnable ran before.
        """
        if self._cupti is None:
            raise RuntimeError("timer cupti: sample() outside of a session")
        if not copies:
            return []
        begins_ns = []
        self._drain()
        with self._recording():
            for copy, begin_ns in paced(copies, self._cupti.get_timestamp):
                begins_ns.append(begin_ns)
                runnable.launch(copy)
                runnable.sync()
            invocations = self._collect(begins_ns)
        found = signature_of(invocations[0])
        expected = self._expected(runnable, found)
        if found != expected:
            raise RuntimeError(f"an invocation ran {_names(found)}; earlier ones of the same entry {_names(expected)}")
        return invocations

    def _expected(self, runnable: Runnable, found: Signature) -> Signature:
        try:
            return self._signatures.setdefault(runnable, found)
        except TypeError:  # a class that takes no weak reference: calls are not compared
            return found

    def _collect(self, begins_ns: Sequence[int]) -> list[Invocation]:
        """Flushes until the records add up; raises AttributionError with the last reason when they never do."""
        cuda_driver.synchronize(self._ordinal)
        for attempt in range(_FLUSHES):
            last = attempt == _FLUSHES - 1
            self._flush(forced=last)
            try:
                invocations = attribute(self._records, begins_ns)
            except AttributionError:
                if last:
                    self._records.clear()
                    raise
                time.sleep(_FLUSH_PAUSE_S)
            else:
                self._records.clear()
                return invocations
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _drain(self) -> None:
        """Reads and forgets what an earlier call, one that failed, may have left."""
        self._flush(forced=False)
        self._records.clear()

    def _flush(self, forced: bool) -> None:
        try:
            self._cupti.activity_flush_all(1 if forced else 0)
        except self._cupti.cuptiError as e:
            raise RuntimeError(f"CUPTI cannot deliver its records: {e}") from e
        if self._callback_error is not None:
            error, self._callback_error = self._callback_error, None
            raise RuntimeError(f"a CUPTI record could not be read: {error}") from error

    def _buffer_requested(self) -> tuple[int, int]:
        return _BUFFER_BYTES, 0  # 0: as many records as fit

    def _buffer_completed(self, activities: list[Any]) -> None:
        """Copies what is needed out of CUPTI's buffer; called from CUPTI, which cannot take an exception."""
        try:
            self._records.extend(r for r in map(self._convert, activities) if r is not None)
        except Exception as e:
            self._callback_error = e

    def _convert(self, activity: Any) -> KernelRecord | None:
        kinds = self._cupti.ActivityKind
        match activity.kind:
            case kinds.CONCURRENT_KERNEL | kinds.KERNEL:
                return KernelRecord(
                    readable_name(activity.name),
                    "kernel",
                    activity.start,
                    activity.end,
                    activity.registers_per_thread,
                    activity.local_memory_per_thread,
                    activity.static_shared_memory + activity.dynamic_shared_memory,
                    (activity.grid_x, activity.grid_y, activity.grid_z),
                    (activity.block_x, activity.block_y, activity.block_z),
                )
            case kinds.MEMCPY:
                direction = self._cupti.ActivityMemcpyKind(activity.copy_kind).name
                return KernelRecord(f"copy {direction}", "copy", activity.start, activity.end)
            case kinds.MEMSET:
                return KernelRecord("fill", "fill", activity.start, activity.end)
        return None


def _names(found: Signature) -> str:
    return ", ".join(name for _, name in found) or "nothing"

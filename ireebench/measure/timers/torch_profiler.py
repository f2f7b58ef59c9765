"""Kernel times from the profiler that PyTorch brings (CUPTI or roctracer underneath): where only PyTorch is installed.

Sees every kernel of the process, IREE's too. Starting it costs tens of milliseconds a `sample` call, none of it in the
times. It reports no local memory.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation, KernelRecord
from ireebench.measure.timers.cadence import paced
from ireebench.measure.timers.cupti_records import in_equal_shares, readable_name, to_invocation
from ireebench.measure.timers.profiler_lock import exclusive

# Kineto's categories of device work -> KernelRecord.kind.
_CATEGORIES = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill"}


class TorchProfilerTimer:
    """Times every kernel, copy and fill of an invocation through torch.profiler."""

    name = "torch_profiler"

    def missing(self, device: str) -> str | None:
        """None when PyTorch sees a GPU; else what is missing and how to get it, in one line."""
        if not device.startswith(("cuda", "hip")):
            return f"timer torch_profiler times GPUs, not {device}"
        if importlib.util.find_spec("torch") is None:
            return "PyTorch is not installed: pip install torch (a build for this GPU)"
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            return "this PyTorch sees no GPU: install the build for this machine's CUDA or ROCm"
        return None

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Keeps other profilers of this process away; raises RuntimeError when one is active."""
        with exclusive(self.name):
            yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """Launches once per entry of `copies` (launch, sync, at the common cadence); one Invocation each, in order.

        Records are attributed in order, in equal shares. Raises RuntimeError when they do not add up.
        """
        if not copies:
            return []
        torch = importlib.import_module("torch")
        activity = torch.profiler.ProfilerActivity.CUDA  # ROCm's builds use the same name
        with torch.profiler.profile(activities=[activity]) as profile:
            for copy, _ in paced(copies, perf_counter_ns):
                runnable.launch(copy)
                runnable.sync()
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            profile.export_chrome_trace(str(trace))
            records = read_trace(trace.read_text())
        return [to_invocation(group) for group in in_equal_shares(records, len(copies))]


def read_trace(text: str) -> list[KernelRecord]:
    """Device records of a Kineto trace (Chrome's JSON, times in us), sorted by start."""
    # Decimal: microseconds since 1970 with three decimals do not fit a double.
    events: list[dict[str, Any]] = json.loads(text, parse_float=Decimal)["traceEvents"]
    records = [_record(e) for e in events if e.get("ph") == "X" and e.get("cat") in _CATEGORIES]
    return sorted(records, key=lambda r: r.start_ns)


def _record(event: dict[str, Any]) -> KernelRecord:
    args = event.get("args", {})
    start_ns = int(event["ts"] * 1000)
    return KernelRecord(
        readable_name(event["name"]),
        _CATEGORIES[event["cat"]],
        start_ns,
        start_ns + int(event["dur"] * 1000),
        registers=args.get("registers per thread"),
        shared_bytes=args.get("shared memory"),
        grid=_triple(args.get("grid")),
        block=_triple(args.get("block")),
    )


def _triple(value: list[int] | None) -> tuple[int, int, int] | None:
    return (value[0], value[1], value[2]) if value else None

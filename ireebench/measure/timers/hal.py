"""IREE's own profile of each dispatch, on the CPU (local-task).

The Python binding refuses to profile, so every call of `sample` runs `iree-benchmark-module` of the runtime wheel once,
on the same module and inputs, and reads the profile that it writes. A dispatch's time runs from its first to its last
tile, over all worker threads; the invocation's overhead (VM, allocation, submission) is left out. The extra process
warms up on its own: its first invocations are dropped.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ireebench.measure.artifact_runner import ArtifactRunner, Tensor
from ireebench.measure.device import kind_of
from ireebench.measure.runnable import Array, Runnable
from ireebench.measure.timers.base import Invocation, KernelRecord

# Work on the device, in the profile's words; the rest (alloca, dealloca, execute, ...) is book-keeping.
_KINDS = {"dispatch": "kernel", "copy": "copy", "fill": "fill", "update": "copy"}

WARMUP_SHARE = 0.2
MIN_WARMUP = 5


def tool(name: str) -> Path | None:
    """The real binary of a tool in the runtime wheel (the one on PATH is a Python wrapper); None when absent."""
    import iree._runtime_libs as libs

    path = Path(str(libs.__file__)).parent / name
    return path if path.exists() else None


class HalTimer:
    """Times the dispatches of compiled artifacts; baselines have none."""

    name = "hal"

    def missing(self, device: str) -> str | None:
        """None on the CPU with the runtime's tools installed."""
        if kind_of(device) != "cpu":
            return f"timer hal: IREE's profile of {device} is not implemented; use cupti or rocprofv3"
        for name in ("iree-benchmark-module", "iree-profile"):
            if tool(name) is None:
                return f"timer hal needs {name}: pip install iree-base-runtime"
        return None

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Nothing to set up."""
        yield

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        """One Invocation per entry of `copies`, all on the first copy of the inputs. Raises RuntimeError as below."""
        if not isinstance(runnable, ArtifactRunner):
            raise RuntimeError("timer hal sees the dispatches of IREE modules only; use --timer host for baselines")
        inputs = list(zip(runnable.inputs.tensors, runnable.input_bytes(), strict=True))
        return hal_profile(runnable.vmfb, runnable.function, inputs, len(copies))


def hal_profile(
    vmfb: Path, function: str, inputs: Sequence[tuple[Tensor, Array]], invocations: int, device: str = "local-task"
) -> list[Invocation]:
    """Profiles `invocations` invocations after a warm-up; `inputs` are tensors with their bytes.

    Raises RuntimeError when a tool fails, or when the profile does not split into equal invocations.
    """
    warmup = max(MIN_WARMUP, round(WARMUP_SHARE * invocations))
    total = warmup + invocations
    with tempfile.TemporaryDirectory(prefix="ireebench-hal-") as name:
        folder = Path(name)
        flags = []
        for number, (tensor, array) in enumerate(inputs):
            file = folder / f"input{number}.bin"
            array.tofile(file)
            dims = "".join(f"{d}x" for d in tensor.shape)
            flags.append(f"--input={dims}{tensor.dtype}=@{file}")
        profile = folder / "run.ireeprof"
        report = _run(
            "iree-benchmark-module",
            f"--device={device}",
            f"--module={vmfb}",
            f"--function={function}",
            *flags,
            f"--benchmark_min_time={total}x",
            "--benchmark_format=json",
            "--device_profiling_mode=host-execution",
            f"--device_profiling_output={profile}",
        )
        exported = _run("iree-profile", "export", "--format=ireeperf-jsonl", str(profile))
    result = split_invocations([json.loads(line) for line in exported.splitlines()], total)
    _compare_with_wall_time(json.loads(report), result)
    return result[warmup:]


def split_invocations(rows: Sequence[dict[str, Any]], total: int) -> list[Invocation]:
    """The profile's rows (ireeperf-jsonl) as `total` invocations of the same sequence of records.

    Records before the first invocation (a module's constants) are left out. Raises RuntimeError otherwise.
    """
    events = [r for r in rows if r.get("record_type") == "host_execution_event" and r["op"] in _KINDS]
    if any(not e["valid"] or e["status_code"] for e in events):
        raise RuntimeError("IREE's profile holds invalid or failed events")
    records = sorted(
        (
            KernelRecord(e["key"] or e["op"], _KINDS[e["op"]], e["start_host_time_ns"], e["end_host_time_ns"])
            for e in events
        ),
        key=lambda r: r.start_ns,
    )
    length = len(records) // total
    if length == 0:
        raise RuntimeError(f"IREE's profile holds {len(records)} dispatches for {total} invocations")
    records = records[len(records) - length * total :]
    chunks = [tuple(records[i : i + length]) for i in range(0, len(records), length)]
    names = [[r.name for r in chunk] for chunk in chunks]
    if any(n != names[0] for n in names):
        raise RuntimeError("IREE's profile does not split into invocations: their dispatches differ")
    return [
        Invocation(sum(r.end_ns - r.start_ns for r in c), max(r.end_ns for r in c) - c[0].start_ns, c) for c in chunks
    ]


def _compare_with_wall_time(report: dict[str, Any], invocations: Sequence[Invocation]) -> None:
    """The tool's own wall time per invocation holds the dispatches: more would mean that they are misattributed."""
    (benchmark,) = report["benchmarks"]
    scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[benchmark["time_unit"]]
    if benchmark["iterations"] != len(invocations):
        raise RuntimeError(f"iree-benchmark-module ran {benchmark['iterations']} of {len(invocations)} invocations")
    wall_ns = benchmark["real_time"] * scale
    mean_ns = sum(i.span_ns for i in invocations) / len(invocations)
    if mean_ns > 1.01 * wall_ns:
        raise RuntimeError(f"IREE's profile adds up to {mean_ns:.0f} ns in invocations of {wall_ns:.0f} ns")


def _run(name: str, *arguments: str) -> str:
    """A tool's standard output. Raises RuntimeError with the last line of its standard error."""
    path = tool(name)
    if path is None:
        raise RuntimeError(f"{name} is missing: pip install iree-base-runtime")
    done = subprocess.run([str(path), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(f"{name} failed: {lines[-1]}")
    return done.stdout

"""Timer `rocprofv3`: wraps the worker's command line and reads kernel times from what the profiler wrote.

Whole-process: the worker launches and logs (see `measure.invocation_log`), this module times. Counters (`--pmc`) and
thread traces (`--att`) are runs of their own and give no times: they serialise dispatches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ireebench.measure.invocation_log import read_log
from ireebench.measure.result import RunResult
from ireebench.measure.rocm import find_tool, rocm_version, version_warning
from ireebench.measure.rocprof.attribute import Attributed, attribute
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.locate import CAUSES, Kind, identify
from ireebench.measure.rocprof.reading import read, read_files
from ireebench.outcome import Failure, Stage, Status

NAME = "rocprofv3"
TOOL = "rocprofv3"
REMEDY = (
    "install it with ROCm 6.4.2 or newer (package rocprofiler-sdk) and put /opt/rocm/bin on PATH; until then use "
    "--timer rocprof (the first profiler) or --timer batched"
)


@dataclass(frozen=True, slots=True)
class Collected:
    """What one profiled worker gave. `foreign` counts dispatches that are in no sample; `notes` are for the user."""

    runs: dict[str, tuple[RunResult, ...]]
    failures: dict[str, Failure]
    foreign: tuple[tuple[str, int], ...]
    rocm_version: str | None
    notes: tuple[str, ...]


def missing(device: str) -> str | None:
    """None when it can time on `device`; else what is missing and how to get it, in one line."""
    if not device.startswith("hip"):
        return f"rocprofv3 sees AMD GPUs only, not '{device}'; use --timer {'cupti' if 'cuda' in device else 'host'}"
    return None if find_tool(TOOL) else f"rocprofv3 is not here; {REMEDY}"


def wrap_command(worker: Sequence[str], out_dir: Path, tool: str = TOOL) -> list[str]:
    """The worker's command line under the profiler, which writes into `out_dir` (one folder a run).

    The format is named because the default became a database with ROCm 7.0. The name has the process id in it, so that
    children of the worker get files of their own and cannot overwrite the worker's.
    """
    return [
        tool,
        "--kernel-trace",
        "--memory-copy-trace",
        "--output-format",
        "csv",
        "-d",
        str(out_dir),
        "-o",
        "ireebench_%pid%",
        "--",
        *worker,
    ]


def counters_command(
    worker: Sequence[str], out_dir: Path, counters: Sequence[str], kernels: Sequence[str] = (), tool: str = TOOL
) -> list[str]:
    """The worker under a counter run: for counters only, never for times. `kernels` narrows it to these names."""
    return [tool, "--pmc", *counters, *_only(kernels), "--output-format", "csv", "-d", str(out_dir), "--", *worker]


def thread_trace_command(
    worker: Sequence[str], out_dir: Path, kernels: Sequence[str] = (), tool: str = TOOL
) -> list[str]:
    """The worker under an instruction-level thread trace: for looking at, never for times."""
    return [tool, "--att", *_only(kernels), "-d", str(out_dir), "--", *worker]


def _only(kernels: Sequence[str]) -> list[str]:
    """The profiler takes a regular expression, in which the `$` of IREE's names would end the line."""
    return ["--kernel-include-regex", "|".join(map(re.escape, kernels))] if kernels else []


def collect(out_dir: Path, log: Path, process: int = 0, tool: Path | None = None, timer: str = NAME) -> Collected:
    """Kernel times of every entry that the worker's log names.

    An entry is in `runs` or in `failures`, never in both. Raises TraceError when the profiler wrote nothing usable (no
    file, no kernels, 0 dispatches, unknown columns), ValueError when the log is none.
    """
    launched = read_log(log)
    try:
        trace = read([str(out_dir)])
    except TraceError:
        if not launched.segments:
            raise TraceError(f"{log}: the worker launched nothing; {CAUSES}") from None
        raise
    if trace.dispatches is None:
        raise TraceError(
            f"{out_dir}: no kernels recorded: there are {', '.join({f.kind.value for f in trace.files})} only; {CAUSES}"
        )
    found = _without_empty(attribute(trace.dispatches, launched, timer, process))
    version = rocm_version(tool or find_tool(TOOL))
    notes = [*trace.notes, *([w] if (w := version_warning(version)) else [])]
    foreign = dict(found.foreign)
    if trace.malformed:
        foreign["malformed line"] = trace.malformed
    if copies := _copies(out_dir):
        foreign["memory copy"] = copies
    return Collected(found.runs, found.failures, tuple(sorted(foreign.items())), version, tuple(notes))


def _without_empty(found: Attributed) -> Attributed:
    """An entry none of whose samples is a time has failed."""
    failures = dict(found.failures)
    runs = dict(found.runs)
    for entry, kept in found.runs.items():
        if not any(len(r.kernel_ns) for r in kept):
            causes = "; ".join(f"{n} x {cause}" for cause, n in kept[0].foreign)
            reason = f"no sample of it is a time ({causes}); update ROCm, or use --timer batched"
            failures[entry] = Failure(Status.RUN_FAILED, reason, Stage.CHECKED)
            del runs[entry]
    return Attributed(runs, failures, found.foreign)


def _copies(out_dir: Path) -> int:
    """Memory copies in the folder's traces of them; they are in no kernel time, only counted."""
    files = [t for p in sorted(out_dir.rglob("*.csv")) if (t := identify(p)).kind is Kind.COPIES]
    total = 0
    for file in files:
        try:
            trace = read_files([file])
        except TraceError:  # a header and nothing below it: no copies
            continue
        total += len(trace.dispatches) if trace.dispatches is not None else 0
    return total

"""Timer `rocprofv3`: wraps the worker's command line and reads kernel times from what the profiler wrote.

Whole-process: the worker launches and logs (see `measure.invocation_log`), this module times. Counters (`--pmc`) and
thread traces (`--att`) are runs of their own and give no times: they serialise dispatches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ireebench.measure.invocation_log import InvocationLog
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import RunResult
from ireebench.measure.rocm import find_tool, rocm_version, version_warning
from ireebench.measure.rocprof.attribute import Attributed, attribute
from ireebench.measure.rocprof.dispatches import Dispatches
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.kernel_trace_csv import read_memory_copies
from ireebench.measure.rocprof.locate import CAUSES, Kind, identify
from ireebench.measure.rocprof.reading import read
from ireebench.outcome import Failure, Stage, Status

NAME = "rocprofv3"
TOOL = "rocprofv3"
REMEDY = (
    "install it with ROCm 6.4.2 or newer (package rocprofiler-sdk) and put /opt/rocm/bin on PATH; until then use "
    "--timer rocprof (the first profiler) or --timer batched"
)


@dataclass(frozen=True, slots=True)
class Collected:
    """What the profiled workers of a job gave; `foreign` counts dispatches in no sample, `notes` are for a person.

    An entry is in `runs` or in `failures`, never in both; in neither where it was not timed.
    """

    runs: dict[str, tuple[RunResult, ...]]
    failures: dict[str, Failure]
    foreign: tuple[tuple[str, int], ...]
    rocm_version: str | None
    notes: tuple[str, ...]


class Rocprofv3Timer:
    """The timer's row in the table: whether it can be used, and how."""

    name = NAME

    def missing(self, device: str) -> str | None:
        """None when rocprofv3 is here; else what is missing and how to get it, in one line."""
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


def collect(
    out_dir: Path, logs: Sequence[InvocationLog], process: int = 0, tool: Path | None = None, timer: str = NAME
) -> Collected:
    """Kernel times of every entry that the logs of a job's workers name.

    Raises TraceError when the profiler wrote nothing usable: no file, no kernels, 0 dispatches, unknown columns.
    """
    trace = read([str(out_dir)])
    if trace.dispatches is None or all(f.kind is Kind.COPIES for f in trace.files):
        kinds = ", ".join(sorted({f.kind.value for f in trace.files}))
        raise TraceError(f"{out_dir}: no kernels recorded: there are {kinds} only; {CAUSES}")
    found = [_of_worker(trace.dispatches, log, timer, process, len(logs) > 1) for log in logs]
    version = rocm_version(tool or find_tool(TOOL))
    notes = [*trace.notes, *([w] if (w := version_warning(version)) else [])]
    foreign = Counter[str]()
    for part in found:
        foreign.update(dict(part.foreign))
    foreign["malformed line"] = trace.malformed
    foreign["memory copy"] = _copies(out_dir)
    runs, failures = _merge(found)
    return Collected(runs, failures, tuple(sorted((c, n) for c, n in foreign.items() if n)), version, tuple(notes))


def _of_worker(d: Dispatches, log: InvocationLog, timer: str, process: int, one_of_many: bool) -> Attributed:
    """One worker's share. Of several workers each must have left a trace of its own."""
    if one_of_many and str(log.pid) not in d.processes:
        reason = f"worker {log.pid} died before rocprofv3 wrote its trace, and these samples with it; measure again"
        lost = {s.entry for s in log.segments if s.phase == "round"}
        return Attributed({}, {e: Failure(Status.RUN_FAILED, reason, Stage.CHECKED) for e in lost}, ())
    return attribute(d, log, timer, process)


def _merge(parts: Sequence[Attributed]) -> tuple[dict[str, tuple[RunResult, ...]], dict[str, Failure]]:
    """Runs of one entry and cache policy from several workers, end to end. One refused part refuses the entry."""
    failures: dict[str, Failure] = {}
    pieces: dict[str, dict[CachePolicy, list[RunResult]]] = {}
    for part in parts:
        failures.update(part.failures)
        for entry, kept in part.runs.items():
            for run in kept:
                pieces.setdefault(entry, {}).setdefault(run.cache, []).append(run)
    runs: dict[str, tuple[RunResult, ...]] = {}
    for entry, by_cache in pieces.items():
        if entry in failures:
            continue
        whole = tuple(_joined(p) for p in by_cache.values())
        if all(len(r.kernel_ns) for r in whole):
            runs[entry] = whole
        else:
            causes = "; ".join(f"{n} x {cause}" for cause, n in whole[0].foreign if cause.startswith("invocation"))
            reason = f"no sample of it is a time ({causes}); update ROCm, or use --timer batched"
            failures[entry] = Failure(Status.RUN_FAILED, reason, Stage.CHECKED)
    return runs, failures


def _joined(parts: Sequence[RunResult]) -> RunResult:
    if len(parts) == 1:
        return parts[0]
    foreign = Counter[str]()
    for p in parts:
        foreign.update(dict(p.foreign))
    full = [p for p in parts if p.kernels]
    kernels = tuple(
        replace(column[0], ns=np.concatenate([k.ns for k in column]))
        for column in zip(*(p.kernels for p in full), strict=True)
    )
    return replace(
        parts[0],
        kernel_ns=np.concatenate([p.kernel_ns for p in parts]),
        span_ns=np.concatenate([p.span_ns for p in parts]),
        rounds=np.concatenate([p.rounds for p in parts]),
        kernels=kernels,
        foreign=tuple(sorted(foreign.items())),
    )


def _copies(out_dir: Path) -> int:
    """Memory copies in the folder's traces of them; they are in no kernel time, only counted."""
    total = 0
    for file in (identify(p) for p in sorted(out_dir.rglob("*.csv"))):
        if file.kind is Kind.COPIES:
            copies, _ = read_memory_copies(file.path, file.columns)
            total += len(copies)
    return total

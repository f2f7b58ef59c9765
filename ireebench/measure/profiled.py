"""Runs a job under a whole-process profiler: as `client.run_job`, with the times from the profiler's files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ireebench.measure import client, journal
from ireebench.measure.invocation_log import InvocationLog, read_logs
from ireebench.measure.job import Job
from ireebench.measure.result import EntryResult
from ireebench.measure.rocm import find_tool
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.timers import rocprof_legacy, rocprofv3
from ireebench.measure.timers.rocprofv3 import Collected
from ireebench.outcome import Failure, Stage, Status

TRACE = "rocprof"  # the profiler's folder inside the job's
SUMMARY = "rocprof.json"  # what was dropped, and by which ROCm


@dataclass(frozen=True, slots=True)
class Profiler:
    """A whole-process timer: its program, how it wraps a command line, how its files are read."""

    tool: str
    wrap: Callable[[Sequence[str], Path, str], list[str]]
    collect: Callable[[Path, Sequence[InvocationLog], int, Path | None], Collected]


PROFILERS: dict[str, Profiler] = {
    rocprofv3.NAME: Profiler(rocprofv3.TOOL, rocprofv3.wrap_command, rocprofv3.collect),
    rocprof_legacy.NAME: Profiler(rocprof_legacy.TOOL, rocprof_legacy.wrap_command, rocprof_legacy.collect),
}


def run_job(
    job: Job, folder: Path, on_event: client.OnEvent | None = None, deadline: float | None = None
) -> Iterator[EntryResult]:
    """Runs any job; where its timer is a whole-process one, the outcomes come after the last worker has ended.

    At `deadline` (of `time.monotonic`) the worker is killed; what a whole-process timer has seen is lost with it.
    Raises OutputError as `client.run_job`.
    """
    profiler = PROFILERS.get(job.timer)
    if profiler is None:
        yield from client.run_job(job, folder, on_event=on_event, deadline=deadline)
        return
    tool = find_tool(profiler.tool)
    traces = folder / TRACE
    if not _same_job(job, folder):
        shutil.rmtree(traces, ignore_errors=True)  # another job's traces are not this one's
    traces.mkdir(parents=True, exist_ok=True)
    wrap = tuple(profiler.wrap((), traces.resolve(), str(tool or profiler.tool)))
    checked = list(client.run_job(job, folder, wrap=wrap, on_event=on_event, deadline=deadline))
    if len(checked) < sum(len(g.entries) for g in job.groups):
        return
    yield from _timed(job, folder, profiler, tool, checked)


def _same_job(job: Job, folder: Path) -> bool:
    path = folder / client.JOB
    return path.exists() and path.read_text() == job.to_json()


def _timed(
    job: Job, folder: Path, profiler: Profiler, tool: Path | None, checked: Sequence[EntryResult]
) -> Iterator[EntryResult]:
    """The checked entries with the profiler's samples in the place of the worker's, which has none."""
    if all(r.failure for r in checked):
        yield from checked
        return
    try:
        found = profiler.collect(folder / TRACE, read_logs(job, journal.read(folder)), job.process, tool)
    except TraceError as e:
        failure = Failure(Status.RUN_FAILED, str(e), Stage.CHECKED)
        for result in checked:
            yield result if result.failure else replace(result, runs=(), failure=failure)
        return
    told = {"rocm_version": found.rocm_version, "dropped": dict(found.foreign), "notes": list(found.notes)}
    (folder / SUMMARY).write_text(json.dumps(told, indent=1) + "\n")
    for result in checked:
        if result.failure:
            yield result
        elif result.entry in found.runs:
            yield replace(result, runs=found.runs[result.entry])
        else:
            lost = Failure(Status.RUN_FAILED, "the trace has none of its invocations; profile again", Stage.CHECKED)
            yield replace(result, runs=(), failure=found.failures.get(result.entry, lost))

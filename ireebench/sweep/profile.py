"""Counters and thread traces of a sweep's best candidates: runs of their own, which give no times.

A profiler that collects counters serialises dispatches (docs/amd.md), so nothing of these runs is stored as a sample.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.ir.build import build_program
from ireebench.measure import client
from ireebench.measure.job import Entry, Group, Job
from ireebench.measure.rocm import find_tool
from ireebench.measure.rocprof.counters_csv import Counter
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.reading import read
from ireebench.measure.timers import table as timers
from ireebench.measure.timers.rocprofv3 import NAME, TOOL, counters_command, thread_trace_command
from ireebench.outcome import Failure
from ireebench.sweep.request import Measuring, Profile

LAUNCHES = 10  # of each kind: a counter is the same in every launch, a trace of one is long
WORK, FILES = "work", "rocprof"
Wrap = Callable[[Path, Sequence[str], str], list[str]]  # (folder, kernels, tool) -> what goes before the worker


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the profiled runs are made: like the sweep's own. `folder` gets a folder a kind and problem."""

    compiler: Compiler
    measuring: Measuring
    cache_bytes: int | None
    folder: Path


@dataclass(frozen=True, slots=True)
class Profiled:
    """One candidate under a profiler. `kind` is "counters" or "att"; `reason` says why there is nothing to see."""

    kind: str
    candidate: Candidate
    folder: Path
    counters: tuple[Counter, ...] = ()
    reason: str | None = None


def unusable(device: str) -> str | None:
    """None where counters can be collected on a device; else why not, in one line."""
    reason = timers.missing(NAME, device)
    return None if reason is None else f"--pmc and --att are rocprofv3's: {reason}"


def profile(bench: Bench, chosen: Iterable[tuple[str, Candidate]], wanted: Profile) -> Iterator[Profiled]:
    """Runs each (trial key, candidate) once a kind that is wanted; what an earlier call left is replaced."""
    kinds: dict[str, Wrap] = {}
    if wanted.counters:
        kinds["counters"] = lambda folder, kernels, tool: counters_command((), folder, wanted.counters, kernels, tool)
    if wanted.thread_trace:
        kinds["att"] = lambda folder, kernels, tool: thread_trace_command((), folder, kernels, tool)
    for key, candidate in chosen:
        for kind, wrap in kinds.items():
            yield _run(bench, key, candidate, (kind, wrap))


def _run(bench: Bench, key: str, candidate: Candidate, how: tuple[str, Wrap]) -> Profiled:
    kind, wrap = how
    folder = bench.folder / kind / f"{candidate.problem.op}-{candidate.problem.id}-{key[:8]}"
    done = Profiled(kind, candidate, folder / FILES)
    artifact = bench.compiler.compile(build_program(candidate))  # from the cache: it was timed just now
    if isinstance(artifact, Failure):
        return replace(done, reason=artifact.reason)
    for part in (WORK, FILES):
        shutil.rmtree(folder / part, ignore_errors=True)
    (folder / FILES).mkdir(parents=True)
    kernels = [k.symbol for k in artifact.kernels]
    command = wrap((folder / FILES).resolve(), kernels, str(find_tool(TOOL) or TOOL))
    (result,) = client.run_job(_job(bench, key, candidate, artifact), folder / WORK, wrap=tuple(command))
    if result.failure is not None:
        return replace(done, reason=f"{result.failure.reason}; {folder / WORK / client.LOG} has its words")
    if kind != "counters":
        written = any(p.is_file() for p in (folder / FILES).rglob("*"))
        return done if written else replace(done, reason=f"nothing written; {folder / WORK / client.LOG} may say why")
    try:
        return replace(done, counters=read([str(folder / FILES)]).counters)
    except TraceError as e:
        return replace(done, reason=str(e))


def _job(bench: Bench, key: str, candidate: Candidate, artifact: Artifact) -> Job:
    few = replace(
        bench.measuring.protocol, warmup=0, invocations=LAUNCHES, min_samples=LAUNCHES, rounds=1, cache=("hot",)
    )
    entry = Entry(key, vmfb=str(artifact.vmfb.resolve()), function=artifact.function)
    return Job(bench.measuring.device, NAME, few, (Group(candidate.problem, (entry,)),), 0, bench.cache_bytes)

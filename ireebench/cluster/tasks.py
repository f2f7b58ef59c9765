"""What runs on a cluster's workers. Arguments and results are plain values, so that a task can run again elsewhere."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ireebench.compiler.cache import default_cache
from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.spawner import Exit, Limits
from ireebench.errors import UserError
from ireebench.measure.job import Entry, Job
from ireebench.measure.profiled import run_job
from ireebench.measure.result import EntryResult
from ireebench.measure.timers.table import missing, refuses, resolve
from ireebench.store.trial import Environment
from ireebench.sweep.environment import current_environment
from ireebench.sweep.request import Measuring


@dataclass(frozen=True, slots=True)
class Packed:
    """A finished compile as it travels: its files by relative name, compressed; how the compiler ended, its limits.

    `key` is the worker's own for the source: it differs from the client's where compiler or host do.
    """

    key: str
    files: Mapping[str, bytes]
    exit: Exit
    limits: Limits


@dataclass(frozen=True, slots=True)
class Measurer:
    """A worker that measures: where it is, the timer that it resolved, what is missing there (None: nothing)."""

    environment: Environment | None
    timer: str
    missing: str | None


@lru_cache(maxsize=2)
def _compiler(limits: Limits) -> Compiler:
    # One a worker process. A worker's threads compile side by side, each task one compiler.
    return Compiler(default_cache(), limits, jobs=2)


def compile_source(source: Source, limits: Limits) -> Packed:
    """Compiles one module under this worker's cache and limits. Raises HelperDiedError, MissingToolError."""
    compiler = _compiler(limits)
    compiled = compiler.compile_source(source)
    files = {
        str(path.relative_to(compiled.folder)): zlib.compress(path.read_bytes(), 1)
        for path in sorted(compiled.folder.rglob("*"))
        if path.is_file()
    }
    return Packed(compiled.key, files, compiled.exit, limits)


def examine(measuring: Measuring) -> Measurer:
    """What this worker measures with; its timer where the request leaves that open."""
    try:
        timer = resolve(measuring.timer, measuring.device)
        resolved = replace(measuring, timer=timer)
        lacking = missing(timer, measuring.device) or refuses(timer, measuring.protocol.cache)
        return Measurer(current_environment(resolved), timer, lacking)
    except (UserError, LookupError, ValueError, RuntimeError) as e:
        return Measurer(None, measuring.timer, str(e))


def measure(job: Job, artifacts: Mapping[str, bytes]) -> list[EntryResult]:
    """Runs one job in a fresh folder; `artifacts` are the modules of its entries by the name in `vmfb`, compressed."""
    with tempfile.TemporaryDirectory(prefix="ireebench-") as folder:
        for name, body in artifacts.items():
            (Path(folder) / name).write_bytes(zlib.decompress(body))

        def placed(entry: Entry) -> Entry:
            return entry if entry.vmfb is None else replace(entry, vmfb=str(Path(folder) / entry.vmfb))

        groups = tuple(replace(g, entries=tuple(map(placed, g.entries))) for g in job.groups)
        return list(run_job(replace(job, groups=groups), Path(folder) / "job"))

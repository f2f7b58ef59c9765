"""Finds the files of a trace and tells what each is by what is in it, not by its name alone."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ireebench.measure.rocprof import csv_columns
from ireebench.measure.rocprof.errors import MissingTraceError, TraceError
from ireebench.measure.rocprof.kernel_trace_csv import key
from ireebench.measure.rocprof.rocpd import MAGIC
from ireebench.measure.rocprof.stats_csv import is_stats


class Kind(StrEnum):
    """What a file holds."""

    KERNEL_TRACE = "kernel trace"
    V1 = "rocprof v1 results"
    JSON = "JSON results"
    ROCPD = "rocpd database"
    STATS = "statistics"
    COUNTERS = "counters"
    COPIES = "memory copies"
    OTHER = "other"


# The columns that give a CSV file away, most telling first.
_SIGNATURES: tuple[tuple[Kind, frozenset[str]], ...] = (
    (Kind.COUNTERS, frozenset({"countername", "countervalue"})),
    (Kind.COPIES, frozenset({"direction", "starttimestamp"})),
    (Kind.KERNEL_TRACE, frozenset({"kernelname", "starttimestamp"})),
    (Kind.V1, frozenset({"kernelname", "gpuid"})),
)
# Where a folder holds the same dispatches several times, the first kind of these that is there is read.
_PREFERENCE = (Kind.KERNEL_TRACE, Kind.V1, Kind.JSON, Kind.ROCPD, Kind.STATS, Kind.COUNTERS, Kind.COPIES)

CAUSES = (
    "likely causes: the program ran no GPU kernel (did it pick the CPU?), it was killed or called _exit before "
    "rocprofv3 could write, '--' was missing before the program, or rocprofv3 is of another ROCm than the program's"
)


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file and what it holds; `columns` is a CSV file's header."""

    path: Path
    kind: Kind
    columns: tuple[str, ...] = ()


def identify(path: Path) -> TraceFile:
    """What a file is. Raises TraceError when it is not there or cannot be read."""
    try:
        with path.open("rb") as f:
            start = f.read(4096)
        if start.startswith(MAGIC):
            return TraceFile(path, Kind.ROCPD)
        if start.lstrip().startswith((b"{", b"[")):
            return TraceFile(path, Kind.JSON)
        columns = csv_columns.header(path)
    except OSError as e:
        raise TraceError(f"{path}: cannot be read: {e.strerror or e}") from e
    keys = {key(c) for c in columns}
    otherwise = Kind.STATS if is_stats(columns) else Kind.OTHER
    return TraceFile(path, next((k for k, s in _SIGNATURES if s <= keys), otherwise), columns)


def locate(inputs: Sequence[str]) -> tuple[list[TraceFile], list[str]]:
    """The files to read for what the user named (files, folders, globs), and notes on what was chosen.

    A file that is named is taken as it is; of a folder or glob only the best kind. Raises TraceError, with the cause,
    when there is nothing to read.
    """
    files: list[TraceFile] = []
    notes: list[str] = []
    for given in inputs:
        path = Path(given)
        if path.is_file():
            files.append(identify(path))
            continue
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.is_file())
            if not found:
                raise TraceError(f"{path}: nothing written: the folder is empty; {CAUSES}")
        else:
            found = sorted(Path(p) for p in glob.glob(given, recursive=True) if Path(p).is_file())  # noqa: PTH207
            if not found:
                raise MissingTraceError(f"{given}: no such file or folder, and no file matches it as a pattern")
        chosen, note = _choose(given, found)
        files += chosen
        notes += note
    return files, notes


def _choose(given: str, found: list[Path]) -> tuple[list[TraceFile], list[str]]:
    known = [t for p in found if p.suffix in (".csv", ".json", ".db", ".txt") for t in [identify(p)]]
    known = [t for t in known if t.kind is not Kind.JSON or t.path.name.endswith("results.json")]
    for kind in _PREFERENCE:
        chosen = [t for t in known if t.kind is kind]
        if not chosen:
            continue
        notes = []
        if kind is Kind.ROCPD:
            names = ", ".join(t.path.name for t in chosen)
            notes.append(f"{given}: no CSV here; database found - reading it ({names})")
        if kind in (Kind.STATS, Kind.COUNTERS, Kind.COPIES):
            notes.append(f"{given}: no kernel trace here; reading {kind.value} only")
        return chosen, notes
    names = ", ".join(p.name for p in found[:4])
    raise TraceError(f"{given}: no kernels recorded: the profiler wrote only {names}; {CAUSES}")

"""Reads trace files of any kind into one set of dispatches, totals and counters."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ireebench.measure.rocprof.counters_csv import Counter, read_counters
from ireebench.measure.rocprof.dispatches import Dispatches, concatenate
from ireebench.measure.rocprof.errors import TraceError, unknown_columns
from ireebench.measure.rocprof.kernel_trace_csv import read_kernel_trace, read_memory_copies
from ireebench.measure.rocprof.locate import CAUSES, Kind, TraceFile, locate
from ireebench.measure.rocprof.results_json import read_json
from ireebench.measure.rocprof.rocpd import read_rocpd
from ireebench.measure.rocprof.stats_csv import Totals, read_stats
from ireebench.measure.rocprof.v1_csv import read_v1


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that was in the files. `dispatches` is None where there are only totals or counters."""

    files: tuple[TraceFile, ...]
    dispatches: Dispatches | None
    totals: tuple[Totals, ...]
    counters: tuple[Counter, ...]
    malformed: int
    notes: tuple[str, ...]


_Reader = Callable[[TraceFile], tuple[Dispatches, int]]
_DISPATCH_READERS: dict[Kind, _Reader] = {
    Kind.KERNEL_TRACE: lambda t: read_kernel_trace(t.path, t.columns),
    Kind.V1: lambda t: read_v1(t.path, t.columns),
    Kind.COPIES: lambda t: read_memory_copies(t.path, t.columns),
    Kind.JSON: lambda t: read_json(t.path),
    Kind.ROCPD: lambda t: read_rocpd(t.path),
}


def read(inputs: Sequence[str]) -> Trace:
    """Reads files, folders and globs. Raises TraceError: nothing written, no kernels recorded, 0 dispatches, ..."""
    files, notes = locate(inputs)
    return read_files(files, notes)


def read_files(files: Sequence[TraceFile], notes: Sequence[str] = ()) -> Trace:
    """Reads files that are already identified. Raises TraceError as `read`."""
    parts: list[Dispatches] = []
    totals: list[Totals] = []
    counters: list[Counter] = []
    told = list(notes)
    malformed = 0
    try:
        for file in files:
            if file.kind in _DISPATCH_READERS:
                part, bad = _DISPATCH_READERS[file.kind](file)
                parts.append(part)
            elif file.kind is Kind.STATS:
                lines, bad = read_stats(file.path, file.columns)
                totals += lines
                if any(t.domain for t in lines):
                    told.append(f"{file.path.name}: API domains, host time: no kernel times in it")
            elif file.kind is Kind.COUNTERS:
                found, bad = read_counters(file.path, file.columns)
                counters += found
                told.append(
                    f"{file.path.name}: a counter run serialises dispatches, so its stamps are no times; "
                    "time with rocprofv3 --kernel-trace in a run of its own"
                )
            else:
                raise _no_trace(file)
            malformed += bad
            if file.kind is Kind.V1 and parts[-1].has_times.size and not parts[-1].has_times.any():
                told.append(f"{file.path.name}: no times in it; run rocprof with --timestamp on")
    except OSError as e:
        raise TraceError(f"{e.filename}: cannot be read: {e.strerror or e}") from e
    except (csv.Error, ValueError, OverflowError) as e:
        raise TraceError(f"{file.path}: damaged, cannot be read as {file.kind.value}: {e}; profile again") from e
    dispatches = concatenate(parts) if parts else None
    if dispatches is not None and not len(dispatches) and not totals and not counters:
        names = ", ".join(str(f.path) for f in files)
        cut = f" ({malformed} lines were cut off)" if malformed else ""
        raise TraceError(f"{names}: 0 dispatches: there is a header and nothing below it{cut}; {CAUSES}")
    return Trace(tuple(files), dispatches, tuple(totals), tuple(counters), malformed, tuple(told))


def _no_trace(file: TraceFile) -> TraceError:
    if _is_empty(file.path):
        return TraceError(f"{file.path}: nothing written: the file is empty; {CAUSES}")
    if file.path.name.endswith("agent_info.csv"):
        return TraceError(f"{file.path}: no kernels recorded: it lists the machine's agents; {CAUSES}")
    return unknown_columns(file.path, file.columns, ["Kernel_Name", "Start_Timestamp", "End_Timestamp"])


def _is_empty(path: Path) -> bool:
    with path.open("rb") as f:
        return not f.read(4096).strip()

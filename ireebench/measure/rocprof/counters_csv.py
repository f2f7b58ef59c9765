"""counter_collection.csv: hardware counters. Its stamps are never times: a `--pmc` run serialises dispatches.

(A 9.5 us kernel read 56 us there.) One line a dispatch and counter.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from ireebench.measure.rocprof.dispatches import Launch, agent_name, kernel_name
from ireebench.measure.rocprof.errors import unknown_columns
from ireebench.measure.rocprof.kernel_trace_csv import key, launch_of
from ireebench.measure.rocprof.stats_csv import number


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of one kernel on one agent: its mean over `calls` dispatches."""

    kernel: str
    agent: str
    counter: str
    calls: int
    mean: float
    launch: Launch


def read_counters(path: Path, columns: tuple[str, ...]) -> tuple[tuple[Counter, ...], int]:
    """Counters and malformed lines. Raises TraceError when a needed column is missing, OSError."""
    keys = [key(c) for c in columns]
    needed = {"kernelname": "Kernel_Name", "countername": "Counter_Name", "countervalue": "Counter_Value"}
    missing = [name for k, name in needed.items() if k not in keys]
    if missing:
        raise unknown_columns(path, columns, missing)
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    launches: dict[tuple[str, str, str], Launch] = {}
    malformed = 0
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as f:
        lines = csv.reader(f)
        next(lines, None)
        for line in lines:
            cell = dict(zip(keys, line, strict=False))
            value = number(cell.get("countervalue"))
            if len(line) != len(keys) or value is None:
                malformed += bool(any(line))
                continue
            which = (kernel_name(cell["kernelname"]), agent_name(cell.get("agentid", "")), cell["countername"])
            values[which].append(value)
            launches.setdefault(which, launch_of(_linear(cell)))
    return tuple(Counter(*k, len(v), sum(v) / len(v), launches[k]) for k, v in values.items()), malformed


def _linear(cell: dict[str, str]) -> dict[str, str]:
    """Workgroup and grid are products here: the first dimension carries them."""
    dims = {"workgroupsizex": cell.get("workgroupsize", ""), "gridsizex": cell.get("gridsize", "")}
    ones = dict.fromkeys(("workgroupsizey", "workgroupsizez", "gridsizey", "gridsizez"), "1")
    return {**cell, **dims, **ones}

"""rocprofv3's kernel_trace.csv, every generation, and its memory_copy_trace.csv.

Column sets (matched by name without case or underscores, because both have changed; the positions have, too):
  ROCm 6.2            Agent_Id (integer), Private_/Group_Segment_Size, no Dispatch_Id, no registers
  ROCm 6.3, 6.4       the same with Thread_Id and Dispatch_Id
  ROCm 7.0            Agent_Id ("Agent 4"), Stream_Id, LDS_Block_Size, Scratch_Size, VGPR_Count, ...
  rocpd convert       Guid first, Lds_Block_Size, Vgpr_Count, ...; later Duration, Graph_Exec_Id, Graph_Node_Id
Source: ROCm/rocprofiler-sdk, source/lib/output/generateCSV.cpp, and rocm-systems, rocpd/csv.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ireebench.measure.rocprof.csv_columns import Number, Scan, Text, scan
from ireebench.measure.rocprof.dispatches import (
    Dim,
    Dispatches,
    Interner,
    Launch,
    agent_name,
    kernel_name,
)
from ireebench.measure.rocprof.errors import unknown_columns

_REQUIRED = {"kernelname": "Kernel_Name", "starttimestamp": "Start_Timestamp", "endtimestamp": "End_Timestamp"}
# What a launch is made of: the names that each generation gives it.
_RESOURCES: dict[str, tuple[str, ...]] = {
    "lds_bytes": ("ldsblocksize", "groupsegmentsize"),
    "scratch_bytes": ("scratchsize", "privatesegmentsize"),
    "vgpr": ("vgprcount",),
    "agpr": ("accumvgprcount",),
    "sgpr": ("sgprcount",),
}
_DIMENSIONS = {
    "workgroup": ("workgroupsizex", "workgroupsizey", "workgroupsizez"),
    "grid": ("gridsizex", "gridsizey", "gridsizez"),
}
_PID = re.compile(r"(?:^|[^0-9])(\d+)_[a-z_]+(?:_trace|_results)?\.(?:csv|json|db)$")


def key(column: str) -> str:
    """A column's name as all generations spell it alike: lower case, letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", column.lower())


def pid_of(path: Path) -> str:
    """The process id that rocprofv3 put into the file's name (`%pid%`); "" when there is none."""
    found = _PID.search(path.name)
    return found.group(1) if found else ""


def read_kernel_trace(path: Path, columns: tuple[str, ...]) -> tuple[Dispatches, int]:
    """Dispatches of a kernel_trace.csv with these columns, and its malformed lines.

    Raises TraceError when a needed column is missing, OSError when the file cannot be read.
    """
    at = {key(c): i for i, c in enumerate(columns)}
    missing = [name for k, name in _REQUIRED.items() if k not in at]
    if missing:
        raise unknown_columns(path, columns, missing)
    present = [at[n] for names in (*_RESOURCES.values(), *_DIMENSIONS.values()) for n in names if n in at]
    run = (min(present), max(present)) if present else None
    order = at.get("dispatchid", at.get("correlationid"))
    numbers = [at["starttimestamp"], at["endtimestamp"], *([order] if order is not None else [])]
    runs = [(at["kernelname"],) * 2]
    optional = {
        "agent": (at["agentid"],) * 2 if "agentid" in at else None,
        "queue": (at["queueid"],) * 2 if "queueid" in at else None,
        "launch": run,
        "guid": (at["guid"],) * 2 if "guid" in at else None,
    }
    runs += [r for r in optional.values() if r is not None]
    found = scan(path, len(columns), numbers, runs)
    texts = dict(zip((n for n, r in optional.items() if r is not None), found.texts[1:], strict=True))
    launches, launch = _launches(
        texts.get("launch"), columns[run[0] : run[1] + 1] if run else (), len(found.texts[0].codes)
    )
    names, name = recode(found.texts[0], kernel_name)
    n = len(name)
    agents, agent = recode(texts["agent"], agent_name) if "agent" in texts else (("",), np.zeros(n, np.int64))
    queue = _integers(texts["queue"]) if "queue" in texts else np.zeros(n, np.int64)
    pid = pid_of(path)
    processes, process = recode(texts["guid"], str) if "guid" in texts and not pid else ((pid,), np.zeros(n, np.int64))
    start, end = found.numbers[0], found.numbers[1]
    dispatches = Dispatches(
        names=names,
        agents=agents,
        processes=processes,
        launches=launches,
        name=name,
        agent=agent,
        process=process,
        queue=queue,
        launch=launch,
        order=found.numbers[2].whole if order is not None else np.arange(n, dtype=np.int64),
        start_ns=start.whole,
        end_ns=end.whole,
        duration_ns=duration(start, end),
        has_times=start.valid & end.valid & (start.whole > 0) & (end.whole > 0),
    )
    return dispatches, found.malformed


def read_memory_copies(path: Path, columns: tuple[str, ...]) -> tuple[Dispatches, int]:
    """Copies as dispatches: the direction is the name, "source -> destination" the agent. Raises as above."""
    at = {key(c): i for i, c in enumerate(columns)}
    needed = {"direction": "Direction", "starttimestamp": "Start_Timestamp", "endtimestamp": "End_Timestamp"}
    missing = [name for k, name in needed.items() if k not in at]
    if missing:
        raise unknown_columns(path, columns, missing)
    agents_at = [at[k] for k in ("sourceagentid", "destinationagentid") if k in at]
    runs = [(at["direction"],) * 2, *((a, a) for a in agents_at)]
    found: Scan = scan(path, len(columns), [at["starttimestamp"], at["endtimestamp"]], runs)
    names, name = recode(found.texts[0], str)
    n = len(name)
    pairs = Interner[str]()
    ends = [[agent_name(t.values[c][0]) for c in t.codes.tolist()] for t in found.texts[1:]]
    agent = (
        np.array([pairs(" -> ".join(p)) for p in zip(*ends, strict=True)], np.int64) if ends else np.zeros(n, np.int64)
    )
    start, end = found.numbers
    zeros = np.zeros(n, np.int64)
    dispatches = Dispatches(
        names=names,
        agents=pairs.values or ("",),
        processes=(pid_of(path),),
        launches=(Launch(),),
        name=name,
        agent=agent,
        process=zeros,
        queue=zeros,
        launch=zeros,
        order=np.arange(n, dtype=np.int64),
        start_ns=start.whole,
        end_ns=end.whole,
        duration_ns=duration(start, end),
        has_times=start.valid & end.valid & (start.whole > 0) & (end.whole > 0),
    )
    return dispatches, found.malformed


def duration(start: Number, end: Number) -> npt.NDArray[np.float64]:
    """End minus start in ns, exact: the stamps are too large for a float to keep their fractions."""
    return (end.whole - start.whole).astype(np.float64) + (end.milli - start.milli) / 1000.0


def recode(text: Text, normalise: Callable[[str], str]) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Values and codes after `normalise`, which may make two spellings one."""
    intern = Interner[str]()
    table = np.array([intern(normalise(v[0])) for v in text.values], np.int64)
    codes = table[text.codes] if len(table) else text.codes
    return intern.values or ("",), codes


def _integers(text: Text) -> npt.NDArray[np.int64]:
    """Numbers of a column with few distinct values; a value that is no number gets a number of its own below 0."""
    table = np.array([whole(v[0], -1 - i) for i, v in enumerate(text.values)], np.int64)
    return table[text.codes] if len(table) else text.codes


def whole(text: str, otherwise: int) -> int:
    """A whole number that fits 64 bits, else `otherwise`."""
    stripped = text.strip()
    number = int(stripped) if stripped.isdecimal() else otherwise
    return number if number < 2**63 else otherwise


def _launches(
    text: Text | None, columns: tuple[str, ...], rows: int
) -> tuple[tuple[Launch, ...], npt.NDArray[np.int64]]:
    if text is None:
        return (Launch(),), np.zeros(rows, np.int64)
    at = {key(c): i for i, c in enumerate(columns)}
    intern = Interner[Launch]()
    table = np.array([intern(launch_of(dict(zip(at, v, strict=False)))) for v in text.values], np.int64)
    return intern.values or (Launch(),), table[text.codes] if len(table) else text.codes


def launch_of(cells: dict[str, str]) -> Launch:
    """A launch from cells by their columns' keys; what is absent or no number is unknown."""
    values: dict[str, int | None] = {}
    for field, names in _RESOURCES.items():
        cell = next((cells[n] for n in names if n in cells), "").strip()
        values[field] = int(cell) if cell.isdecimal() else None
    dims: dict[str, Dim | None] = {}
    for field, names in _DIMENSIONS.items():
        x, y, z = (cells.get(n, "").strip() for n in names)
        known = x.isdecimal() and y.isdecimal() and z.isdecimal()
        dims[field] = (int(x), int(y), int(z)) if known else None
    return Launch(**dims, **values)  # type: ignore[arg-type]

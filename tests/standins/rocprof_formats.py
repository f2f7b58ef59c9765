"""Writes each file format of the ROCm profilers, for the stand-in and for tests. Independent of the package's readers.

Column orders are those of the sample files in tests/data/rocprof and of the sources named there.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

SIZES = ("Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z")
G2_REST = ("LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", *SIZES)
G0_REST = ("Private_Segment_Size", "Group_Segment_Size", *SIZES)
STAMPS = ("Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp")
COLUMNS: dict[str, tuple[str, ...]] = {
    "G0": ("Kind", "Agent_Id", "Queue_Id", "Kernel_Id", *STAMPS, *G0_REST),
    "G1": ("Kind", "Agent_Id", "Queue_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", *STAMPS, *G0_REST),
    "G2": ("Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", *STAMPS, *G2_REST),
    "G3": (
        *("Guid", "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Graph_Exec_Id", "Graph_Node_Id", "Thread_Id"),
        *("Dispatch_Id", "Kernel_Id", *STAMPS, "Duration"),
        *(c.title() if "SGPR" in c or "VGPR" in c or "LDS" in c else c for c in G2_REST),
    ),
}
FORMATS = (*COLUMNS, "json", "rocpd", "v1")


@dataclass(frozen=True)
class Planted:
    """A dispatch to be written. `start` 0: its stamps are missing."""

    name: str
    start: int
    end: int
    agent: int = 4
    queue: int = 1
    vgpr: int = 32
    lds: int = 1024
    workgroup: int = 256
    grid: int = 65536  # work-items


def write(form: str, folder: Path, pid: int, rows: list[Planted], stem: str | None = None) -> Path:
    """One process's file, in the order given. `stem` is what comes before "_kernel_trace.csv"."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = str(pid) if stem is None else stem
    if form in COLUMNS:
        path = folder / f"{stem}_kernel_trace.csv"
        _csv(path, COLUMNS[form], [_cells(form, r, i) for i, r in enumerate(rows, 1)])
        return path
    return {"json": _json, "rocpd": _rocpd, "v1": _v1}[form](folder, stem, pid, rows)


def write_copies(folder: Path, stem: str, count: int) -> None:
    """A memory_copy_trace.csv of `count` copies."""
    columns = ("Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id")
    rows = [
        ["MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", 0, "Agent 0", "Agent 4", i, 1000 + i, 2000 + i]
        for i in range(count)
    ]
    _csv(folder / f"{stem}_memory_copy_trace.csv", (*columns, "Start_Timestamp", "End_Timestamp"), rows)


def write_counters(folder: Path, pid: int, values: list[tuple[str, str, int]], launches: int) -> None:
    """A counter_collection.csv: (kernel, counter, value), each `launches` times."""
    columns = ("Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size")
    columns += ("Kernel_Id", "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count")
    columns += ("Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp")
    rows: list[list[object]] = []
    for i in range(launches):
        head: list[object] = [i, i, "Agent 4", 1, pid, pid, 65536, 1]
        for kernel, counter, value in values:
            rows.append([*head, kernel, 256, 0, 0, 8, 0, 16, counter, value, 5000 + 100 * i, 5056 + 100 * i])
    _csv(folder / f"{pid}_counter_collection.csv", columns, rows)


def _csv(path: Path, columns: tuple[str, ...], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as f:
        writer = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def _cells(form: str, r: Planted, number: int) -> list[object]:
    agent: object = {"G0": r.agent, "G1": r.agent, "G2": f"Agent {r.agent}", "G3": f"GPU {r.agent - 4}"}[form]
    cell: dict[str, object] = {
        "guid": "00000000-0000-0000-0000-000000000001",
        "kind": "KERNEL_DISPATCH",
        "agent_id": agent,
        "queue_id": r.queue,
        "kernel_name": r.name,
        "start_timestamp": r.start,
        "end_timestamp": r.end,
        "duration": r.end - r.start,
        "lds_block_size": r.lds,
        "group_segment_size": r.lds,
        "vgpr_count": r.vgpr,
        "workgroup_size_x": r.workgroup,
        "grid_size_x": r.grid,
        "dispatch_id": number,
        "correlation_id": number,
    }
    ones = ("workgroup_size_y", "workgroup_size_z", "grid_size_y", "grid_size_z")
    return [cell.get(c.lower(), 1 if c.lower() in ones else 0) for c in COLUMNS[form]]


def _json(folder: Path, stem: str, pid: int, rows: list[Planted]) -> Path:
    names = list(dict.fromkeys(r.name for r in rows))
    dispatches = [
        {
            "start_timestamp": r.start,
            "end_timestamp": r.end,
            "dispatch_info": {
                "agent_id": {"handle": 1000 + r.agent},
                "queue_id": {"handle": r.queue},
                "kernel_id": names.index(r.name),
                "dispatch_id": i,
                "group_segment_size": r.lds,
                "workgroup_size": {"x": r.workgroup, "y": 1, "z": 1},
                "grid_size": {"x": r.grid, "y": 1, "z": 1},
            },
        }
        for i, r in enumerate(rows, 1)
    ]
    vgpr = {r.name: r.vgpr for r in rows}
    tool = {
        "metadata": {"pid": pid},
        "agents": [{"id": {"handle": 1000 + a}, "node_id": a} for a in range(12)],
        "kernel_symbols": [
            {"kernel_id": i, "formatted_kernel_name": f"{n}.kd", "arch_vgpr_count": vgpr[n]}
            for i, n in enumerate(names)
        ],
        "buffer_records": {"kernel_dispatch": dispatches},
    }
    path = folder / f"{stem}_results.json"
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [tool]}))
    return path


def _rocpd(folder: Path, stem: str, pid: int, rows: list[Planted]) -> Path:
    """As the real thing: tables with a suffix, and a view over them."""
    path = folder / f"{stem}_results.db"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE rocpd_info_kernel_symbol_u1 (id INTEGER PRIMARY KEY, display_name TEXT, arch_vgpr_count INTEGER,
            accum_vgpr_count INTEGER, sgpr_count INTEGER);
        CREATE TABLE rocpd_kernel_dispatch_u1 (id INTEGER PRIMARY KEY, pid INTEGER, agent INTEGER, queue_id INTEGER,
            kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, end BIGINT, lds INTEGER, wx INTEGER, gx INTEGER);
        CREATE VIEW kernels AS SELECT K.id, 'u1' AS guid, K.pid AS pid, K.queue_id AS queue_id, 0 AS stream_id,
            K.dispatch_id AS dispatch_id, S.display_name AS name, K.start AS start, K.end AS end,
            K.end - K.start AS duration, K.lds AS lds_size, 0 AS scratch_size, S.arch_vgpr_count AS vgpr_count,
            S.accum_vgpr_count AS accum_vgpr_count, S.sgpr_count AS sgpr_count, K.wx AS workgroup_x, 1 AS workgroup_y,
            1 AS workgroup_z, K.gx AS grid_x, 1 AS grid_y, 1 AS grid_z, K.agent AS agent_abs_index
            FROM rocpd_kernel_dispatch_u1 K JOIN rocpd_info_kernel_symbol_u1 S ON S.id = K.kernel_id;
        """
    )
    ids = {n: i for i, n in enumerate(dict.fromkeys(r.name for r in rows), 1)}
    vgpr = {r.name: r.vgpr for r in rows}
    db.executemany(
        "INSERT INTO rocpd_info_kernel_symbol_u1 VALUES (?, ?, ?, 0, 32)", [(i, n, vgpr[n]) for n, i in ids.items()]
    )
    db.executemany(
        "INSERT INTO rocpd_kernel_dispatch_u1 VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (pid, r.agent, r.queue, ids[r.name], i, r.start or None, r.end or None, r.lds, r.workgroup, r.grid)
            for i, r in enumerate(rows, 1)
        ],
    )
    db.commit()
    db.close()
    return path


def _v1(folder: Path, stem: str, pid: int, rows: list[Planted]) -> Path:
    columns = ("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr", "lds", "scr")
    columns += ("arch_vgpr", "accum_vgpr", "sgpr", "wave_size", "sig", "obj", "DispatchNs", "BeginNs", "EndNs")
    lines: list[list[object]] = []
    for i, r in enumerate(rows):
        where: list[object] = [i, f"{r.name} [clone .kd]", r.agent - 4, r.queue, 0, pid, pid]
        what: list[object] = [r.grid, r.workgroup, r.lds, 0, r.vgpr, 0, 16, 64, "0x0", "0x7f00"]
        when: list[object] = [r.start, r.start or "", r.end or "", r.end, r.end - r.start if r.start else ""]
        lines.append(where + what + when)
    path = folder / ("results.csv" if stem == str(pid) else f"{stem}.csv")
    _csv(path, (*columns, "CompleteNs", "DurationNs"), lines)
    return path

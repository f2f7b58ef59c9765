"""The first rocprof's results.csv: one line a dispatch, times only when it ran with `--timestamp on`.

Columns: Index, KernelName, gpu-id, queue-id, ..., pid, tid, grd, wgr, lds, scr, arch_vgpr, accum_vgpr, sgpr, ...,
then counters, then DispatchNs, BeginNs, EndNs, CompleteNs and (newer) DurationNs. `grd` and `wgr` are products.
"""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ireebench.measure.rocprof.dispatches import Dispatches, Launch, Row, from_rows
from ireebench.measure.rocprof.errors import unknown_columns
from ireebench.measure.rocprof.kernel_trace_csv import key, whole


def read_v1(path: Path, columns: tuple[str, ...]) -> tuple[Dispatches, int]:
    """Dispatches and malformed lines. Without time columns every row's times are missing.

    Raises TraceError when there is no kernel name, OSError when the file cannot be read.
    """
    keys = [key(c) for c in columns]
    if "kernelname" not in keys:
        raise unknown_columns(path, columns, ["KernelName"])
    rows, malformed = [], 0
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as f:
        lines = csv.reader(f)
        next(lines, None)
        for number, line in enumerate(lines):
            if len(line) == len(keys):
                rows.append(_row(dict(zip(keys, line, strict=True)), number))
            elif any(line):
                malformed += 1
    return from_rows(rows), malformed


def _row(cell: dict[str, str], number: int) -> Row:
    start, end, duration = (_ns(cell.get(k, "")) for k in ("beginns", "endns", "durationns"))
    if (start is None or end is None) and duration is not None:
        start, end = Decimal(0), duration  # a duration alone is a time, though not a place in time
    elif start is not None and end is not None:
        duration = end - start
    known = {k: int(v) for k, v in cell.items() if v.strip().isdecimal()}
    group, grid = known.get("wgr"), known.get("grd")
    return Row(
        name=cell["kernelname"],
        agent=f"GPU {cell['gpuid']}" if "gpuid" in cell else "",
        queue=whole(cell.get("queueid", ""), 0),
        start_ns=None if start is None else int(start),
        end_ns=None if end is None else int(end),
        duration_ns=None if duration is None else float(duration),
        process=cell.get("pid", ""),
        order=whole(cell.get("index", ""), number),
        launch=Launch(
            workgroup=(group, 1, 1) if group else None,
            grid=(grid, 1, 1) if grid else None,
            vgpr=known.get("archvgpr", known.get("vgpr")),
            agpr=known.get("accumvgpr"),
            sgpr=known.get("sgpr"),
            lds_bytes=known.get("lds"),
            scratch_bytes=known.get("scr"),
        ),
    )


def _ns(text: str) -> Decimal | None:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.adjusted() < 19 else None  # below 10**19; from_rows sees to the rest

"""rocprofv3's results.json: one object a process under "rocprofiler-sdk-tool"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ireebench.measure.rocprof.dispatches import Dispatches, Launch, Row, from_rows
from ireebench.measure.rocprof.errors import TraceError

ROOT = "rocprofiler-sdk-tool"


def read_json(path: Path) -> tuple[Dispatches, int]:
    """Dispatches and malformed records. Raises TraceError when it is no such file or is cut off, OSError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except json.JSONDecodeError as e:
        raise TraceError(
            f"{path}: not complete JSON (line {e.lineno}: {e.msg}); the profiled program was probably killed before "
            "rocprofv3 wrote its files: let it end by itself"
        ) from e
    except RecursionError as e:
        raise TraceError(f"{path}: nested too deep to be results of rocprofv3") from e
    if not isinstance(document, dict) or not isinstance(document.get(ROOT), list):
        raise TraceError(
            f"{path}: no rocprofv3 results, the key '{ROOT}' is missing; give rocprofv3's NAME_results.json"
        )
    rows: list[Row] = []
    malformed = 0
    try:
        for row in (row for process in document[ROOT] for row in _rows(process)):
            if row is None:
                malformed += 1
            else:
                rows.append(row)
    except (AttributeError, TypeError) as e:
        raise TraceError(f"{path}: rocprofv3 results of an unknown structure: {e}; convert to CSV instead") from e
    return from_rows(rows), malformed


def _handle(value: Any) -> Any:
    return value.get("handle") if isinstance(value, Mapping) else value


def _rows(process: Mapping[str, Any]) -> Iterator[Row | None]:
    symbols = {s.get("kernel_id"): s for s in process.get("kernel_symbols", [])}
    agents = {_handle(a.get("id")): a.get("node_id") for a in process.get("agents", [])}
    pid = str(process.get("metadata", {}).get("pid", ""))
    for record in process.get("buffer_records", {}).get("kernel_dispatch", []):
        try:
            yield _row(record, symbols, agents, pid)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            yield None


def _row(record: Mapping[str, Any], symbols: Mapping[Any, Any], agents: Mapping[Any, Any], pid: str) -> Row:
    info = record["dispatch_info"]
    symbol = symbols.get(info["kernel_id"], {})
    handle = _handle(info["agent_id"])
    node = agents.get(handle)
    queue = _handle(info.get("queue_id"))
    name = symbol.get("formatted_kernel_name") or symbol.get("demangled_kernel_name") or symbol.get("kernel_name")
    start, end = record.get("start_timestamp"), record.get("end_timestamp")
    return Row(
        name=str(name) if name else f"kernel {info['kernel_id']}",
        agent=str(handle if node is None else node),
        queue=int(queue or 0),
        start_ns=int(start) if start else None,
        end_ns=int(end) if end else None,
        process=pid,
        order=int(info.get("dispatch_id") or 0),
        launch=Launch(
            workgroup=_dim(info.get("workgroup_size")),
            grid=_dim(info.get("grid_size")),
            vgpr=symbol.get("arch_vgpr_count"),
            agpr=symbol.get("accum_vgpr_count"),
            sgpr=symbol.get("sgpr_count"),
            lds_bytes=info.get("group_segment_size", symbol.get("group_segment_size")),
            scratch_bytes=info.get("private_segment_size", symbol.get("private_segment_size")),
        ),
    )


def _dim(value: Any) -> tuple[int, int, int] | None:
    return (int(value["x"]), int(value["y"]), int(value["z"])) if isinstance(value, Mapping) else None

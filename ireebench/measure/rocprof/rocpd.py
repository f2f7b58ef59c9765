"""rocpd databases (SQLite): rocprofv3's default output from ROCm 7.0. The view `kernels` has what is needed.

Columns come and go with the schema's version, so each is looked up: name, start, end; agent_abs_index; queue_id; pid or
guid; workgroup_x..z and grid_x..z (work-items); lds_size, scratch_size, vgpr_count, accum_vgpr_count, sgpr_count.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np

from ireebench.measure.rocprof.dispatches import Dispatches, Interner, Launch, agent_name, kernel_name
from ireebench.measure.rocprof.errors import TraceError

MAGIC = b"SQLite format 3\x00"
_FETCH = 20_000
# Each row's key: what few distinct values suffice for. In this order; the first name that exists is read.
_KEY: tuple[tuple[str, ...], ...] = (
    ("name", "kernel_name", "display_name"),
    ("agent_abs_index", "agent_log_index", "agent_id"),
    ("queue_id", "queue"),
    ("pid", "guid"),
    ("workgroup_x", "workgroup_size_x"),
    ("workgroup_y", "workgroup_size_y"),
    ("workgroup_z", "workgroup_size_z"),
    ("grid_x", "grid_size_x"),
    ("grid_y", "grid_size_y"),
    ("grid_z", "grid_size_z"),
    ("vgpr_count", "arch_vgpr_count"),
    ("accum_vgpr_count",),
    ("sgpr_count",),
    ("lds_size", "group_segment_size"),
    ("scratch_size", "private_segment_size"),
)
_Cell = bytes | int | float | None


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Read-only; a database on a read-only disk with a leftover journal is read as it stands."""
    connection = _connect(path, "mode=ro")
    try:
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            connection = _connect(path, "immutable=1")
        yield connection
    finally:
        connection.close()


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)
    connection.text_factory = bytes  # names are decoded once each, not once a row, and never fail
    return connection


def _text(cell: _Cell) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else "" if cell is None else str(cell)


def read_rocpd(path: Path) -> tuple[Dispatches, int]:
    """Dispatches of the database; nothing is malformed there. Raises TraceError when it is damaged or another one."""
    try:
        with _open(path) as db:
            columns = {_text(r[1]).lower(): _text(r[1]) for r in db.execute("PRAGMA table_info(kernels)")}
            missing = [c for c in ("start", "end") if c not in columns]
            if not any(n in columns for n in _KEY[0]):
                missing.insert(0, "name")
            if missing:
                tables = (
                    ", ".join(_text(r[0]) for r in db.execute("SELECT name FROM sqlite_master LIMIT 8")) or "no tables"
                )
                raise TraceError(
                    f"{path}: a database, but its view 'kernels' lacks {', '.join(missing)} (found: {tables}); "
                    f"convert it with: rocpd convert -i {path.name} --output-format csv"
                )
            return _read(db, columns), 0
    except sqlite3.DatabaseError as e:
        raise TraceError(
            f"{path}: the database cannot be read ({e}); it is damaged or was cut off: profile again and let it end"
        ) from e


def _read(db: sqlite3.Connection, columns: dict[str, str]) -> Dispatches:
    chosen = [next((columns[n] for n in names if n in columns), None) for names in _KEY]
    key = ", ".join("NULL" if c is None else f'"{c}"' for c in chosen)
    order = f'"{columns["dispatch_id"]}"' if "dispatch_id" in columns else "0"
    query = db.execute(f'SELECT "{columns["start"]}", "{columns["end"]}", {order}, {key} FROM kernels')
    keys = _Lookup()
    starts, ends, orders, codes = [], [], [], []
    while rows := query.fetchmany(_FETCH):
        # Maps of C functions, since a million rows take a second for each Python call on them.
        codes.append(np.fromiter(map(keys.__getitem__, map(_KEY_OF, rows)), np.int64, len(rows)))
        starts.append(_integers(rows, 0))
        ends.append(_integers(rows, 1))
        orders.append(_integers(rows, 2))
    return _columns(tuple(keys), _cat(codes), _cat(starts), _cat(ends), _cat(orders))


_KEY_OF = itemgetter(slice(3, None))


class _Lookup(dict[tuple[_Cell, ...], int]):
    """Numbers each distinct key at first sight."""

    def __missing__(self, key: tuple[_Cell, ...]) -> int:
        self[key] = code = len(self)
        return code


def _cat(parts: list[np.ndarray[tuple[int], np.dtype[np.int64]]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _integers(rows: list[tuple[_Cell, ...]], column: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A column as integers; 0 (which means missing) for NULL and for what is no number."""
    try:
        return np.fromiter(map(itemgetter(column), rows), np.int64, len(rows))
    except (TypeError, ValueError):
        cells = [r[column] for r in rows]
        return np.array([c if isinstance(c, int) else 0 for c in cells], np.int64)


def _columns(
    keys: tuple[tuple[_Cell, ...], ...],
    code: np.ndarray[tuple[int], np.dtype[np.int64]],
    start: np.ndarray[tuple[int], np.dtype[np.int64]],
    end: np.ndarray[tuple[int], np.dtype[np.int64]],
    order: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> Dispatches:
    names, agents, processes, launches = Interner[str](), Interner[str](), Interner[str](), Interner[Launch]()
    table = np.array(
        [
            (
                names(kernel_name(_text(k[0]))),
                agents(agent_name(_text(k[1]))),
                k[2] if isinstance(k[2], int) else 0,
                processes(_text(k[3])),
                launches(_launch(k)),
            )
            for k in keys
        ],
        np.int64,
    ).reshape(-1, 5)
    column = table[code]
    return Dispatches(
        names=names.values or ("",),
        agents=agents.values or ("",),
        processes=processes.values or ("",),
        launches=launches.values or (Launch(),),
        name=column[:, 0],
        agent=column[:, 1],
        queue=column[:, 2],
        process=column[:, 3],
        launch=column[:, 4],
        order=order,
        start_ns=start,
        end_ns=end,
        duration_ns=(end - start).astype(np.float64),
        has_times=(start > 0) & (end > 0),
    )


def _launch(key: tuple[_Cell, ...]) -> Launch:
    n = [c if isinstance(c, int) else None for c in key[4:]]

    def dim(x: int | None, y: int | None, z: int | None) -> tuple[int, int, int] | None:
        return None if x is None or y is None or z is None else (x, y, z)

    return Launch(dim(n[0], n[1], n[2]), dim(n[3], n[4], n[5]), n[6], n[7], n[8], n[9], n[10])

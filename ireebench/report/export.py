"""Files for other programs: CSV, JSON, Parquet, Markdown and T4, chosen by a file's ending."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ireebench.errors import MissingToolError, UnknownNameError
from ireebench.report.compare_report import comparison_tables
from ireebench.report.documents import store_document
from ireebench.report.evidence import Evidence
from ireebench.report.export_t4 import t4_metadata, t4_results
from ireebench.report.sweep_report import flat_table
from ireebench.report.table import Table, to_csv, to_markdown

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Written:
    """A file to be written, and its bytes."""

    path: Path
    body: bytes


def flat(found: Sequence[Evidence]) -> Table:
    """One row a trial and cache policy with every figure in full, and the device that it comes from."""
    parts = [(e.environment.device if e.environment else None, flat_table(e.rows)) for e in found]
    columns = parts[0][1].columns
    rows = tuple((*row, device) for device, table in parts for row in table.rows)
    return Table.of((*(c.title for c in columns), "device"), rows)


def _csv(found: Sequence[Evidence], path: Path) -> list[Written]:
    return [Written(path, to_csv(flat(found)).encode())]


def _json_text(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _json(found: Sequence[Evidence], path: Path) -> list[Written]:
    return [Written(path, _json_text({"schema_version": SCHEMA_VERSION, **store_document(found)}))]


def markdown(found: Sequence[Evidence]) -> str:
    """The tables of a comparison, and its summary."""
    tables, lines = comparison_tables(found)
    return "\n".join([*map(to_markdown, tables), *(f"- {line}" for line in lines)]) + "\n"


def _markdown(found: Sequence[Evidence], path: Path) -> list[Written]:
    return [Written(path, markdown(found).encode())]


def _t4(found: Sequence[Evidence], path: Path) -> list[Written]:
    beside = path.with_name(path.name.removesuffix(".t4.json") + ".t4-metadata.json")
    return [Written(path, _json_text(t4_results(found))), Written(beside, _json_text(t4_metadata(found)))]


def _parquet(found: Sequence[Evidence], path: Path) -> list[Written]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingToolError("Parquet files need pyarrow: pip install 'ireebench[parquet]'") from None
    table = flat(found)
    columns = {c.title: [row[i] for row in table.rows] for i, c in enumerate(table.columns)}
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    return [Written(path, sink.getvalue().to_pybytes())]


# The longest ending that fits counts: "x.t4.json" is T4.
WRITERS: dict[str, Callable[[Sequence[Evidence], Path], list[Written]]] = {
    ".t4.json": _t4,
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
    ".md": _markdown,
}


def check_ending(path: Path) -> str:
    """The ending of WRITERS that `path` has; raises UnknownNameError where it has none of them."""
    for ending in WRITERS:
        if path.name.endswith(ending):
            return ending
    raise UnknownNameError("kind of file", path.name, [*WRITERS, ".html"], "the ending says what to write")


def export(found: Sequence[Evidence], path: Path) -> list[Written]:
    """The file (for T4 two: results and metadata) that `path`'s ending asks for; raises UnknownNameError for others."""
    return WRITERS[check_ending(path)](found, path)

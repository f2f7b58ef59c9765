"""A table as data, and its renderings: aligned text, CSV, Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `title` carries the unit ("median us"); `digits` rounds floats; numbers are right-aligned."""

    title: str
    digits: int = 2


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of plain values; None prints as "-" and is empty in CSV."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str | None = None

    @classmethod
    def of(cls, titles: Sequence[str], rows: Sequence[Sequence[Cell]], title: str | None = None) -> Table:
        """A table with default columns."""
        return cls(tuple(Column(t) for t in titles), tuple(tuple(r) for r in rows), title)


def cell_text(value: Cell, digits: int) -> str:
    """One cell for a person: None is "-", booleans are yes and no, floats are rounded."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.{digits}f}"
        case _:
            return str(value)


def _grid(table: Table) -> list[list[str]]:
    return [[cell_text(v, c.digits) for v, c in zip(row, table.columns, strict=True)] for row in table.rows]


def is_number(column: int, table: Table) -> bool:
    """Whether a column holds numbers alone, and is right-aligned."""
    values = [r[column] for r in table.rows if r[column] is not None]
    return bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def to_text(table: Table) -> str:
    """Aligned columns with no box drawing: readable in a terminal, a log and a pipe."""
    grid = _grid(table)
    heads = [c.title for c in table.columns]
    widths = [max(len(h), *(len(r[i]) for r in grid)) if grid else len(h) for i, h in enumerate(heads)]
    right = [is_number(i, table) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    body = [line(heads), line(["-" * w for w in widths]), *(line(r) for r in grid)]
    return "\n".join(([table.title] if table.title else []) + body) + "\n"


def to_markdown(table: Table) -> str:
    """A GitHub-flavoured Markdown table."""
    right = [is_number(i, table) for i in range(len(table.columns))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"

    rule = "| " + " | ".join("---:" if r else "---" for r in right) + " |"
    head = [f"**{table.title}**", ""] if table.title else []
    return "\n".join([*head, line([c.title for c in table.columns]), rule, *map(line, _grid(table))]) + "\n"


def to_csv(table: Table) -> str:
    """RFC 4180 CSV with full precision; None is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([c.title for c in table.columns])
    writer.writerows([["" if v is None else v for v in row] for row in table.rows])
    return out.getvalue()

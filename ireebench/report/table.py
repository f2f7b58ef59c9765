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


# Wider than this, heads of several words take two lines and columns that say nothing are left out.
_WIDE = 160


def to_text(table: Table) -> str:
    """Aligned columns with no box drawing: readable in a terminal, a log and a pipe."""
    grid = _grid(table)
    heads: list[tuple[str, ...]] = [(c.title,) for c in table.columns]
    widths = _widths(heads, grid)
    if sum(widths) + 2 * len(widths) > _WIDE:
        table = _without_empty_columns(table)
        grid = _grid(table)
        heads = _in_two_lines([c.title for c in table.columns], _widths([()] * len(table.columns), grid))
        widths = _widths(heads, grid)
    right = [is_number(i, table) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    body = [*map(line, zip(*heads, strict=True)), line(["-" * w for w in widths]), *(line(r) for r in grid)]
    return "\n".join(([table.title] if table.title else []) + body) + "\n"


def _widths(heads: Sequence[Sequence[str]], grid: list[list[str]]) -> list[int]:
    return [max((len(t) for t in (*head, *(r[i] for r in grid))), default=0) for i, head in enumerate(heads)]


def _without_empty_columns(table: Table) -> Table:
    """Leaves out the columns in which no row has a value; a table with no rows keeps its heads."""
    kept = [i for i in range(len(table.columns)) if not table.rows or any(r[i] is not None for r in table.rows)]
    rows = tuple(tuple(r[i] for i in kept) for r in table.rows)
    return Table(tuple(table.columns[i] for i in kept), rows, table.title)


def _in_two_lines(titles: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """Parts the titles that are wider than their cells, each where its longer line is shortest."""
    parted: list[tuple[str, ...]] = []
    for title, width in zip(titles, widths, strict=True):
        parts = [(title[:i].rstrip(), title[i:].lstrip()) for i in range(1, len(title)) if title[i - 1] in " /-"]
        wide = len(title) > width and parts
        parted.append(min(parts, key=lambda p: max(map(len, p))) if wide else ("", title))
    return parted if any(head[0] for head in parted) else [(title,) for title in titles]


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

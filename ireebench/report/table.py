"""A table as data, and its renderings: aligned text, CSV, Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `title` carries the unit ("median us"); `digits` rounds floats; numbers are right-aligned."""

    title: str
    digits: int = 2


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of plain values; None prints as "-" and is empty in CSV.

    One that is `parted` prints, where it is too wide, in two: what names the rows, and their figures.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str | None = None
    parted: bool = False

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


# Wider than this, heads of several words take two lines and columns that say nothing are left out. A parted table then
# says once what is equal in all rows, and at last comes in two.
_WIDE = 160


def to_text(table: Table) -> str:
    """Aligned columns with no box drawing: readable in a terminal, a log and a pipe."""
    grid = _grid(table)
    heads: list[tuple[str, ...]] = [(c.title,) for c in table.columns]
    if _width(heads, grid) <= _WIDE:
        return _text(table, heads)
    table = _without_empty_columns(table)
    if table.parted and _width(_heads(table), _grid(table)) > _WIDE:
        table = _without_equal_columns(table)
    if table.parted and _width(_heads(table), _grid(table)) > _WIDE:
        return "\n".join(_text(part, _heads(part)) for part in _names_and_figures(table))
    return _text(table, _heads(table))


def _text(table: Table, heads: Sequence[tuple[str, ...]]) -> str:
    grid = _grid(table)
    widths = _widths(heads, grid)
    right = [is_number(i, table) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    body = [*map(line, zip(*heads, strict=True)), line(["-" * w for w in widths]), *(line(r) for r in grid)]
    return "\n".join(([table.title] if table.title else []) + body) + "\n"


def _width(heads: Sequence[Sequence[str]], grid: list[list[str]]) -> int:
    widths = _widths(heads, grid)
    return sum(widths) + 2 * len(widths)


def _heads(table: Table) -> list[tuple[str, ...]]:
    return _in_two_lines([c.title for c in table.columns], _widths([()] * len(table.columns), _grid(table)))


def _widths(heads: Sequence[Sequence[str]], grid: list[list[str]]) -> list[int]:
    return [max((len(t) for t in (*head, *(r[i] for r in grid))), default=0) for i, head in enumerate(heads)]


def _without_empty_columns(table: Table) -> Table:
    """Leaves out the columns in which no row has a value; a table with no rows keeps its heads."""
    kept = [i for i in range(len(table.columns)) if not table.rows or any(r[i] is not None for r in table.rows)]
    return _columns(table, kept, table.title)


def _columns(table: Table, kept: Sequence[int], title: str | None) -> Table:
    rows = tuple(tuple(r[i] for i in kept) for r in table.rows)
    return replace(table, columns=tuple(table.columns[i] for i in kept), rows=rows, title=title)


def _without_equal_columns(table: Table) -> Table:
    """Says in the title what is the same in all of several rows; columns that differ stay."""
    grid = _grid(table)
    equal = [i for i in range(len(table.columns)) if len(grid) > 1 and len({r[i] for r in grid}) == 1]
    kept = [i for i in range(len(table.columns)) if i not in equal]
    if not equal or not kept:
        return table
    said = "the same for all: " + ", ".join(f"{table.columns[i].title} {grid[0][i]}" for i in equal)
    return _columns(table, kept, "; ".join([table.title, said] if table.title else [said]))


def _names_and_figures(table: Table) -> tuple[Table, ...]:
    """Two tables of the same numbered rows: columns of text, then columns of numbers; one where either has none."""
    numbers = [i for i in range(len(table.columns)) if is_number(i, table)]
    texts = [i for i in range(len(table.columns)) if i not in numbers]
    if not numbers or not texts:
        return (table,)
    rows = tuple((n, *r) for n, r in enumerate(table.rows, start=1))
    counted = replace(table, columns=(Column("#"), *table.columns), rows=rows)
    names = _columns(counted, [0, *(i + 1 for i in texts)], table.title)
    return names, _columns(counted, [0, *(i + 1 for i in numbers)], None)


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

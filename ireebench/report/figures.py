"""Published figures and those of vendors' programs, beside what was measured and never ranked with it."""

from __future__ import annotations

from collections.abc import Sequence

from ireebench.report.ranking import Standing, median_ns
from ireebench.report.rows import Row
from ireebench.report.table import Cell, Table

TITLE = "For comparison only, in no ranking: single figures of publications and of vendors' programs"


def figure_table(rows: Sequence[Row], standings: Sequence[Standing]) -> Table | None:
    """A row a figure, us, with the best measured candidate of its problem beside it; None where there is none."""
    best = {s.problem: median_ns(s.best) / 1e3 for s in reversed(standings) if s.best is not None}
    body: list[tuple[Cell, ...]] = []
    for r in rows:
        t, p = r.trial, r.trial.problem
        if t.figure_ns is not None:
            rate = r.bytes_moved / t.figure_ns if r.bytes_moved is not None else None
            body.append((p.id, p.op, p.shape_text, p.dtype, t.baseline, t.figure_ns / 1e3, rate, best.get(p), t.reason))
    heads = ("problem", "op", "shape", "dtype", "figure of", "us", "GB/s", "best here us", "what it is")
    return Table.of(heads, body, TITLE) if body else None

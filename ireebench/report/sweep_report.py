"""All that a sweep has to say, from its trials: tables, lines in words, one flat table, one JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ireebench.measure.job import CachePolicy
from ireebench.problems.problem import Problem
from ireebench.report.figures import figure_table
from ireebench.report.ranking import Standing, standing
from ireebench.report.rows import CeilingLookup, Row, all_rows, no_ceiling, row_document
from ireebench.report.sweep_tables import (
    compiled_line,
    coverage_table,
    emulated_lines,
    executed_table,
    failure_table,
    ranked_table,
    static_table,
    summary_line,
)
from ireebench.report.table import Cell, Table
from ireebench.store.reading import no_collector
from ireebench.store.trial import Trial

Noise = Mapping[tuple[Problem, CachePolicy], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class SweepReport:
    """`tables` for people, `lines` the conclusions, `flat` a row a trial and cache policy.

    The last grows with the number of trials, so it is made when it is asked for.
    """

    rows: tuple[Row, ...]
    standings: tuple[Standing, ...]
    tables: tuple[Table, ...]
    lines: tuple[str, ...]

    @property
    def flat(self) -> Table:
        """One row a trial and cache policy, every figure in full: the CSV."""
        return flat_table(self.rows)


def make_report(
    trials: Sequence[Trial],
    caches: Sequence[CachePolicy],
    noise: Noise,
    top: int,
    ceiling: CeilingLookup = no_ceiling,
) -> SweepReport:
    """The report of these trials. With no cache policy nothing was timed: the tables show what compiled."""
    with no_collector():
        rows = all_rows(trials, ceiling)
    by_problem: dict[Problem, list[Row]] = {}
    for r in rows:
        by_problem.setdefault(r.trial.problem, []).append(r)
    standings = tuple(standing(p, mine, c, noise.get((p, c), ())) for p, mine in by_problem.items() for c in caches)
    if caches:
        tables = [ranked_table(s, top) for s in standings]
        lines = [summary_line(s) for s in standings]
    else:
        tables = []
        for p, mine in by_problem.items():
            tables += [t for t in (static_table(p, mine, top), executed_table(p, mine, top)) if t is not None]
        tables.append(coverage_table(rows))
        lines = [compiled_line(rows), *emulated_lines(rows)]
    figures = figure_table(rows, standings)
    if figures is not None:
        tables.append(figures)
    failures = failure_table(rows)
    if failures is not None:
        tables.append(failures)
    return SweepReport(rows, standings, tuple(tables), tuple(lines))


_FLAT = (
    "problem", "op", "shape", "shape_kind", "dtype", "index_dtype", "target", "variant", "baseline", "form", "ship",
    "config", "status", "stage", "reason", "applied", "timer", "cache", "processes", "samples", "median_ns", "q1_ns",
    "q3_ns", "span_ns", "gap_ns", "bytes_moved", "gb_per_s", "percent_of_ceiling", "plausible", "compile_key",
    "figure_ns",
)  # fmt: skip


def flat_table(rows: Sequence[Row]) -> Table:
    """One row a trial and cache policy, every figure in full: the CSV."""
    body: list[tuple[Cell, ...]] = []
    for r in rows:
        document = row_document(r)
        document["shape"] = r.trial.problem.shape_text
        document["config"] = str(r.trial.config) if r.trial.variant else None
        body.append(tuple(document[name] for name in _FLAT))
    return Table.of(_FLAT, body)

"""All tables of a comparison and its summary in words, for every environment, cache policy and figure."""

from __future__ import annotations

from collections.abc import Sequence

from ireebench.report.compare_tables import (
    duels,
    lowering_table,
    results_table,
    scaling_table,
    shuffle_table,
    tuned_table,
    words,
)
from ireebench.report.evidence import Evidence
from ireebench.report.figures import figure_table
from ireebench.report.table import Table

FIGURES = ("kernel", "span")


def comparison_tables(found: Sequence[Evidence], figures: Sequence[str] = FIGURES) -> tuple[list[Table], list[str]]:
    """(tables that have rows, lines). By span only where a timer saw kernels apart: else it is no figure of its own."""
    tables: list[Table] = []
    lines: list[str] = []
    for evidence in found:
        single = figure_table(evidence.rows, [s for c in evidence.caches for s in evidence.standings(c, "kernel")])
        if not evidence.caches:
            tables += [lowering_table(evidence, None), *([single] if single else [])]
            continue
        for cache in evidence.caches:
            for figure in figures if evidence.sees_kernels else FIGURES[:1]:
                fought = duels(evidence, cache, figure)
                tables += [results_table(fought, figure), tuned_table(evidence, cache, figure)]
                lines += words(fought, figure)
            tables += [lowering_table(evidence, cache), scaling_table(evidence, cache), shuffle_table(evidence, cache)]
        tables += [single] if single else []
        lines += [line for beaten in evidence.beaten.values() for line in beaten]
    return [t for t in tables if t.rows], lines

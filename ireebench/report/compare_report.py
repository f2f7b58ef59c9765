"""All tables of a comparison and its summary in words, for every environment, cache policy and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

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
from ireebench.store.trial import Environment

FIGURES = ("kernel", "span")


def environment_labels(environments: Sequence[Environment | None]) -> tuple[str, ...]:
    """What tells each environment from the others: the settings and libraries that are not the same in all.

    Nothing for one alone.
    """
    if len(environments) < 2:
        return ("",) * len(environments)
    told = [_settings(e) for e in environments]
    differing = [k for k in dict.fromkeys(k for t in told for k in t) if len({t.get(k) for t in told}) > 1]
    return tuple(
        ", ".join(f"{k.replace('_', ' ')} {t.get(k) or 'none'}" for k in differing) or f"environment {n}"
        for n, t in enumerate(told, 1)
    )


def _settings(environment: Environment | None) -> dict[str, str]:
    if environment is None:
        return {"environment": "not told"}
    own = {
        f.name: str(getattr(environment, f.name)) for f in fields(environment) if f.name not in ("details", "protocol")
    }
    return own | dict(environment.details)


def comparison_tables(found: Sequence[Evidence], figures: Sequence[str] = FIGURES) -> tuple[list[Table], list[str]]:
    """(tables that have rows, lines). By span only where a timer saw kernels apart: else it is no figure of its own."""
    tables: list[Table] = []
    lines: list[str] = []
    labels = environment_labels([e.environment for e in found])
    for evidence, label in zip(found, labels, strict=True):
        more, said = _of_environment(evidence, figures)
        tables += [replace(t, title=f"{t.title} [{label}]") if label else t for t in more if t.rows]
        lines += [f"[{label}] {line}" if label else line for line in dict.fromkeys(said)]
    return tables, lines


def _of_environment(evidence: Evidence, figures: Sequence[str]) -> tuple[list[Table], list[str]]:
    tables: list[Table] = []
    lines: list[str] = []
    single = figure_table(evidence.rows, [s for c in evidence.caches for s in evidence.standings(c, "kernel")])
    if not evidence.caches:
        tables += [lowering_table(evidence, None), *([single] if single else [])]
        return tables, lines
    for cache in evidence.caches:
        for figure in figures if evidence.sees_kernels else FIGURES[:1]:
            fought = duels(evidence, cache, figure)
            tables += [results_table(fought, figure), tuned_table(evidence, cache, figure)]
            lines += words(fought, figure)
        tables += [lowering_table(evidence, cache), scaling_table(evidence, cache), shuffle_table(evidence, cache)]
    tables += [single] if single else []
    lines += [line for beaten in evidence.beaten.values() for line in beaten]
    return tables, lines

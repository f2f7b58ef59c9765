"""`ireebench compare`: variants and baselines in the tables of the published report, or two stores side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import (
    MeasureChoice,
    Place,
    Space,
    make_request,
    measure_options,
    place_options,
    space_options,
)
from ireebench.errors import UnknownNameError, UsageError
from ireebench.problems.problem import OPS
from ireebench.problems.select import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireebench.report.evidence import Evidence
    from ireebench.report.table import Table

EXAMPLES = options.examples(
    "ireebench compare argmax --models all --target gfx942",
    "ireebench compare argmax --from h200.db --format markdown -o report.md",
    "ireebench compare before.db after.db --fail-on-regression 3",
)
REGRESSION = 4


@click.command(epilog=EXAMPLES)
@click.argument("what", nargs=-1, required=True, metavar="OP | A.db B.db")
@options.problems
@space_options
@measure_options
@place_options
@click.option("--from", "source", type=click.Path(path_type=Path), help="Stored trials; nothing is measured.")
@click.option("--by", type=click.Choice(["kernel", "span", "both"]), default="both", show_default=True, help="Figure.")
@click.option("--fail-on-regression", "percent", type=float, metavar="PERCENT", help="Exit 4 where B is slower.")
@options.output
def command(
    what: tuple[str, ...],
    selection: Selection,
    space: Space,
    measure: MeasureChoice,
    place: Place,
    source: Path | None,
    by: str,
    percent: float | None,
    output: Output,
) -> None:
    """Compare variants and baselines of OP, or two stores A.db and B.db.

    With OP the trials are measured first, or taken from a store with --from. With two stores each row is judged by a
    bootstrap interval against the noise floor.
    """
    if len(what) == 2:
        _stores(Path(what[0]), Path(what[1]), percent, output)
        return
    (op,) = what if len(what) == 1 else (None,)
    if op is None:
        raise UsageError("compare takes one op, or two stores: ireebench compare A.db B.db")
    if op not in OPS:
        raise UnknownNameError("op", op, OPS, "or give two stores: ireebench compare A.db B.db")
    if percent is not None:
        raise UsageError("--fail-on-regression compares two stores: ireebench compare A.db B.db")
    if source is None:
        from ireebench.cli.sweep_run import sweep

        place.prepare()
        sweep(make_request(op, selection, space, measure, place.fresh), place)
        source = place.db
    _report(op, source, by, output)


def _report(op: str, source: Path, by: str, output: Output) -> None:
    from ireebench.report.load import load_evidence
    from ireebench.report.rows import row_document
    from ireebench.store.database import Store

    with Store.open(source) as store:
        found = load_evidence(store, op)
        tables, lines = _tables(found, ("kernel", "span") if by == "both" else (by,))
    trials = [row_document(r) for e in found for r in e.rows]
    output.emit(tables, {"summary": lines, "trials": trials})
    if output.format != "json":
        click.echo("\n" + "\n".join(lines), err=output.format == "csv")


def _tables(found: Sequence[Evidence], figures: Sequence[str]) -> tuple[list[Table], list[str]]:
    from ireebench.report.compare_tables import (
        duels,
        lowering_table,
        results_table,
        scaling_table,
        shuffle_table,
        tuned_table,
        words,
    )

    tables: list[Table] = []
    lines: list[str] = []
    for evidence in found:
        if not evidence.caches:
            tables.append(lowering_table(evidence, None))
            continue
        for cache in evidence.caches:
            for figure in figures if evidence.sees_kernels else ("kernel",):
                fought = duels(evidence, cache, figure)
                tables += [results_table(fought, figure), tuned_table(evidence, cache, figure)]
                lines += words(fought, figure)
            tables += [lowering_table(evidence, cache), scaling_table(evidence, cache), shuffle_table(evidence, cache)]
    return [t for t in tables if t.rows], lines


def _stores(a: Path, b: Path, percent: float | None, output: Output) -> None:
    from ireebench.report.compare_stores import compare, comparison_words, pairs_table
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    with Store.open(a) as first, Store.open(b) as second:
        comparison = compare(load_evidence(first), load_evidence(second))
    lines = comparison_words(comparison, percent)
    rows = [
        {
            "problem": p.a.trial.problem.id,
            "what": p.a.trial.label,
            "cache": p.cache,
            "change_percent": p.change_percent,
            "verdict": p.verdict.word,
            "low": p.verdict.low,
            "high": p.verdict.high,
            "noise": p.verdict.noise,
        }
        for p in comparison.pairs
    ]
    output.emit(pairs_table(comparison), {"pairs": rows, "differences": comparison.differences, "summary": lines})
    if output.format != "json":
        click.echo("\n" + "\n".join(lines), err=output.format == "csv")
    if percent is not None and any(p.regressed(percent) for p in comparison.pairs):
        raise click.exceptions.Exit(REGRESSION)

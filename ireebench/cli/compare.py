"""`ireebench compare`: variants and baselines in the tables of the published report, or two stores side by side."""

from __future__ import annotations

from pathlib import Path

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import (
    MeasureChoice,
    Place,
    Space,
    measure_options,
    place_options,
    space_options,
)
from ireebench.cli.sweep_request import asked_by_options, make_request
from ireebench.errors import UnknownNameError, UsageError
from ireebench.problems.problem import OPS, Problem
from ireebench.problems.select import Selection

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
@click.pass_context
def command(
    context: click.Context,
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

    With OP the trials are measured first, or taken from a store with --from; `-o FILE.html` gives a page. With two
    stores each row is judged by a bootstrap interval against the noise floor.
    """
    if len(what) == 2 or source is not None:
        _refuse_measuring(context, len(what) == 2)
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
        sweep(make_request(asked_by_options(op, selection, space, measure), place.fresh), place)
        source = place.db
    _report(op, source, _chosen(op, selection), by, output)


# Options that choose among what a store holds, or say how it is shown.
_OF_OP = frozenset(("models", "suite", "shape", "dtype", "index_dtype", "problems_file", "padded"))
_SHOWN = frozenset(("what", "source", "by", "percent", "fmt", "path"))


def _refuse_measuring(context: click.Context, two_stores: bool) -> None:
    """Raises UsageError for options that say how to measure, where nothing is measured: none is ignored in silence."""
    meant = _SHOWN if two_stores else _SHOWN | _OF_OP
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name not in meant
        and context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        what = "two stores are compared" if two_stores else "--from shows what was measured"
        raise UsageError(f"{what}: leave {', '.join(given)} out")


def _chosen(op: str, selection: Selection) -> tuple[Problem, ...] | None:
    """The problems asked for; None, for all that the store holds, where none were."""
    if (selection.models, selection.suite, selection.shape, selection.problems_file) == (None,) * 4:
        return None
    from ireebench.problems.select import select

    return tuple(select(op, selection))


def _report(op: str, source: Path, problems: tuple[Problem, ...] | None, by: str, output: Output) -> None:
    from ireebench.report.compare_report import FIGURES, comparison_tables
    from ireebench.report.documents import store_document
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    page = output.path is not None and output.path.suffix == ".html"
    with Store.open(source) as store:
        found = load_evidence(store, op, sources=page, problems=problems)
        if page:
            from ireebench.report.page.build import build_page

            output.text(build_page(found, {}))
            return
        tables, lines = comparison_tables(found, FIGURES if by == "both" else (by,))
    output.emit(tables, {"summary": lines, **store_document(found)})
    if output.format != "json":
        click.echo("\n" + "\n".join(lines), err=output.format == "csv")


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
            "verdict": p.verdict.word if p.verdict else None,
            "low": p.verdict.low if p.verdict else None,
            "high": p.verdict.high if p.verdict else None,
            "noise": p.verdict.noise if p.verdict else None,
        }
        for p in comparison.pairs
    ]
    output.emit(pairs_table(comparison), {"pairs": rows, "differences": comparison.differences, "summary": lines})
    if output.format != "json":
        click.echo("\n" + "\n".join(lines), err=output.format == "csv")
    if percent is not None and any(p.regressed(percent) for p in comparison.pairs):
        raise click.exceptions.Exit(REGRESSION)

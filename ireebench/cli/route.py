"""`ireebench route`: the smallest table from shape to variant and configuration that stays near the best."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import StoreError, UsageError
from ireebench.problems.problem import OPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireebench.report.evidence import Evidence
    from ireebench.report.route_shapes import Measured, Wanted
    from ireebench.report.routing import HoldOut

EXAMPLES = options.examples(
    "ireebench route gemv --from h200.db --cache cold",
    "ireebench route argmax --from h200.db --ships --within 5 --held-out 30%",
    "ireebench route gemv --from h200.db --rows 3 --format json -o rule.json",
)
NOT_KEPT = 3


@click.command(epilog=EXAMPLES)
@click.argument("op", type=click.Choice(OPS))
@click.option("--from", "db", type=click.Path(path_type=Path), required=True, metavar="DB", help="Stored trials.")
@click.option(
    "--within",
    type=float,
    default=3.0,
    show_default=True,
    metavar="PERCENT",
    help="Good enough: so much slower than a shape's best.",
)
@click.option("--rows", type=click.IntRange(min=1), help="At most so many rows; ends with 3 where they do not do.")
@click.option(
    "--held-out",
    default="5",
    show_default=True,
    metavar="FOLDS|SHARE",
    help="Hold shapes out in 5 folds, or 30% once; 0: none.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is held out.")
@click.option("--cache", type=click.Choice(["hot", "cold"]), default="hot", show_default=True, help="Which times.")
@click.option(
    "--by", type=click.Choice(["kernel", "span"]), default="kernel", show_default=True, help="Sum of kernels, or span."
)
@click.option("--ships", is_flag=True, help="Only what a user can have without rewriting IR.")
@click.option("--timer", metavar="NAME", help="Only trials of this timer.")
@click.option("--target", metavar="NAME", help="Only trials of this target.")
@options.output
def command(  # one parameter an option
    op: str,
    db: Path,
    within: float,
    rows: int | None,
    held_out: str,
    seed: int,
    cache: Literal["hot", "cold"],
    by: str,
    ships: bool,
    timer: str | None,
    target: str | None,
    output: Output,
) -> None:
    """Print the smallest table from shape to variant and configuration that stays near each shape's best.

    Learnt from the trials in DB that passed the check and were timed alike; then rules that are learnt on part of the
    shapes are told on the others. Nothing is compiled or measured.
    """
    if not (0 <= within < math.inf):
        raise UsageError(f"--within is {within:g}; it is a percentage of the best's time, 0 or more")
    plan = _plan(held_out, seed)
    from ireebench.report.load import load_evidence
    from ireebench.report.route_shapes import Wanted, measured
    from ireebench.report.route_tables import document, notes, route, tables
    from ireebench.report.routing import Goal
    from ireebench.store.database import Store

    wanted = Wanted(op, cache, timer, target, ships, by)
    with Store.open(db) as store:
        evidence = load_evidence(store, op)
    groups = [m for m in measured(evidence, wanted) if m.shapes]
    if not groups:
        raise StoreError(f"{db}: {_nothing(evidence, wanted)}")
    found = [route(m, Goal(within / 100, rows), plan) for m in groups]
    output.emit([t for r in found for t in tables(r)], document(found, wanted))
    for line in (line for r in found for line in notes(r)):
        click.echo(f"note: {line}", err=True)
    if rows is not None and not all(r.learnt.kept for r in found):
        raise click.exceptions.Exit(NOT_KEPT)


def _plan(text: str, seed: int) -> HoldOut | None:
    """ "5" is a number of folds, "30%" and "0.3" a share; "0" holds nothing out."""
    from ireebench.report.routing import HoldOut

    number = text.strip().removesuffix("%")
    percent = text.strip().endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = math.nan
    if value == 0:
        return None
    if 0 < value < 1:
        return HoldOut(share=value, folds=None, seed=seed)
    if not percent and 2 <= value < math.inf and value == int(value):
        return HoldOut(folds=int(value), seed=seed)
    raise UsageError(f"--held-out '{text}': write a number of folds such as 5, a share such as 30%, or 0 for none")


def _nothing(evidence: Sequence[Evidence], wanted: Wanted) -> str:
    """Why no rule can be learnt, and what the store has instead."""
    from dataclasses import replace

    from ireebench.report.route_shapes import measured

    base = replace(wanted, timer=None, target=None, ships=False)
    other: tuple[Literal["hot", "cold"], ...] = ("hot", "cold")
    there: list[Measured] = [m for c in other for m in measured(evidence, replace(base, cache=c)) if m.shapes]
    if not there:
        return f"no {wanted.op} candidate that passed the check was timed; nothing to learn from"
    listed = "; ".join(
        dict.fromkeys(f"--cache {m.cache} --target {m.place.target} --timer {m.place.timer}" for m in there)
    )
    ships = " that ships" if wanted.ships else ""
    return f"no {wanted.op} candidate{ships} was timed as asked; there is: {listed}"

"""`ireebench space`: the configurations that a sweep would try, and the constraint that refused each of the rest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import Space, listing_options, op_argument
from ireebench.cli.sweep_request import resolve_target, resolve_variants
from ireebench.problems.select import Selection
from ireebench.report.table import Table

if TYPE_CHECKING:
    from ireebench.candidate import Candidate
    from ireebench.space.constraints import Rejection

EXAMPLES = options.examples(
    "ireebench space argmax --models llama3 --target gfx942",
    "ireebench space argmax --models llama3-8b-batch --variants vd --config SG=3,PR=768,TH=4 --target gfx942 --explain",
    "ireebench space argmax --models llama3 --target gfx942 --format json",
)


@click.command(epilog=EXAMPLES)
@op_argument
@options.problems
@listing_options
@click.option("--explain", is_flag=True, help="List the refused configurations with the constraint that refused each.")
@options.output
def command(op: str, selection: Selection, space: Space, explain: bool, output: Output) -> None:
    """List the configurations that a sweep of OP (argmax, argmin, gemv) would try, or count and explain the refused."""
    from ireebench.problems.select import select
    from ireebench.space.enumerate import enumerate_space

    target = resolve_target(space.target, None)
    accepted: list[Candidate] = []
    rejected: list[Rejection] = []
    for problem in select(op, selection):
        for variant in resolve_variants(op, space.variants, target):
            found = enumerate_space(problem, variant, target, limit=space.limit, seed=space.seed, config=space.config)
            accepted += found.accepted
            rejected += found.rejected
    document = {
        "target": target.name,
        "configs": [_row(c) for c in accepted],
        "rejected": [{**_row(r.candidate), "constraint": r.constraint, "reason": r.reason} for r in rejected],
    }
    if explain:
        output.emit(_refusals(rejected), document)
        return
    title = f"{len(accepted)} configurations on {target.name}; {_summary(rejected)}"
    output.emit(_listing(accepted, title), document)


def _row(candidate: Candidate) -> dict[str, object]:
    return {
        "problem": candidate.problem.id,
        "variant": candidate.variant.name,
        "form": candidate.form.name,
        "ship": candidate.ship.value,
        "config": candidate.config.as_dict(),
    }


def _summary(rejected: list[Rejection]) -> str:
    if not rejected:
        return "none refused"
    counts = ", ".join(f"{name} {n}" for name, n in Counter(r.constraint for r in rejected).most_common())
    return f"{len(rejected)} refused ({counts}); --explain lists them"


def _listing(accepted: list[Candidate], title: str) -> Table:
    titles = ("problem", "variant", "form", "config", "ship")
    rows = [(c.problem.id, c.variant.name, c.form.name, str(c.config), c.ship.value) for c in accepted]
    return Table.of(titles, rows, title)


def _refusals(rejected: list[Rejection]) -> Table:
    titles = ("problem", "variant", "config", "constraint", "reason")
    rows = [
        (r.candidate.problem.id, r.candidate.variant.name, str(r.candidate.config), r.constraint, r.reason)
        for r in rejected
    ]
    return Table.of(titles, rows, f"{len(rejected)} refused")

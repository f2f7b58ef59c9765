"""`ireebench sweep`: compile, check, time and rank candidates."""

from __future__ import annotations

from dataclasses import replace

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import (
    MeasureChoice,
    Place,
    Space,
    make_request,
    measure_options,
    op_argument,
    place_options,
    space_options,
)
from ireebench.problems.select import Selection

EXAMPLES = options.examples(
    "ireebench sweep argmax --models llama3",
    "ireebench sweep argmax --suite published --target gfx942 --compile-only --limit 12",
    "ireebench sweep argmin --shape 1024x65536 --dtype f32 --variants vd,vd_split --limit 20 --out results",
)


@click.command(epilog=EXAMPLES)
@op_argument
@options.problems
@space_options
@measure_options
@place_options
@click.option("--dry-run", is_flag=True, help="Count candidates, explain refusals, run nothing.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Candidates shown a problem.")
@options.output
def command(
    op: str,
    selection: Selection,
    space: Space,
    measure: MeasureChoice,
    place: Place,
    dry_run: bool,
    top: int,
    output: Output,
) -> None:
    """Compile, check, time and rank candidates for OP (argmax, argmin, gemv).

    Trials go to a store: a sweep that was stopped goes on where it was. Tables go to stdout, spec files and a CSV to
    the output folder.
    """
    from ireebench.cli.sweep_run import count, run

    if dry_run:
        count(make_request(op, selection, space, replace(measure, compile_only=True), place.fresh), output)
    else:
        run(make_request(op, selection, space, measure, place.fresh), place, top, output)

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
    definition_option,
    devices_option,
    measure_options,
    place_options,
    profile_options,
    space_options,
)
from ireebench.cli.sweep_request import What, asked_by, make_remote_request, make_request
from ireebench.errors import UsageError
from ireebench.problems.select import Selection

EXAMPLES = options.examples(
    "ireebench sweep argmax --models llama3",
    "ireebench sweep argmax --suite published --target gfx942 --compile-only --limit 12",
    "ireebench sweep --file dpp-vs-shuffle --target gfx942 --compile-only --out results",
)


@click.command(epilog=EXAMPLES)
@click.argument("op", required=False)
@options.problems
@space_options
@measure_options
@devices_option
@profile_options
@place_options
@definition_option
@click.option("--dry-run", is_flag=True, help="Count candidates, explain refusals, run nothing.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Candidates shown a problem.")
@click.option("--cluster", metavar="tcp://HOST:PORT", help="Compile and measure on a Dask cluster (docs/cluster.md).")
@options.output
@click.pass_context
def command(
    context: click.Context,
    op: str | None,
    selection: Selection,
    space: Space,
    measure: MeasureChoice,
    place: Place,
    file: str | None,
    dry_run: bool,
    top: int,
    cluster: str | None,
    output: Output,
) -> None:
    """Compile, check, time and rank candidates for OP (argmax, argmin, gemv), or those of a definition file.

    Trials go to a store: a sweep that was stopped goes on where it was. Tables go to stdout, spec files and a CSV to
    the output folder.
    """
    from ireebench.cli.sweep_run import count, run

    if dry_run:
        measure = replace(measure, compile_only=True)
    asked = asked_by(context, What(op, selection, file), space, measure)
    if cluster is not None and asked.measure.devices:
        raise UsageError("--devices are this machine's, and a cluster's workers have their own: leave one out")
    if cluster is not None and asked.measure.profile:
        raise UsageError("--pmc and --att run where the GPU is: leave --cluster out")
    if cluster is not None and not asked.measure.compile_only:
        request = replace(make_remote_request(asked), fresh=place.fresh)
    else:
        request = make_request(asked, place.fresh)
    if dry_run:
        count(request, output)
    else:
        run(request, place, top, output, cluster)

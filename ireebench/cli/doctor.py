"""`ireebench doctor`: what is present and usable here, and how to get the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output

if TYPE_CHECKING:
    from ireebench.doctor.finding import Finding

EXAMPLES = options.examples(
    "ireebench doctor",
    "ireebench doctor --problems",
    "ireebench doctor --format json -o doctor.json",
)


@click.command(epilog=EXAMPLES)
@click.option("--problems", is_flag=True, help="Only what is missing or needs attention.")
@options.output
def command(problems: bool, output: Output) -> None:
    """Say what is present and usable here, and how to get the rest.

    Runs nothing on a GPU and takes a few seconds. Ends with 1 when the compiler or the runtime is missing.
    """
    from ireebench.doctor.examine import examine
    from ireebench.doctor.finding import State
    from ireebench.doctor.machine import Machine
    from ireebench.doctor.render import to_lines

    findings = examine(Machine())
    shown = [f for f in findings if f.state is not State.OK] if problems else list(findings)
    if output.format == "table":
        output.text(to_lines(shown))
    else:
        _emit(shown, output)
    if any(f.essential and f.state is not State.OK for f in findings):
        raise click.exceptions.Exit(1)


def _emit(shown: Sequence[Finding], output: Output) -> None:
    from ireebench.report.table import Table

    table = Table.of(
        ("area", "what", "state", "detail", "remedy"),
        [(f.area, f.name, f.state.value, f.detail, f.remedy) for f in shown],
    )
    document = {
        "findings": [
            {
                "area": f.area,
                "name": f.name,
                "state": f.state.value,
                "detail": f.detail,
                "remedy": f.remedy,
                "essential": f.essential,
            }
            for f in shown
        ]
    }
    output.emit(table, document)

"""`ireebench mlir`: the IR of candidates, their tuning specs, and the plain compiler lines that reproduce them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import Space, listing_options, op_argument
from ireebench.cli.sweep_request import resolve_target, resolve_variants
from ireebench.errors import UsageError
from ireebench.problems.select import Selection

if TYPE_CHECKING:
    from ireebench.candidate import Candidate
    from ireebench.ir.program import Program

EXAMPLES = options.examples(
    "ireebench mlir argmax --models llama3-8b --variants vd --config SG=4,PR=2048,TH=8 --target gfx942",
    "ireebench mlir argmax --models llama3-8b --variants vd_split --target gfx942 --limit 1 --spec -o spec.mlir",
    "ireebench mlir argmax --shape 32x131072 --dtype bf16 --variants vd --limit 1 --target gfx942 --show-command",
)


@click.command(epilog=EXAMPLES)
@op_argument
@options.problems
@listing_options
@click.option("--all", "every", is_flag=True, help="Every candidate, one module after the other; not the first only.")
@click.option("--spec", is_flag=True, help="Print the tuning spec that configures a plain op so, not the IR.")
@click.option("--show-command", is_flag=True, help="Print the iree-compile line that reproduces the candidate.")
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="Write to FILE instead of stdout.")
def command(
    op: str, selection: Selection, space: Space, every: bool, spec: bool, show_command: bool, path: Path | None
) -> None:
    """Print the MLIR of candidates of OP (argmax, argmin, gemv), their tuning spec, or how to compile them."""
    if spec and show_command:
        raise UsageError("--spec and --show-command exclude each other; give one")
    from ireebench.compiler.flags import plain_command
    from ireebench.ir.build import build_program
    from ireebench.ir.specs import emit_spec

    programs = [build_program(c) for c in _candidates(op, selection, space, every)]
    if spec:
        text = emit_spec(programs)
    elif show_command:
        text = "\n".join(_reproduce(p, plain_command(p)) for p in programs)
    else:
        text = "// -----\n\n".join(p.mlir for p in programs)
    Output("table", path).text(text)


def _reproduce(program: Program, command_line: str) -> str:
    """The compiler's line under a comment that says which candidate it is and where its files come from."""
    spec = "; spec.mlir: with --spec" if program.spec else ""
    return f"# {program.candidate}\n# module.mlir: this command without --show-command{spec}\n{command_line}"


def _candidates(op: str, selection: Selection, space: Space, every: bool) -> list[Candidate]:
    """The candidates asked for; raises UsageError with the first refusal where there are none."""
    from ireebench.problems.select import select
    from ireebench.space.enumerate import enumerate_space

    target = resolve_target(space.target, None)
    found: list[Candidate] = []
    refusals: list[str] = []
    for problem in select(op, selection):
        for variant in resolve_variants(op, space.variants, target):
            limit = space.limit if every else 1
            listing = enumerate_space(problem, variant, target, limit=limit, seed=space.seed, config=space.config)
            found += listing.accepted
            refusals += [f"{r.candidate}: {r.reason} (constraint {r.constraint})" for r in listing.rejected]
    if not found:
        raise UsageError(f"no candidate: {refusals[0]}" if refusals else "no candidate")
    return found if every else found[:1]

"""`ireebench conformance`: how each implementation treats ties, zeros, infinities, NaN and one input many times."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import Space, op_argument, space_options
from ireebench.cli.sweep_request import resolve_target, resolve_variants
from ireebench.errors import UsageError
from ireebench.report.table import Table

if TYPE_CHECKING:
    from ireebench.compiler.driver import Compiler
    from ireebench.measure.conformance_run import Implementation
    from ireebench.problems.problem import Problem
    from ireebench.targets import Target
    from ireebench.variants import Variant

EXAMPLES = options.examples(
    "ireebench conformance argmax",
    "ireebench conformance argmin --shape 4x8192 --dtype bf16 --variants vd,default",
    "ireebench conformance argmax --baselines numpy --format markdown -o conformance.md",
)


@click.command(epilog=EXAMPLES)
@op_argument
@click.option("--shape", default="16x4096", show_default=True, help="The shape that the cases are made for.")
@click.option("--dtype", default="f32", show_default=True, help="f16, bf16, f32.")
@click.option("--device", metavar="URI", help="IREE device URI (default: the target's).")
@click.option("--baselines", "baseline_names", default="auto", show_default=True, help="numpy, torch ... or none.")
@click.option("--repeats", type=click.IntRange(min=2), default=100, show_default=True, help="Runs of one input.")
@space_options
@options.output
def command(
    op: str,
    shape: str,
    dtype: str,
    device: str | None,
    baseline_names: str,
    repeats: int,
    space: Space,
    output: Output,
) -> None:
    """Show how each implementation of OP treats ties, +-0, infinities, NaN, and the same input many times.

    A case passes when its result is right by the policy of docs/method.md; which of equal elements was taken, and what
    became of a NaN, is told beside it.
    """
    from ireebench.cli.sweep_options import names
    from ireebench.compiler.cache import default_cache
    from ireebench.compiler.driver import Compiler
    from ireebench.measure.baselines.table import expand
    from ireebench.measure.conformance_run import Implementation, run_implementation
    from ireebench.measure.device import URIS
    from ireebench.problems.select import Selection, select

    if op not in ("argmax", "argmin"):
        raise UsageError(f"conformance cases exist for argmax and argmin, not {op}")
    (problem,) = select(op, Selection(None, None, shape, dtype, "i64", None, True))
    target = resolve_target(space.target, device)
    place = device or URIS[target.backend]
    with Compiler(default_cache()) as compiler:
        tried = [
            _implementation(variant, problem, target, place, compiler)
            for variant in resolve_variants(op, space.variants, target)
        ]
    tried += [Implementation(name, place, baseline=name) for name in expand(names(baseline_names), problem.op, place)]
    rows = [(i.name, row) for i in tried for row in run_implementation(i, problem, repeats)]
    table = Table.of(
        ("implementation", "case", "verdict", "ties", "NaN", "reason"),
        [(name, r.case, r.verdict, r.ties, r.nan, r.reason) for name, r in rows],
        f"{op} {problem.shape_text} {dtype} on {place}",
    )
    output.emit(table, {"rows": [{"implementation": name, **asdict(r)} for name, r in rows]})


def _implementation(
    variant: Variant, problem: Problem, target: Target, device: str, compiler: Compiler
) -> Implementation:
    """The variant's first candidate at each shape that the cases have, compiled."""
    from ireebench.compiler.artifact import Artifact
    from ireebench.ir.build import build_program
    from ireebench.measure.conformance_run import Built, Implementation
    from ireebench.outcome import Failure, Stage, Status
    from ireebench.problems.ops.argcompare import conformance_inputs
    from ireebench.space.enumerate import enumerate_space

    shapes = dict.fromkeys([problem, *(p for _, p, _ in conformance_inputs(problem, 0))])
    built = []
    for p in shapes:
        space = enumerate_space(p, variant, target, limit=1)
        if not space.accepted:
            reason = space.rejected[0].reason if space.rejected else "no form serves this shape"
            built.append(Built(p, None, "", Failure(Status.REJECTED, reason, Stage.PLANNED)))
            continue
        outcome = compiler.compile(build_program(space.accepted[0]))
        if isinstance(outcome, Artifact):
            built.append(Built(p, Path(outcome.vmfb).resolve(), outcome.function))
        else:
            built.append(Built(p, None, "", outcome))
    return Implementation(variant.name, device, tuple(built))

"""`ireebench conformance`: how each implementation treats ties, zeros, infinities, NaN and one input many times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import Space, candidate_options, check_options, names, op_argument
from ireebench.cli.sweep_request import require_assembly, resolve_target, resolve_variants
from ireebench.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from ireebench.candidate import Candidate
    from ireebench.compiler.driver import Compiler
    from ireebench.measure.conformance import ConformanceRow
    from ireebench.measure.conformance_run import Implementation
    from ireebench.outcome import Failure
    from ireebench.problems.problem import Problem
    from ireebench.space.config import Config
    from ireebench.targets import Target
    from ireebench.variants import Variant

EXAMPLES = options.examples(
    "ireebench conformance argmax",
    "ireebench conformance argmin --shape 4x8192 --dtype bf16 --variants vd,default",
    "ireebench conformance argmax --target gfx942 --check emulated --format markdown -o conformance.md",
)


@click.command(epilog=EXAMPLES)
@op_argument
@click.option("--shape", default="16x4096", show_default=True, help="The shape that the cases are made for.")
@click.option("--dtype", default="f32", show_default=True, help="f16, bf16, f32.")
@click.option("--device", metavar="URI", help="IREE device URI (default: the target's).")
@click.option("--baselines", "baseline_names", default="auto", show_default=True, help="numpy, torch ... or none.")
@click.option("--repeats", type=click.IntRange(min=2), default=100, show_default=True, help="Runs of one input.")
@check_options(rows=4)
@candidate_options
@options.output
def command(
    op: str,
    shape: str,
    dtype: str,
    device: str | None,
    baseline_names: str,
    repeats: int,
    emulated_rows: int,
    space: Space,
    output: Output,
) -> None:
    """Show how each implementation of OP treats ties, +-0, infinities, NaN, and the same input many times.

    A case passes when its result is right by the policy of docs/method.md; which of equal elements was taken, and what
    became of a NaN, is told beside it.
    """
    from ireebench.compiler.cache import default_cache
    from ireebench.compiler.driver import Compiler
    from ireebench.measure.device import URIS
    from ireebench.problems.select import Selection, select
    from ireebench.report.conformance import conformance_document, conformance_table

    if op not in ("argmax", "argmin"):
        raise UsageError(f"conformance cases exist for argmax and argmin, not {op}")
    (problem,) = select(op, Selection(None, None, shape, dtype, "i64", None, True))
    target = resolve_target(space.target, device)
    variants = resolve_variants(op, space.variants, target)
    place = device or URIS[target.backend]
    if emulated_rows:
        require_assembly(target)
        if baseline_names not in ("auto", "none"):
            raise UsageError("--check emulated executes compiled code alone; leave --baselines out")
        place = f"{target.name}, emulated"
    else:
        _require_device(target, place)
    with Compiler(default_cache()) as compiler:
        if emulated_rows:
            rows = list(_emulated(compiler, problem, target, variants, (emulated_rows, space)))
        else:
            tried = [_implementation(v, problem, target, place, compiler, space.config) for v in variants]
            rows = list(_on_device([*tried, *_baselines(baseline_names, problem, place)], problem, repeats))
    table = conformance_table(rows, f"{op} {problem.shape_text} {dtype} on {place}")
    output.emit(table, conformance_document(rows, "emulator" if emulated_rows else "device"))


def _require_device(target: Target, place: str) -> None:
    from ireebench.measure.device import describe

    try:
        describe(place)
    except MissingToolError as e:
        hint = "; --check emulated needs no device" if target.backend == "hip" else ""
        raise MissingToolError(f"target {target.name}: {e}{hint}") from e
    except ValueError as e:
        raise UsageError(str(e)) from e


def _baselines(asked: str, problem: Problem, place: str) -> Iterator[Implementation]:
    from ireebench.measure.baselines.table import expand
    from ireebench.measure.conformance_run import Implementation

    for name in expand(names(asked), problem.op, place):
        yield Implementation(name, place, baseline=name)


def _on_device(tried: list[Implementation], problem: Problem, repeats: int) -> Iterator[tuple[str, ConformanceRow]]:
    from ireebench.measure.conformance_run import run_implementation

    return ((i.name, row) for i in tried for row in run_implementation(i, problem, repeats))


def _emulated(
    compiler: Compiler, problem: Problem, target: Target, variants: tuple[Variant, ...], how: tuple[int, Space]
) -> Iterator[tuple[str, ConformanceRow]]:
    """Each variant's rows; `how` = (rows to execute at most, the space)."""
    from ireebench.measure.conformance import ConformanceRow
    from ireebench.outcome import Failure
    from ireebench.sweep.emulated import conformance_emulated

    kept, space = how
    for variant in variants:
        candidate = _first_candidate(variant, problem, target, space.config)
        if isinstance(candidate, Failure):
            yield variant.name, ConformanceRow("all", "the variant applies", "not run", reason=candidate.reason)
            continue
        for row in conformance_emulated(compiler, candidate, kept, space.seed):
            yield variant.name, row


def _first_candidate(variant: Variant, problem: Problem, target: Target, config: Config | None) -> Candidate | Failure:
    """The likeliest candidate, or that of the configuration that was asked for."""
    from ireebench.outcome import Failure, Stage, Status
    from ireebench.space.enumerate import enumerate_space

    space = enumerate_space(problem, variant, target, limit=1, config=config)
    if space.accepted:
        return space.accepted[0]
    reason = space.rejected[0].reason if space.rejected else "no form serves this shape"
    return Failure(Status.REJECTED, reason, Stage.PLANNED)


def _implementation(
    variant: Variant, problem: Problem, target: Target, device: str, compiler: Compiler, config: Config | None
) -> Implementation:
    """The variant's first candidate at each shape that the cases have, compiled."""
    from ireebench.compiler.artifact import Artifact
    from ireebench.ir.build import build_program
    from ireebench.measure.conformance_run import Built, Implementation
    from ireebench.outcome import Failure
    from ireebench.problems.ops.argcompare import conformance_inputs

    shapes = dict.fromkeys([problem, *(p for _, p, _ in conformance_inputs(problem, 0))])
    built = []
    for p in shapes:
        candidate = _first_candidate(variant, p, target, config)
        outcome = candidate if isinstance(candidate, Failure) else compiler.compile(build_program(candidate))
        if isinstance(outcome, Artifact):
            built.append(Built(p, Path(outcome.vmfb).resolve(), outcome.function))
        else:
            built.append(Built(p, None, "", outcome))
    return Implementation(variant.name, device, tuple(built))

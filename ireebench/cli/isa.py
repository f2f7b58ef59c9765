"""`ireebench isa`: what a kernel's assembly says, with no GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.compiling import Setting, read_text
from ireebench.cli.output import Output
from ireebench.errors import BadFileError, UsageError

if TYPE_CHECKING:
    from ireebench.candidate import Candidate
    from ireebench.problems.problem import Problem
    from ireebench.report.isa import Inspected, Inspection
    from ireebench.space.config import Config

EXAMPLES = options.examples(
    "ireebench isa dump/module_argmax_dispatch_0_rocm_hsaco_fb.rocmasm",
    "ireebench isa llama3-8b --target gfx942 --variants vd,vd_shuffle --config SG=4,PR=2048,TH=8",
    "ireebench isa --compare old.rocmasm new.rocmasm",
)
_SUFFIXES = ("*.rocmasm", "*.s")
FAILED = 3


@click.command(epilog=EXAMPLES)
@click.argument("inputs", nargs=-1, metavar="FILE|PROBLEM...")
@click.option("--target", metavar="NAME", help="gfx942 ...; of a file: overrides the target that it names.")
@click.option("--config", "config_text", metavar="SG=4,PR=2048", help="Of a problem (default: the likeliest one).")
@click.option("--variants", default="vd", show_default=True, metavar="NAME[,NAME...]", help="Of a problem.")
@click.option("--op", default="argmax", show_default=True, help="Of a problem: argmax, argmin, gemv.")
@click.option("--padded/--no-padded", default=True, show_default=True, help="Of a problem: padded, as published.")
@click.option("--suite", metavar="NAME", help="All problems of a suite, such as 'published', in place of PROBLEM.")
@click.option("--dpp-shuffle", is_flag=True, help="Of problems: one table, each DPP variant beside its shuffle twin.")
@click.option("--compare", "pair", nargs=2, type=click.Path(path_type=Path), metavar="A B", help="Two files.")
@click.option("--where", "condition", metavar="FILTER", help="Only kernels for which this holds: 'spills == 0'.")
@options.output
def command(
    inputs: tuple[str, ...],
    target: str | None,
    config_text: str | None,
    variants: str,
    op: str,
    padded: bool,
    suite: str | None,
    dpp_shuffle: bool,
    pair: tuple[Path, Path] | None,
    condition: str | None,
    output: Output,
) -> None:
    """Read AMDGCN assembly: resources, occupancy, loops, instruction mix and lints.

    FILE is IREE's .rocmasm, clang's .s, or a folder of them. PROBLEM is a model of the catalogue, compiled here.
    """
    from ireebench.isa.summary import FIGURES
    from ireebench.isa.where import parse_where
    from ireebench.report import isa
    from ireebench.space.config import Config

    isa.check_target(target)
    titled = output.format != "csv"
    if condition is not None and (pair is not None or dpp_shuffle):
        raise UsageError(f"--where filters kernels; leave it out with {'--compare' if pair else '--dpp-shuffle'}")
    if pair is not None:
        if inputs:
            raise UsageError(f"--compare takes two files and nothing else; leave out {' '.join(inputs)}")
        a, b = (_inspect_path(path, target) for path in pair)
        found = isa.compare(a, b)
        output.emit(isa.comparison_tables(found, titled=titled), isa.comparison_document(found))
        return
    if not inputs and suite is None:
        raise UsageError("which kernel? give FILE, PROBLEM or --compare A B (ireebench isa --help has examples)")
    where = parse_where(condition, FIGURES) if condition is not None else None
    config = Config.parse(config_text) if config_text is not None else None
    problems = _problems([i for i in inputs if not _is_path(i)], op, suite, padded)
    if dpp_shuffle:
        if any(map(_is_path, inputs)):
            raise UsageError("--dpp-shuffle compiles problems; leave out the files")
        _print_twins(problems, target or "gfx942", config, output)
        return
    inspections = [_inspect_path(Path(i), target) for i in inputs if _is_path(i)]
    failures: tuple[str, ...] = ()
    if problems:
        compiled, failures = _compile(_candidates(problems, target or "gfx942", variants, config), target or "gfx942")
        inspections.append(compiled)
    kernels = tuple(k for i in inspections for k in i.kernels)
    remarks = (*(r for i in inspections for r in i.remarks), *failures)
    inspection = isa.Inspection(kernels, remarks).where(where)
    for remark in inspection.remarks:
        click.echo(f"warning: {remark}", err=True)
    output.emit(isa.tables(inspection, titled=titled), isa.document(inspection))
    if failures:
        raise click.exceptions.Exit(FAILED)


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith((".s", ".rocmasm", ".asm", ".txt", ".ptx")) or Path(text).exists()


def _inspect_path(path: Path, target: str | None) -> Inspection:
    """A file, or every assembly file of a folder."""
    from ireebench.report.isa import Inspection, inspect_text

    files = [path]
    if path.is_dir():
        files = sorted(f for suffix in _SUFFIXES for f in path.glob(suffix))
        if not files:
            raise BadFileError(f"{path} holds no .rocmasm or .s file; compile with --iree-hal-dump-executable-files-to")
    found = [inspect_text(str(f), read_text(f, "AMDGCN assembly (.rocmasm, .s)"), target) for f in files]
    return Inspection(tuple(k for i in found for k in i.kernels), tuple(r for i in found for r in i.remarks))


def _problems(names: list[str], op: str, suite: str | None, padded: bool) -> tuple[Problem, ...]:
    """The problems named, or those of a suite; a suite may hold several ops."""
    from ireebench.problems.select import Selection, select

    if suite is not None:
        if names:
            raise UsageError(f"--suite and {' '.join(names)} exclude each other; give one")
        ops = ("argmax", "argmin")
        return tuple(p for each in ops for p in select(each, Selection(suite=suite, padded=padded)))
    return select(op, Selection(models=",".join(names), padded=padded)) if names else ()


def _candidates(problems: tuple[Problem, ...], target: str, variants: str, config: Config | None) -> list[Candidate]:
    from ireebench.cli.sweep_options import names
    from ireebench.space.enumerate import enumerate_space
    from ireebench.targets import find_target
    from ireebench.variants import find_variant

    chosen = [find_variant(v) for v in names(variants)]
    found: list[Candidate] = []
    for problem in problems:
        for variant in chosen:
            space = enumerate_space(problem, variant, find_target(target), limit=1, config=config)
            if not space.accepted:
                refused = space.rejected[0]
                raise UsageError(
                    f"{problem.id} {variant.name} on {target}: {refused.reason} ({refused.constraint});"
                    " ireebench space lists what is accepted"
                )
            found.append(space.accepted[0])
    return found


def _print_twins(problems: tuple[Problem, ...], target: str, config: Config | None, output: Output) -> None:
    from ireebench.ir.build import build_program
    from ireebench.report.dpp_shuffle import static_document, static_table, static_twins
    from ireebench.targets import find_target

    if not problems:
        raise UsageError("--dpp-shuffle needs problems: give names or --suite published")
    found = find_target(target)
    with Setting(target, (), 60.0, 12.0, None).compiler() as compiler:
        twins = static_twins(problems, found, lambda candidate: compiler.compile(build_program(candidate)), config)
    output.emit(static_table(twins), static_document(twins, found))


def _compile(candidates: list[Candidate], target: str) -> tuple[Inspection, tuple[str, ...]]:
    """Compiles candidates and takes their kernels apart; a failure is a line, not the end."""
    from ireebench.ir.build import build_program
    from ireebench.outcome import Failure
    from ireebench.report.isa import Inspection, inspect_artifact

    with Setting(target, (), 60.0, 12.0, None).compiler() as compiler:
        outcomes = list(compiler.compile_many([build_program(c) for c in candidates]))
    inspected: list[Inspected] = []
    failures: list[str] = []
    order = {str(c): n for n, c in enumerate(candidates)}
    for program, outcome in sorted(outcomes, key=lambda o: order[str(o[0].candidate)]):
        if isinstance(outcome, Failure):
            failures.append(f"{program.candidate}: {outcome.status}, {outcome.reason}")
        else:
            inspected.extend(inspect_artifact(f"{program.candidate.problem.id} {program.candidate.label}", outcome))
    return Inspection(tuple(inspected)), tuple(failures)

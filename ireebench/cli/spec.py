"""`ireebench spec emit` and `ireebench spec check`: tuning specs, and whether they do anything."""

from __future__ import annotations

from pathlib import Path

import click

from ireebench.cli import options
from ireebench.cli.compiling import Setting, read_text, setting
from ireebench.cli.output import Output
from ireebench.cli.sweep_options import op_argument
from ireebench.errors import UsageError
from ireebench.problems.select import Selection

EMIT_EXAMPLES = options.examples(
    "ireebench spec emit argmax --shape 131072 --dtype bf16 --config SG=4,PR=2048,TH=8 --target gfx942 -o spec.mlir",
    "ireebench spec emit argmax --models llama3 --variants vd_split --target gfx942",
    "ireebench spec emit argmax --from ireebench-out/ireebench.db --target gfx942 -o best.mlir",
)
CHECK_EXAMPLES = options.examples(
    "ireebench spec check spec.mlir model.mlir --target gfx942",
    "ireebench spec check spec.mlir model.mlir --target gfx942 --flags '--iree-opt-level=O3'",
    "ireebench spec check spec.mlir model.mlir --target sm_89 --format json",
)
EXAMPLES = options.examples(
    "ireebench spec emit argmax --models llama3 --target gfx942 -o spec.mlir",
    "ireebench spec emit argmax --from ireebench-out/ireebench.db --target gfx942 -o best.mlir",
    "ireebench spec check spec.mlir model.mlir --target gfx942",
)
NOT_APPLIED = 3


@click.group(epilog=EXAMPLES)
def command() -> None:
    """Write tuning specs, and check that one applies to your IR."""


@command.command(epilog=EMIT_EXAMPLES, short_help="Write the tuning spec of some problems.")
@op_argument
@options.problems
@click.option("--variants", default="vd", show_default=True, metavar="NAME", help="vd, or vd_split for two stages.")
@click.option("--config", metavar="SG=4,PR=2048", help="The configuration; a heuristic one unless given.")
@click.option("--target", default="gfx942", show_default=True, metavar="NAME", help="gfx942, gfx950, gfx1100 ...")
@click.option("--from", "store", metavar="DB", type=click.Path(path_type=Path), help="The fastest of stored trials.")
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="Write to FILE instead of stdout.")
def emit(
    op: str,
    selection: Selection,
    variants: str,
    config: str | None,
    target: str,
    store: Path | None,
    path: Path | None,
) -> None:
    """Write the tuning spec of OP (argmax, argmin, gemv) for some problems, all in one file.

    Its header names the problems, whether they were measured, and the flags that each needs.
    """
    from ireebench.compiler.shipping import unmeasured_spec
    from ireebench.space.config import Config
    from ireebench.targets import find_target
    from ireebench.variants import find_variant

    if store is not None:
        if selection != Selection(padded=selection.padded) or config is not None:
            raise UsageError("--from takes problems and configurations from the store; leave --models, --config out")
        from ireebench.report.stored_spec import stored_spec
        from ireebench.store.database import Store

        with Store.open(store) as opened:
            spec = stored_spec(opened, op, find_target(target))
    else:
        from ireebench.problems.select import select

        chosen = Config.parse(config) if config is not None else None
        spec = unmeasured_spec(select(op, selection), find_variant(variants), chosen, find_target(target))
    for note in spec.notes:
        click.echo(f"note: {note}", err=True)
    Output("table", path).text(spec.text)


@command.command(epilog=CHECK_EXAMPLES, short_help="Compile a file with a spec: is it applied?")
@click.argument("spec", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@setting
@options.output
def check(spec: Path, file: Path, setting: Setting, output: Output) -> None:
    """Compile FILE with the tuning spec SPEC and say, for each op, whether it was applied, and if not, why not.

    The answer is read from the configuration that the compiler dumps for each dispatch. Ends with 3 where no op got
    its configuration, or one that an entry is for went without.
    """
    from ireebench.compiler.driver import Source
    from ireebench.compiler.flags import SPEC, compiler_flags
    from ireebench.compiler.inputs import refuse_bad_input, refuse_bad_spec
    from ireebench.compiler.spec_check import check_spec
    from ireebench.report.compiled import spec_document, spec_tables

    target = setting.target
    text = read_text(spec, "a tuning spec")
    source = Source(read_text(file, "an MLIR file"), text, compiler_flags(target, setting.extra_flags, SPEC))
    with setting.compiler() as compiler:
        compiled = compiler.compile_source(source)
    refuse_bad_input(file, source.mlir, compiled)
    report = check_spec(text, compiled, target)
    refuse_bad_spec(spec, compiled, report)
    ended = f"{compiled.failure.status}, {compiled.failure.reason}" if compiled.failure else "ok"
    title = f"{spec} on {file} for {target.name}: {ended}"
    output.emit(spec_tables(report, title), spec_document(report, compiled, spec, file, target))
    if not report.good:
        raise click.exceptions.Exit(NOT_APPLIED)

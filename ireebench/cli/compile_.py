"""`ireebench compile`: any MLIR file, under the limits of a sweep."""

from __future__ import annotations

from pathlib import Path

import click

from ireebench.cli import options
from ireebench.cli.compiling import Setting, read_text, setting
from ireebench.cli.output import Output

EXAMPLES = options.examples(
    "ireebench compile model.mlir --target gfx942",
    "ireebench compile model.mlir --target gfx1100 --flags '--iree-dispatch-creation-enable-split-reduction'",
    "ireebench compile model.mlir --target cpu --time-limit 10 --format json",
)
FAILED = 3


@click.command(epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@setting
@options.output
def command(file: Path, setting: Setting, output: Output) -> None:
    """Compile FILE, any MLIR, under limits, and say how it ended and what each dispatch became.

    A compile that fails, hangs or needs too much memory is an answer, not an error of ireebench: it ends with 3.
    """
    from ireebench.compiler.driver import Source
    from ireebench.compiler.flags import base_flags
    from ireebench.compiler.inputs import refuse_bad_input
    from ireebench.report.compiled import FileReport

    target = setting.target
    source = Source(read_text(file, "an MLIR file"), None, (*base_flags(target), *setting.extra_flags))
    with setting.compiler() as compiler:
        compiled = compiler.compile_source(source)
    refuse_bad_input(file, source.mlir, compiled)
    report = FileReport(file, target, source.flags, compiled)
    output.emit(report.tables(), report.document())
    if compiled.failure:
        raise click.exceptions.Exit(FAILED)

"""`ireebench bundle`: compile here, measure on a machine with no compiler, bring the trials home."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.sweep_options import (
    MeasureChoice,
    Space,
    definition_option,
    measure_options,
    space_options,
)
from ireebench.cli.sweep_request import What, asked_by, make_remote_request
from ireebench.errors import BadFileError, OutputError, UserError
from ireebench.problems.select import Selection

if TYPE_CHECKING:
    from ireebench.sweep.bundle import Size

EXAMPLES = options.examples(
    "ireebench bundle create argmax --suite published --target cuda --baselines torch,cub -o h200-bundle",
    "python3 h200-bundle/run.py --devices cuda://0       # on the GPU machine; or: ireebench bundle run h200-bundle",
    "ireebench bundle import h200-bundle h200-bundle/results/results-0.zip --db h200.db",
)
CREATE_EXAMPLES = options.examples(
    "ireebench bundle create argmax --suite published --target cuda --baselines torch,cub -o h200-bundle",
    "ireebench bundle create gemv --suite decode --target sm_89 --near gemv.db -o finer-bundle",
    "ireebench bundle create --file scaling --target cuda -o scaling-bundle",
)
JOIN_EXAMPLES = options.examples(
    "ireebench bundle join argmax-bundle argmin-bundle -o both",
    "ireebench bundle join padded original -o argmax-all",
    "python3 both/run.py --devices cuda://0       # on the GPU machine",
)
RUN_EXAMPLES = options.examples(
    "ireebench bundle run h200-bundle",
    "ireebench bundle run h200-bundle --devices cuda://0,cuda://1 --time-limit 540",
    "python3 h200-bundle/run.py --devices cuda://0",
)


@click.group(epilog=EXAMPLES)
def command() -> None:
    """Compile on one machine, measure on another that has the runtime and no compiler."""


@command.command(epilog=CREATE_EXAMPLES, short_help="Compile candidates into a folder.")
@click.argument("op", required=False)
@options.problems
@space_options
@measure_options
@definition_option
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), required=True, help="A new folder.")
@click.option("--jobs", type=click.IntRange(min=1), help="Compilers at once (default: the cores).")
@click.pass_context
def create(
    context: click.Context,
    op: str | None,
    selection: Selection,
    space: Space,
    measure: MeasureChoice,
    file: str | None,
    folder: Path,
    jobs: int | None,
) -> None:
    """Compile the candidates of OP, or of a definition file, into a folder that measures itself elsewhere."""
    import tempfile

    from ireebench.cli.progress import SweepProgress
    from ireebench.compiler.cache import default_cache
    from ireebench.compiler.driver import Compiler, default_jobs
    from ireebench.sweep.bundle import create_bundle
    from ireebench.sweep.bundle_work import compile_work

    if folder.exists() and not folder.is_dir():
        raise OutputError(f"cannot write the bundle {folder}: it is a file; name a new folder with -o")
    request = make_remote_request(asked_by(context, What(op, selection, file), space, measure))
    with (
        tempfile.TemporaryDirectory() as scratch,
        Compiler(default_cache(), jobs=jobs or default_jobs()) as compiler,
        SweepProgress() as progress,
    ):
        work = compile_work(request, compiler, Path(scratch), progress)
        size = create_bundle(work, folder)
    left_out = sum(len(p.candidates) for p in work.plans) - size.candidates
    if left_out:
        click.echo(f"candidates that did not compile or were not applied, left out: {left_out}", err=True)
    _tell(size, folder)


def _tell(size: Size, folder: Path) -> None:
    click.echo(
        f"{folder}: {size.candidates} candidates in {size.artifacts} artifacts, {size.bytes / 1e6:.1f} MB. "
        f"Where it is measured: python3 {folder.name}/run.py"
    )


@command.command(epilog=JOIN_EXAMPLES, short_help="Make one bundle of several.")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), required=True, help="A new folder.")
def join(parts: tuple[Path, ...], folder: Path) -> None:
    """Make one bundle of the bundles PARTS, such as argmax and argmin, that are measured by the same rules."""
    from ireebench.sweep.bundle import join_bundles

    _tell(join_bundles(parts, folder), folder)


@command.command(
    epilog=RUN_EXAMPLES, short_help="Measure a bundle here.", context_settings={"ignore_unknown_options": True}
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(folder: Path, arguments: tuple[str, ...]) -> None:
    """Measure a bundle here; the same as `python3 FOLDER/run.py ARGUMENTS`, which needs no ireebench installed.

    ARGUMENTS: --devices URI[,URI...], --time-limit SECONDS, --ceiling SECONDS, --timer NAME, --processes N,
    --problems ID[,ID...], --out DIR.
    """
    from ireebench.measure.bundle import main

    try:
        status = main(folder, list(arguments))
    except (OSError, ValueError) as e:
        raise BadFileError(str(e) if str(folder) in str(e) else f"{folder}: {e}") from e
    sys.exit(status)


@command.command("import", epilog=EXAMPLES, short_help="Bring its trials home.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--db", type=click.Path(path_type=Path), required=True, help="The store that takes the trials.")
def import_(folder: Path, results: tuple[Path, ...], db: Path) -> None:
    """Bring the trials of a bundle FOLDER home from its RESULTS files."""
    from ireebench.store.database import Store
    from ireebench.sweep.bundle_import import import_results

    new = not db.exists()
    try:
        with Store.open(db, write=True) as store:
            imported = import_results(folder, results, store)
    except UserError:
        if new:  # an import that brought nothing leaves nothing
            db.unlink(missing_ok=True)
        raise
    for file, process, number in imported.renumbered:
        click.echo(
            f"{file}: process {process} is stored as {number}: the store holds another process {process}", err=True
        )
    again = f" ({imported.repeated} of them were there already)" if imported.repeated else ""
    samples = f"{imported.measured} results with samples{again}"
    click.echo(f"{db}: {samples}, {imported.failed} failures, from {imported.device}")

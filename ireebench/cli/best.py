"""`ireebench best`: each problem's best configuration, and the spec file that ships it."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Format, Output, write_file
from ireebench.problems.problem import OPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireebench.compiler.driver import Compiler
    from ireebench.report.best import Best

EXAMPLES = options.examples(
    "ireebench best ireebench-out/ireebench.db",
    "ireebench best h200.db -o specs",
    "ireebench best h200.db --no-check --format json",
)
NOT_APPLIED = 3


@click.command(epilog=EXAMPLES)
@click.argument("db", type=click.Path(path_type=Path), metavar="DB")
@click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write the specs to DIR."
)
@click.option("--op", type=click.Choice(OPS), help="Only the trials of this op.")
@click.option("--check/--no-check", default=True, show_default=True, help="Compile with each spec: is it applied?")
@click.option("--cache-dir", metavar="DIR", type=click.Path(path_type=Path), help="Where compiles are kept.")
@options.format_option
def command(db: Path, folder: Path | None, op: str | None, check: bool, cache_dir: Path | None, fmt: Format) -> None:
    """Print each problem's best configuration in DB: the best of all, and the best that ships, with its tuning spec.

    Each spec is checked: the plain op is compiled with it and the dumps are read. Ends with 3 where one is not applied.
    """
    from ireebench.report.best import best_document, best_tables, narrow
    from ireebench.report.best_check import find_best
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    with Store.open(db) as store, contextlib.ExitStack() as stack:
        found = find_best(load_evidence(store, op), _compiler(stack, cache_dir) if check else None)
    tables = best_tables(found)
    Output(fmt, None).emit([n for t in tables for n in narrow(t)] if fmt == "table" else tables, best_document(found))
    if not found:
        click.echo(f"{db}: nothing was timed; `ireebench report {db}` shows what compiled", err=True)
    if folder is not None:
        _write_specs(found, folder)
    if any(b.spec.applied is False for b in found):
        raise click.exceptions.Exit(NOT_APPLIED)


def _compiler(stack: contextlib.ExitStack, cache_dir: Path | None) -> Compiler:
    from ireebench.compiler.cache import default_cache
    from ireebench.compiler.driver import Compiler

    return stack.enter_context(Compiler(cache_dir or default_cache()))


def _write_specs(found: Sequence[Best], folder: Path) -> None:
    """Specs that are applied, or were not checked; one that is not applied would mislead who finds it."""
    files: dict[str, Best] = {}
    for b in found:
        if b.spec.file and b.spec.text and b.spec.applied is not False:
            files.setdefault(b.spec.file, b)
    for name, b in files.items():
        assert b.spec.text is not None
        path = folder / name
        write_file(path, b.spec.text)
        needs = f"; needs {shlex.join(b.spec.flags)}" if b.spec.flags else ""
        click.echo(f"wrote {path}{needs}", err=True)
    if not files:
        click.echo("no spec was written: see the last column", err=True)

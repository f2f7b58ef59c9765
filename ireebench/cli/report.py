"""`ireebench report`: a page, plots, tables and exports of stored trials."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import SCHEMA_VERSION
from ireebench.errors import OutputError, UsageError
from ireebench.problems.problem import OPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireebench.report.evidence import Evidence

EXAMPLES = options.examples(
    "ireebench report ireebench-out/ireebench.db -o page.html",
    "ireebench report h200.db -o trials.csv -o trials.t4.json --plots plots",
    "ireebench report h200.db --format json",
)
_STDOUT = ("table", "json", "csv", "markdown", "html")


@click.command(epilog=EXAMPLES)
@click.argument("db", type=click.Path(path_type=Path), metavar="DB")
@click.option(
    "-o",
    "--output",
    "--export",
    "paths",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Write FILE: .html, .csv, .json, .parquet, .md or .t4.json. May be given several times.",
)
@click.option("--plots", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write PNG and SVG plots.")
@click.option("--format", "fmt", type=click.Choice(_STDOUT), help="What to print where no file is named.")
@click.option("--op", type=click.Choice(OPS), help="Only the trials of this op.")
@click.option("--published/--no-published", default=False, help="Show published figures from the start.")
@click.option("--cache-dir", metavar="DIR", type=click.Path(path_type=Path), help="Compile cache: lints come from it.")
def command(
    db: Path,
    paths: tuple[Path, ...],
    folder: Path | None,
    fmt: str | None,
    op: str | None,
    published: bool,
    cache_dir: Path | None,
) -> None:
    """Report on the stored trials of DB; nothing is measured.

    `-o page.html` is one self-contained page: summary, charts, a table to sort and filter, all that is known of each
    trial. Other endings export for other programs. With neither a file nor --plots, the tables are printed.
    """
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    _check_endings(paths)
    if fmt is not None and folder is not None and not paths:
        raise UsageError("--format says what to print and --plots writes files; leave one out, or name a file with -o")
    if fmt is not None and len(paths) > 1:
        raise UsageError("with several files their endings say what to write; leave --format out")
    pages = fmt == "html" or any(_is_page(p) for p in paths)
    with Store.open(db) as store:
        found = load_evidence(store, op, sources=pages)
        page = _page(found, published, cache_dir) if pages else ""
        if folder is not None:
            _plots(found, folder, published)
        if fmt is not None and paths:
            _write(paths[0], (page if fmt == "html" else _text(found, fmt)).encode())
            return
        for path in paths:
            _file(found, path, page)
        if not paths and folder is None:
            click.echo(page if fmt == "html" else _text(found, fmt or "table"), nl=False)


def _is_page(path: Path) -> bool:
    return path.suffix in (".html", ".htm")


def _check_endings(paths: Sequence[Path]) -> None:
    from ireebench.report.export import check_ending

    for path in paths:
        if not _is_page(path):
            check_ending(path)


def _page(found: Sequence[Evidence], published: bool, cache_dir: Path | None) -> str:
    from ireebench.compiler.cache import default_cache
    from ireebench.report.lints import read_lints, worth_reading
    from ireebench.report.page.build import build_page

    lints = read_lints(worth_reading(found), cache_dir or default_cache())
    return build_page(found, lints, published=published)


def _text(found: Sequence[Evidence], fmt: str) -> str:
    from ireebench.report.compare_report import comparison_tables
    from ireebench.report.documents import store_document
    from ireebench.report.export import flat, markdown
    from ireebench.report.table import to_csv, to_text

    match fmt:
        case "json":
            document = {"schema_version": SCHEMA_VERSION, **store_document(found)}
            return json.dumps(document, indent=2, allow_nan=False) + "\n"
        case "csv":
            return to_csv(flat(found))
        case "markdown":
            return markdown(found)
    tables, lines = comparison_tables(found)
    return "\n".join([*map(to_text, tables), *lines]) + "\n"


def _file(found: Sequence[Evidence], path: Path, page: str) -> None:
    from ireebench.report.export import export

    if _is_page(path):
        _write(path, page.encode())
        return
    for written in export(found, path):
        _write(written.path, written.body)


def _write(path: Path, body: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    except OSError as e:
        raise OutputError(f"cannot write {path}: {e.strerror or e}; name another place with -o") from e
    click.echo(f"wrote {path}", err=True)


def _plots(found: Sequence[Evidence], folder: Path, published: bool) -> None:
    from ireebench.report.plots import draw_plots

    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = list(draw_plots(found, folder, published=published))
    except OSError as e:
        raise OutputError(f"cannot write {folder}: {e.strerror or e}; name another place with --plots") from e
    if written:
        click.echo(f"wrote {len(written)} plots to {folder}", err=True)
    else:
        click.echo("nothing was timed: there is nothing to plot", err=True)

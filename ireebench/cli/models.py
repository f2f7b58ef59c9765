"""`ireebench models`: the catalogue."""

from __future__ import annotations

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import UnknownNameError
from ireebench.problems.catalogue import SUITES, CatalogueEntry, catalogue
from ireebench.problems.problem import OPS
from ireebench.problems.select import match_names
from ireebench.report.table import Table

EXAMPLES = options.examples(
    "ireebench models argmax",
    "ireebench models gemv --models 'llama3*,qwen3-4b'",
    "ireebench models --suite published --format json",
)


@click.command(epilog=EXAMPLES)
@click.argument("op", required=False, type=click.Choice(OPS))
@click.option("--models", metavar="NAME[,NAME...]", help="Names, globs or prefixes; 'all' for everything.")
@click.option("--suite", metavar="NAME", help=f"A named set: {', '.join(SUITES)}.")
@options.output
def command(op: str | None, models: str | None, suite: str | None, output: Output) -> None:
    """List the problems of the catalogue: each op's, or those of OP (argmax, argmin, gemv).

    A shape is rows x reduction for argmax and argmin, M x N x K for gemv. Each id is what --models takes elsewhere.
    """
    entries = [e for e in catalogue() if op in (None, e.op)]
    if suite is not None:
        if suite not in SUITES:
            raise UnknownNameError("suite", suite, SUITES)
        entries = [e for e in entries if suite in e.suites]
    if models is not None:
        wanted = set(match_names(models, list(dict.fromkeys(e.id for e in entries)), hint="ireebench models lists all"))
        entries = [e for e in entries if e.id in wanted]
    tables = _numbered(entries) if output.format == "table" else [_table(entries)]
    output.emit(tables, {"problems": [_row(e) for e in entries]})


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _numbered(entries: list[CatalogueEntry]) -> list[Table]:
    """The table for a terminal: sources and notes, which are long and repeat, are numbered and told once below."""
    texts = ["; ".join(filter(None, (e.source, e.note))) for e in entries]
    numbers = {text: f"[{n}]" for n, text in enumerate(dict.fromkeys(texts), start=1)}
    full = _table(entries)
    rows = tuple((*row[:-2], numbers[text]) for row, text in zip(full.rows, texts, strict=True))
    return [Table(full.columns[:-1], rows), Table.of(("source", "what"), [(n, text) for text, n in numbers.items()])]


def _table(entries: list[CatalogueEntry]) -> Table:
    titles = ("id", "op", "model", "shape", "padded", "type", "index", "source", "note")
    rows = [
        (
            e.id,
            e.op,
            e.model,
            _text(e.original_shape),
            _text(e.padded_shape),
            e.dtype,
            e.index_dtype,
            e.source,
            e.note or None,
        )
        for e in entries
    ]
    return Table.of(titles, rows)


def _row(e: CatalogueEntry) -> dict[str, object]:
    return {
        "id": e.id,
        "model": e.model,
        "op": e.op,
        "shape": list(e.original_shape),
        "padded_shape": list(e.padded_shape),
        "dtype": e.dtype,
        "index_dtype": e.index_dtype,
        "source": e.source,
        "out_dtype": e.out_dtype,
        "suites": sorted(e.suites),
        "note": e.note or None,
    }

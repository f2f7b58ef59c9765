"""Options that mean the same in every command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ireebench.cli.output import Output

F = TypeVar("F", bound=Callable[..., Any])


def examples(*lines: str) -> str:
    """The epilog of a command: three examples, each on its own line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def format_option(f: F) -> F:
    """`--format` alone, for commands whose `-o` is no file; the command receives `fmt`."""
    return click.option(
        "--format",
        "fmt",
        type=click.Choice(["table", "json", "csv", "markdown"]),
        default="table",
        show_default=True,
        help="How to print.",
    )(f)


def output(f: F) -> F:
    """`--format` and `-o FILE`; the command receives `output: Output`."""

    @format_option
    @click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="Write to FILE instead of stdout.")
    @functools.wraps(f)
    def wrapper(*args: Any, fmt: Any, path: Path | None, **kwargs: Any) -> Any:
        return f(*args, output=Output(fmt, path), **kwargs)

    return wrapper  # type: ignore[return-value]


def problems(f: F) -> F:
    """`--models`, `--suite`, `--shape`, `--dtype`, `--index-dtype`, `--problems`, `--padded`; gives `selection`."""

    @click.option("--models", metavar="NAME[,NAME...]", help="Names, globs or prefixes; 'all' for everything.")
    @click.option("--suite", metavar="NAME", help="A named set of problems, such as 'published'.")
    @click.option("--shape", metavar="RxN", help="A shape of your own, such as 32x131072.")
    @click.option("--dtype", help="Element type of --shape: f16, bf16, f32.")
    @click.option("--index-dtype", default="i64", show_default=True, help="Index type of --shape: i32, i64.")
    @click.option("--problems", "problems_file", type=click.Path(path_type=Path), help="Your own problems, from TOML.")
    @click.option("--padded/--no-padded", default=True, show_default=True, help="Padded shapes, as published.")
    @functools.wraps(f)
    def wrapper(
        *args: Any,
        models: str | None,
        suite: str | None,
        shape: str | None,
        dtype: str | None,
        index_dtype: str,
        problems_file: Path | None,
        padded: bool,
        **kwargs: Any,
    ) -> Any:
        from ireebench.problems.select import Selection

        selection = Selection(models, suite, shape, dtype, index_dtype, problems_file, padded)
        return f(*args, selection=selection, **kwargs)

    return wrapper  # type: ignore[return-value]

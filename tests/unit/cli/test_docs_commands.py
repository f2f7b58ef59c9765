"""Command lines in the documents and in `--help` exist: commands, options, and their values where those are a list."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ireebench.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[3]
PAGES = sorted(p for p in (*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md") if p.is_file())


def lines_of(text: str) -> Iterator[str]:
    """The command lines of a page: in code blocks, a backslash joining lines, and between backticks."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        found = re.match(r"\s+(?:\$ )?(?:[A-Z_]+=\S+ )*(ireebench\s.*)", line) or re.match(
            r"(?:\$ )?(ireebench -?\S+ -.*)", line
        )
        if found:
            yield found[1]
    for span in re.findall(r"`([^`]+)`", joined):
        if span.startswith("ireebench "):
            yield span


def leaf(words: list[str]) -> tuple[click.Context, list[str]]:
    """The command that the words name, with what follows; raises click's own usage errors."""
    ctx, command = click.Context(cli, info_name="ireebench"), cli
    while isinstance(command, click.Group) and words and words[0] not in ("--help", "--version", "..."):
        _, found, _ = command.resolve_command(ctx, words)
        assert found is not None
        settings = found.context_settings
        ctx, command, words = click.Context(found, parent=ctx, info_name=words[0], **settings), found, words[1:]
    return ctx, words


def check(line: str) -> None:
    """Raises click.UsageError where a command, an option or an option's value does not exist."""
    words = shlex.split(re.split(r"\s[|>]\s", line)[0], comments=True)[1:]
    ctx, words = leaf(words)
    if "--help" in words:
        return
    values, _, _ = ctx.command.make_parser(ctx).parse_args(words)
    for param in ctx.command.params:
        if isinstance(param.type, click.Choice) and isinstance(values.get(param.name or ""), str):
            param.type.convert(values[param.name or ""], param, ctx)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_command_line_of_a_page_exists(page: Path) -> None:
    wrong = {}
    for line in lines_of(page.read_text()):
        try:
            check(line)
        except (click.UsageError, ValueError) as e:
            wrong[line] = str(e)
    assert wrong == {}


def test_the_pages_have_command_lines_to_check() -> None:
    assert sum(len(list(lines_of(p.read_text()))) for p in PAGES) > 80


@pytest.mark.parametrize(
    "line", ["ireebench swep argmax", "ireebench sweep --modles x", "ireebench decode --cache hott"]
)
def test_a_line_that_does_not_exist_is_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        check(line)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and sub-command with its full name."""
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", found) for sub, found in command.commands.items())


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=[name for name, _ in commands()])
def test_every_command_has_three_examples_that_exist(name: str, command: click.Command) -> None:
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]
    assert len(lines) == 3
    assert sum(line.startswith(f"ireebench {name}") for line in lines) >= (1 if name.startswith("bundle") else 3)
    for line in lines:
        if line.startswith("ireebench "):
            check(line.split("    ")[0])

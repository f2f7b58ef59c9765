"""Where a command's data goes: stdout or `-o FILE`, as a table, JSON, CSV or Markdown. Progress goes to stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from ireebench.errors import OutputError
from ireebench.report.table import Table, to_csv, to_markdown, to_text

Format = Literal["table", "json", "csv", "markdown"]
SCHEMA_VERSION = 1
_RENDER: dict[str, Callable[[Table], str]] = {"table": to_text, "csv": to_csv, "markdown": to_markdown}


def write_file(path: Path, text: str) -> None:
    """Writes a file that the user named; raises OutputError that names the path and the cause."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as e:
        raise OutputError(f"cannot write {path}: {e.strerror or e}; name another place with -o") from e


@dataclass(frozen=True, slots=True)
class Output:
    """The user's choice of format and place."""

    format: Format
    path: Path | None

    def text(self, text: str) -> None:
        """Prints or writes text as it is."""
        if self.path is None:
            click.echo(text, nl=not text.endswith("\n"))
        else:
            write_file(self.path, text if text.endswith("\n") else text + "\n")
            click.echo(f"wrote {self.path}", err=True)

    def emit(self, tables: Table | Sequence[Table], document: Mapping[str, Any]) -> None:
        """Prints `document` (with schema_version) for json, else the tables one below the other."""
        if self.format == "json":
            self.text(json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, allow_nan=False))
            return
        group = [tables] if isinstance(tables, Table) else list(tables)
        self.text("\n".join(_RENDER[self.format](t) for t in group))

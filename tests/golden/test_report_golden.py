"""The tables of `compare` and `best`, as they are printed, from a made-up store and from trials measured on an H200.

`make golden` rewrites them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from synthetic_store import Recipe, make_store

from ireebench.cli.main import cli

GOLDEN = Path(__file__).parent / "report"
RESULTS = Path(__file__).parents[2] / "docs" / "results"
UPDATE = bool(os.environ.get("IREEBENCH_UPDATE_GOLDEN"))

COMMANDS = {
    "compare-argmax.md": ("compare", "argmax", "--from", "A", "--format", "markdown"),
    "compare-stores.md": ("compare", "A", "B", "--fail-on-regression", "3", "--format", "markdown"),
    "best.md": ("best", "A", "--no-check", "--format", "markdown"),
    "trials.csv": ("report", "A", "--format", "csv"),
    "compare-h200.md": ("compare", "argmin", "--from", "H200", "--format", "markdown"),
    "best-h200.md": ("best", "H200", "--no-check", "--format", "markdown"),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stores")
    slower = Recipe(seed=1, slower={"bert-base": 1.05})
    return {
        "A": make_store(folder / "A.db"),
        "B": make_store(folder / "B.db", slower),
        "H200": RESULTS / "h200" / "padded.db",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_tables_are_as_pinned(stores: dict[str, Path], name: str) -> None:
    result = CliRunner().invoke(cli, [str(stores.get(part, part)) for part in COMMANDS[name]])
    assert result.exit_code == (4 if name == "compare-stores.md" else 0)
    path = GOLDEN / name
    if UPDATE:
        path.write_text(result.stdout)
    assert result.stdout == path.read_text()

"""benchmarks/trim_store.py: what a store keeps that is made small for committing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from timed_store import Given, Table, timed_store

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "trim_store.py"
TABLES = (
    Table("a", 1024, 4096, (Given("SG=4", final=10.0, searched=11.0), Given("SG=8", searched=12.0))),
    Table("b", 2048, 4096, (Given("SG=4", searched=13.0),)),
)


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as db:
        tables = ("problem", "trial", "run", "samples")
        return {t: int(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for t in tables}


def trim(source: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(source), str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (("--samples", "all"), {"problem": 2, "trial": 3, "run": 5, "samples": 5}),
        ((), {"problem": 2, "trial": 3, "run": 5, "samples": 2}),
        (("--samples", "none"), {"problem": 2, "trial": 3, "run": 5, "samples": 0}),
        (("--runs", "finals"), {"problem": 1, "trial": 1, "run": 2, "samples": 2}),
        (("--kind", "padded"), {"problem": 0, "trial": 0, "run": 0, "samples": 0}),
        (("--kind", "custom"), {"problem": 2, "trial": 3, "run": 5, "samples": 2}),
    ],
)
def test_a_copy_keeps_what_was_asked_for_and_the_store_all(
    options: tuple[str, ...], kept: dict[str, int], tmp_path: Path
) -> None:
    source = timed_store(tmp_path / "whole.db", TABLES)
    whole = rows(source)
    out = tmp_path / "small.db"
    done = trim(source, out, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert (rows(out), rows(source)) == (kept, whole)
    assert out.read_bytes()[18:20] == b"\x01\x01"  # one plain file


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    source = timed_store(tmp_path / "whole.db", TABLES)
    done = trim(source, source)
    assert done.returncode == 2
    assert "whole.db exists; name a new file" in done.stderr
    assert rows(source)["run"] == 5

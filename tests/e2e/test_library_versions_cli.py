"""What a sweep says of the libraries that its baselines are made of, through the real command."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ireebench.store import codec

Run = Callable[..., subprocess.CompletedProcess[str]]
SWEEP = ("sweep", "argmax", "--models", "gpt2", "--target", "cpu", "--variants", "generic", "--limit", "1")
FAST = ("--seconds", "0.02", "--processes", "1", "--baselines", "numpy", "--format", "json")


def rows(db: Path) -> tuple[list[str], int, int]:
    """A store's environments, and how many trials and runs it holds."""
    with sqlite3.connect(db) as held:
        bodies = [body for (body,) in held.execute("SELECT body FROM environment")]
        counts = [held.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("trial", "run")]
    return bodies, counts[0], counts[1]


def test_a_sweep_tells_its_libraries_and_goes_on_with_a_store_that_was_begun_without_them(
    ireebench: Run, tmp_path: Path
) -> None:
    done = ireebench(*SWEEP, *FAST)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["environment"]["details"]
    assert told["numpy"] == np.__version__

    db = tmp_path / "ireebench-out" / "ireebench.db"
    with sqlite3.connect(db) as store:  # as an older ireebench wrote it
        ((body,),) = store.execute("SELECT body FROM environment").fetchall()
        older = codec.to_json(json.loads(body) | {"details": []})
        store.execute("UPDATE environment SET body = ?, digest = ?", (older, codec.digest(older)))
    before = rows(db)
    again = ireebench(*SWEEP, *FAST)
    assert again.returncode == 0, again.stderr
    assert rows(db) == before
    assert json.loads(again.stdout)["environment"]["details"] == {}

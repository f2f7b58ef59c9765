"""Copies a store for committing: what is quoted stays, what is not goes.

python benchmarks/trim_store.py SOURCE OUT [--kind padded] [--samples all|finals|none] [--runs all|finals]

Summaries of runs are kept with or without their samples; verdicts need those of the finals. The copy has pages of
32 KiB, which samples of about 3 KB fill better than those of 4 KiB: a fifth less.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from ireebench.store.database import Store, backup

_SEARCH = "process = 0"
_UNUSED = (
    "DELETE FROM noise WHERE problem_id NOT IN (SELECT problem_id FROM trial)",
    "DELETE FROM problem WHERE id NOT IN (SELECT problem_id FROM trial)",
    "DELETE FROM source WHERE digest NOT IN"
    " (SELECT mlir FROM trial WHERE mlir IS NOT NULL UNION SELECT spec FROM trial WHERE spec IS NOT NULL"
    " UNION SELECT command FROM trial WHERE command IS NOT NULL)",
)


def deletions(samples: str, runs: str) -> tuple[str, ...]:
    """The statements that take away what was not asked for."""
    found: tuple[str, ...] = ()
    if runs == "finals":
        found += (
            f"DELETE FROM run WHERE {_SEARCH}",
            "DELETE FROM trial WHERE id NOT IN (SELECT trial_id FROM run)",
            f"DELETE FROM noise WHERE {_SEARCH}",
        )
    if samples == "none":
        found += ("DELETE FROM samples",)
    if samples == "finals":
        found += (f"DELETE FROM samples WHERE run_id IN (SELECT id FROM run WHERE {_SEARCH})",)
    return (*found, *_UNUSED)


def trim(path: Path, kind: str | None, statements: tuple[str, ...]) -> None:
    """Deletes problems of other kinds of shape, then what `statements` say, from the copy at `path`."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN")
        if kind is not None:
            others = "SELECT id FROM problem WHERE json_extract(body, '$.shape_kind') != ?"
            for table in ("trial", "noise"):
                db.execute(f"DELETE FROM {table} WHERE problem_id IN ({others})", (kind,))
        for statement in statements:
            db.execute(statement)
        db.execute("COMMIT")
        db.execute("PRAGMA page_size = 32768")
        db.execute("VACUUM")


def main() -> int:
    """Copies and trims."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=("padded", "original", "custom"), help="keep problems of these shapes alone")
    parser.add_argument("--samples", choices=("all", "finals", "none"), default="finals")
    parser.add_argument("--runs", choices=("all", "finals"), default="all")
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} exists; name a new file")
    with Store.open(asked.source) as store:
        backup(store, asked.out)
    trim(asked.out, asked.kind, deletions(asked.samples, asked.runs))
    print(f"{asked.out}: {asked.out.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Connections to a store's file: one that may write, and one that leaves every byte as it is."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from ireebench.errors import StoreError
from ireebench.store.schema import APPLICATION_ID, MIGRATIONS

_WAIT_S = 20.0


def _connect(source: str | Path, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(source, timeout=_WAIT_S, isolation_level=None, uri=uri)


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The schema's version, 0 for a new file. Raises StoreError for a database that is not ours or too new."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    owner = int(db.execute("PRAGMA application_id").fetchone()[0])
    tables = int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if tables and owner != APPLICATION_ID:
        raise StoreError(f"{path}: a database, but not one of ireebench's; name another file")
    if version > len(MIGRATIONS):
        raise StoreError(f"{path}: written by a newer ireebench (schema {version}, this one reads {len(MIGRATIONS)})")
    return version


def for_writing(path: Path) -> sqlite3.Connection:
    """A connection to a store that is made where there is none, its schema brought up to date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undo:
        db = _connect(path)
        undo.callback(db.close)
        version = _version(db, path)
        # Only now: the journal's mode is written to the file, and somebody else's file is not ours to change.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        if version < len(MIGRATIONS):
            _migrate(db)
        undo.pop_all()
    return db


def for_reading(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing; an older store is brought up to date in a copy in memory."""
    with ExitStack() as undo:
        db = _connect(path)
        undo.callback(db.close)
        try:
            version = _version(db, path)
        except sqlite3.OperationalError:
            # A sweep's store wants a lock file beside it, for which a read-only folder has no place. Where nobody can
            # write and the file is all there is, none is needed.
            if os.access(path.parent, os.W_OK, effective_ids=True):
                raise
            journal = path.with_name(f"{path.name}-wal")
            if journal.exists():
                raise StoreError(
                    f"{path}: {journal.name} beside it holds more; copy both to a folder that you may write"
                ) from None
            db.close()
            db = _connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
            undo.callback(db.close)
            version = _version(db, path)
        if version < len(MIGRATIONS):
            copy = _connect(":memory:")
            undo.callback(copy.close)
            db.backup(copy)
            db.close()
            _migrate(copy)
            db = copy
        db.execute("PRAGMA query_only = ON")
        undo.pop_all()
    return db


def _migrate(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    # Another process may have migrated while this one waited for the lock.
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in filter(str.strip, statements.split(";")):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {number}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("COMMIT")

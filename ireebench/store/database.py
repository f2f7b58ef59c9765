"""The store: trials, runs and samples in one SQLite file that survives crashes and power cuts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ireebench.errors import MissingStoreError, StoreError
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import RunResult
from ireebench.measure.samples import pack_samples, unpack_samples
from ireebench.problems.problem import Problem
from ireebench.store import codec
from ireebench.store.opening import for_reading, for_writing
from ireebench.store.reading import TRIAL_COLUMNS, environment_from, no_collector, read_trials, wanted
from ireebench.store.trial import Environment, Trial, summarise


class Store:
    """A store of trials. Open it with `Store.open`; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.path = path

    # ---- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: Path, *, write: bool = False) -> Store:
        """Opens the store at `path` for reading, which changes no byte of it: a committed one stays as it is.

        With `write`, makes the file where there is none, and brings an older schema up to date.
        Raises StoreError that names the file: absent, no database, somebody else's database, a newer version, locked.
        """
        if path.is_dir():
            inside = next((str(found) for found in sorted(path.glob("*.db"))), None)
            raise StoreError(f"{path} is a folder; name a store{f', such as {inside}' if inside else ''}")
        if not write and not path.is_file():
            raise MissingStoreError(f"{path}: no such store; `ireebench sweep ... --db {path}` makes one")
        if not write and path.stat().st_size == 0:
            raise StoreError(f"{path}: an empty file, no store; `ireebench sweep ... --db {path}` makes one")
        try:
            return cls(for_writing(path) if write else for_reading(path), path)
        except sqlite3.Error as e:
            raise StoreError(f"{path}: {_explain(e)}") from e
        except OSError as e:
            raise StoreError(f"{path}: cannot open the store: {e}") from e

    def close(self) -> None:
        """Closes the file; everything committed is on disk already."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; raises StoreError when the disk is full or another process holds the store."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.Error as e:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self.path}: {_explain(e)}") from e
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # ---- writing ---------------------------------------------------------------------------------------------------

    def put_environment(self, environment: Environment) -> int:
        """Stores an environment once; returns its row."""
        body = codec.to_json(asdict(environment))
        key = codec.digest(body)
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO environment (digest, body) VALUES (?, ?)", (key, body))
            row = db.execute("SELECT id FROM environment WHERE digest = ?", (key,)).fetchone()
        return int(row[0])

    def put_trials(self, trials: Iterable[Trial]) -> None:
        """Stores trials in one transaction. One with a known key replaces the outcome and keeps its runs."""
        with self._writing() as db:
            for trial in trials:
                self._put(db, trial)

    def put_runs(self, trial: Trial, runs: Sequence[RunResult]) -> None:
        """Stores a trial's outcome with its samples in one transaction; a repeated (process, cache) replaces."""
        self.put_many([(trial, runs)])

    def put_many(self, measured: Iterable[tuple[Trial, Sequence[RunResult]]]) -> None:
        """As `put_runs` for many trials, in one transaction."""
        with self._writing() as db:
            for trial, runs in measured:
                trial_id = self._put(db, trial)
                for run in runs:
                    _put_run(db, trial_id, run)

    def put_noise(self, problem: Problem, environment: int, timer: str, run: tuple[CachePolicy, int, float]) -> None:
        """Stores an A/A figure: (cache policy, process, relative difference of the medians)."""
        with self._writing() as db:
            row = (_problem_id(db, problem), environment, timer, *run)
            db.execute("INSERT OR REPLACE INTO noise VALUES (?, ?, ?, ?, ?, ?)", row)

    def put_session(self, environment: int, body: str) -> None:
        """Stores one process's readings of the device (JSON of measure.watch.Session); a repeated one is kept once."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO session VALUES (?, ?)", (environment, body))

    def put_ceiling(self, environment: int, body: str) -> None:
        """Stores a device's measured ceiling (JSON) for an environment."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO ceiling VALUES (?, ?)", (environment, body))

    def _put(self, db: sqlite3.Connection, t: Trial) -> int:
        sources = [_put_source(db, text) for text in (t.mlir, t.spec, t.command)]
        row = (
            t.key,
            _problem_id(db, t.problem),
            t.environment,
            t.target,
            t.variant,
            t.baseline,
            t.form,
            t.ship.value,
            str(t.config),
            t.status.value,
            t.stage.value,
            t.reason,
            t.known,
            t.applied,
            codec.check_text(t.check),
            codec.evidence_text(t.kernels) if t.kernels else None,
            codec.counts_text(t.counts) if t.counts else None,
            t.compile_key,
            t.measure_key,
            t.compile_s,
            t.timer,
            t.figure_ns,
            *sources,
        )
        updates = ", ".join(f"{c} = excluded.{c}" for c in TRIAL_COLUMNS.split(", ") if c != "key")
        marks = ", ".join("?" * len(row))
        db.execute(
            f"INSERT INTO trial ({TRIAL_COLUMNS}) VALUES ({marks}) ON CONFLICT (key) DO UPDATE SET {updates}",
            row,
        )
        return int(db.execute("SELECT id FROM trial WHERE key = ?", (t.key,)).fetchone()[0])

    # ---- reading ---------------------------------------------------------------------------------------------------

    def trials(
        self, *, op: str | None = None, keys: Collection[str] | None = None, sources: bool = False
    ) -> tuple[Trial, ...]:
        """All trials, or those of an op, or those of `keys`, with their run summaries, oldest first.

        MLIR, spec and command are there only where asked for.
        """
        with self._reading(), no_collector():
            stored = int(self._db.execute("SELECT count(*) FROM trial").fetchone()[0])
            few = keys is not None and 2 * len(keys) < stored  # else it is quicker to read all
            chosen = None if keys is None or few else frozenset(keys)
            with wanted(self._db, keys if few else None) as join:
                problems = dict(self._problems())
                texts = dict(self._sources()) if sources else {}
                found = read_trials(self._db, problems, texts, join)
                mine = (t for t in found if chosen is None or t.key in chosen)
                return tuple(t for t in mine if op is None or t.problem.op == op)

    def finished(self) -> dict[str, tuple[str, frozenset[tuple[int, str]]]]:
        """For resuming: trial key -> (status, the (process, cache) pairs that are measured)."""
        with self._reading(), no_collector():
            done: dict[int, list[tuple[int, str]]] = {}
            for row, process, cache in self._db.execute("SELECT trial_id, process, cache FROM run"):
                done.setdefault(row, []).append((process, cache))
            rows = self._db.execute("SELECT id, key, status FROM trial").fetchall()
        return {key: (status, frozenset(done.get(row, ()))) for row, key, status in rows}

    def medians(self, process: int, cache: CachePolicy) -> dict[str, float]:
        """The median (ns) of every trial that was timed in a process under a cache policy, by key."""
        query = (
            "SELECT trial.key, run.median_ns FROM run JOIN trial ON trial.id = run.trial_id "
            "WHERE run.process = ? AND run.cache = ?"
        )
        with self._reading():
            return dict(self._db.execute(query, (process, cache)).fetchall())

    def samples(self, key: str, cache: CachePolicy = "hot") -> tuple[RunResult, ...]:
        """A trial's raw samples under one cache policy, a RunResult a process."""
        query = (
            "SELECT r.process, r.cache, r.timer, s.body FROM samples s JOIN run r ON r.id = s.run_id "
            "JOIN trial t ON t.id = r.trial_id WHERE t.key = ? AND r.cache = ? ORDER BY r.process"
        )
        with self._reading():
            rows = self._db.execute(query, (key, cache)).fetchall()
        return tuple(unpack_samples(body, process, policy, timer) for process, policy, timer, body in rows)

    def environments(self) -> dict[int, Environment]:
        """All environments by row."""
        with self._reading():
            rows = self._db.execute("SELECT id, body FROM environment ORDER BY id").fetchall()
        return {i: environment_from(body) for i, body in rows}

    def noise(self) -> dict[tuple[Problem, int, CachePolicy], tuple[float, ...]]:
        """A/A figures of (problem, environment row, cache policy): one relative difference a process."""
        with self._reading():
            problems = dict(self._problems())
            rows = self._db.execute("SELECT problem_id, environment_id, cache, relative FROM noise").fetchall()
        result: dict[tuple[Problem, int, CachePolicy], tuple[float, ...]] = {}
        for problem, environment, cache, relative in rows:
            key = (problems[problem], environment, cache)
            result[key] = (*result.get(key, ()), relative)
        return result

    def noise_by_process(self, environment: int) -> dict[tuple[Problem, str, CachePolicy, int], float]:
        """An environment's A/A figures by problem, timer, cache policy and process."""
        query = "SELECT problem_id, timer, cache, process, relative FROM noise WHERE environment_id = ?"
        with self._reading():
            problems = dict(self._problems())
            rows = self._db.execute(query, (environment,)).fetchall()
        return {(problems[p], timer, cache, process): relative for p, timer, cache, process, relative in rows}

    def processes(self, environment: int) -> frozenset[int]:
        """The numbers of the processes that an environment's samples and A/A figures are of."""
        query = (
            "SELECT process FROM run JOIN trial ON trial.id = run.trial_id WHERE trial.environment_id = :e "
            "UNION SELECT process FROM noise WHERE environment_id = :e"
        )
        with self._reading():
            return frozenset(process for (process,) in self._db.execute(query, {"e": environment}))

    def sessions(self, environment: int) -> tuple[dict[str, Any], ...]:
        """The readings of an environment's processes, as put."""
        with self._reading():
            rows = self._db.execute("SELECT body FROM session WHERE environment_id = ?", (environment,)).fetchall()
        return tuple(json.loads(body) for (body,) in rows)

    def ceiling(self, environment: int) -> str | None:
        """The measured ceiling (JSON) of an environment, or None."""
        with self._reading():
            row = self._db.execute("SELECT body FROM ceiling WHERE environment_id = ?", (environment,)).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as e:
            raise StoreError(f"{self.path}: {_explain(e)}") from e

    def _problems(self) -> Iterator[tuple[int, Problem]]:
        for row, body in self._db.execute("SELECT id, body FROM problem"):
            yield row, codec.problem_from(body)

    def _sources(self) -> Iterator[tuple[str, str]]:
        for key, body in self._db.execute("SELECT digest, body FROM source"):
            yield key, codec.unpack_text(body)


def _explain(error: sqlite3.Error) -> str:
    text = str(error)
    known = {
        "not a database": "not a database; name another file",
        "malformed": "the store is damaged; keep a copy, and start a new one with --db",
        "locked": "another ireebench holds the store; wait for it or name another file with --db",
        "full": "no space left on the disk; nothing stored so far is lost",
        "readonly": "the store cannot be written; check its permissions",
    }
    return next((message for part, message in known.items() if part in text), f"store error: {text}")


def _problem_id(db: sqlite3.Connection, problem: Problem) -> int:
    body = codec.problem_text(problem)
    db.execute("INSERT OR IGNORE INTO problem (body) VALUES (?)", (body,))
    return int(db.execute("SELECT id FROM problem WHERE body = ?", (body,)).fetchone()[0])


def _put_source(db: sqlite3.Connection, text: str | None) -> str | None:
    if text is None:
        return None
    key = codec.digest(text)
    db.execute("INSERT OR IGNORE INTO source VALUES (?, ?)", (key, codec.pack_text(text)))
    return key


def _put_run(db: sqlite3.Connection, trial_id: int, run: RunResult) -> None:
    s = summarise(run)
    db.execute("DELETE FROM run WHERE trial_id = ? AND process = ? AND cache = ?", (trial_id, run.process, run.cache))
    cursor = db.execute(
        "INSERT INTO run (trial_id, process, cache, timer, samples, median_ns, q1_ns, q3_ns, span_ns, kernels, dropped)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            trial_id,
            s.process,
            s.cache,
            s.timer,
            s.samples,
            s.median_ns,
            s.q1_ns,
            s.q3_ns,
            s.span_ns,
            codec.kernels_text(s.kernels),
            codec.to_json(s.foreign),
        ),
    )
    db.execute("INSERT INTO samples VALUES (?, ?)", (cursor.lastrowid, pack_samples(run)))


def backup(store: Store, path: Path) -> None:
    """Copies a store to one plain file (no WAL beside it), for committing or sending."""
    with closing(sqlite3.connect(path)) as copy:
        store._db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")

"""Rows of the store as values. A sweep's tables read a hundred thousand of them: what repeats is decoded once."""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store import codec
from ireebench.store.decoded import decoded
from ireebench.store.trial import Environment, RunSummary, Trial
from ireebench.variants import Ship

TRIAL_COLUMNS = (
    "key, problem_id, environment_id, target, variant, baseline, form, ship, config, status, stage, reason, known, "
    "applied, checked, evidence, counts, compile_key, measure_key, compile_s, timer, "
    "figure_ns, mlir, spec, command"
)
_RUN_COLUMNS = "trial_id, process, cache, timer, samples, median_ns, q1_ns, q3_ns, span_ns, kernels, dropped"
_TRIALS = ", ".join(f"trial.{c}" for c in TRIAL_COLUMNS.split(", "))
_WITHOUT_SOURCES = _TRIALS.replace("trial.mlir, trial.spec, trial.command", "NULL, NULL, NULL")

_SHIP = {s.value: s for s in Ship}
_STATUS = {s.value: s for s in Status}
_STAGE = {s.value: s for s in Stage}
_config = lru_cache(maxsize=4096)(Config.parse)
_check = lru_cache(maxsize=256)(codec.check_from)


@lru_cache(maxsize=256)
def _foreign(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((cause, count) for cause, count in json.loads(text))


def environment_from(body: str) -> Environment:
    """An environment's row."""
    data = json.loads(body)
    return Environment(**{**data, "details": tuple((k, v) for k, v in data["details"])})


@contextmanager
def no_collector() -> Iterator[None]:
    """Keeps the cyclic collector away while many small values are made, none of which is garbage.

    They are left out of later collections too: going through a million of them takes longer than making them.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()
            gc.enable()


@contextmanager
def wanted(db: sqlite3.Connection, keys: Collection[str] | None) -> Iterator[str]:
    """The SQL that joins the trials of `keys` alone; "" for None, which means all of them."""
    if keys is None:
        yield ""
        return
    db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (key TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("BEGIN")
    try:
        db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((k,) for k in keys))
        yield "JOIN wanted ON wanted.key = trial.key"
    finally:
        # Nothing but the temporary table was written: undoing it leaves the table empty for the next time.
        db.execute("ROLLBACK")


def read_trials(
    db: sqlite3.Connection, problems: Mapping[int, Problem], texts: Mapping[str, str], join: str
) -> Iterator[Trial]:
    """Trials with their runs, oldest first. `join` is of `wanted`."""
    runs = _read_runs(db, join)
    columns = _TRIALS if texts else _WITHOUT_SOURCES
    for row in db.execute(f"SELECT trial.id, {columns} FROM trial {join} ORDER BY trial.id").fetchall():
        yield _trial(row, problems[row[2]], runs.get(row[0], ()), texts)


def _read_runs(db: sqlite3.Connection, join: str) -> dict[int, tuple[RunSummary, ...]]:
    through = f"JOIN trial ON trial.id = run.trial_id {join}" if join else ""
    columns = ", ".join(f"run.{c}" for c in _RUN_COLUMNS.split(", "))
    # Not ordered by the database, which would walk an index and fetch every row out of order.
    query = f"SELECT {columns} FROM run {through}"
    found: dict[int, tuple[RunSummary, ...]] = {}
    nothing: tuple[RunSummary, ...] = ()
    for trial, process, cache, timer, samples, median, q1, q3, span, kernels, dropped in db.execute(query):
        by_kernel = decoded(kernels, codec.kernels_from)
        run = RunSummary(process, cache, timer, samples, median, q1, q3, span, by_kernel, _foreign(dropped))
        found[trial] = (*found.get(trial, nothing), run)
    for trial, several in found.items():
        if len(several) > 1:
            found[trial] = tuple(sorted(several, key=lambda r: (r.process, r.cache)))
    return found


def _trial(row: Sequence[Any], problem: Problem, runs: tuple[RunSummary, ...], texts: Mapping[str, str]) -> Trial:
    (
        _id, key, _problem, environment, target, variant, baseline, form, ship, config, status, stage, reason, known,
        applied, checked, evidence, counts, compile_key, measure_key, compile_s, timer, figure_ns, mlir, spec, command,
    ) = row  # fmt: skip
    return Trial(
        key=key,
        problem=problem,
        target=target,
        variant=variant,
        baseline=baseline,
        form=form,
        ship=_SHIP[ship],
        config=_config(config),
        status=_STATUS[status],
        stage=_STAGE[stage],
        reason=reason,
        known=known,
        applied=None if applied is None else bool(applied),
        check=_check(checked),
        kernels=decoded(evidence, codec.evidence_from),
        counts=decoded(counts, codec.counts_from),
        compile_key=compile_key,
        measure_key=measure_key,
        compile_s=compile_s,
        command=texts.get(command),
        mlir=texts.get(mlir),
        spec=texts.get(spec),
        timer=timer,
        figure_ns=figure_ns,
        runs=runs,
        environment=environment,
    )

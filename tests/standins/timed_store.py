"""Stores of GEMV trials whose times a test writes down itself: made up, never measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from synthetic_store import ENVIRONMENT

from ireebench.measure.job import CachePolicy
from ireebench.measure.result import RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.variants import Ship


@dataclass(frozen=True, slots=True)
class Given:
    """One trial: its time in the final processes and in the search, us, or a status; `gap` makes its spans longer."""

    config: str
    final: float | None = None
    searched: float | None = None
    status: Status = Status.OK
    ship: Ship = Ship.SPEC
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """Trials of one GEMV."""

    name: str
    n: int
    k: int
    trials: tuple[Given, ...]
    dtype: str = "f16"
    noise: float = 0.001

    @property
    def problem(self) -> Problem:
        """M = 1."""
        return Problem(self.name, "gemv", (1, self.n, self.k), self.dtype, None, "f32", "nk")


def finals(name: str, n: int, k: int, times: Mapping[str, float], **more: float) -> Table:
    """A GEMV whose configurations were all finalists with these times, us."""
    return Table(name, n, k, tuple(Given(config, final=ns) for config, ns in times.items()), **more)  # type: ignore[arg-type]


def timed_store(path: Path, tables: Iterable[Table], environment: Environment = ENVIRONMENT) -> Path:
    """Writes (or adds to) a store of cold times."""
    with Store.open(path, write=True) as store:
        row = store.put_environment(environment)
        for table in tables:
            store.put_noise(table.problem, row, "cupti", ("cold", 1, table.noise))
            for given in table.trials:
                trial = replace(_trial(table.problem, given), environment=row)
                trial = replace(trial, key=f"{row} {trial.key}")
                store.put_runs(trial, _runs(trial, given))
    return path


def _trial(problem: Problem, given: Given) -> Trial:
    ok = given.status is Status.OK
    return Trial(
        key=f"{problem.id} {problem.shape_text} {problem.dtype} {given.config}",
        problem=problem,
        target="gfx942",
        variant="default" if given.config == "default" else "vd",
        baseline=None,
        form="matvec",
        ship=given.ship,
        config=Config.parse(given.config),
        status=given.status,
        stage=Stage.TIMED if ok else Stage.COMPILED,
        reason=None if ok else "as the test says",
        check=CheckResult(ok=ok),
        timer="cupti",
    )


def _runs(trial: Trial, given: Given) -> list[RunResult]:
    timed = [(0, given.searched), (1, given.final), (2, given.final)]
    return [_run(trial, process, us, given.gap) for process, us in timed if us is not None]


def _run(trial: Trial, process: int, us: float, gap: float) -> RunResult:
    cache: CachePolicy = "cold"
    kernel, span = (np.full(5, round(1000 * t), dtype=np.int64) for t in (us, us + gap))
    return RunResult(trial.key, process, cache, "cupti", kernel, span, np.zeros(5, dtype=np.int64), ())

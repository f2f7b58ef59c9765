"""Trials of baselines that are a single figure: published ones, and those of vendors' benchmark programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ireebench.measure.baselines.figures import PUBLISHED, Figure, figures_of
from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.store.database import Store
from ireebench.store.trial import Trial
from ireebench.sweep.plan import Planned
from ireebench.sweep.request import Request, Subject, trial_key
from ireebench.sweep.trials import failed_trial, planned_trial


def figure_stage(request: Request, here: tuple[str, int], store: Store) -> tuple[str, ...]:
    """Stores a trial a figure and returns their keys. `here` = (identity of the environment, its row in the store).

    A program that gave its figure in an earlier run is not run again, unless all is to be done afresh.
    """
    keys = [
        key for p in request.problems for name in request.figures for key in _store(request, here, store, (p, name))
    ]
    return tuple(keys)


def _store(request: Request, here: tuple[str, int], store: Store, what: tuple[Problem, str]) -> Sequence[str]:
    problem, name = what
    known = trial_key(request, here[0], Subject(problem, baseline=name))
    if name != PUBLISHED and not request.fresh and any(t.status is Status.OK for t in store.trials(keys=[known])):
        return [known]
    device = request.measuring.device if request.measuring else None
    trials = [_trial(request, here, problem, f) for f in figures_of(name, problem, request.target.backend, device)]
    store.put_trials(trials)
    return [t.key for t in trials]


def _trial(request: Request, here: tuple[str, int], problem: Problem, figure: Figure) -> Trial:
    subject = Subject(problem, baseline=figure.label)
    identity, environment = here
    trial = planned_trial(Planned(trial_key(request, identity, subject), subject), request.target.name, environment)
    trial = replace(trial, timer=figure.source)
    if figure.failure is not None:
        return failed_trial(trial, figure.failure)
    stage = Stage.PLANNED if figure.source == PUBLISHED else Stage.TIMED
    return replace(trial, status=Status.OK, stage=stage, reason=figure.note, figure_ns=figure.ns)

"""The sweep: plan, compile, measure, from wherever an earlier run stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ireebench.measure.campaign import Progress
from ireebench.outcome import Status
from ireebench.store.database import Store
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.plan import Planned, ProblemPlan, plan
from ireebench.sweep.request import Measuring, Request
from ireebench.sweep.stages import MeasureWork, Tools, compile_stage, measure_stage
from ireebench.sweep.trials import refused_trial

Finished = Mapping[str, tuple[str, frozenset[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished sweep: its plan, the keys of its trials in order, and the environment's row in the store."""

    plans: tuple[ProblemPlan, ...]
    keys: tuple[str, ...]
    environment: int


def run_sweep(request: Request, tools: Tools) -> Outcome:
    """Does whatever of the sweep the store does not hold yet. Stopped at any point, it goes on there the next time."""
    here = current_environment(request.measuring)
    environment = tools.store.put_environment(here)
    plans = plan(request, identity(here))
    tools.store.put_trials(refused_trial(r, environment) for p in plans for r in p.refused)
    before: Finished = {} if request.fresh else tools.store.finished()
    todo = to_compile(plans, before, compile_only=request.measuring is None)
    compiled = {c.trial.key: c for c in compile_stage(todo, request.target.name, environment, tools)}
    if request.measuring is not None:
        work = MeasureWork(
            request.measuring, request.target.name, environment, request.target.cache_bytes, plans, compiled
        )
        measure_stage(work, progress(tools.store, request.measuring, before), tools)
    return Outcome(plans, trial_keys(plans), environment)


def trial_keys(plans: tuple[ProblemPlan, ...]) -> tuple[str, ...]:
    """The keys of all trials that a plan can give, in order, each once."""
    keys = [
        key for p in plans for key in (*(r.key for r in p.refused), *(c.key for c in (*p.candidates, *p.baselines)))
    ]
    return tuple(dict.fromkeys(keys))


def to_compile(plans: tuple[ProblemPlan, ...], before: Finished, *, compile_only: bool) -> list[Planned]:
    """Candidates that are not known to fail and, when nothing is to be measured, not known to compile either."""
    settled = {key for key, (status, _) in before.items() if compile_only or status != Status.OK}
    return [c for p in plans for c in p.candidates if c.key not in settled]


def progress(store: Store, measuring: Measuring, before: Finished) -> Progress:
    """What an earlier run of the same sweep measured; empty when everything is to be measured afresh."""
    if not before:
        return Progress({})
    first = measuring.protocol.cache[0]
    searched = {key for key, (_, runs) in before.items() if (0, first) in runs}
    medians = {
        t.key: next(r.median_ns for r in t.runs if r.process == 0 and r.cache == first)
        for t in store.trials()
        if t.key in searched
    }
    finals = frozenset((key, process) for key, (_, runs) in before.items() for process, cache in runs if cache == first)
    return Progress(medians, finals)

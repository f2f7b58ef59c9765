"""The sweep: plan, compile, measure, from wherever an earlier run stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ireebench.measure.baselines.table import refusal
from ireebench.measure.campaign import AA_SUFFIX, Progress, pick_finalists
from ireebench.measure.job import Group
from ireebench.outcome import Status
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.figures import figure_stage
from ireebench.sweep.plan import Planned, ProblemPlan, plan
from ireebench.sweep.request import Request
from ireebench.sweep.stages import (
    Compiling,
    MeasureWork,
    Tools,
    compile_stage,
    emulate_stage,
    measure_stage,
    planned_entry,
)
from ireebench.sweep.trials import refused_trial

Finished = Mapping[str, tuple[str, frozenset[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished sweep: its plan, the keys of its trials in order, and the environment's row in the store."""

    plans: tuple[ProblemPlan, ...]
    keys: tuple[str, ...]
    environment: int


def run_sweep(request: Request, tools: Tools, here: Environment | None = None) -> Outcome:
    """Does whatever of the sweep the store does not hold yet. Stopped at any point, it goes on there the next time.

    `here` is where it is measured; None: on this machine.
    """
    here = here or current_environment(request.measuring)
    environment = tools.store.put_environment(here)
    plans = plan(request, identity(here))
    tools.store.put_trials(refused_trial(r, environment) for p in plans for r in p.refused)
    left = resume(plans, request, tools.store)
    compiling = Compiling(request.target, environment, request.where, left.known)
    if request.measuring is None:
        found = list(compile_stage(left.todo, compiling, tools))
        if request.emulated_rows:
            emulate_stage(found, request, tools)
    else:
        compiled = {c.trial.key: c for c in compile_stage(left.todo, compiling, tools)}
        measure_stage(MeasureWork(request.measuring, request.target, environment, plans, compiled), left.done, tools)
    figures = figure_stage(request, (identity(here), environment), tools.store)
    return Outcome(plans, (*trial_keys(plans), *figures), environment)


@dataclass(frozen=True, slots=True)
class Left:
    """What the store leaves to do: candidates to compile, what is measured already, and their stored trials."""

    todo: Sequence[Planned]
    done: Progress
    known: Mapping[str, Trial]


def resume(plans: tuple[ProblemPlan, ...], request: Request, store: Store) -> Left:
    """Where an earlier run of the same sweep stopped; all of it when everything is to be done afresh."""
    before: Finished = {} if request.fresh else store.finished()
    if request.measuring is None:
        again = {key for key, (status, _) in before.items() if status == Status.REJECTED}
        todo = [c for p in plans for c in p.candidates if c.key not in before or c.key in again]
        return Left(todo, Progress({}), {})
    first = request.measuring.search.cache[0]
    failed = settled_baselines(plans, before, request.measuring.device)
    done = progress(store.medians(0, first) if before else {}, first, before, failed)
    todo = to_compile(plans, done, before, request)
    measured = [c.key for c in todo if before.get(c.key, ("", ()))[1]]
    return Left(todo, done, {t.key: t for t in store.trials(keys=measured)})


def trial_keys(plans: tuple[ProblemPlan, ...]) -> tuple[str, ...]:
    """The keys of all trials that a plan can give, in order, each once."""
    keys = [
        key for p in plans for key in (*(r.key for r in p.refused), *(c.key for c in (*p.candidates, *p.baselines)))
    ]
    return tuple(dict.fromkeys(keys))


def to_compile(plans: tuple[ProblemPlan, ...], done: Progress, before: Finished, request: Request) -> list[Planned]:
    """Candidates whose artifacts are needed: those not searched yet, and finalists with a process left to run.

    What is known to fail is left out: it is tried again with `--fresh` alone.
    """
    assert request.measuring is not None
    processes = range(1, request.measuring.processes + 1)
    needed: list[Planned] = []
    for p in plans:
        # A rejection is a static filter's, and this sweep's may be another.
        alive = [c for c in p.candidates if before.get(c.key, (Status.OK,))[0] in (Status.OK, Status.REJECTED)]
        baselines = [b for b in p.baselines if b.key not in done.failed]
        entries = tuple(planned_entry(c) for c in (*alive, *baselines))
        chosen = {e.key for e in pick_finalists(Group(p.problem, entries), done.searched, request.measuring.finalists)}
        late = {e.key for e in entries if e.always and processes}  # in the finals alone
        unsearched = {c.key for c in alive} - done.searched.keys() - late
        complete = all((key, n) in done.finals for key in chosen for n in processes if not key.endswith(AA_SUFFIX))
        if unsearched or not complete:
            needed += [c for c in alive if c.key in unsearched or c.key in chosen]
    return needed


def progress(medians: Mapping[str, float], cache: str, before: Finished, failed: frozenset[str]) -> Progress:
    """What an earlier run of the same sweep measured: the search's `medians` (ns) and the finished processes."""
    finals = frozenset((key, process) for key, (_, runs) in before.items() for process, c in runs if c == cache)
    return Progress(medians, finals, failed)


def settled_baselines(plans: tuple[ProblemPlan, ...], before: Finished, device: str) -> frozenset[str]:
    """Baselines that failed and would again; one that was missing and is there by now is tried."""
    settled = []
    for b in (b for p in plans for b in p.baselines):
        status = before.get(b.key, (Status.OK,))[0]
        name = b.subject.baseline
        assert name is not None
        come = status == Status.UNAVAILABLE and refusal(name, b.subject.problem, device) is None
        if status != Status.OK and not come:
            settled.append(b.key)
    return frozenset(settled)

"""The sweep: plan, compile, measure, from wherever an earlier run stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ireebench.measure.baselines.table import refusal
from ireebench.measure.campaign import AA_SUFFIX, Progress, pick_finalists
from ireebench.measure.job import Group
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.environment import current_environment, environment_row, identity
from ireebench.sweep.figures import figure_stage
from ireebench.sweep.plan import Planned, ProblemPlan, plan
from ireebench.sweep.request import Request, deal
from ireebench.sweep.stages import (
    Compiled,
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
class Share:
    """The problems that one device has of a sweep, and the row of its environment in the store."""

    device: str | None
    environment: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished sweep: its plan, the keys of its trials in order, and which device had which problems."""

    plans: tuple[ProblemPlan, ...]
    keys: tuple[str, ...]
    shares: tuple[Share, ...]


def run_sweep(request: Request, tools: Tools, here: Environment | None = None) -> Outcome:
    """Does whatever of the sweep the store does not hold yet. Stopped at any point, it goes on there the next time.

    `here` is where it is measured; None: on this machine, where each of several devices has an environment of its own.
    """
    parts = [_part(r, here or current_environment(r.measuring), tools.store) for r in deal(request)]
    environments = {problem: part.environment for part in parts for problem in part.request.problems}
    known = {key: trial for part in parts for key, trial in part.left.known.items()}
    compiling = Compiling(request.target, environments, request.where, known)
    found = compile_stage([c for part in parts for c in part.left.todo], compiling, tools)
    if request.measuring is None:
        compiled = list(found)
        if request.emulated_rows:
            emulate_stage(compiled, request, tools)
    else:
        by_key = {c.trial.key: c for c in found}
        measure_stage([w for w in (part.work(by_key) for part in parts) if w], _all_done(parts), tools)
    figures = [key for part in parts for key in figure_stage(part.request, part.place, tools.store)]
    order = {problem: n for n, problem in reversed(list(enumerate(request.problems)))}
    plans = tuple(sorted((p for part in parts for p in part.plans), key=lambda p: order[p.problem]))
    return Outcome(plans, (*trial_keys(plans), *figures), tuple(part.share for part in parts))


@dataclass(frozen=True, slots=True)
class _Part:
    """One device's part of a sweep. `place` = (identity of its environment, its row in the store)."""

    request: Request
    place: tuple[str, int]
    plans: tuple[ProblemPlan, ...]
    left: Left

    @property
    def environment(self) -> int:
        return self.place[1]

    @property
    def share(self) -> Share:
        device = self.request.measuring.device if self.request.measuring else None
        return Share(device, self.environment, self.request.problems)

    def work(self, compiled: Mapping[str, Compiled]) -> MeasureWork | None:
        if self.request.measuring is None:
            return None
        return MeasureWork(self.request.measuring, self.request.target, self.environment, self.plans, compiled)


def _part(request: Request, here: Environment, store: Store) -> _Part:
    environment = environment_row(store, here)
    plans = plan(request, identity(here))
    store.put_trials(refused_trial(r, environment) for p in plans for r in p.refused)
    return _Part(request, (identity(here), environment), plans, resume(plans, request, store))


def _all_done(parts: Sequence[_Part]) -> Progress:
    """What is measured already on any device: the store is one, but each device has its own settled baselines."""
    failed = frozenset[str]().union(*(part.left.done.failed for part in parts))
    return replace(parts[0].left.done, failed=failed)


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
        if request.emulated_rows and before:  # compiled, and stopped before the emulator came to them
            mine = store.trials(keys=[c.key for p in plans for c in p.candidates])
            again |= {t.key for t in mine if t.status is Status.OK and t.check is None}
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

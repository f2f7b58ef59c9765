"""The two stages of a sweep, compiling and measuring. Every outcome is stored as soon as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.ir.build import build_program
from ireebench.ir.program import Program
from ireebench.isa.where import Where
from ireebench.measure.campaign import AA_SUFFIX, Campaign, Progress, noise_of, run_campaign, run_side_by_side
from ireebench.measure.job import Entry, Group, Job
from ireebench.measure.result import EntryResult
from ireebench.measure.watch import Session, watched
from ireebench.outcome import Failure, Status
from ireebench.problems.problem import Problem
from ireebench.store import codec
from ireebench.store.database import Store
from ireebench.store.trial import Trial
from ireebench.sweep.plan import Planned, ProblemPlan
from ireebench.sweep.request import Measuring, Request
from ireebench.sweep.static import filtered, inspect, with_figures
from ireebench.sweep.trials import compiled_trial, measured_trial, planned_trial
from ireebench.targets import Target

RunJob = Callable[[Job, Path], Iterator[EntryResult]]
_STORE_EVERY = 32  # trials a transaction: a commit costs an fsync


class Events(Protocol):
    """What a sweep tells while it runs; the command line draws progress bars from it."""

    def begin(self, stage: str, total: int) -> None:
        """A stage ("compile", "measure") begins, with so many steps."""

    def step(self, stage: str, trial: Trial) -> None:
        """One step of a stage ended, as this trial says."""

    def watched(self, session: Session) -> None:
        """A measuring process ended, with these readings of the device."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a sweep works with: a store, a compiler, how worker processes are run, a folder for their files."""

    store: Store
    compiler: Compiler
    run_job: RunJob
    scratch: Path
    events: Events


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled candidate that can be measured."""

    trial: Trial
    artifact: Artifact

    @property
    def entry(self) -> Entry:
        """As a worker takes it."""
        trial = self.trial
        return Entry(
            key=trial.key,
            always=trial.variant == "default",
            ships=trial.ship.ships,
            vmfb=str(self.artifact.vmfb.resolve()),
            function=self.artifact.function,
            kernels=tuple(k.symbol for k in self.artifact.kernels),
        )


def planned_entry(planned: Planned) -> Entry:
    """What finalists are picked from; stock IREE and the baselines are always among them."""
    candidate, baseline = planned.subject.candidate, planned.subject.baseline
    always = candidate is None or candidate.variant.name == "default"
    return Entry(planned.key, baseline=baseline, always=always, ships=candidate is not None and candidate.ship.ships)


@dataclass(frozen=True, slots=True)
class Compiling:
    """How the compiling stage works: the target, each problem's environment (its row), the user's static filter, and
    `known`: trials that came further in an earlier run, which are compiled (from the cache) and left as stored."""

    target: Target
    environments: Mapping[Problem, int]
    where: Where | None
    known: Mapping[str, Trial]

    def trial(self, planned: Planned, program: Program, outcome: Artifact | Failure) -> Trial:
        """The trial that compiling made, with what its assembly says."""
        environment = self.environments[planned.subject.problem]
        trial = compiled_trial(planned_trial(planned, self.target.name, environment), program, outcome)
        if isinstance(outcome, Failure):
            return trial
        rows = inspect(outcome, self.target)
        return filtered(replace(trial, kernels=with_figures(trial.kernels, rows)), rows, self.where)


def compile_stage(todo: Iterable[Planned], compiling: Compiling, tools: Tools) -> Iterator[Compiled]:
    """Compiles candidates, stores every outcome, and gives those that can be measured."""
    by_candidate = {c.subject.candidate: c for c in todo if c.subject.candidate is not None}
    tools.events.begin("compile", len(by_candidate))
    waiting: list[Trial] = []
    try:
        for program, outcome in tools.compiler.compile_many([build_program(c) for c in by_candidate]):
            planned = by_candidate[program.candidate]
            trial = compiling.known.get(planned.key)
            if trial is None:
                trial = compiling.trial(planned, program, outcome)
                waiting.append(trial)
            tools.events.step("compile", trial)
            if len(waiting) >= _STORE_EVERY:
                tools.store.put_trials(waiting)
                waiting.clear()
            if isinstance(outcome, Artifact) and trial.status is Status.OK:
                yield Compiled(trial, outcome)
    finally:
        tools.store.put_trials(waiting)


def emulate_stage(found: Sequence[Compiled], request: Request, tools: Tools) -> None:
    """Executes compiled candidates' assembly on the CPU and stores each verdict: `check.by` is "emulator"."""
    from ireebench.sweep.emulated import checked_trial

    tools.events.begin("emulate", len(found))
    for c in found:
        trial = checked_trial(tools.compiler, c.trial, c.artifact, request.emulated_rows, request.seed)
        tools.store.put_trials([trial])
        tools.events.step("emulate", trial)


@dataclass(frozen=True, slots=True)
class MeasureWork:
    """What the measuring stage has to do on one device. `compiled` is by trial key, and may hold other devices' too."""

    measuring: Measuring
    target: Target
    environment: int
    plans: tuple[ProblemPlan, ...]
    compiled: Mapping[str, Compiled]

    def groups(self) -> tuple[Group, ...]:
        """One group a problem: its compiled candidates, then its baselines."""
        groups = []
        for p in self.plans:
            candidates = [self.compiled[c.key].entry for c in p.candidates if c.key in self.compiled]
            baselines = [planned_entry(b) for b in p.baselines]
            groups.append(Group(p.problem, (*candidates, *baselines)))
        return tuple(g for g in groups if g.entries)

    def trials(self) -> dict[str, Trial]:
        """The trials as they stand before measuring, by key."""
        planned = {b.key: planned_trial(b, self.target.name, self.environment) for p in self.plans for b in p.baselines}
        return planned | {key: c.trial for key, c in self.compiled.items()}

    def campaign(self) -> Campaign:
        """The same as a campaign, which a bundle can carry."""
        m = self.measuring
        return Campaign(
            m.device, m.timer, m.search, m.protocol, self.groups(), m.processes, m.finalists, self.target.cache_bytes
        )


def measure_stage(works: Sequence[MeasureWork], before: Progress, tools: Tools) -> None:
    """Checks and times what was compiled, in worker processes, and stores samples and noise floors.

    Several devices measure side by side; what they tell is stored from this thread alone.
    """
    campaigns = [w.campaign() for w in works]
    tools.events.begin("measure", sum(len(g.entries) for c in campaigns for g in c.groups))
    environments = {w.measuring.device: w.environment for w in works}
    ended: SimpleQueue[Session] = SimpleQueue()

    def keep_sessions() -> None:
        while not ended.empty():
            session = ended.get()
            tools.store.put_session(environments[session.device], codec.to_json(asdict(session)))
            tools.events.watched(session)

    run_job = watched(tools.run_job, ended.put)
    if len(campaigns) == 1:
        results = run_campaign(campaigns[0], tools.scratch, run_job, before)
    else:
        results = run_side_by_side(campaigns, tools.scratch, run_job, before)
    trials = {key: trial for w in works for key, trial in w.trials().items()}
    try:
        for trial in store_results(trials, results, tools.store):
            keep_sessions()
            tools.events.step("measure", trial)
    finally:
        keep_sessions()


def store_results(trials: dict[str, Trial], results: Iterable[EntryResult], store: Store) -> Iterator[Trial]:
    """Stores measured entries as they come and yields their trials.

    `trials` is by entry key, as they stood before measuring. The twin of an A/A pair becomes a noise floor, no trial.
    """
    current = dict(trials)
    by_process: dict[int, dict[str, EntryResult]] = {}
    for result in results:
        process = result.runs[0].process if result.runs else 0
        by_process.setdefault(process, {})[result.entry] = result
        if result.entry.endswith(AA_SUFFIX):
            continue
        trial = measured_trial(current[result.entry], result)
        current[result.entry] = trial
        store.put_runs(trial, result.runs)
        yield trial
    for paired in by_process.values():
        for key, cache, process, relative in noise_of(paired):
            trial = current[key]
            assert trial.environment is not None
            store.put_noise(trial.problem, trial.environment, trial.timer or "", (cache, process, relative))

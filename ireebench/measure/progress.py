"""What a job's journal says: who has failed, who was checked, which samples exist, what was in flight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ireebench.measure import journal
from ireebench.measure.job import CachePolicy, Entry, Job
from ireebench.measure.journal import Event, Item
from ireebench.measure.result import EntryResult, RunResult
from ireebench.measure.sampling import Turn, merge
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.check import CheckResult

# An item that began this often and ended neither in a result nor in a verdict is given up: whatever it does, it takes
# ireebench or the machine with it.
MOST_BEGINS = 2


@dataclass(slots=True)
class Progress:
    """The state of a job. `turns` maps (entry, cache, round) to the `end` event's data."""

    failures: dict[str, Failure] = field(default_factory=dict)
    checks: dict[str, CheckResult] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    timers: dict[str, str] = field(default_factory=dict)
    turns: dict[tuple[str, CachePolicy, int], dict[str, Any]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    begins: dict[Item, int] = field(default_factory=dict)  # of items that have not ended
    in_flight: Item | None = None  # what the last worker is at, or was at when it died; None between items
    fatal: Failure | None = None

    def add(self, event: Event) -> None:
        """Takes one more event into account."""
        item = event.item
        if item is not None and event.name in ("end", "failed", "lost"):
            self.begins.pop(item, None)
            self.in_flight = None
        match event.name:
            case "session":
                self.fatal = None
                self.in_flight = None
            case "begin" if item:
                self.begins[item] = self.begins.get(item, 0) + 1
                self.in_flight = item
            case "end" if item:
                self._add_end(item, event.data)
            case "failed" | "lost" if item:
                self.failures[item.entry] = _failure(event.data)
                if "check" in event.data:
                    self.checks[item.entry] = CheckResult(**event.data["check"])
            case "finished" if item:
                self.finished.add(item.entry)
            case "fatal":
                self.fatal = _failure(event.data)

    def _add_end(self, item: Item, data: dict[str, Any]) -> None:
        if item.phase == "check":
            self.checks[item.entry] = CheckResult(**data["check"])
            self.digests[item.entry] = data["digest"]
        elif item.phase == "round" and item.cache is not None and item.round is not None:
            self.turns[item.entry, item.cache, item.round] = data

    def over(self, key: str) -> bool:
        """Whether nothing is left to do for an entry."""
        return key in self.finished or key in self.failures


def read(folder: Path) -> Progress:
    """The progress of a job's folder; empty when it has not begun.

    What was unavailable is looked for again: it may have been installed since.
    """
    progress = of(journal.read(folder))
    progress.failures = {k: f for k, f in progress.failures.items() if f.status is not Status.UNAVAILABLE}
    return progress


def of(events: Iterable[Event]) -> Progress:
    """The progress that a sequence of events adds up to."""
    progress = Progress()
    for event in events:
        progress.add(event)
    return progress


def stage_before(item: Item) -> Stage:
    """How far an entry had come when it was at `item`."""
    return {
        "prepare": Stage.PLANNED,
        "load": Stage.COMPILED,
        "check": Stage.COMPILED,
        "warmup": Stage.CHECKED,
        "round": Stage.CHECKED,
    }.get(item.phase, Stage.TIMED)


def failure_data(failure: Failure) -> dict[str, Any]:
    """A failure as JSON values of a `failed`, `lost` or `fatal` event."""
    return {"status": failure.status.value, "reason": failure.reason, "stage": failure.stage.value}


def _failure(data: dict[str, Any]) -> Failure:
    return Failure(Status(data["status"]), data["reason"], Stage(data["stage"]))


def result_of(job: Job, entry: Entry, progress: Progress, folder: Path) -> EntryResult:
    """The outcome of one entry that is over. Samples that cannot be read back whole make it a failure, never fewer."""
    check = progress.checks.get(entry.key)
    if failure := progress.failures.get(entry.key):
        return EntryResult(entry.key, check, (), failure)
    try:
        runs = tuple(run for cache in job.protocol.cache if (run := _run_of(job, entry, cache, progress, folder)))
    except (OSError, ValueError) as e:
        return EntryResult(entry.key, check, (), Failure(Status.RUN_FAILED, str(e), Stage.CHECKED))
    return EntryResult(entry.key, check, runs, None)


def _run_of(job: Job, entry: Entry, cache: CachePolicy, progress: Progress, folder: Path) -> RunResult | None:
    turns: list[Turn] = []
    rounds: list[int] = []
    timer = job.timer
    foreign: dict[str, int] = {}
    for number in range(job.protocol.rounds):
        data = progress.turns.get((entry.key, cache, number))
        if data is None:
            continue
        columns = journal.read_samples(folder, data["samples"])
        if columns is None:
            raise ValueError(f"{folder / journal.SAMPLES}: samples of {entry.key} are damaged; measure it again")
        turn = Turn.restore(columns, data["kernels"])
        turns.append(turn)
        rounds += [number] * len(turn.kernel_ns)
        timer = data["timer"]
        for cause, count in data["foreign"].items():
            foreign[cause] = foreign.get(cause, 0) + count
    if not turns:
        return None
    merged = merge(turns)
    return RunResult(
        entry.key,
        job.process,
        cache,
        timer,
        merged.kernel_ns,
        merged.span_ns,
        np.array(rounds, np.int64),
        merged.kernels,
        tuple(sorted(foreign.items())),
    )


def entries_of(job: Job) -> Sequence[Entry]:
    """All entries of a job, in order."""
    return [entry for group in job.groups for entry in group.entries]

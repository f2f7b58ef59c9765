"""Which number a process gets in a store that may hold another process of that number: nothing measured is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ireebench.measure.campaign import noise_of
from ireebench.measure.result import EntryResult, RunResult
from ireebench.store.database import Store
from ireebench.store.trial import Trial

Told = tuple[str, int, int]  # file, the process's number there, its number in the store


@dataclass(slots=True)
class Numbering:
    """Numbers the processes of results files on, where the store holds others of their numbers.

    A bundle that is run a second time begins at process 0 again. All that one process of a run measured gets one
    number: files of one folder are of one run until they contradict each other. A further final process gets the next
    number above those of its environment; a further search (process 0) one below zero, since a search is quoted only
    where there are no finals.
    """

    store: Store
    told: list[Told] = field(default_factory=list)
    repeated: int = 0  # results that were in the store already
    _given: dict[tuple[Path, int, int], int] = field(default_factory=dict)

    def number(
        self, file: Path, results: Sequence[EntryResult], trials: Mapping[str, Trial], environment: int
    ) -> list[EntryResult]:
        """The results with the numbers that they have, or get, in the store; `trials` (by entry) are to be stored.

        A result whose samples the store holds keeps its number there, so that importing it again changes nothing.
        """
        stored = _Stored(self.store, environment, trials)
        by_process: dict[int, list[EntryResult]] = {}
        for result in results:
            by_process.setdefault(result.runs[0].process if result.runs else 0, []).append(result)
        return [r for process, some in by_process.items() for r in self._of_process(file, process, some, stored)]

    def _of_process(self, file: Path, process: int, results: list[EntryResult], stored: _Stored) -> list[EntryResult]:
        there = {r.entry: n for r in results if (n := stored.number_of(r)) is not None}
        self.repeated += len(there)
        place = (file.parent, stored.environment, process)
        number = Counter(there.values()).most_common(1)[0][0] if there else self._given.get(place, process)
        new = [r for r in results if r.entry not in there]
        if stored.contradicts(new, number):
            number = stored.free(process)
        self._given[place] = number
        if number != process and stored.trials_of(new):
            self.told.append((str(file), process, number))
        return [_as(r, there.get(r.entry, number)) for r in results]


def _as(result: EntryResult, process: int) -> EntryResult:
    return replace(result, runs=tuple(replace(run, process=process) for run in result.runs))


class _Stored:
    """What a store holds of one environment."""

    def __init__(self, store: Store, environment: int, trials: Mapping[str, Trial]) -> None:
        self._store = store
        self.environment = environment
        self._trials = trials
        self._done = store.finished()
        self._noise = store.noise_by_process(environment)

    def _processes(self, entry: str) -> frozenset[int]:
        _, pairs = self._done.get(self._trials[entry].key, ("", frozenset()))
        return frozenset(process for process, _ in pairs)

    def trials_of(self, results: Sequence[EntryResult]) -> list[EntryResult]:
        """Those that become a trial's samples: no failures, no twins of A/A pairs."""
        return [r for r in results if r.entry in self._trials and r.runs]

    def number_of(self, result: EntryResult) -> int | None:
        """The number under which the store holds exactly these samples of this trial; None where it does not."""
        if not self.trials_of([result]) or not self._processes(result.entry):
            return None
        key = self._trials[result.entry].key
        found = [
            {held.process for held in self._store.samples(key, run.cache) if _same(held, run)} for run in result.runs
        ]
        return min(set.intersection(*found), default=None)

    def contradicts(self, results: Sequence[EntryResult], process: int) -> bool:
        """Whether the store holds other samples of one of these trials, or another A/A figure, in that process."""
        if any(process in self._processes(r.entry) for r in self.trials_of(results)):
            return True
        for key, cache, _, relative in noise_of({r.entry: r for r in results}):
            trial = self._trials[key]
            timer = next(r.runs[0].timer for r in results if r.entry == key)
            if self._noise.get((trial.problem, timer, cache, process), relative) != relative:
                return True
        return False

    def free(self, process: int) -> int:
        """The next number of this environment that neither a trial nor a noise figure has."""
        taken = self._store.processes(self.environment)
        return max(taken, default=0) + 1 if process > 0 else min(taken, default=0) - 1


def _same(a: RunResult, b: RunResult) -> bool:
    pairs = ((a.kernel_ns, b.kernel_ns), (a.span_ns, b.span_ns), (a.rounds, b.rounds))
    return a.timer == b.timer and all(np.array_equal(x, y) for x, y in pairs)

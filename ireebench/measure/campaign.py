"""A campaign: search every candidate once, then time the finalists again in fresh processes beside an A/A pair.

Shared by a local sweep and by a bundle on a machine with no compiler, so it imports what `measure` may import.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, Queue

import numpy as np

from ireebench.measure.job import CachePolicy, Entry, Group, Job, Protocol
from ireebench.measure.result import EntryResult

AA_SUFFIX = "#aa"
ENDING_S = 3.0  # a killed worker is gone within a second
RunJob = Callable[[Job, Path], Iterator[EntryResult]]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What to measure. Process 0 searches by `search`; 1 to `processes` time the `finalists` best by `protocol`.

    `processes` 0 means search only.
    """

    device: str
    timer: str
    search: Protocol
    protocol: Protocol
    groups: tuple[Group, ...]
    processes: int = 3
    finalists: int = 4
    cache_bytes: int | None = None

    def job(self, groups: tuple[Group, ...], process: int) -> Job:
        """The job of one process. Each process shuffles in its own order."""
        rules = self.protocol if process else self.search
        protocol = replace(rules, seed=rules.seed + process)
        return Job(self.device, self.timer, protocol, groups, process, self.cache_bytes)


@dataclass(frozen=True, slots=True)
class Progress:
    """What an earlier, interrupted campaign left: the median (ns) of each entry searched, finished (entry, process)
    pairs, and entries that failed and would again."""

    searched: Mapping[str, float]
    finals: frozenset[tuple[str, int]] = frozenset()
    failed: frozenset[str] = frozenset()


def pick_finalists(group: Group, medians: Mapping[str, float], count: int) -> tuple[Entry, ...]:
    """The `count` fastest candidates, the fastest that ships, everything that is always in, and the best once more.

    The copy of the best (key + "#aa") is the A/A pair: its difference from the best is the noise floor.
    """
    ranked = sorted((e for e in group.entries if e.key in medians and not e.always), key=lambda e: medians[e.key])
    ships = [e for e in ranked if e.ships][:1]
    always = [e for e in group.entries if e.always]
    chosen = dict.fromkeys([*ranked[:count], *ships, *always])
    twin = [replace(ranked[0], key=ranked[0].key + AA_SUFFIX)] if ranked else []
    return (*chosen, *twin)


def search_median(result: EntryResult) -> float | None:
    """An entry's median under the protocol's first cache policy, ns; None when it was not timed."""
    return float(np.median(result.runs[0].kernel_ns)) if result.runs else None


def run_campaign(campaign: Campaign, folder: Path, run_job: RunJob, before: Progress) -> Iterator[EntryResult]:
    """Runs what is missing, and yields results as they come: first of the search, then of each final process.

    `run_job(job, folder)` runs one process's job; `before` tells what need not be run again. What is always in the
    finals (baselines, stock IREE) has nothing to search for: it is left out of process 0 where finals follow.
    """
    medians = dict(before.searched)
    missing = tuple(g for g in (_unsearched(g, campaign, before) for g in campaign.groups) if g.entries)
    if missing:
        for result in run_job(campaign.job(missing, 0), folder / "process-0"):
            median = search_median(result)
            if median is not None:
                medians[result.entry] = median
            yield result
    failed = set(before.failed)
    for process in range(1, campaign.processes + 1):
        finals = []
        for group in campaign.groups:
            chosen = [e for e in pick_finalists(group, medians, campaign.finalists) if e.key not in failed]
            if any((e.key, process) not in before.finals for e in chosen if not e.key.endswith(AA_SUFFIX)):
                finals.append(replace(group, entries=tuple(chosen)))
        if finals:
            for result in run_job(campaign.job(tuple(finals), process), folder / f"process-{process}"):
                if result.failure is not None:
                    failed.add(result.entry)
                yield result


def _unsearched(group: Group, campaign: Campaign, before: Progress) -> Group:
    known = before.searched.keys() | before.failed
    entries = [e for e in group.entries if e.key not in known and not (e.always and campaign.processes > 0)]
    return replace(group, entries=tuple(entries))


def split_by_device(campaign: Campaign, devices: Sequence[str]) -> tuple[Campaign, ...]:
    """One campaign a device, each with problems of its own (or none); the largest problems are dealt out first."""
    shares: list[list[Group]] = [[] for _ in devices]
    for group in sorted(campaign.groups, key=lambda g: -len(g.entries)):
        min(shares, key=lambda s: sum(len(g.entries) for g in s)).append(group)
    parts = zip(devices, shares, strict=True)
    return tuple(replace(campaign, device=d, groups=tuple(g)) for d, g in parts)


def run_on_devices(
    campaign: Campaign,
    devices: Sequence[str],
    folder: Path,
    run_job: RunJob,
    before: Progress,
    *,
    time_limit_s: float | None = None,
) -> Iterator[EntryResult]:
    """As `run_campaign`, different problems side by side, one job a device at a time."""
    parts = split_by_device(campaign, devices)
    yield from run_side_by_side(parts, folder, run_job, before, time_limit_s=time_limit_s)


def run_side_by_side(
    parts: Sequence[Campaign],
    folder: Path,
    run_job: RunJob,
    before: Progress,
    *,
    time_limit_s: float | None = None,
) -> Iterator[EntryResult]:
    """As `run_campaign`, campaigns side by side, each on a device of its own. `run_job` is called in their threads.

    A device's error is raised when the others have ended. After `time_limit_s`, or when the iterator is closed, what
    still runs is given up: no further job begins, and a running one has 3 s to end by a deadline of its own (so that it
    disturbs nothing that is measured next), else it ends with this process.
    """
    deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
    arrived: Queue[EntryResult | BaseException | None] = Queue()
    stop = threading.Event()

    def unless_over(job: Job, folder: Path) -> Iterator[EntryResult]:
        if not stop.is_set() and (deadline is None or time.monotonic() < deadline):
            yield from run_job(job, folder)

    def follow(number: int, part: Campaign) -> None:
        try:
            with closing(_generator(run_campaign(part, folder / f"device-{number}", unless_over, before))) as results:
                for result in results:
                    arrived.put(result)
                    if stop.is_set():
                        return
        except BaseException as e:
            arrived.put(e)
        finally:
            arrived.put(None)

    threads = [threading.Thread(target=follow, args=(n, p), daemon=True) for n, p in enumerate(parts) if p.groups]
    for thread in threads:
        thread.start()
    errors: list[BaseException] = []
    try:
        running = len(threads)
        while running:
            try:
                item = arrived.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            except Empty:
                stop.set()
                _join(threads, time.monotonic() + ENDING_S)
                return
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                errors.append(item)
            else:
                yield item
    finally:
        stop.set()
    if errors:
        raise errors[0]


def _join(threads: Sequence[threading.Thread], until: float) -> None:
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _generator(results: Iterator[EntryResult]) -> Generator[EntryResult, None, None]:
    yield from results


def noise_of(results: Mapping[str, EntryResult]) -> Iterator[tuple[str, CachePolicy, int, float]]:
    """A/A figures among one process's results: (key of the pair, cache policy, process, relative difference).

    The difference of the two medians over the smaller one; exactly the same artifact ran twice.
    """
    for key, twin in results.items():
        if not key.endswith(AA_SUFFIX) or key.removesuffix(AA_SUFFIX) not in results:
            continue
        original = results[key.removesuffix(AA_SUFFIX)]
        for a, b in zip(original.runs, twin.runs, strict=False):
            x, y = float(np.median(a.kernel_ns)), float(np.median(b.kernel_ns))
            yield key.removesuffix(AA_SUFFIX), a.cache, a.process, abs(x - y) / min(x, y)

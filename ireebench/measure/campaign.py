"""A campaign: search every candidate once, then time the finalists again in fresh processes beside an A/A pair.

Shared by a local sweep and by a bundle on a machine with no compiler, so it imports what `measure` may import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ireebench.measure.job import CachePolicy, Entry, Group, Job, Protocol
from ireebench.measure.result import EntryResult

AA_SUFFIX = "#aa"
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
    """What an earlier, interrupted campaign left: the median (ns) of each entry searched, and finished processes."""

    searched: Mapping[str, float]
    finals: frozenset[tuple[str, int]] = frozenset()


def pick_finalists(group: Group, medians: Mapping[str, float], count: int) -> tuple[Entry, ...]:
    """The `count` fastest candidates, the fastest that ships, everything that is always in, and the best once more.

    The copy of the best (key + "#aa") is the A/A pair: its difference from the best is the noise floor. Empty when
    nothing in the group was measured.
    """
    ranked = sorted((e for e in group.entries if e.key in medians and not e.always), key=lambda e: medians[e.key])
    ships = [e for e in ranked if e.ships][:1]
    chosen = dict.fromkeys([*ranked[:count], *ships, *(e for e in group.entries if e.always and e.key in medians)])
    if not chosen:
        return ()
    best = next(iter(chosen))
    return (*chosen, replace(best, key=best.key + AA_SUFFIX))


def search_median(result: EntryResult) -> float | None:
    """An entry's median under the protocol's first cache policy, ns; None when it was not timed."""
    return float(np.median(result.runs[0].kernel_ns)) if result.runs else None


def run_campaign(campaign: Campaign, folder: Path, run_job: RunJob, before: Progress) -> Iterator[EntryResult]:
    """Runs what is missing, and yields results as they come: first of the search, then of each final process.

    `run_job(job, folder)` runs one process's job; `before` tells what need not be run again.
    """
    medians = dict(before.searched)
    missing = tuple(
        replace(g, entries=left)
        for g in campaign.groups
        if (left := tuple(e for e in g.entries if e.key not in medians))
    )
    if missing:
        for result in run_job(campaign.job(missing, 0), folder / "process-0"):
            median = search_median(result)
            if median is not None:
                medians[result.entry] = median
            yield result
    for process in range(1, campaign.processes + 1):
        finals = []
        for group in campaign.groups:
            chosen = pick_finalists(group, medians, campaign.finalists)
            if any((e.key, process) not in before.finals for e in chosen if not e.key.endswith(AA_SUFFIX)):
                finals.append(replace(group, entries=chosen))
        if finals:
            yield from run_job(campaign.job(tuple(finals), process), folder / f"process-{process}")


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

"""Measures the ceiling again where a checked kernel beats it, and at the sizes of large problems.

A kernel that reads faster than the ceiling shows that no fast enough reader was found at its size, or that the line
between two measured sizes lies above it. So a campaign ends by comparing its fastest checked kernels with the ceiling.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from ireebench.errors import UserError
from ireebench.measure.baselines.table import bytes_moved
from ireebench.measure.campaign import AA_SUFFIX
from ireebench.measure.ceiling import MIB, POLICIES, Point, readable, sweep_points
from ireebench.measure.ceiling_doubt import LARGE_BYTES
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable, Checked, Excess, KernelKey, fastest_excesses
from ireebench.measure.job import CachePolicy, Entry, Group
from ireebench.measure.result import EntryResult
from ireebench.measure.timers.table import load
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

EACH_S, MOST_S, LEAST_S = 3.0, 20.0, 1.0
_MOST_SIZES = 12
_CLOSE = 1e-3  # results and activations: a size this close to a measured one is that one

# Measures points within seconds: `ceiling.sweep_points` of a device and timer.
Measure = Callable[[Sequence[Point], float], CeilingTable]


def row_size(size_bytes: int) -> int:
    """The buffer's bytes for a problem of `size_bytes`: those, in words of 64; a whole MiB within 0.1% of it."""
    whole = round(size_bytes / MIB) * MIB
    return whole if abs(whole - size_bytes) < _CLOSE * size_bytes else max(64, size_bytes // 64 * 64)


def problem_sizes(problems: Iterable[Problem], known: Collection[int] = ()) -> tuple[int, ...]:
    """The bytes of the large problems (16 MB and more) that no `known` size is close to: at most 12, the largest."""
    sizes = {row_size(size) for size in (op_of(p).bytes_moved(p) for p in problems) if size >= LARGE_BYTES}
    new = sorted(s for s in sizes if not any(abs(s - k) < _CLOSE * s for k in known))
    return tuple(new[-_MOST_SIZES:])


def fastest(finals: Iterable[Checked], searched: Iterable[Checked]) -> tuple[Checked, ...]:
    """The fastest checked kernel of each problem and policy: among the finals, where it has any.

    What the search alone timed is the luckiest of hundreds, and is quoted nowhere else either.
    """
    best: dict[KernelKey, Checked] = {}
    for kernels in (finals, searched):
        settled = frozenset(best)
        for k in kernels:
            if k.key not in settled and (k.key not in best or k.median_ns < best[k.key].median_ns):
                best[k.key] = k
    return tuple(best.values())


class Figures:
    """Gathers a campaign's medians as its results come; `fastest` are those of what was checked and never failed."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._of: dict[str, tuple[Problem, Entry]] = {e.key: (g.problem, e) for g in groups for e in g.entries}
        self._medians: dict[tuple[str, CachePolicy, bool], list[float]] = {}
        self._failed: set[str] = set()

    def add(self, result: EntryResult) -> None:
        """Takes one entry's result in one process. The twin of an A/A pair is no trial of its own."""
        if result.entry.endswith(AA_SUFFIX):
            return
        if result.failure is not None:
            self._failed.add(result.entry)
        for run in result.runs:
            key = (result.entry, run.cache, run.process > 0)
            self._medians.setdefault(key, []).append(float(np.median(run.kernel_ns)))

    def fastest(self) -> tuple[Checked, ...]:
        """One a problem and cache policy; an entry's figure is the median over its processes, as everywhere."""
        found: dict[bool, list[Checked]] = {True: [], False: []}
        for (key, cache, final), medians in self._medians.items():
            problem, entry = self._of[key]
            moved = bytes_moved(entry.baseline, problem)
            if key not in self._failed and moved is not None:
                by = entry.baseline or "candidate"
                found[final].append(Checked(problem.id, moved, cache, statistics.median(medians), by))
        return fastest(found[True], found[False])


def measured_on(device: str, timer: str) -> Measure:
    """Measures on a device with the timer of this name; what takes a device too long to read is left out."""

    def measure(points: Sequence[Point], budget_s: float) -> CeilingTable:
        sizes = frozenset(readable((size for size, _ in points), device))
        return sweep_points(device, load(timer), [p for p in points if p[0] in sizes], budget_s)

    return measure


def measure_again(
    table: CeilingTable,
    kernels: Sequence[Checked],
    measure: Measure,
    say: Callable[[str], None],
    *,
    sizes: Sequence[int] = (),
    most_s: float = MOST_S,
) -> CeilingTable:
    """The table after what `kernels` beat was measured again, with what they still exceed it by.

    `sizes` (bytes) are measured too, hot and cold. All of it takes about 3 s a size and policy, `most_s` at most, and
    is left out below 1 s; `say` gets a line before. Of what is measured again only what is faster is kept, so the
    ceiling never sinks there. A kernel no faster than one whose size was measured again before costs nothing. An error
    of the device is said, and the excess kept as not measured again.
    """
    settled = {e.kernel.key: e.kernel.median_ns for e in table.excesses if e.again}
    new = [k for k in _exceeding(table, kernels) if k.key not in settled or k.median_ns < settled[k.key]]
    own: list[Point] = [(size, policy) for size in sizes for policy in POLICIES]
    points = sorted({*own, *(_point(k) for k in new)})
    found = _measured(measure, points, min(most_s, EACH_S * len(points)), len(new), say) if points else None
    firsts = {k.key: table.excess(k.size_bytes, k.cache, k.median_ns) for k in new}
    if found is not None:
        better = [r for r in found.rows if (r.size_bytes, r.cache) in own or _raises(table, r)]
        table = table.merge(replace(found, rows=tuple(better)))
    done = {(r.size_bytes, r.cache) for r in found.rows} if found is not None else set()
    excesses = [Excess(k, firsts[k.key], _point(k) in done) for k in new]
    # A row of the problem's own may be slower than the line that it replaces.
    fresh = [k for k in _exceeding(table, kernels) if k.key not in firsts and k.key not in settled]
    excesses += [Excess(k, table.excess(k.size_bytes, k.cache, k.median_ns), _point(k) in done) for k in fresh]
    return replace(table, excesses=fastest_excesses((*table.excesses, *excesses)))


def _exceeding(table: CeilingTable, kernels: Iterable[Checked]) -> list[Checked]:
    return [k for k in kernels if table.excess(k.size_bytes, k.cache, k.median_ns) > 0]


def _point(kernel: Checked) -> Point:
    return row_size(kernel.size_bytes), kernel.cache


def _measured(
    measure: Measure, points: Sequence[Point], budget_s: float, beaten: int, say: Callable[[str], None]
) -> CeilingTable | None:
    faster = f"{beaten} checked kernel{'s' if beaten > 1 else ''} faster than it" if beaten else "sizes of its own"
    if budget_s < LEAST_S:
        say(f"ceiling: {faster}; not measured again: no time is left")
        return None
    say(f"ceiling: {faster}: measuring {len(points)} sizes (hot, cold) again or anew, about {budget_s:.0f} s")
    try:
        return measure(points, budget_s)
    except (RuntimeError, ValueError, OSError, MemoryError, UserError) as e:
        say(f"ceiling: could not be measured again: {e}")
        return None


def _raises(table: CeilingTable, row: CeilingRow) -> bool:
    best_ns = table.best_ns(row.size_bytes, row.cache)
    return best_ns is None or row.median_ns < best_ns

"""The streaming-read ceiling: the fastest way found to read a buffer of a given size, the denominator of percentages.

Every size and cache policy is searched on its own, with the timer that times the candidates: first all readers a few
times, then the best few again with fresh samples, so that the figure is not the luckiest of hundreds.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from ireebench.measure.ceiling_device import (
    WORD_BYTES,
    CpuPool,
    GpuPool,
    Loads,
    Reader,
    ReadPool,
    ReadRunnable,
    Walk,
)
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable
from ireebench.measure.device import describe, kind_of, ordinal
from ireebench.measure.job import CachePolicy
from ireebench.measure.protocol import Rotation, cold_copies
from ireebench.measure.timers.base import Timer
from ireebench.measure.timers.cadence import CADENCE_NS
from ireebench.measure.timers.table import find_timer

KIB, MIB = 1024, 1024**2
# Close together around the sizes of last-level caches (32 MB to 256 MB), where rates change most.
DEFAULT_SIZES: tuple[int, ...] = (
    *(k * KIB for k in (64, 128, 256, 512)),
    *(m * MIB for m in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)),
)
_LARGEST_ON_CPU = 512 * MIB
Point = tuple[int, CachePolicy]  # a buffer's bytes (a multiple of 64) and how it is read

POLICIES: tuple[CachePolicy, ...] = ("hot", "cold")
_SMALLEST_GPU_POOL = 600 * MIB  # over twice the largest cache of the targets (256 MB)
_BLOCKS = (256, 512, 1024)
_UNROLLS = (1, 2, 4, 8)
_GPU_LOADS: tuple[Loads, ...] = ("plain", "streaming", "no_allocate", "evict_first")
_WALKS: tuple[Walk, ...] = ("grid", "chunk")
_GROUPS_PER_MULTIPROCESSOR = (1, 2, 4, 8, 16, 32)
# Timers that see kernels take the samples of many readers in one call, which costs a flush or more.
_GROUP: dict[str, int] = {"cupti": 64, "torch_profiler": 128}
_FIRST_SAMPLES = 5
_FINALISTS = 8
_FINAL_SAMPLES = 40
_FEW_SAMPLES = 15  # a finalist's share: where fewer fit, there are fewer finalists
_LEAST_FINAL_SAMPLES = 5
_LEAST_SAMPLES = 2 + 1 + _LEAST_FINAL_SAMPLES  # of one reader: a first look and a final, each after one that loads
_NAMED = 6  # sizes that a line names
_DOUBTS_SHARE = 0.15  # of a budget, kept for rows that turn out to be doubtful
_MOST_AGAIN = 3  # times that a doubtful row is measured again


def gpu_readers(size_bytes: int, multiprocessors: int) -> Iterator[Reader]:
    """Every reader worth trying for a size: none with more workgroups than there are tiles to read."""
    for block, unroll, loads, walk in itertools.product(_BLOCKS, _UNROLLS, _GPU_LOADS, _WALKS):
        if size_bytes < WORD_BYTES * block * unroll and (block, unroll) != (_BLOCKS[0], _UNROLLS[0]):
            continue
        tiles = max(1, size_bytes // (WORD_BYTES * block * unroll))
        # With one tile a workgroup the two walks are the same.
        grids = {multiprocessors * g for g in _GROUPS_PER_MULTIPROCESSOR}
        fitting = {g for g in grids if g < tiles} | ({tiles} if walk == "grid" else set())
        for grid in sorted(fitting):
            yield Reader(grid, block, loads, unroll, walk)


def cpu_readers(cores: int) -> Iterator[Reader]:
    """One thread, two, four, ... and one a core."""
    for threads in sorted({1, cores, *(2**i for i in range(cores.bit_length()) if 2**i < cores)}):
        yield Reader(threads)


def open_pool(device: str, largest_bytes: int) -> ReadPool:
    """A pool that holds two of the largest size, and copies that exceed twice the last-level cache.

    Raises MissingToolError, RuntimeError or ValueError.
    """
    kind = kind_of(device)
    if kind == "cpu":
        cpu = describe(device)
        pool_bytes = max(2 * largest_bytes, 2 * (cpu.cache_bytes or 0) + largest_bytes)
        return CpuPool(pool_bytes, cpu.name, cpu.cache_bytes)
    return GpuPool(kind, ordinal(device), max(2 * largest_bytes, _SMALLEST_GPU_POOL))


def default_sizes(device: str) -> tuple[int, ...]:
    """The sizes (bytes) that are measured unless others are asked for: on a CPU none that takes seconds to read."""
    return readable(DEFAULT_SIZES, device)


def readable(sizes: Iterable[int], device: str) -> tuple[int, ...]:
    """Those of `sizes` (bytes) that a device reads in a bearable time."""
    on_cpu = kind_of(device) == "cpu"
    return tuple(s for s in sizes if not on_cpu or s <= _LARGEST_ON_CPU)


def timer_name(name: str, device: str) -> str:
    """The timer of a ceiling where candidates are timed by `name`: a ceiling is timed in one process, by no profiler
    around it, and no IREE is in it for `hal` to see."""
    if not find_timer(name).whole_process and name != "hal":
        return name
    return "host" if kind_of(device) == "cpu" else "batched"


def sweep_ceiling(
    device: str,
    timer: Timer,
    sizes: Sequence[int] = DEFAULT_SIZES,
    budget_s: float = 90.0,
    report: Callable[[CeilingRow], None] = lambda row: None,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> CeilingTable:
    """Measures a device's ceiling at `sizes` (bytes, multiples of 64), hot and cold.

    `budget_s` is shared among sizes and policies; what is left then goes to rows that are slower than their neighbours
    show to be possible, and those that stay so are dropped (`ceiling_doubt`). Sizes that do not fit in the pool (half
    of the free memory) are left out, and from the largest on those that the budget has no time for. `report` sees each
    row as it is made; `say` gets a line for what was left out or dropped.
    Raises MissingToolError without a compiler, RuntimeError when the device or the timer fails.
    """
    wanted = sorted({s // 64 * 64 for s in sizes if s >= 64})
    points: list[Point] = [(size, policy) for size in wanted for policy in POLICIES]
    table = sweep_points(device, timer, points, budget_s, report, say=say)
    sound = table.trusted()
    if dropped := [(r.size_bytes, r.cache) for r in table.rows if r not in sound.rows]:
        say(f"ceiling: {in_words(dropped)} dropped: slower than the neighbours show to be possible")
    return sound


def sweep_points(
    device: str,
    timer: Timer,
    points: Sequence[Point],
    budget_s: float,
    report: Callable[[CeilingRow], None] = lambda row: None,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> CeilingTable:
    """As `sweep_ceiling`, at these sizes and policies alone, in their order; nothing is dropped."""
    opening = monotonic()
    pool = open_pool(device, max((size for size, _ in points), default=64))
    # Filling a CPU's pool belongs to the budget, up to half of it. Compiling a GPU's readers, once a machine, does not.
    opened = monotonic()
    started = max(opening, opened - budget_s / 2) if pool.facts.kind == "host" else opened
    try:
        fitting = [(size, policy) for size, policy in points if size <= pool.pool_bytes]
        with timer.session(device):
            floor = _floor(pool, timer)
            sweep = _Sweep(pool, timer, report, started, budget_s)
            sweep.all(fitting)
            sweep.doubtful_again()
        if late := [p for p in fitting if p not in sweep.rows]:
            say(f"ceiling: {in_words(late)} left out: {budget_s:g} s are too few")
        rows = tuple(sweep.rows[p] for p in fitting if p in sweep.rows)
        return CeilingTable(pool.facts.name, timer.name, pool.facts.cache_bytes or None, floor, rows)
    finally:
        pool.close()


def in_words(points: Iterable[Point]) -> str:
    """Sizes and policies in a few words: "36 MiB cold, 64 MiB" (both), the largest where there are many."""
    by_size: dict[int, list[CachePolicy]] = {}
    for size, policy in points:
        by_size.setdefault(size, []).append(policy)
    parts = []
    for size, policies in by_size.items():
        text = f"{size / MIB:.4g} MiB" if size >= MIB else f"{size / KIB:.4g} KiB"
        parts.append(text if len(policies) == len(POLICIES) else f"{text} {policies[0]}")
    more = f"{len(parts) - _NAMED} more, " if len(parts) > _NAMED else ""
    return more + ", ".join(parts[-_NAMED:])


def _floor(pool: ReadPool, timer: Timer) -> float | None:
    empty = pool.empty()
    if empty is None:
        return None
    timer.sample(empty, [0] * 20)
    return float(np.median([i.kernel_ns for i in timer.sample(empty, [0] * 200)]))


def _copies(pool: ReadPool, size_bytes: int, policy: CachePolicy) -> int:
    if policy == "hot":
        return 1
    wanted = max(2, cold_copies(size_bytes, pool.facts.cache_bytes))
    return max(1, min(wanted, pool.pool_bytes // size_bytes))


def _readers(pool: ReadPool, size_bytes: int) -> list[Reader]:
    facts = pool.facts
    if facts.kind == "host":
        return list(cpu_readers(facts.parallel))
    return list(gpu_readers(size_bytes, facts.parallel))


@dataclass(frozen=True, slots=True)
class _Range:
    """What readers are timed on: a size, its copies and the policy, with the copy that comes next."""

    size_bytes: int
    policy: CachePolicy
    rotation: Rotation


def _sample_each(pool: ReadPool, timer: Timer, readers: Sequence[Reader], on: _Range, count: int) -> list[list[int]]:
    """`count` samples of each reader, ns, after one that loads its code and, hot, the buffer.

    With a timer that sees kernels all readers go into one call; others are given one reader at a time.
    """
    runs = [pool.runnable(reader, on.size_bytes, on.rotation.copies) for reader in readers]
    each = count + 1
    if timer.name in _GROUP:
        steps = [(run, copy) for run in runs for copy in on.rotation.take(each, on.policy)]
        sequence = ReadRunnable(len(steps), lambda i: steps[i][0].launch(steps[i][1]), runs[0].sync)
        times = [i.kernel_ns for i in timer.sample(sequence, list(range(len(steps))))]
    else:
        times = [i.kernel_ns for run in runs for i in timer.sample(run, on.rotation.take(each, on.policy))]
    return [times[i + 1 : i + each] for i in range(0, len(times), each)]


@dataclass(slots=True, eq=False)
class _Sweep:
    """One measuring of a ceiling: its rows so far, and what is left of its `budget_s` seconds since `started`."""

    pool: ReadPool
    timer: Timer
    report: Callable[[CeilingRow], None]
    started: float
    budget_s: float
    rows: dict[Point, CeilingRow] = field(default_factory=dict)

    def _left_s(self, share: float = 1.0) -> float:
        return self.started + share * self.budget_s - monotonic()

    def all(self, points: Sequence[Point]) -> None:
        """Measures all points, each with its share of what is left, but for what doubtful rows are kept.

        Where a size is too large to be read often enough in what is left, so are the larger ones.
        """
        share = 1.0 - (_DOUBTS_SHARE if len(points) > 2 * len(POLICIES) else 0.0)
        late: set[CachePolicy] = set()
        latest: dict[CachePolicy, Reader] = {}
        for done, (size, policy) in enumerate(points):
            like = (latest[policy],) if policy in latest else ()
            seconds = self._left_s(share) / (len(points) - done)
            row = None if policy in late else self._search((size, policy), seconds, like)
            if row is None:
                late.add(policy)
            else:
                latest[policy] = row.reader
                self._keep(row)

    def doubtful_again(self) -> None:
        """Spends what is left on the rows that are slower than their neighbours show to be possible."""
        times: Counter[Point] = Counter()
        while self._left_s() > 0:
            table = CeilingTable("", self.timer.name, None, None, tuple(self.rows.values()))
            points = [(r.size_bytes, r.cache) for r in table.doubtful()]
            points = [p for p in points if times[p] < _MOST_AGAIN]
            if not points:
                return
            times[points[0]] += 1
            like = self._readers_beside(points[0])
            row = self._search(points[0], self._left_s() / len(points), like, times[points[0]])
            if row is not None and row.median_ns < self.rows[points[0]].median_ns:
                self._keep(row)

    def _keep(self, row: CeilingRow) -> None:
        self.rows[row.size_bytes, row.cache] = row
        self.report(row)

    def _readers_beside(self, point: Point) -> tuple[Reader, ...]:
        size, policy = point
        rows = sorted((r for r in self.rows.values() if r.cache == policy), key=lambda r: abs(r.size_bytes - size))
        return tuple(r.reader for r in rows[:3])  # its own and those of the nearest two sizes

    def _search(
        self, point: Point, seconds: float, like: tuple[Reader, ...] = (), attempt: int = 0
    ) -> CeilingRow | None:
        """The best reader of one size and policy within about `seconds`; None where no time is left for it.

        The first look goes through the readers in `like` and their kinds, then through all in an order that spreads
        over them, and ends when half of the time is spent; the finalists are measured anew, and the fastest is the row.
        Slow reads make both smaller: fewer readers, finalists and samples each.
        """
        size, policy = point
        if self._left_s() <= 0:
            return None
        copies = _copies(self.pool, size, policy)
        on = _Range(size, policy, Rotation(copies))
        readers = _in_order(_readers(self.pool, size), like, size + attempt)
        pace = _Pace(max(self._read_s(readers[0], on), CADENCE_NS / 1e9 if self.timer.name in _GROUP else 0.0))
        if _LEAST_SAMPLES * pace.sample_s > self._left_s():
            return None
        end = monotonic() + max(seconds, 0.0)
        first = self._first_look(readers, on, pace, end - max(seconds, 0.0) / 2)
        fits = pace.fits(end)
        finalists = [reader for _, reader in sorted(first)[: max(1, min(_FINALISTS, fits // _FEW_SAMPLES))]]
        count = max(_LEAST_FINAL_SAMPLES, min(_FINAL_SAMPLES, fits // len(finalists) - 1))
        finals = _sample_each(self.pool, self.timer, finalists, on, count)
        median, reader, samples = min(
            ((float(np.median(taken)), reader, taken) for taken, reader in zip(finals, finalists, strict=True)),
            key=lambda f: f[0],
        )
        q1, q3 = np.percentile(samples, [25, 75])
        return CeilingRow(size, policy, reader, median, float(q1), float(q3), len(samples), copies, len(first))

    def _read_s(self, reader: Reader, on: _Range) -> float:
        """The host's time for one read, the shorter of two: the first loads code."""
        runnable = self.pool.runnable(reader, on.size_bytes, on.rotation.copies)
        times = []
        for copy in on.rotation.take(2, on.policy):
            begun = monotonic()
            runnable.launch(copy)
            runnable.sync()
            times.append(monotonic() - begun)
        return min(times)

    def _first_look(self, readers: Sequence[Reader], on: _Range, pace: _Pace, end: float) -> list[tuple[float, Reader]]:
        """(median ns, reader) of as many readers as there is time for until `end`: of one at least."""
        first: list[tuple[float, Reader]] = []
        count = max(1, min(_FIRST_SAMPLES, pace.fits(end) // min(_FINALISTS, len(readers)) - 1))
        while len(first) < len(readers) and (not first or monotonic() < end):
            group = max(1, min(_GROUP.get(self.timer.name, 1), pace.fits(end) // (count + 1)))
            some = readers[len(first) : len(first) + group]
            begun = monotonic()
            taken = _sample_each(self.pool, self.timer, some, on, count)
            pace.sample_s = (monotonic() - begun) / (len(some) * (count + 1))
            first += [(float(np.median(samples)), reader) for samples, reader in zip(taken, some, strict=True)]
        return first


@dataclass(slots=True)
class _Pace:
    """What a sample takes on the host's clock, seconds: guessed from a read, then from the samples before."""

    sample_s: float

    def fits(self, end: float) -> int:
        """How many samples fit until `end`. No timer takes them closer together than 10 us."""
        return max(0, int((end - monotonic()) / max(self.sample_s, 1e-5)))


def _in_order(readers: Sequence[Reader], like: Sequence[Reader], seed: int) -> list[Reader]:
    """All readers: first those in `like`, then those of their kinds with other numbers of workgroups, then shuffled."""
    kinds = [replace(reader, grid=0) for reader in like]
    shuffled = random.Random(seed).sample(list(readers), len(readers))
    return sorted(shuffled, key=lambda reader: (reader not in like, replace(reader, grid=0) not in kinds))

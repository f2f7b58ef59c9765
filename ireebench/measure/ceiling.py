"""The streaming-read ceiling: the fastest way found to read a buffer of a given size, the denominator of percentages.

Every size and cache policy is searched on its own, with the timer that times the candidates: first all readers a few
times, then the best few again with fresh samples, so that the figure is not the luckiest of hundreds.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

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
) -> CeilingTable:
    """Measures a device's ceiling at `sizes` (bytes, multiples of 64), hot and cold.

    `budget_s` is shared among sizes and policies; each gets a few readers, whatever it takes. Sizes that do not fit in
    the pool (half of the free memory) are left out. `report` sees each row as it is made.
    Raises MissingToolError without a compiler, RuntimeError when the device or the timer fails.
    """
    wanted = sorted({s // 64 * 64 for s in sizes if s >= 64})
    return sweep_points(device, timer, [(size, policy) for size in wanted for policy in POLICIES], budget_s, report)


def sweep_points(
    device: str,
    timer: Timer,
    points: Sequence[Point],
    budget_s: float,
    report: Callable[[CeilingRow], None] = lambda row: None,
) -> CeilingTable:
    """As `sweep_ceiling`, at these sizes and policies alone, in their order."""
    pool = open_pool(device, max((size for size, _ in points), default=64))
    try:
        cache_bytes = pool.facts.cache_bytes
        fitting = [(size, policy) for size, policy in points if size <= pool.pool_bytes]
        rows: list[CeilingRow] = []
        with timer.session(device):
            floor = _floor(pool, timer)
            started = time.monotonic()
            for done, (size, policy) in enumerate(fitting):
                left = budget_s - (time.monotonic() - started)
                row = _search(pool, timer, size, policy, left / (len(fitting) - done))
                rows.append(row)
                report(row)
        return CeilingTable(pool.facts.name, timer.name, cache_bytes or None, floor, tuple(rows))
    finally:
        pool.close()


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


def _search(pool: ReadPool, timer: Timer, size: int, policy: CachePolicy, seconds: float) -> CeilingRow:
    """The best reader of one size and policy within about `seconds`.

    The first look goes through the readers in an order that spreads over all of them, and ends when half of the time
    is spent; the finalists are measured anew, and the fastest of those is the row.
    """
    copies = _copies(pool, size, policy)
    on = _Range(size, policy, Rotation(copies))
    readers = _readers(pool, size)
    random.Random(size).shuffle(readers)
    deadline = time.monotonic() + max(seconds, 0.0) / 2
    first: list[tuple[float, Reader]] = []
    group = _GROUP.get(timer.name, 1)
    for start in range(0, len(readers), group):
        some = readers[start : start + group]
        taken = _sample_each(pool, timer, some, on, _FIRST_SAMPLES)
        first += [(float(np.median(samples)), reader) for samples, reader in zip(taken, some, strict=True)]
        if time.monotonic() > deadline and len(first) >= min(_FINALISTS, len(readers)):
            break
    finalists = [reader for _, reader in sorted(first)[:_FINALISTS]]
    finals = _sample_each(pool, timer, finalists, on, _FINAL_SAMPLES)
    median, reader, samples = min(
        ((float(np.median(taken)), reader, taken) for taken, reader in zip(finals, finalists, strict=True)),
        key=lambda f: f[0],
    )
    q1, q3 = np.percentile(samples, [25, 75])
    return CeilingRow(size, policy, reader, median, float(q1), float(q3), len(samples), copies, len(first))

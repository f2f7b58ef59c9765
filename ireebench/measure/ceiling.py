"""The streaming-read ceiling: the fastest way found to read a buffer of a given size, the denominator of percentages.

Every size and cache policy is searched on its own, with the timer that times the candidates: first all readers a few
times, then the best few again with fresh samples, so that the figure is not the luckiest of hundreds.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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
from ireebench.measure.device import describe, kind_of, ordinal
from ireebench.measure.job import CachePolicy
from ireebench.measure.protocol import Rotation, cold_copies
from ireebench.measure.timers.base import Timer
from ireebench.measure.user_folders import data_folder

KIB, MIB = 1024, 1024**2
# Close together around the sizes of last-level caches (32 MB to 256 MB), where rates change most.
DEFAULT_SIZES: tuple[int, ...] = (
    *(k * KIB for k in (64, 128, 256, 512)),
    *(m * MIB for m in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)),
)
_LARGEST_ON_CPU = 512 * MIB
SCHEMA_VERSION = 1

_POLICIES: tuple[CachePolicy, ...] = ("hot", "cold")
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


@dataclass(frozen=True, slots=True)
class CeilingRow:
    """The best reader found for one size and policy. Times in ns of its final samples; GB are 1e9 bytes."""

    size_bytes: int
    cache: CachePolicy
    reader: Reader
    median_ns: float
    q1_ns: float
    q3_ns: float
    samples: int
    copies: int
    tried: int

    @property
    def gb_per_s(self) -> float:
        """Bytes read over the median time."""
        return self.size_bytes / self.median_ns


@dataclass(frozen=True, slots=True)
class CeilingTable:
    """A device's ceiling. `floor_ns` is the median of an empty kernel, None where there is none (CPU)."""

    device: str
    timer: str
    cache_bytes: int | None
    floor_ns: float | None
    rows: tuple[CeilingRow, ...]

    def best_ns(self, size_bytes: int, policy: CachePolicy) -> float | None:
        """The shortest time in which `size_bytes` can be read; None where nothing was measured for the policy.

        Between measured sizes time grows linearly with size. A larger buffer is never read faster than a smaller one:
        where it was measured so, the larger one's time counts for both. Below the smallest size the line goes through
        the empty kernel's time at 0 bytes (through 0 where there is none); above the largest its rate holds.
        """
        rows = sorted((r for r in self.rows if r.cache == policy), key=lambda r: r.size_bytes)
        if not rows or size_bytes <= 0:
            return None
        sizes = [0.0, *(float(r.size_bytes) for r in rows)]
        times = np.minimum.accumulate([r.median_ns for r in reversed(rows)])[::-1]
        if size_bytes >= rows[-1].size_bytes:
            return float(times[-1]) * size_bytes / rows[-1].size_bytes
        floor = min(self.floor_ns or 0.0, float(times[0]))
        return float(np.interp(size_bytes, sizes, [floor, *times]))

    def best_for(self, size_bytes: int, policy: CachePolicy) -> float | None:
        """The ceiling in GB/s for a kernel that must move `size_bytes`; the rule is `best_ns`'s."""
        best = self.best_ns(size_bytes, policy)
        return None if best is None else size_bytes / best

    def excess(self, size_bytes: int, policy: CachePolicy, median_ns: float) -> float:
        """By which share a kernel that moved `size_bytes` in `median_ns` beats the ceiling; 0 where it does not.

        A ceiling that is beaten is too low: measure that size again (`sweep_ceiling`, `merge`) and report the excess.
        """
        best = self.best_ns(size_bytes, policy)
        return 0.0 if best is None else max(0.0, best / median_ns - 1.0)

    def merge(self, other: CeilingTable) -> CeilingTable:
        """Both tables of one device and timer; of two rows for a size and policy the faster. Raises ValueError."""
        if (self.device, self.timer) != (other.device, other.timer):
            raise ValueError(f"ceilings of {self.device} by {self.timer} and {other.device} by {other.timer}")
        best: dict[tuple[str, int], CeilingRow] = {}
        for row in (*self.rows, *other.rows):
            key = (row.cache, row.size_bytes)
            if key not in best or row.median_ns < best[key].median_ns:
                best[key] = row
        floors = [f for f in (self.floor_ns, other.floor_ns) if f is not None]
        rows = tuple(best[k] for k in sorted(best))
        return CeilingTable(self.device, self.timer, self.cache_bytes, min(floors, default=None), rows)

    def to_json(self) -> dict[str, Any]:
        """A document that `from_json` reads; rows carry `gb_per_s` for other programs."""
        rows = [{**asdict(r), "gb_per_s": r.gb_per_s} for r in self.rows]
        head = {"device": self.device, "timer": self.timer, "cache_bytes": self.cache_bytes, "floor_ns": self.floor_ns}
        return {"schema_version": SCHEMA_VERSION, **head, "rows": rows}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> CeilingTable:
        """The inverse of `to_json`; raises ValueError when it is no ceiling of this version."""
        try:
            if document["schema_version"] != SCHEMA_VERSION:
                raise ValueError(f"schema_version {document['schema_version']}, not {SCHEMA_VERSION}")
            rows = []
            for raw in document["rows"]:
                fields = {k: v for k, v in raw.items() if k != "gb_per_s"}
                rows.append(CeilingRow(**{**fields, "reader": Reader(**fields["reader"])}))
            head = {k: document[k] for k in ("device", "timer", "cache_bytes", "floor_ns")}
            return cls(**head, rows=tuple(rows))
        except (KeyError, TypeError) as e:
            raise ValueError(f"not a ceiling table: {e}") from e


def ceiling_file(device_name: str) -> Path:
    """Where the ceiling of a device of this name is kept: in the user's data folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", device_name.lower()).strip("-") or "device"
    return data_folder() / "ceiling" / f"{slug}.json"


def save(table: CeilingTable, path: Path) -> None:
    """Writes a table whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(table.to_json(), indent=1))
    scratch.replace(path)


def load(path: Path) -> CeilingTable | None:
    """The table in a file; None where there is no file. Raises ValueError that names the file."""
    try:
        return CeilingTable.from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise ValueError(f"{path}: {e}") from e


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
    on_cpu = kind_of(device) == "cpu"
    return tuple(s for s in DEFAULT_SIZES if not on_cpu or s <= _LARGEST_ON_CPU)


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
    sizes = sorted({s // 64 * 64 for s in sizes if s >= 64})
    pool = open_pool(device, max(sizes))
    try:
        cache_bytes = pool.facts.cache_bytes
        fitting = [s for s in sizes if s <= pool.pool_bytes]
        jobs = [(size, policy) for size in fitting for policy in _POLICIES]
        rows: list[CeilingRow] = []
        with timer.session(device):
            floor = _floor(pool, timer)
            started = time.monotonic()
            for done, (size, policy) in enumerate(jobs):
                left = budget_s - (time.monotonic() - started)
                row = _search(pool, timer, size, policy, left / (len(jobs) - done))
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

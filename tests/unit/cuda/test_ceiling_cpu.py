"""The host's ceiling, really measured: small buffers, a second or two."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from ceiling_pool import StillPool, StillTimer

from ireebench.cli.ceiling import parse_sizes
from ireebench.errors import UsageError
from ireebench.measure import ceiling as ceiling_module
from ireebench.measure import device
from ireebench.measure.baselines import native_build
from ireebench.measure.ceiling import sweep_ceiling
from ireebench.measure.ceiling_device import CpuPool, DeviceFacts, Reader, ReadRunnable
from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation
from ireebench.measure.timers.host import HostTimer

needs_compiler = pytest.mark.skipif(
    native_build.missing_compiler("host") is not None, reason="no C++ compiler on this machine"
)


@needs_compiler
@pytest.mark.parametrize("size", [64, 4096 + 64, (1 << 20) + 192])
def test_all_threads_together_read_every_word_once(size: int) -> None:
    words = np.arange(size // 8, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    pool = CpuPool(2 << 20, "test", None, threads=7)
    try:
        assert {pool.fold(Reader(threads), size) for threads in (1, 7, 2, 3, 7, 1)} == {
            int(np.bitwise_xor.reduce(words))
        }
    finally:
        pool.close()


@needs_compiler
def test_a_range_outside_the_pool_is_refused() -> None:
    pool = CpuPool(1 << 20, "test", None)
    with pytest.raises(RuntimeError, match="outside the pool"):
        pool.fold(Reader(1), 2 << 20)
    with pytest.raises(RuntimeError, match="too many threads"):
        pool.fold(Reader(10_000), 1 << 20)
    pool.close()


@needs_compiler
def test_a_sweep_gives_plausible_rates_hot_and_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    # A small cache keeps the pool small.
    monkeypatch.setattr(device, "last_level_cache_bytes", lambda: 4 << 20)
    seen = []
    table = sweep_ceiling("local-task", HostTimer(), [1 << 20, 4 << 20], budget_s=2, report=seen.append)
    assert tuple(seen) == table.rows
    assert [(r.size_bytes, r.cache) for r in table.rows] == [
        (1 << 20, "hot"),
        (1 << 20, "cold"),
        (4 << 20, "hot"),
        (4 << 20, "cold"),
    ]
    # No memory system of today is slower than 0.1 or faster than 50000 GB/s for a megabyte.
    assert all(0.1 < r.gb_per_s < 50_000 for r in table.rows)
    assert all(r.q1_ns <= r.median_ns <= r.q3_ns and r.samples == 40 for r in table.rows)
    assert all(r.copies == 1 for r in table.rows if r.cache == "hot")
    assert all(r.copies > 1 for r in table.rows if r.cache == "cold")
    assert table.floor_ns is None


def ceiling(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ireebench.cli.main", "ceiling", *args],
        capture_output=True,
        text=True,
        env=os.environ.copy(),
        timeout=120,
        check=False,
    )


@needs_compiler
def test_the_command_measures_stores_and_prints(tmp_path: object) -> None:
    shown = ceiling("--device", "local-task", "--sizes", "1M", "--budget", "1", "--format", "csv")
    assert shown.returncode == 0, shown.stderr
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [(r["size KiB"], r["cache"]) for r in rows] == [("1024.0", "hot"), ("1024.0", "cold")]
    assert "stored in" in shown.stderr
    stored = ceiling("--device", "local-task", "--stored", "--format", "json")
    document = json.loads(stored.stdout)
    assert (document["schema_version"], document["timer"]) == (1, "host")
    assert [r["gb_per_s"] for r in document["rows"] if r["cache"] == "hot"] == [
        float(r["GB/s"]) for r in rows if r["cache"] == "hot"
    ]


def test_wrong_input_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/nonexistent-ireebench-data")
    for args, code, message in (
        (["--sizes", "12Q"], 2, "'12Q' is no size"),
        (["--device", "vulkan://0"], 2, "hip, cuda and local-task"),
        (["--device", "local-task", "--stored"], 1, "no ceiling is stored"),
        (["--device", "local-task", "--timer", "cupti", "--sizes", "1M"], 1, "timer cupti serves cuda"),
        (["--from", "a.db", "--stored", "--sizes", "64K", "--budget", "3", "--device", "cuda://9"], 2,
         "--from prints what was measured before: leave --device, --sizes, --budget, --stored out"),
        (["--from", "a.db", "--timer", "host"], 2, "leave --timer out"),
        (["--device", "local-task", "--stored", "--sizes", "64K"], 2, "leave --sizes out"),
        (["--timer", "cuptii", "--device", "local-task", "--sizes", "1M"], 2, "nearest: cupti"),
    ):  # fmt: skip
        shown = ceiling(*args)
        assert shown.returncode == code, shown.stderr
        assert message in shown.stderr
        assert shown.stderr.count("\n") == 1
        assert shown.stdout == ""


def test_help_has_three_examples() -> None:
    shown = ceiling("--help")
    assert shown.returncode == 0
    assert shown.stdout.count("  ireebench ceiling") == 3


def test_sizes_are_read_with_their_units() -> None:
    assert parse_sizes("64K,1M, 4G,128,2MiB") == (65536, 1 << 20, 4 << 30, 128, 2 << 20)
    with pytest.raises(UsageError, match="'7'"):
        parse_sizes("7")


class Counting(StillPool):
    """A pool whose reader with `fast` workgroups takes 100 ns and every other 200 ns, on a clock of its own."""

    pool_bytes = 64 << 20
    facts = DeviceFacts("counted", "host", 8, 1 << 20, 1 << 30)

    def __init__(self, fast: int) -> None:
        self.fast = fast
        self.last_ns = 0
        self.read: list[int] = []

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        def launch(copy: int) -> None:
            self.last_ns = 100 if reader.grid == self.fast else 200
            self.read.append(copy)

        return ReadRunnable(copies, launch, lambda: None)


class Clock(StillTimer):
    """A timer that reads the pool's own clock; named after one that is given single readers, or many at once."""

    def __init__(self, name: str, pool: Counting) -> None:
        self.name, self.pool, self.calls = name, pool, 0

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        self.calls += 1
        got = []
        for copy in copies:
            runnable.launch(copy)
            runnable.sync()
            got.append(Invocation(self.pool.last_ns, self.pool.last_ns))
        return got


@pytest.mark.parametrize(("timer", "calls"), [("cupti", 2 * 2), ("host", 2 * (4 + 4))])
def test_the_fastest_reader_wins_whether_readers_are_timed_together_or_alone(
    timer: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Counting(fast=4)
    clock = Clock(timer, pool)
    monkeypatch.setattr(ceiling_module, "open_pool", lambda device, largest: pool)
    table = sweep_ceiling("local-task", clock, [1 << 20], budget_s=5)
    assert [(r.reader.grid, r.median_ns, r.tried) for r in table.rows] == [(4, 100.0, 4)] * 2
    assert clock.calls == calls
    half = len(pool.read) // 2
    assert set(pool.read[:half]) == {0}  # hot
    # 1 MiB copies against a cache of 1 MiB: three exceed it twice over, and no copy is read twice in a row.
    assert set(pool.read[half:]) == {0, 1, 2}
    assert all(a != b for a, b in pairwise(pool.read[half:]))

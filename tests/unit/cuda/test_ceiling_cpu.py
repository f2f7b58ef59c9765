"""The host's ceiling, really measured: small buffers, a second or two."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ireebench.cli.ceiling import parse_sizes
from ireebench.errors import UsageError
from ireebench.measure import device
from ireebench.measure.baselines import native_build
from ireebench.measure.ceiling import sweep_ceiling
from ireebench.measure.ceiling_device import CpuPool, Reader
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
        (["--timer", "cuptii", "--device", "local-task", "--sizes", "1M"], 2, "nearest: cupti"),
    ):
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

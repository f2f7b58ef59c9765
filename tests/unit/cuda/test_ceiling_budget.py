"""A ceiling keeps its seconds: the device, its clock and the host's are stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from ceiling_pool import StillPool, StillTimer

from ireebench.measure import ceiling as ceiling_module
from ireebench.measure.baselines.native_build import Kind
from ireebench.measure.ceiling import DEFAULT_SIZES, MIB, in_words, sweep_ceiling
from ireebench.measure.ceiling_device import DeviceFacts, Reader, ReadRunnable
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable
from ireebench.measure.job import CachePolicy
from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation


@dataclass
class Machine(StillPool, StillTimer):
    """A device, a timer and the host's clock in one. A read takes `ns(size, policy, reader)`, and the host as long."""

    ns: Callable[[int, CachePolicy, Reader], float]
    kind: Kind = "host"
    name: str = "host"
    opening_s: float = 0.0
    call_s: float = 0.0  # what a call of the timer costs beside the reads
    now: float = 100.0
    last_ns: float = 0.0
    read: list[tuple[int, CachePolicy]] = field(default_factory=list)
    pool_bytes = 8 << 30

    @property
    def facts(self) -> DeviceFacts:
        return DeviceFacts("stand-in", self.kind, 132 if self.kind == "cuda" else 2, MIB, 16 << 30)

    def clock(self) -> float:
        return self.now

    def open(self, device: str, largest: int) -> Machine:
        self.now += self.opening_s
        return self

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        policy: CachePolicy = "hot" if copies == 1 else "cold"

        def launch(copy: int) -> None:
            self.last_ns = self.ns(size_bytes, policy, reader)
            self.now += self.last_ns / 1e9
            self.read.append((size_bytes, policy))

        return ReadRunnable(copies, launch, lambda: None)

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        self.now += self.call_s
        taken = []
        for copy in copies:
            due = self.now + (1e-4 if self.kind == "cuda" else 0.0)
            runnable.launch(copy)
            self.now = max(self.now, due)
            taken.append(Invocation(round(self.last_ns), round(self.last_ns)))
        return taken


Run = Callable[..., tuple[CeilingTable, float, list[str], list[CeilingRow]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Measures a machine's ceiling: the table, the seconds that it took, what was said, the rows as they came."""

    def measure(
        machine: Machine, budget_s: float, sizes: tuple[int, ...] = DEFAULT_SIZES
    ) -> tuple[CeilingTable, float, list[str], list[CeilingRow]]:
        monkeypatch.setattr(ceiling_module, "open_pool", machine.open)
        monkeypatch.setattr(ceiling_module, "monotonic", machine.clock)
        said: list[str] = []
        rows: list[CeilingRow] = []
        began = machine.now
        table = sweep_ceiling("local-task", machine, sizes, budget_s, rows.append, say=said.append)
        return table, machine.now - began, said, rows

    return measure


def cpu(size: int, policy: CachePolicy, reader: Reader) -> float:
    """5 us, and 10 GB/s a thread."""
    return 5_000 + size / (10 * reader.grid)


def test_a_slow_device_keeps_the_seconds_and_leaves_out_the_largest_sizes(run: Run) -> None:
    table, took_s, said, _ = run(Machine(cpu, opening_s=1.0), 4.0)
    assert 2.0 < took_s < 4.2
    measured = {(r.size_bytes, r.cache) for r in table.rows}
    missing = [s for s in DEFAULT_SIZES if (s, "cold") not in measured]
    assert missing == [s for s in DEFAULT_SIZES if s >= min(missing)]
    # 8 reads of 4 GiB take 1.7 s at the best, of 64 MiB a few hundredths.
    assert 4096 * MIB in missing
    assert 64 * MIB not in missing
    (line,) = said
    assert line.startswith("ceiling: ")
    assert line.endswith("2048 MiB, 4096 MiB left out: 4 s are too few")
    # Both threads, also where the time was too short for more than one reader.
    assert all(r.median_ns == pytest.approx(5_000 + r.size_bytes / 20, abs=1) for r in table.rows)
    assert {r.tried for r in table.rows} == {1, 2}


def test_a_longer_budget_leaves_nothing_out_and_ends_when_all_is_read(run: Run) -> None:
    table, took_s, said, _ = run(Machine(cpu), 400.0)
    assert (len(table.rows), said) == (2 * len(DEFAULT_SIZES), [])
    assert {(r.samples, r.tried) for r in table.rows} == {(40, 2)}
    assert took_s < 200


@pytest.mark.parametrize("budget_s", [1.0, 8.0, 90.0])
def test_a_gpu_keeps_its_seconds_with_fewer_readers_a_size(budget_s: float, run: Run) -> None:
    def gpu(size: int, policy: CachePolicy, reader: Reader) -> float:
        return (2_000 + size / 4_000) * (1.0 if (reader.block, reader.loads) == (512, "streaming") else 1.1)

    machine = Machine(gpu, "cuda", "cupti", opening_s=30.0, call_s=0.004)
    table, took_s, said, _ = run(machine, budget_s)
    assert took_s - 30.0 < 1.1 * budget_s + 0.1  # compiling the readers is no measuring
    assert said == []
    assert len(table.rows) == 2 * len(DEFAULT_SIZES)
    # What won a size is tried first at the next: no row is left with a slow reader.
    assert {(r.reader.block, r.reader.loads) for r in table.rows if r.size_bytes >= MIB} == {(512, "streaming")}


def disturbed(size: int, *, always: bool) -> Callable[[int, CachePolicy, Reader], float]:
    """A rate of 4000 GB/s, but 8% less at one size, cold: always, or until another size has been read after it."""
    begun = over = False

    def ns(read: int, policy: CachePolicy, reader: Reader) -> float:
        nonlocal begun, over
        here = (read, policy) == (size, "cold")
        begun, over = begun or here, over or (begun and not here)
        return (2_000 + read / 4_000) * (1.08 if here and (always or not over) else 1.0)

    return ns


SIZES = tuple(m * MIB for m in (16, 24, 32, 36, 48, 64))


def test_what_is_left_of_the_budget_goes_to_the_row_that_its_neighbours_beat(run: Run) -> None:
    machine = Machine(disturbed(36 * MIB, always=False), "cuda", "cupti")
    table, took_s, said, rows = run(machine, 10.0, SIZES)
    assert took_s < 10.5
    assert said == []
    assert [(r.size_bytes, r.cache) for r in rows].count((36 * MIB, "cold")) == 2
    assert [r.median_ns for r in rows if (r.size_bytes, r.cache) == (36 * MIB, "cold")] == [12_352, 11_437]
    assert {r.median_ns for r in table.rows if r.size_bytes == 36 * MIB} == {11_437}


def test_a_row_that_stays_slow_is_dropped_and_told(run: Run) -> None:
    machine = Machine(disturbed(36 * MIB, always=True), "cuda", "cupti")
    table, took_s, said, _ = run(machine, 10.0, SIZES)
    assert took_s < 10.5
    assert said == ["ceiling: 36 MiB cold dropped: slower than the neighbours show to be possible"]
    assert len(table.rows) == 2 * len(SIZES) - 1
    # The line between 32 and 48 MiB is the rate of all others.
    assert table.best_ns(36 * MIB, "cold") == pytest.approx(2_000 + 36 * MIB / 4_000, abs=1.0)


def test_many_sizes_are_told_in_a_few_words() -> None:
    assert in_words([(64 << 10, "hot"), (36 * MIB, "cold"), (49_807_360, "hot"), (49_807_360, "cold")]) == (
        "64 KiB hot, 36 MiB cold, 47.5 MiB"
    )
    assert in_words([(m * MIB, "hot") for m in range(1, 10)]).startswith("3 more, 4 MiB hot, 5 MiB hot")

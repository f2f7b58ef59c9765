"""The ceiling is measured again where a checked kernel beats it. The device and its clock are stand-ins."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from ceiling_pool import StillPool, StillTimer

from ireebench.measure import bundle, ceiling_again
from ireebench.measure import ceiling as ceiling_module
from ireebench.measure.bundle import Limits, run_bundle
from ireebench.measure.campaign import Campaign
from ireebench.measure.ceiling_again import Figures, measure_again, measured_on, problem_sizes, row_size
from ireebench.measure.ceiling_device import DeviceFacts, Reader, ReadRunnable
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable, Checked, Excess, ceiling_file, excess_lines, save
from ireebench.measure.device import describe
from ireebench.measure.job import CachePolicy, Entry, Group, Job, Protocol
from ireebench.measure.result import EntryResult, RunResult
from ireebench.measure.results_file import read_results
from ireebench.measure.runnable import Runnable
from ireebench.measure.timers.base import Invocation
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, RunSummary, Trial
from ireebench.sweep.ceiling import keep_ceiling, put_ceiling, stored_ceiling
from ireebench.sweep.loop import Share
from ireebench.sweep.request import Measuring
from ireebench.variants import Ship

MIB = 1 << 20
# 16 x 1048576 f32: 64 MiB are read, and 16 values and 16 i32 indices written, 128 bytes.
PROBLEM = Problem("wide", "argmax", (16, 1_048_576), "f32", index_dtype="i32")
BYTES = 64 * MIB + 128


@dataclass
class Memory(StillPool, StillTimer):
    """A device and its clock: reading `size` bytes takes `ns[size, policy]`; another size 1 ns a KiB."""

    ns: Mapping[tuple[int, CachePolicy], int]
    read: list[tuple[int, CachePolicy]] = field(default_factory=list)
    name = "host"
    pool_bytes = 1 << 30

    @property
    def facts(self) -> DeviceFacts:
        return DeviceFacts("stand-in", "host", 1, MIB, 1 << 30)

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        policy: CachePolicy = "hot" if copies == 1 else "cold"

        def launch(copy: int) -> None:
            self.read.append((size_bytes, policy))

        return ReadRunnable(copies, launch, lambda: None)

    def sample(self, runnable: Runnable, copies: list[int]) -> list[Invocation]:
        taken = []
        for copy in copies:
            runnable.launch(copy)
            size, policy = self.read[-1]
            ns = self.ns.get((size, policy), size // 1024)
            taken.append(Invocation(ns, ns))
        return taken


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Reads 64 MiB in 25 us hot and 45 us cold, all the rest in 1 ns a KiB."""
    m = Memory({(64 * MIB, "hot"): 25_000, (64 * MIB, "cold"): 45_000})
    monkeypatch.setattr(ceiling_module, "open_pool", lambda device, largest: m)
    monkeypatch.setattr(ceiling_again, "load", lambda name: m)
    monkeypatch.setattr(bundle, "load", lambda name: m)
    return m


def row(size: int, median_ns: float, cache: CachePolicy = "hot") -> CeilingRow:
    return CeilingRow(size, cache, Reader(1), median_ns, median_ns, median_ns, 40, 1 if cache == "hot" else 3, 1)


def table(*rows: CeilingRow) -> CeilingTable:
    return CeilingTable("stand-in", "host", MIB, None, rows)


MEASURED = table(row(MIB, 2_000.0), row(64 * MIB, 30_000.0), row(64 * MIB, 40_000.0, "cold"))


def wide(median_ns: float, cache: CachePolicy = "hot", by: str = "candidate") -> Checked:
    return Checked("wide", 64 * MIB, cache, median_ns, by)


def again(
    start: CeilingTable, kernels: Sequence[Checked], sizes: Sequence[int] = (), most_s: float = 20.0
) -> tuple[CeilingTable, list[str]]:
    said: list[str] = []
    measure = measured_on("local-task", "host")
    return measure_again(start, kernels, measure, said.append, sizes=sizes, most_s=most_s), said


def test_a_size_is_the_problems_own_or_the_whole_mib_that_it_all_but_is() -> None:
    assert row_size(64 * MIB + 128) == 64 * MIB
    assert row_size(20_000_000) == 20_000_000  # 19.07 MiB
    assert row_size(20_000_063) == 20_000_000
    assert row_size(100) == 64


def test_large_problems_sizes_are_added_once_and_at_most_twelve() -> None:
    vocabulary = Problem("gpt2", "argmax", (2048, 50257), "f32", index_dtype="i32")  # 392.65 MiB
    small = Problem("small", "argmax", (32768,), "f16")
    assert problem_sizes([PROBLEM, vocabulary, PROBLEM, small]) == (64 * MIB, 393 * MIB)
    assert problem_sizes([PROBLEM, vocabulary], known=[64 * MIB]) == (393 * MIB,)
    many = [Problem(f"p{n}", "argmax", (n, MIB), "f32") for n in range(4, 20)]
    assert problem_sizes(many) == tuple(n * 4 * MIB for n in range(8, 20))


def test_a_ceiling_that_a_kernel_beats_is_measured_again_at_that_size_and_policy_alone(memory: Memory) -> None:
    slower = Checked("small", MIB, "hot", 2_500.0, "numpy")
    better, said = again(MEASURED, [wide(24_000.0), wide(50_000.0, "cold"), slower])
    assert set(memory.read) == {(64 * MIB, "hot")}
    assert {(r.size_bytes, r.cache): r.median_ns for r in better.rows} == {
        (MIB, "hot"): 2_000.0,
        (64 * MIB, "hot"): 25_000.0,
        (64 * MIB, "cold"): 40_000.0,
    }
    # 30 us against 24 us was 25% too slow; 25 us still is 1/24.
    assert better.excesses == (Excess(wide(24_000.0), 0.25, again=True),)
    assert better.left(better.excesses[0]) == pytest.approx(1 / 24)
    assert said == ["ceiling: 1 checked kernel faster than it: measuring 1 sizes (hot, cold) again or anew, about 3 s"]


def test_an_excess_that_measuring_again_explains_is_kept_and_is_none_any_more(memory: Memory) -> None:
    better, _ = again(MEASURED, [wide(25_500.0)])
    assert [better.left(e) for e in better.excesses] == [0.0]
    assert excess_lines(better) == ()


def test_a_ceiling_never_sinks_by_being_measured_again(memory: Memory) -> None:
    better, _ = again(MEASURED, [wide(38_000.0, "cold")])  # the stand-in now takes 45 us
    assert set(better.rows) == set(MEASURED.rows)
    assert better.left(better.excesses[0]) == pytest.approx(2 / 38)
    between = Checked("between", 32 * MIB, "hot", 15_000.0, "cub")  # the line is at 15778 ns; it now takes 32768
    assert set(again(MEASURED, [between])[0].rows) == set(MEASURED.rows)


def test_nothing_is_measured_where_no_kernel_is_faster(memory: Memory) -> None:
    assert again(MEASURED, [wide(30_000.0)]) == (MEASURED, [])
    assert memory.read == []


def test_a_kernel_no_faster_than_one_that_was_measured_again_for_costs_nothing(memory: Memory) -> None:
    once, _ = again(MEASURED, [wide(24_000.0)])
    memory.read.clear()
    assert again(once, [wide(24_000.0)]) == (once, [])
    assert again(once, [wide(24_500.0)]) == (once, [])
    assert memory.read == []
    faster, _ = again(once, [wide(20_000.0, by="cub")])
    assert memory.read
    assert faster.excesses == (Excess(wide(20_000.0, by="cub"), 0.25, again=True),)


def test_a_size_that_was_only_interpolated_may_show_a_kernel_above_it(memory: Memory) -> None:
    start = table(row(MIB, 2_000.0), row(128 * MIB, 60_000.0))
    memory.ns = {(64 * MIB, "hot"): 31_000, (64 * MIB, "cold"): 45_000}
    better, said = again(start, [wide(30_500.0)], sizes=[64 * MIB])  # the line is at 30771 ns
    assert (better.best_ns(64 * MIB, "hot"), better.best_ns(64 * MIB, "cold")) == (31_000.0, 45_000.0)
    assert [(e.kernel.problem, e.again) for e in better.excesses] == [("wide", True)]
    assert better.left(better.excesses[0]) == pytest.approx(1 / 61)
    assert len(said) == 1
    unbeaten, _ = again(start, [wide(30_900.0)], sizes=[64 * MIB])
    assert [(round(e.first, 6), e.again) for e in unbeaten.excesses] == [(round(1 / 309, 6), True)]


def test_a_device_that_fails_is_told_and_its_excess_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fall_off(device: str, largest: int) -> Memory:
        raise RuntimeError("the device fell off")

    monkeypatch.setattr(ceiling_module, "open_pool", fall_off)
    better, said = again(MEASURED, [wide(24_000.0)])
    assert better.rows == MEASURED.rows
    assert better.excesses == (Excess(wide(24_000.0), 0.25, again=False),)
    assert said[1:] == ["ceiling: could not be measured again: the device fell off"]
    assert excess_lines(better) == (
        "ceiling (hot): exceeded by a checked kernel, and was not measured again: wide by 25%",
    )


def test_where_no_time_is_left_nothing_is_measured(memory: Memory) -> None:
    better, said = again(MEASURED, [wide(24_000.0)], most_s=-4.0)
    assert memory.read == []
    assert [e.again for e in better.excesses] == [False]
    assert said == ["ceiling: 1 checked kernel faster than it; not measured again: no time is left"]


def test_the_excess_travels_with_the_table(memory: Memory) -> None:
    better, _ = again(MEASURED, [wide(24_000.0)])
    document = json.loads(json.dumps(better.to_json()))
    (told,) = document["excesses"]
    assert told.pop("percent") == pytest.approx(100 / 24)
    assert told == {
        "problem": "wide",
        "size_bytes": 64 * MIB,
        "cache": "hot",
        "median_ns": 24_000.0,
        "by": "candidate",
        "first_percent": 25.0,
        "measured_again": True,
    }
    assert CeilingTable.from_json(document) == better
    del document["excesses"]  # a ceiling of an older version
    assert CeilingTable.from_json(document) == replace(better, excesses=())


def test_of_two_kernels_of_a_problem_the_faster_stays() -> None:
    a = replace(MEASURED, excesses=(Excess(wide(24_000.0), 0.25, True), Excess(wide(39_000.0, "cold"), 0.026, True)))
    b = replace(MEASURED, excesses=(Excess(wide(20_000.0, by="cub"), 0.5, False),))
    assert {(e.kernel.cache, e.kernel.median_ns) for e in a.merge(b).excesses} == {
        ("hot", 20_000.0),
        ("cold", 39_000.0),
    }
    assert a.merge(b).excesses[0] == b.merge(a).excesses[0]


def test_the_lines_name_the_worst_first_and_count_the_rest() -> None:
    names = "abcdefgh"
    beaten = [Excess(Checked(n, MIB, "hot", 2_000.0 / (1 + i / 100), "cub"), 0.2, True) for i, n in enumerate(names)]
    assert excess_lines(replace(MEASURED, excesses=tuple(beaten))) == (
        "ceiling (hot): exceeded by a checked kernel, after it was measured again: "
        "h by 7%, g by 6%, f by 5%, e by 4%, d by 3%, c by 2%, 1 more",
    )


def test_an_excess_of_a_hundred_percent_is_written_out() -> None:
    twice = Excess(Checked("a", MIB, "hot", 1_000.0, "cub"), 1.0, True)  # the ceiling's row takes 2 us
    (line,) = excess_lines(replace(MEASURED, excesses=(twice,)))
    assert line.endswith("measured again: a by 100%")


# From here on: the ends of a campaign.

ENTRIES = (Entry("a", vmfb="a.vmfb"), Entry("b", vmfb="b.vmfb"), Entry("cub", baseline="cub", always=True))


def result(entry: str, process: int, ns: int, failure: Failure | None = None) -> EntryResult:
    samples = np.array([ns, ns, ns + 7], np.int64)
    run = RunResult(entry, process, "hot", "host", samples, samples, np.zeros(3, np.int64))
    return EntryResult(entry, None, (run,), failure)


def test_finals_count_before_the_luck_of_the_search_and_failures_and_twins_not_at_all() -> None:
    figures = Figures([Group(PROBLEM, ENTRIES)])
    wrong = Failure(Status.WRONG_RESULT, "differs")
    for r in (result("a", 0, 90), result("b", 0, 10), result("a", 1, 100), result("a", 2, 104), result("a", 3, 95)):
        figures.add(r)
    figures.add(result("a#aa", 1, 5))
    figures.add(result("cub", 1, 20))
    figures.add(result("cub", 2, 20, wrong))
    assert figures.fastest() == (Checked("wide", BYTES, "hot", 100.0, "candidate"),)


def test_without_finals_the_search_counts() -> None:
    figures = Figures([Group(PROBLEM, ENTRIES)])
    figures.add(result("a", 0, 90))
    figures.add(result("cub", 0, 80))
    assert figures.fastest() == (Checked("wide", BYTES, "hot", 80.0, "cub"),)


def campaign() -> Campaign:
    return Campaign("local-task", "host", Protocol(), Protocol(), (Group(PROBLEM, ENTRIES),), processes=1, finalists=1)


def run_campaign_that_beats(
    ns: int, out: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch, *, endless: bool = False
) -> list[Path]:
    def job(job: Job, folder: Path, deadline: float | None) -> Iterator[EntryResult]:
        for group in job.groups:
            for entry in group.entries:
                yield result(entry.key, job.process, ns)
        if endless:
            assert deadline is not None
            time.sleep(max(0.0, deadline - time.monotonic()))

    monkeypatch.setattr(bundle, "_run_job", job)
    return run_bundle(campaign(), ["local-task"], out, limits)


def test_a_bundles_last_file_brings_the_ceiling_that_was_measured_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundle, "default_sizes", lambda device: (MIB, 128 * MIB))
    memory.ns = {(64 * MIB, "hot"): 25_000, (64 * MIB, "cold"): 45_000}
    paths = run_campaign_that_beats(24_000, tmp_path, Limits(None, 1.0), monkeypatch)
    told = [read_results(p) for p in paths]
    tables = [CeilingTable.from_json(environment["ceiling"]) for environment, _ in told]
    assert [sum(1 for _ in results) for _, results in told] == [2, 3, 0]  # the search, the finals, what came after
    # The problem's own size was measured with the usual ones.
    assert {r.size_bytes for r in tables[0].rows} == {MIB, 64 * MIB, 128 * MIB}
    assert [t.excesses for t in tables[:2]] == [(), ()]
    (excess,) = tables[2].excesses
    assert (excess.kernel, excess.again) == (Checked("wide", BYTES, "hot", 24_000.0, "candidate"), True)
    errors = capfd.readouterr().err
    assert "ceiling: 3 sizes, 1 s" in errors
    assert "ceiling: 1 checked kernel faster than it: measuring 1 sizes" in errors
    assert "ceiling (hot): exceeded by a checked kernel, after it was measured again: wide by 4.2%" in errors


def test_a_bundle_that_beats_no_ceiling_writes_no_further_file(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "default_sizes", lambda device: (MIB,))
    paths = run_campaign_that_beats(26_000, tmp_path, Limits(None, 1.0), monkeypatch)
    assert [p.name for p in paths] == ["results-0.zip", "results-1.zip"]


def test_a_limit_leaves_the_ceiling_a_quarter_before_and_a_little_after() -> None:
    assert (Limits(60.0, 4.0).first_s, Limits(60.0, 30.0).first_s, Limits(None, 90.0).first_s) == (4.0, 15.0, 90.0)
    assert (Limits(60.0, 4.0).again_s, Limits(540.0, 4.0).again_s) == (3.0, 15.0)
    assert (Limits(540.0, 0.0).again_s, Limits(None, 4.0).again_s) == (0.0, 0.0)


def test_a_campaign_that_uses_its_whole_limit_leaves_time_to_measure_the_ceiling_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundle, "default_sizes", lambda device: (MIB,))
    monkeypatch.setattr(bundle, "AGAIN_SHARE", 0.5)
    started = time.monotonic()
    paths = run_campaign_that_beats(24_000, tmp_path, Limits(4.0, 30.0), monkeypatch, endless=True)
    assert 2.0 <= time.monotonic() - started < 4.0
    (excess,) = CeilingTable.from_json(read_results(paths[-1])[0]["ceiling"]).excesses
    assert excess.again
    errors = capfd.readouterr().err
    assert "ceiling: 2 sizes, 1 s, a quarter of the time limit, not 30\n" in errors
    assert "about 2 s" in errors


ENVIRONMENT = Environment("stand-in", "local-task", None, "3.13.0", "3.13.0", "0.1.0", "host", "3.11.0", "")


def trial(ns: float, status: Status = Status.OK) -> Trial:
    run = RunSummary(0, "hot", "host", 10, ns, ns, ns, ns)
    known = {"variant": None, "baseline": "cub", "form": None, "ship": Ship.NONE, "config": Config()}
    return Trial("k", PROBLEM, "cpu", status=status, stage=Stage.TIMED, runs=(run,), **known)  # type: ignore[arg-type]


def test_a_sweep_measures_again_keeps_it_for_the_device_and_stores_it(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    elsewhere = Excess(Checked("other", MIB, "hot", 1_000.0, "cub"), 1.0, True)
    path = ceiling_file(describe("local-task").name)
    save(replace(MEASURED, excesses=(elsewhere,)), path)
    measuring = Measuring("local-task", "host", Protocol(), Protocol())
    said: list[str] = []
    with Store.open(tmp_path / "s.db", write=True) as store:
        place = store.put_environment(ENVIRONMENT)
        shares = [Share("local-task", place, (PROBLEM,))]
        keep_ceiling(store, shares, measuring, [trial(20_000.0, Status.WRONG_RESULT)], said.append)
        assert said == []
        keep_ceiling(store, shares, measuring, [trial(24_000.0)], said.append)
        stored = stored_ceiling(store, place)
    assert stored is not None
    assert [e.kernel.problem for e in stored.excesses] == ["wide"]
    assert stored.best_ns(64 * MIB, "hot") == 25_000.0
    kept = CeilingTable.from_json(json.loads(path.read_text()))
    assert {e.kernel.problem for e in kept.excesses} == {"wide", "other"}
    assert len(said) == 1


def test_devices_of_one_sweep_share_the_ceiling_and_each_measures_for_its_own_problems(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    save(MEASURED, ceiling_file(describe("local-task").name))
    opened: list[str] = []
    monkeypatch.setattr(ceiling_module, "open_pool", lambda device, largest: (opened.append(device), memory)[1])
    measuring = Measuring("local-sync", "host", Protocol(), Protocol(), devices=("local-sync", "local-task"))
    other = replace(PROBLEM, id="other", shape=(1, 1024))
    with Store.open(tmp_path / "s.db", write=True) as store:
        places = [store.put_environment(replace(ENVIRONMENT, device_uri=uri)) for uri in measuring.devices]
        shares = [Share("local-sync", places[0], (other,)), Share("local-task", places[1], (PROBLEM,))]
        keep_ceiling(store, shares, measuring, [trial(24_000.0)], lambda text: None)
        first, second = (stored_ceiling(store, place) for place in places)
    assert opened == ["local-task"]
    assert first is not None
    assert second is not None
    assert first.best_ns(64 * MIB, "hot") == second.best_ns(64 * MIB, "hot") == 25_000.0
    assert (len(first.excesses), len(second.excesses)) == (0, 1)


def test_a_sweep_by_another_timer_than_the_ceilings_is_not_held_against_it(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    save(replace(MEASURED, timer="batched"), ceiling_file(describe("local-task").name))
    said: list[str] = []
    with Store.open(tmp_path / "s.db", write=True) as store:
        place = store.put_environment(ENVIRONMENT)
        measuring = Measuring("local-task", "host", Protocol(), Protocol())
        shares = [Share("local-task", place, (PROBLEM,))]
        keep_ceiling(store, shares, measuring, [trial(24_000.0)], said.append)
    assert memory.read == []
    assert said == [
        "the ceiling was measured by timer batched, this sweep by host: for one by the same, "
        "ireebench ceiling --device local-task --timer host"
    ]


def test_imported_ceilings_keep_the_faster_rows_in_whatever_order_they_come(tmp_path: Path) -> None:
    after = replace(table(row(64 * MIB, 25_000.0)), excesses=(Excess(wide(24_000.0), 0.25, True),))
    for name, order in (("a.db", (MEASURED, after)), ("b.db", (after, MEASURED))):
        with Store.open(tmp_path / name, write=True) as store:
            place = store.put_environment(ENVIRONMENT)
            for t in order:
                put_ceiling(store, place, t)
            stored = stored_ceiling(store, place)
        assert stored is not None
        assert stored.best_ns(64 * MIB, "hot") == 25_000.0
        assert len(stored.rows) == 3
        assert stored.excesses == after.excesses


def test_the_command_prints_a_stores_ceiling_and_what_exceeds_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db", write=True) as store:
        place = store.put_environment(ENVIRONMENT)
        empty = store.path
    command = [sys.executable, "-m", "ireebench.cli.main", "ceiling", "--from", str(tmp_path / "s.db")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (shown.returncode, shown.stderr.count("\n")) == (1, 1)
    assert f"{empty}: no ceiling in this store" in shown.stderr
    with Store.open(tmp_path / "s.db", write=True) as store:
        put_ceiling(store, place, replace(MEASURED, excesses=(Excess(wide(24_000.0), 0.3, True),)))
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "stand-in: streaming read, timer host" in shown.stdout
    line = "ceiling (hot): exceeded by a checked kernel, after it was measured again: wide by 25%"
    assert shown.stdout.splitlines()[-1] == line
    shown = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=60, check=True)
    (document,) = json.loads(shown.stdout)["ceilings"]
    assert [e["percent"] for e in document["excesses"]] == [25.0]

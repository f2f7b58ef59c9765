from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ireebench.measure.campaign import Campaign, Progress, noise_of, pick_finalists, run_campaign, run_on_devices
from ireebench.measure.job import Entry, Group, Job, Protocol
from ireebench.measure.result import EntryResult, RunResult
from ireebench.outcome import Failure, Status
from ireebench.problems.problem import Problem

PROBLEM = Problem("p", "argmax", (1, 1024), "f32")
ENTRIES = (
    Entry("slow", vmfb="a.vmfb", ships=True),
    Entry("fast", vmfb="b.vmfb"),
    Entry("middle", vmfb="c.vmfb"),
    Entry("numpy", baseline="numpy", always=True),
    Entry("broken", vmfb="d.vmfb"),
)
TIMES = {"slow": 300, "fast": 100, "middle": 200, "numpy": 5000, "fast#aa": 102}


class FakeWorkers:
    """Stands in for worker processes: gives each entry the time written above and fails "broken"."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def __call__(self, job: Job, folder: Path) -> Iterator[EntryResult]:
        self.jobs.append(job)
        for group in job.groups:
            for entry in group.entries:
                if entry.key == "broken":
                    yield EntryResult(entry.key, None, (), Failure(Status.RUN_FAILED, "crashed"))
                    continue
                ns = np.full(10, TIMES[entry.key], np.int64)
                run = RunResult(entry.key, job.process, "hot", job.timer, ns, ns, np.zeros(10, np.int64))
                yield EntryResult(entry.key, None, (run,), None)


def campaign(**changes: int) -> Campaign:
    settings = {"processes": 2, "finalists": 1} | changes
    return Campaign("local-task", "host", Protocol(warmup=1), Protocol(), (Group(PROBLEM, ENTRIES),), **settings)


def keys_of(job: Job) -> list[str]:
    return [e.key for g in job.groups for e in g.entries]


def test_finalists_are_the_best_the_best_that_ships_what_is_always_in_and_the_best_again() -> None:
    chosen = pick_finalists(Group(PROBLEM, ENTRIES), TIMES, 1)
    assert [e.key for e in chosen] == ["fast", "slow", "numpy", "fast#aa"]
    assert chosen[-1].vmfb == "b.vmfb"


def test_baselines_are_finalists_even_when_no_candidate_is() -> None:
    assert [e.key for e in pick_finalists(Group(PROBLEM, ENTRIES), {}, 3)] == ["numpy"]


def test_the_search_runs_everything_and_each_final_process_runs_the_finalists(tmp_path: Path) -> None:
    workers = FakeWorkers()
    results = list(run_campaign(campaign(), tmp_path, workers, Progress({})))
    assert [j.process for j in workers.jobs] == [0, 1, 2]
    assert keys_of(workers.jobs[0]) == ["slow", "fast", "middle", "broken"]
    assert keys_of(workers.jobs[1]) == ["fast", "slow", "numpy", "fast#aa"]
    assert len(results) == 4 + 4 + 4
    assert len({j.protocol.seed for j in workers.jobs}) == 3
    assert [j.protocol.warmup for j in workers.jobs] == [1, 100, 100]


def test_an_interrupted_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    workers = FakeWorkers()
    before = Progress(
        {"slow": 300.0, "fast": 100.0, "numpy": 5000.0}, frozenset({("fast", 1), ("slow", 1), ("numpy", 1)})
    )
    list(run_campaign(campaign(), tmp_path, workers, before))
    assert [(j.process, keys_of(j)) for j in workers.jobs] == [
        (0, ["middle", "broken"]),
        (2, ["fast", "slow", "numpy", "fast#aa"]),
    ]


def test_the_noise_floor_is_the_relative_difference_of_the_pair(tmp_path: Path) -> None:
    results = {r.entry: r for r in run_campaign(campaign(processes=1), tmp_path, FakeWorkers(), Progress({})) if r.runs}
    assert list(noise_of(results)) == [("fast", "hot", 1, 0.02)]


def test_without_finals_the_search_runs_the_baselines_too(tmp_path: Path) -> None:
    workers = FakeWorkers()
    list(run_campaign(campaign(processes=0), tmp_path, workers, Progress({})))
    assert keys_of(workers.jobs[0]) == ["slow", "fast", "middle", "numpy", "broken"]


def test_devices_share_the_problems_and_none_is_measured_twice(tmp_path: Path) -> None:
    groups = tuple(Group(replace(PROBLEM, id=f"p{n}"), ENTRIES[: n + 1]) for n in range(4))
    workers = FakeWorkers()
    both = replace(campaign(processes=0), groups=groups)
    results = list(run_on_devices(both, ["cuda://0", "cuda://1"], tmp_path, workers, Progress({})))
    assert sorted(j.device for j in workers.jobs) == ["cuda://0", "cuda://1"]
    ids = {j.device: {g.problem.id for g in j.groups} for j in workers.jobs}
    assert ids["cuda://0"] | ids["cuda://1"] == {"p0", "p1", "p2", "p3"}
    assert not ids["cuda://0"] & ids["cuda://1"]
    assert len(results) == 1 + 2 + 3 + 4


def test_one_devices_error_is_raised_after_the_others_have_ended(tmp_path: Path) -> None:
    workers = FakeWorkers()

    def run(job: Job, folder: Path) -> Iterator[EntryResult]:
        if job.device == "cuda://1":
            raise RuntimeError("the device fell off")
        yield from workers(job, folder)

    groups = tuple(Group(replace(PROBLEM, id=f"p{n}"), ENTRIES[:2]) for n in range(2))
    results = run_on_devices(
        replace(campaign(processes=0), groups=groups), ["cuda://0", "cuda://1"], tmp_path, run, Progress({})
    )
    seen = []
    with pytest.raises(RuntimeError, match="fell off"):
        seen.extend(results)
    assert len(workers.jobs) == 1


def test_a_time_limit_keeps_what_has_arrived_and_waits_for_nothing_else(tmp_path: Path) -> None:
    def run(job: Job, folder: Path) -> Iterator[EntryResult]:
        yield EntryResult("first", None, (), Failure(Status.RUN_FAILED, "x"))
        time.sleep(60)

    started = time.monotonic()
    results = list(run_on_devices(campaign(), ["a"], tmp_path, run, Progress({}), time_limit_s=0.3))
    assert [r.entry for r in results] == ["first"]
    assert time.monotonic() - started < 5


def test_a_time_limit_begins_no_further_job_and_lets_the_running_one_end(tmp_path: Path) -> None:
    ended: list[int] = []

    def run(job: Job, folder: Path) -> Iterator[EntryResult]:
        yield EntryResult("first", None, (), Failure(Status.RUN_FAILED, "x"))
        time.sleep(0.6)  # its own deadline, a little after the limit
        ended.append(job.process)

    results = list(run_on_devices(campaign(), ["a"], tmp_path, run, Progress({}), time_limit_s=0.3))
    assert ([r.entry for r in results], ended) == (["first"], [0])
    time.sleep(0.7)
    assert ended == [0]

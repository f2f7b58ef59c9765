"""Whole jobs, in real worker processes on the CPU: what each way of ending costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ireebench.measure import client, journal
from ireebench.measure.client import run_job
from ireebench.measure.job import Entry, Group, Job, Protocol
from ireebench.measure.journal import Event
from ireebench.measure.result import EntryResult
from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem

QUICK = Protocol(warmup=3, invocations=20, seconds=0.1, rounds=2, entry_timeout_s=20.0)


@pytest.fixture
def entry(vmfbs: Path) -> Callable[..., Entry]:
    def make(function: str, key: str | None = None) -> Entry:
        return Entry(key or function, vmfb=str(vmfbs / f"{function}.vmfb"), function=function)

    return make


def job_of(problem: Problem, *entries: Entry, protocol: Protocol = QUICK, timer: str = "host") -> Job:
    return Job("local-task", timer, protocol, (Group(problem, entries),), cache_bytes=1 << 12)


def run(job: Job, folder: Path, on_event: Callable[[Event], None] | None = None) -> dict[str, EntryResult]:
    results = list(run_job(job, folder, on_event=on_event))
    assert len({r.entry for r in results}) == len(results), "one outcome an entry"
    return {r.entry: r for r in results}


def status(result: EntryResult) -> Status:
    return result.failure.status if result.failure else Status.OK


def test_good_entries_and_baselines_are_checked_and_timed_in_every_round(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    plan = replace(QUICK, cache=("hot", "cold"))
    job = job_of(problem, entry("good"), Entry("numpy", baseline="numpy"), protocol=plan)
    for result in run(job, tmp_path / "job").values():
        assert result.failure is None
        assert result.check is not None
        assert result.check.ok
        assert [r.cache for r in result.runs] == ["hot", "cold"]
        for samples in result.runs:
            assert samples.timer == "host"
            assert samples.rounds.tolist() == [0] * 10 + [1] * 10
            assert (samples.kernel_ns > 0).all()
            assert samples.kernel_ns.tolist() == samples.span_ns.tolist()


def test_a_wrong_kernel_is_not_timed(entry: Callable[..., Entry], problem: Problem, tmp_path: Path) -> None:
    job = job_of(problem, entry("smallest"), entry("untouched"), entry("good"))
    results = run(job, tmp_path)
    assert {k: status(r) for k, r in results.items()} == {
        "smallest": Status.WRONG_RESULT,
        "untouched": Status.WRONG_RESULT,
        "good": Status.OK,
    }
    timed = {e.item.entry for e in journal.read(tmp_path) if e.item and e.item.phase in ("warmup", "round")}
    assert timed == {"good"}
    assert results["smallest"].check is not None
    assert not results["smallest"].check.ok
    assert results["smallest"].runs == ()


def test_a_crash_costs_one_entry(entry: Callable[..., Entry], problem: Problem, tmp_path: Path) -> None:
    results = run(job_of(problem, entry("good"), entry("crash"), entry("good", "good2")), tmp_path)
    assert status(results["good"]) == status(results["good2"]) == Status.OK
    failure = results["crash"].failure
    assert failure is not None
    assert (failure.status, failure.stage) == (Status.RUN_FAILED, Stage.COMPILED)
    assert failure.reason == "worker died with SIGSEGV while checking it"


def test_a_hanging_entry_is_killed_and_the_rest_go_on(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    plan = replace(QUICK, entry_timeout_s=1.0)
    started = time.monotonic()
    results = run(job_of(problem, entry("hang"), entry("good"), protocol=plan), tmp_path)
    assert time.monotonic() - started < 15.0
    assert status(results["good"]) == Status.OK
    failure = results["hang"].failure
    assert failure is not None
    assert failure.status == Status.RUN_TIMEOUT
    assert failure.reason == "killed after 1 s while checking it"


def test_at_its_deadline_a_worker_is_killed_and_what_is_over_is_kept(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    pids: list[int] = []
    began: list[str] = []

    def watch(event: Event) -> None:
        if event.name == "session":
            pids.append(int(event.data["pid"]))
        if event.name == "begin" and event.item is not None:
            began.append(event.item.entry)

    job = job_of(problem, entry("smallest"), entry("hang"), entry("good"))
    started = time.monotonic()
    results = list(run_job(job, tmp_path, on_event=watch, deadline=started + 6.0))
    assert 6.0 <= time.monotonic() - started < 10.0
    assert began[-1] == "hang"
    assert [(r.entry, status(r)) for r in results] == [("smallest", Status.WRONG_RESULT)]
    (pid,) = pids
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(run_job(job, tmp_path / "late", deadline=time.monotonic())) == []


def test_a_kill_in_the_middle_of_a_round_costs_the_entry_whose_turn_it_was(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    """The worker is killed for good while one entry is being timed; samples that others had are kept."""
    victims: list[str] = []
    pids: list[int] = []

    def kill(event: Event) -> None:
        if event.name == "session":
            pids.append(int(event.data["pid"]))
        begun = event.item if event.name == "begin" else None
        if not victims and begun is not None and (begun.phase, begun.round) == ("round", 1):
            victims.append(begun.entry)
            os.kill(pids[-1], signal.SIGKILL)

    # Rounds of 0.3 s: the signal comes well before the turn ends.
    plan = replace(QUICK, invocations=10**6, seconds=0.6)
    results = run(job_of(problem, *(entry("good", f"e{i}") for i in range(3)), protocol=plan), tmp_path, kill)
    assert len(pids) == 2, "one restart"
    (victim,) = victims
    failure = results[victim].failure
    assert failure is not None
    assert failure.reason == "worker died with SIGKILL (out of memory?) while timing it (hot, round 1)"
    assert failure.stage == Stage.CHECKED
    for key in {"e0", "e1", "e2"} - {victim}:
        assert results[key].failure is None
        assert set(results[key].runs[0].rounds.tolist()) == {0, 1}
    checks = [e.item.entry for e in journal.read(tmp_path) if e.name == "end" and e.item and e.item.phase == "check"]
    assert sorted(checks) == ["e0", "e1", "e2"], "nothing is checked twice"


def test_a_finished_job_is_read_back_and_not_run_again(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    job = job_of(problem, entry("good"), entry("smallest"))
    first = run(job, tmp_path)
    events: list[Event] = []
    again = run(job, tmp_path, events.append)
    assert events == []
    assert again["smallest"] == first["smallest"]
    assert again["good"].runs[0].kernel_ns.tolist() == first["good"].runs[0].kernel_ns.tolist()


def test_another_job_in_the_same_folder_starts_anew(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    run(job_of(problem, entry("good")), tmp_path)
    other = job_of(problem, entry("good"), protocol=replace(QUICK, rounds=1))
    assert set(run(other, tmp_path)["good"].runs[0].rounds.tolist()) == {0}


def test_damaged_samples_are_a_failure_not_fewer_samples(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    job = job_of(problem, entry("good"))
    run(job, tmp_path)
    samples = tmp_path / journal.SAMPLES
    samples.write_bytes(samples.read_bytes()[:-8])
    failure = run(job, tmp_path)["good"].failure
    assert failure is not None
    assert "damaged" in failure.reason


def test_what_cannot_be_loaded_or_is_not_there_says_so(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path, vmfbs: Path
) -> None:
    (tmp_path / "text.vmfb").write_text("not a module")
    entries = (
        Entry("missing", vmfb="missing.vmfb", function="good"),
        Entry("text", vmfb=str(tmp_path / "text.vmfb"), function="good"),
        Entry("no_function", vmfb=str(vmfbs / "good.vmfb"), function="best"),
        Entry("typo", baseline="nunpy"),
        Entry("wrong_op", baseline="torch_mv"),
    )
    results = run(job_of(problem, *entries), tmp_path / "job")
    outcomes = {k: (status(r), r.failure.reason if r.failure else "") for k, r in results.items()}
    assert outcomes["missing"][0] == outcomes["text"][0] == outcomes["no_function"][0] == Status.RUN_FAILED
    assert "missing.vmfb cannot be loaded" in outcomes["missing"][1]
    assert "no function 'best'; it has good" in outcomes["no_function"][1]
    assert outcomes["typo"] == (Status.UNAVAILABLE, "no baseline is called 'nunpy'")
    assert outcomes["wrong_op"][0] == Status.REJECTED
    assert "does not compute argmax" in outcomes["wrong_op"][1]


def test_a_function_of_other_shapes_is_run_failed_not_a_crash(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    other = replace(problem, shape=(2, 512))
    failure = run(job_of(other, entry("good")), tmp_path)["good"].failure
    assert failure is not None
    assert failure.status == Status.RUN_FAILED
    assert "shape" in failure.reason
    assert failure.reason.endswith("(while checking it)")
    assert "invoking" not in failure.reason.partition(": ")[2]


@pytest.mark.parametrize("device", ["cuda://0", "hip://0"])
def test_a_device_that_is_not_there_makes_every_entry_unavailable(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path, device: str
) -> None:
    from ireebench.measure.device import devices_of, kind_of

    if devices_of(kind_of(device)):
        pytest.skip(f"{device} is present here")
    job = replace(job_of(problem, entry("good"), Entry("numpy", baseline="numpy")), device=device)
    for result in run(job, tmp_path).values():
        assert status(result) == Status.UNAVAILABLE
        assert result.failure is not None
        assert "is missing" in result.failure.reason


def test_a_worker_that_does_not_start_ends_the_job_after_two_tries(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    results = list(run_job(job_of(problem, entry("good")), tmp_path, python="/bin/false"))
    assert [status(r) for r in results] == [Status.RUN_FAILED]
    assert results[0].failure is not None
    assert "before it measures anything" in results[0].failure.reason
    assert str(tmp_path / client.LOG) in results[0].failure.reason


def test_an_entry_that_took_ireebench_down_twice_is_given_up(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    job = job_of(problem, entry("good"), entry("good", "fatal"))
    (tmp_path / client.JOB).write_text(job.to_json())
    item = journal.Item("fatal", "check")
    book = journal.Journal(tmp_path)
    for _ in range(2):
        book.write("session", pid=1)
        book.write("begin", item)
    book.close()
    results = run(job, tmp_path)
    assert status(results["good"]) == Status.OK
    failure = results["fatal"].failure
    assert failure is not None
    assert failure.reason == "ireebench or the machine ended 2 times while checking it"


def test_closing_the_iterator_early_leaves_no_process(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    pids: list[int] = []

    def note(event: Event) -> None:
        if event.name == "session":
            pids.append(int(event.data["pid"]))

    results = run_job(job_of(problem, entry("smallest"), entry("hang")), tmp_path, on_event=note)
    assert next(results).entry == "smallest"
    results.close()  # type: ignore[attr-defined]
    (pid,) = pids
    assert not Path(f"/proc/{pid}").exists()


def test_a_worker_needs_no_compiler_and_no_command_line() -> None:
    """It runs on GPU machines that have the runtime wheel alone."""
    code = (
        "import sys, ireebench.measure.worker, ireebench.measure.client, ireebench.measure.artifact_runner;"
        "print([m for m in ('click', 'rich', 'pandas', 'pydantic', 'jinja2', 'torch', 'iree.compiler')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_profiler_that_is_not_there_is_named(entry: Callable[..., Entry], problem: Problem, tmp_path: Path) -> None:
    (result,) = run_job(job_of(problem, entry("good")), tmp_path, wrap=("no-such-profiler", "--"))
    assert result.failure is not None
    assert result.failure.reason.endswith("no-such-profiler: No such file or directory")


CHILD = """
import sys
from pathlib import Path
from ireebench.measure.client import run_job
from ireebench.measure.job import Job
folder = Path(sys.argv[1])
tell = lambda event: print(event.name, event.data.get("pid"), flush=True)
for result in run_job(Job.read(folder / "in.json"), folder, on_event=tell):
    pass
"""


def test_kill_9_of_ireebench_leaves_no_worker_and_the_job_goes_on_where_it_was(
    entry: Callable[..., Entry], problem: Problem, tmp_path: Path
) -> None:
    plan = replace(QUICK, invocations=10**6, seconds=0.4)
    job = job_of(problem, entry("good"), entry("good", "good2"), protocol=plan)
    (tmp_path / "in.json").write_text(job.to_json())
    starter = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    worker = int(starter.stdout.readline().split()[1])
    while "round" not in (tmp_path / journal.JOURNAL).read_text():
        time.sleep(0.01)
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 5.0
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{worker}").exists()
    results = run(job, tmp_path)
    assert {k: status(r) for k, r in results.items()} == {"good": Status.OK, "good2": Status.OK}
    checks = [e.item.entry for e in journal.read(tmp_path) if e.name == "end" and e.item and e.item.phase == "check"]
    assert sorted(checks) == ["good", "good2"]

"""Timers: the host clock against a known duration, IREE's own profile against the host clock, and the table."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ireebench.errors import UnknownNameError
from ireebench.measure.artifact_runner import ArtifactRunner, Device, Tensor, upload_inputs
from ireebench.measure.group_run import GroupRun
from ireebench.measure.job import Entry, Group, Job, Protocol
from ireebench.measure.runnable import Array
from ireebench.measure.timers import table
from ireebench.measure.timers.base import Invocation
from ireebench.measure.timers.batched import BatchedTimer
from ireebench.measure.timers.cadence import CADENCE_NS
from ireebench.measure.timers.hal import HalTimer, split_invocations
from ireebench.measure.timers.host import HostTimer, LaunchOnlyTimer
from ireebench.measure.workplace import Worker
from ireebench.problems.problem import Problem


class Sleeper:
    """Launching returns at once; waiting takes 2 ms."""

    copies = 1

    def __init__(self) -> None:
        self.launched: list[int] = []

    def poison(self) -> None:
        pass

    def launch(self, copy: int) -> None:
        self.launched.append(copy)

    def sync(self) -> None:
        time.sleep(0.002)

    def outputs(self) -> tuple[Array, ...]:
        return ()

    def close(self) -> None:
        pass


def test_the_host_timer_agrees_with_a_known_sleep() -> None:
    sleeper = Sleeper()
    samples = HostTimer().sample(sleeper, [0] * 20)
    assert len(samples) == len(sleeper.launched) == 20
    # A sleep is never shorter than asked; the least of twenty is hardly longer, however busy the machine.
    least = min(s.kernel_ns for s in samples)
    assert 2_000_000 <= least < 3_000_000
    assert all(s.span_ns == s.kernel_ns for s in samples)


def test_the_host_timer_launches_the_copies_in_order() -> None:
    sleeper = Sleeper()
    HostTimer().sample(sleeper, [2, 0, 1])
    assert sleeper.launched == [2, 0, 1]


def test_the_host_clock_is_refused_as_a_kernel_timer() -> None:
    assert HostTimer().missing("local-task") is None
    reason = HostTimer().missing("cuda://0")
    assert reason is not None
    assert "not kernels" in reason
    assert table.missing("host", "hip://0") == "timer host serves cpu, not hip; --timer auto picks one that does"


def test_launching_only_gives_no_samples() -> None:
    sleeper = Sleeper()
    assert LaunchOnlyTimer().sample(sleeper, [0, 0]) == []
    assert sleeper.launched == [0, 0]


def test_launching_only_keeps_the_cadence_of_the_timers() -> None:
    at_ns: list[int] = []

    class Stamped(Sleeper):
        def launch(self, copy: int) -> None:
            at_ns.append(time.perf_counter_ns())

        def sync(self) -> None:
            pass

    LaunchOnlyTimer().sample(Stamped(), [0] * 50)
    # Fifty launches take the time of 49 gaps at least; what lies between a launch and its stamp may differ.
    assert at_ns[-1] - at_ns[0] > 48 * CADENCE_NS


class Told:
    """A timer that launches nothing of its own and notes which cache policy it was told before each call."""

    name = "host"

    def __init__(self) -> None:
        self.cache: str | None = None
        self.seen: list[tuple[str | None, list[int]]] = []

    def missing(self, device: str) -> str | None:
        return None

    def session(self, device: str) -> Any:
        return contextlib.nullcontext()

    def sample(self, runnable: Any, copies: list[int]) -> list[Invocation]:
        self.seen.append((self.cache, copies))
        return [Invocation(1000, 1000) for _ in copies]


def test_a_timer_that_launches_more_than_asked_is_told_hot_from_cold(tmp_path: Path) -> None:
    protocol = Protocol(warmup=1, invocations=10, seconds=0.1, rounds=1, cache=("hot", "cold"))
    group = Group(Problem("p", "argmax", (4, 512), "f32"), (Entry("numpy", baseline="numpy"),))
    timer = Told()
    worker = Worker(tmp_path, Job("local-task", "host", protocol, (group,), cache_bytes=4096), timer)
    GroupRun(worker, 0, group).run()
    worker.journal.close()
    assert {cache for cache, _ in timer.seen} == {"hot", "cold"}
    assert all(not any(copies) for cache, copies in timer.seen if cache == "hot")
    assert any(any(copies) for cache, copies in timer.seen if cache == "cold")
    # The timer that the hook is for has it, and those that launch what they are asked to have not.
    assert hasattr(BatchedTimer(), "cache")
    assert not hasattr(HostTimer(), "cache")


@pytest.fixture
def good(vmfbs: Path) -> ArtifactRunner:
    device = Device("local-task")
    data = np.random.default_rng(0).standard_normal((4, 512)).astype(ml_dtypes.bfloat16)
    inputs = upload_inputs(device, [data], [Tensor((4, 512), "bf16")], 1)
    return ArtifactRunner(device, vmfbs / "good.vmfb", "good", inputs, [Tensor((4,), "bf16"), Tensor((4,), "i64")])


def test_irees_dispatch_times_are_less_than_the_invocations_that_hold_them(good: ArtifactRunner) -> None:
    dispatches = HalTimer().sample(good, [0] * 40)
    assert len(dispatches) == 40
    names = {r.name for i in dispatches for r in i.records}
    assert names == {"good_dispatch_0_arg_compare_4x512xbf16"}
    invocations = HostTimer().sample(good, [0] * 40)
    # The least of each: what the machine can do, whatever else it does meanwhile.
    assert 0 < min(i.kernel_ns for i in dispatches) <= min(i.kernel_ns for i in invocations)


def test_irees_profile_is_for_modules_and_the_cpu() -> None:
    with pytest.raises(RuntimeError, match="--timer host"):
        HalTimer().sample(Sleeper(), [0])
    assert "not implemented" in (HalTimer().missing("cuda://0") or "")


def test_a_module_that_the_tool_cannot_run_is_an_error_with_its_words(good: ArtifactRunner) -> None:
    good.function = "absent"
    with pytest.raises(RuntimeError, match=r"iree-benchmark-module failed: .*absent"):
        HalTimer().sample(good, [0])


def row(key: str, start: int, end: int, op: str = "dispatch", **more: Any) -> dict[str, Any]:
    event = {"record_type": "host_execution_event", "op": op, "key": key, "valid": True, "status_code": 0}
    return event | {"start_host_time_ns": start, "end_host_time_ns": end} | more


def test_two_dispatches_are_summed_and_the_gap_is_in_the_span() -> None:
    rows = [row("b", 150, 180), row("a", 0, 100), {"record_type": "queue"}, row("a", 1000, 1110), row("b", 1160, 1200)]
    first, second = split_invocations(rows, 2)
    assert (first.kernel_ns, first.span_ns) == (130, 180)
    assert (second.kernel_ns, second.span_ns) == (150, 200)
    assert [r.name for r in first.records] == ["a", "b"]


def test_fills_of_the_program_count_and_book_keeping_does_not() -> None:
    rows = [row("", 0, 10, op="fill"), row("a", 20, 50), row("", 0, 60, op="execute"), row("", 0, 1, op="alloca")]
    (invocation,) = split_invocations(rows, 1)
    assert (invocation.kernel_ns, invocation.span_ns) == (40, 50)
    assert [r.kind for r in invocation.records] == ["fill", "kernel"]


def test_what_runs_once_before_the_first_invocation_is_left_out() -> None:
    rows = [row("", 0, 5, op="copy"), row("a", 10, 20), row("a", 30, 41), row("a", 50, 62)]
    assert [i.kernel_ns for i in split_invocations(rows, 3)] == [10, 11, 12]


@pytest.mark.parametrize(
    "rows",
    [
        [row("a", 0, 1), row("b", 2, 3), row("b", 4, 5), row("a", 6, 7)],  # the order differs
        [row("a", 0, 1)],  # fewer than invocations
        [row("a", 0, 1), row("a", 2, 3, status_code=9)],
    ],
)
def test_a_profile_that_does_not_split_into_invocations_is_refused(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(RuntimeError, match="IREE's profile"):
        split_invocations(rows, 2)


def test_auto_takes_the_host_clock_on_the_cpu_and_a_typo_gets_the_nearest_name() -> None:
    assert table.resolve("auto", "local-task") == "host"
    assert table.resolve("hal", "local-task") == "hal"
    with pytest.raises(UnknownNameError, match="nearest: host"):
        table.resolve("hosst", "local-task")


def test_a_timer_that_cannot_rotate_inputs_refuses_cold_runs() -> None:
    assert table.refuses("hal", ("hot",)) is None
    assert table.refuses("hal", ("hot", "cold")) == "timer hal measures hot only, not cold"


def test_a_whole_process_timer_is_a_plain_launch_loop_in_the_worker() -> None:
    assert table.load("rocprofv3").name == "launch_only"

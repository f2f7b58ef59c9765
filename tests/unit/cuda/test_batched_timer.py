from __future__ import annotations

from typing import Any

import pytest

from ireebench.measure.timers import batched
from ireebench.measure.timers.batched import BatchedTimer


class Device:
    """A device with a clock of its own: a launch takes the host `launch_ns`, a kernel `kernel_ns`, a wait `wait_ns`."""

    def __init__(self, launch_ns: int, kernel_ns: int, wait_ns: int, copies: int = 1) -> None:
        self.launch_ns, self.kernel_ns, self.wait_ns, self.copies = launch_ns, kernel_ns, wait_ns, copies
        self.host_ns = 0
        self.busy_until_ns = 0
        self.order: list[int] = []

    def launch(self, copy: int) -> None:
        self.host_ns += self.launch_ns
        self.busy_until_ns = max(self.busy_until_ns, self.host_ns) + self.kernel_ns
        self.order.append(copy)

    def sync(self) -> None:
        self.host_ns = max(self.host_ns, self.busy_until_ns) + self.wait_ns

    def clock(self) -> int:
        return self.host_ns

    def poison(self) -> None:
        pass

    def outputs(self) -> tuple[Any, ...]:
        return ()

    def close(self) -> None:
        pass


def sample(device: Device, copies: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[BatchedTimer, list[int]]:
    monkeypatch.setattr(batched, "perf_counter_ns", device.clock)
    timer = BatchedTimer()
    got = timer.sample(device, copies)
    assert all(i.kernel_ns == i.span_ns and i.records == () for i in got)
    return timer, [i.kernel_ns for i in got]


def test_a_long_kernel_is_timed_without_what_a_batch_pays_once(monkeypatch: pytest.MonkeyPatch) -> None:
    timer, times = sample(Device(5_000, 80_000, 30_000), [0] * 5, monkeypatch)
    assert times == [80_000] * 5
    assert not timer.host_bound


def test_a_short_kernel_gives_the_hosts_pace_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    timer, times = sample(Device(9_000, 2_000, 30_000), [0] * 3, monkeypatch)
    assert times == [9_000] * 3
    assert timer.host_bound


def test_hot_batches_stay_on_one_copy_and_cold_ones_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    hot = Device(1_000, 50_000, 1_000, copies=4)
    sample(hot, [0, 0], monkeypatch)
    assert set(hot.order) == {0}
    cold = Device(1_000, 50_000, 1_000, copies=4)
    sample(cold, [2], monkeypatch)
    steps = {(b - a) % 4 for a, b in zip(cold.order[5:], cold.order[6:], strict=False)}
    assert steps == {1}


def test_the_policy_can_be_told_where_one_copy_does_not_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(1_000, 50_000, 1_000, copies=4)
    monkeypatch.setattr(batched, "perf_counter_ns", device.clock)
    timer = BatchedTimer()
    timer.cache = "cold"
    timer.sample(device, [0])
    assert set(device.order) == {0, 1, 2, 3}


def test_time_that_does_not_grow_with_the_batch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="too busy to time"):
        sample(Device(0, 0, 100), [0], monkeypatch)


def test_the_cpu_is_sent_to_its_own_timer() -> None:
    assert BatchedTimer().missing("cuda://0") is None
    assert "host times" in (BatchedTimer().missing("local-task") or "")

"""Order of turns, stopping rule, copies: pure functions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ireebench.measure.job import Protocol
from ireebench.measure.protocol import (
    Budget,
    Rotation,
    cold_copies,
    rewarm_budget,
    run_stretch,
    turn_budget,
    turn_order,
    warmup_budget,
)


class FakeDevice:
    """A clock that a launch moves on by `cost_ns`."""

    def __init__(self, cost_ns: int) -> None:
        self.now = 0
        self.cost_ns = cost_ns
        self.chunks: list[int] = []

    def launch(self, count: int) -> None:
        self.chunks.append(count)
        self.now += count * self.cost_ns

    def clock(self) -> int:
        return self.now

    def run(self, budget: Budget, launch_ns: float | None = None) -> int:
        return run_stretch(budget, self.launch, self.clock, launch_ns).launches


def test_a_fast_candidate_stops_at_the_number_of_invocations() -> None:
    assert FakeDevice(cost_ns=2_000).run(Budget(most=500, least=10, seconds=1.0)) == 500


def test_a_slow_candidate_stops_after_its_seconds() -> None:
    # 20 ms a launch: 50 fit in one second.
    assert 50 <= FakeDevice(cost_ns=20_000_000).run(Budget(most=500, least=10, seconds=1.0)) <= 60


def test_a_very_slow_candidate_still_gets_the_least_number_of_samples() -> None:
    device = FakeDevice(cost_ns=5_000_000_000)
    assert device.run(Budget(most=500, least=10, seconds=1.0)) == 10


def test_the_first_launch_of_an_unknown_candidate_is_a_single_one() -> None:
    device = FakeDevice(cost_ns=1_000)
    device.run(Budget(most=500, least=10, seconds=1.0))
    assert device.chunks == [1, 10, 110, 379]  # each at most ten times what ran before it


def test_a_known_rate_gives_one_call_for_the_whole_stretch() -> None:
    device = FakeDevice(cost_ns=1_000)
    device.run(Budget(most=100, least=2, seconds=0.2), launch_ns=1_000.0)
    assert device.chunks == [100]


@given(steps=st.lists(st.integers(-10_000_000, 10_000_000), min_size=1, max_size=50))
def test_a_clock_that_steps_backwards_never_makes_a_stretch_endless(steps: list[int]) -> None:
    launched: list[int] = []
    times = iter(range(10**9))

    def clock() -> int:
        return sum(steps[: next(times) % len(steps)])

    done = run_stretch(Budget(most=200, least=10, seconds=0.001), launched.append, clock)
    assert 10 <= done.launches == sum(launched) <= 200
    assert done.elapsed_ns >= 0


def test_rounds_share_samples_seconds_and_the_least_number() -> None:
    plan = Protocol(invocations=500, seconds=1.0, min_samples=10, rounds=5)
    assert turn_budget(plan) == Budget(most=100, least=2, seconds=0.2)


def test_a_least_number_above_the_invocations_wins() -> None:
    assert turn_budget(Protocol(invocations=5, min_samples=10, rounds=5)).most == 2


def test_no_warm_up_means_no_launches_before_a_turn_either() -> None:
    plan = Protocol(warmup=0)
    assert FakeDevice(1_000).run(warmup_budget(plan)) == 0
    assert FakeDevice(1_000).run(rewarm_budget(plan)) == 0


def test_warm_up_takes_as_many_launches_as_its_seconds_hold() -> None:
    plan = Protocol(warmup=100, seconds=1.0, min_samples=10)
    assert FakeDevice(cost_ns=1_000).run(warmup_budget(plan)) == 100
    assert FakeDevice(cost_ns=300_000_000).run(warmup_budget(plan)) == 4  # 1.2 s


def test_a_slow_kernel_is_warmed_up_twice_and_once_before_a_turn() -> None:
    plan = Protocol(warmup=100, seconds=0.2, min_samples=10, rounds=5)
    assert FakeDevice(cost_ns=300_000_000).run(warmup_budget(plan)) == 2
    assert FakeDevice(cost_ns=300_000_000).run(rewarm_budget(plan)) == 1
    assert FakeDevice(cost_ns=5_000_000_000).run(warmup_budget(Protocol(warmup=1))) == 1


def order(seed: int = 0, process: int = 0, number: int = 0) -> list[str]:
    return turn_order([f"entry{i}" for i in range(12)], seed, process, "hot", number)


def test_every_entry_takes_one_turn_a_round() -> None:
    assert sorted(order()) == sorted(f"entry{i}" for i in range(12))


def test_the_order_depends_on_seed_process_and_round_and_on_nothing_else() -> None:
    assert order() == order()
    shuffled = turn_order([f"entry{i}" for i in reversed(range(12))], 0, 0, "hot", 0)
    assert shuffled == order()
    others = [order(seed=1), order(process=1), order(number=1), turn_order(order(), 0, 0, "cold", 0)]
    assert all(other != order() for other in others)


def test_cold_copies_together_exceed_twice_the_cache() -> None:
    mib = 1 << 20
    assert cold_copies(8 * mib, 60 * mib) == 16  # 128 MiB > 120 MiB, 15 copies would be 120 MiB exactly
    assert cold_copies(512 * mib, 60 * mib) == 1
    assert cold_copies(64 * mib, 32 * mib) == 2


@given(st.integers(1, 1 << 40), st.integers(0, 1 << 34))
def test_cold_copies_are_the_fewest_that_do(input_bytes: int, cache_bytes: int) -> None:
    copies = cold_copies(input_bytes, cache_bytes)
    assert copies * input_bytes > 2 * cache_bytes
    assert copies == 1 or (copies - 1) * input_bytes <= 2 * cache_bytes


def test_a_cold_turn_goes_on_at_the_copy_after_its_predecessors_last() -> None:
    rotation = Rotation(3)
    assert rotation.take(4, "cold") == [0, 1, 2, 0]
    assert rotation.take(2, "cold") == [1, 2]
    assert rotation.take(2, "hot") == [0, 0]
    assert rotation.take(1, "cold") == [0]

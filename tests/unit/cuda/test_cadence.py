from __future__ import annotations

from itertools import pairwise

from ireebench.measure.timers.cadence import CADENCE_NS, paced


def launches(body_ns: int) -> list[tuple[int, int]]:
    """What is launched when, where looking at the clock takes 7 ns and each launch with its wait `body_ns`."""
    now_ns = 1_000

    def clock() -> int:
        nonlocal now_ns
        now_ns += 7
        return now_ns

    seen = []
    for copy, begin_ns in paced([0, 1, 2, 0], clock):
        seen.append((copy, begin_ns))
        now_ns += body_ns
    return seen


def test_a_short_and_a_longer_invocation_are_launched_equally_far_apart() -> None:
    assert CADENCE_NS == 100_000
    for body_ns in (10_000, 60_000):
        seen = launches(body_ns)
        assert [copy for copy, _ in seen] == [0, 1, 2, 0]
        gaps = [b - a for (_, a), (_, b) in pairwise(seen)]
        assert all(100_000 <= gap < 100_007 for gap in gaps)


def test_one_that_takes_longer_sets_its_own_cadence() -> None:
    assert [b - a for (_, a), (_, b) in pairwise(launches(250_000))] == [250_007] * 3

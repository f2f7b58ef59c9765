from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireebench.report.verdict import judge, middle


def samples(median: float, spread: float, count: int = 200, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(median, spread, count).astype(np.int64)


def test_a_clear_difference_is_a_win_or_a_loss() -> None:
    slow, fast = [samples(2000, 20)], [samples(1000, 10)]
    assert judge(slow, fast, 0.02).word == "win"
    assert judge(slow, fast, 0.02).ratio == pytest.approx(2.0, rel=0.01)
    assert judge(fast, slow, 0.02).word == "loss"


def test_a_difference_inside_the_noise_floor_is_a_tie_however_sure() -> None:
    assert judge([samples(1010, 1)], [samples(1000, 1)], 0.02).word == "tie"


def test_a_difference_that_the_samples_cannot_settle_is_unclear() -> None:
    few = [np.array([900, 1000, 1400])]
    assert judge(few, [np.array([800, 900, 1300])], 0.02).word == "unclear"


def test_processes_that_disagree_widen_the_interval() -> None:
    agree = judge([samples(1100, 5)] * 3, [samples(1000, 5)] * 3, 0.02)
    disagree = judge([samples(1000, 5), samples(1100, 5), samples(1200, 5)], [samples(1000, 5)] * 3, 0.02)
    assert agree.word == "win"
    assert disagree.word == "unclear"
    assert disagree.high - disagree.low > 5 * (agree.high - agree.low)


def test_the_median_over_processes_is_of_medians() -> None:
    assert middle([np.array([1, 2, 9]), np.array([5]), np.array([7, 7])]) == 5.0


def test_no_samples_on_a_side_is_refused() -> None:
    with pytest.raises(ValueError, match="both sides"):
        judge([np.array([], np.int64)], [samples(1, 0)], 0.0)


@given(st.lists(st.integers(100, 10_000), min_size=3, max_size=30), st.floats(0.001, 0.2))
def test_anything_ties_with_itself(values: list[int], noise: float) -> None:
    same = [np.array(values)]
    assert judge(same, same, noise).word == "tie"

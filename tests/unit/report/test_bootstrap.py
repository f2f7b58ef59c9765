from __future__ import annotations

import numpy as np
import pytest

from ireebench.report.verdict import judge


@pytest.mark.parametrize("count", [1, 2, 9, 60, 61, 500])
def test_the_interval_is_that_of_resampling_by_hand(count: int) -> None:
    rng = np.random.default_rng(count)
    samples = (10_000 + 500 * rng.standard_gamma(2.0, count)).astype(np.int64)
    baseline = np.array([20_000], np.int64)
    verdict = judge([baseline], [samples], noise=0.01)
    drawn = rng.choice(samples, size=(40_000, count))
    low, high = np.percentile(20_000 / np.median(drawn, axis=1), [2.5, 97.5])
    spread = max(high - low, 1e-9)
    assert abs(verdict.low - low) <= 0.15 * spread
    assert abs(verdict.high - high) <= 0.15 * spread

"""Verdicts on evidence: a difference counts when a bootstrap interval of the ratio clears the noise floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ireebench.measure.result import Samples

Word = Literal["win", "tie", "loss", "unclear"]
_RESAMPLES = 1000
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a candidate stands against a baseline.

    `ratio` is baseline / candidate of the medians over processes (above 1: the candidate is faster); `low` and `high`
    bound it with 95% confidence; `noise` is the relative A/A difference that a win or a loss has to exceed.
    """

    word: Word
    ratio: float
    low: float
    high: float
    noise: float


def judge(baseline: Sequence[Samples], candidate: Sequence[Samples], noise: float, seed: int = 0) -> Verdict:
    """The verdict on samples (ns), an array a process. Raises ValueError when one side has none.

    win: the whole interval lies above 1 + noise. loss: below 1 - noise. tie: the ratio lies within the noise. unclear:
    neither, so more samples are needed before anyone may say.
    """
    if not any(len(s) for s in baseline) or not any(len(s) for s in candidate):
        raise ValueError("a verdict needs samples on both sides")
    rng = np.random.default_rng(seed)
    ratios = _medians(baseline, rng) / _medians(candidate, rng)
    tail = 100 * (1 - _CONFIDENCE) / 2
    low, high = (float(x) for x in np.percentile(ratios, [tail, 100 - tail]))
    ratio = middle(baseline) / middle(candidate)
    return Verdict(_word(ratio, low, high, noise), ratio, low, high, noise)


def middle(processes: Sequence[Samples]) -> float:
    """The median over processes of each process's median, ns."""
    return float(np.median([np.median(s) for s in processes if len(s)]))


def _word(ratio: float, low: float, high: float, noise: float) -> Word:
    if low > 1 + noise:
        return "win"
    if high < 1 - noise:
        return "loss"
    if abs(ratio - 1) <= noise:
        return "tie"
    return "unclear"


def _medians(processes: Sequence[Samples], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Bootstrap distribution of `middle`: processes are drawn again, and samples within each."""
    kept = [np.asarray(s) for s in processes if len(s)]
    per_process = np.stack([_resampled(s, rng) for s in kept])
    if len(kept) == 1:
        only: npt.NDArray[np.float64] = per_process[0]
        return only
    drawn = rng.integers(len(kept), size=(len(kept), _RESAMPLES))
    medians: npt.NDArray[np.float64] = np.median(np.take_along_axis(per_process, drawn, axis=0), axis=0)
    return medians


def _resampled(samples: Samples, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Medians of bootstrap draws of n from n samples, without making the draws.

    A draw's middle values are the sorted samples at places floor(n * u), where u are the middle order statistics of n
    uniform numbers; those are beta distributed (H. A. David, Order Statistics, section 2.1), and the next one above u
    is the least of the n - m numbers that are left between u and 1.
    """
    ordered = np.sort(np.asarray(samples, np.float64))
    n = len(ordered)
    m = (n + 1) // 2
    lower = rng.beta(m, n - m + 1, _RESAMPLES)
    low = _at(ordered, lower)
    if n % 2:
        return low
    upper = lower + (1.0 - lower) * rng.beta(1, n - m, _RESAMPLES)
    return (low + _at(ordered, upper)) / 2.0


def _at(ordered: npt.NDArray[np.float64], share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    places = np.minimum((share * len(ordered)).astype(np.int64), len(ordered) - 1)
    return ordered[places]

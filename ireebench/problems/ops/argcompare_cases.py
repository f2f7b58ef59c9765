"""Inputs on which implementations of argmax and argmin are known to differ; never timed.

Each case makes rows x length values for a sign: +1 argmax, -1 argmin, so that "lowest" becomes "highest" for argmin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a case makes: `rows` x `length` values that `dtype` can hold; `sign` is +1 for argmax, -1 for argmin."""

    rows: int
    length: int
    sign: int
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class Case:
    """One conformance input. `shows` is the question it answers; `has_nan`: judged by NaN behaviour, not by value."""

    name: str
    shows: str
    make: Callable[[Shape, np.random.Generator], Floats]
    has_nan: bool = False
    rows: int | None = None  # the case wants this many rows, whatever the problem has
    length: int | None = None  # and this many elements a row


def _spread(s: Shape, rng: np.random.Generator) -> Floats:
    """Values in [-4, 4): no extremum is planted."""
    return (rng.random((s.rows, s.length), np.float32) - np.float32(0.5)) * np.float32(8)


def _constant(value: Callable[[Shape], float]) -> Callable[[Shape, np.random.Generator], Floats]:
    return lambda s, _: np.full((s.rows, s.length), value(s), np.float32)


def _ties(s: Shape, rng: np.random.Generator) -> Floats:
    """The extremum three times: somewhere in the first half, in the middle and as the last element."""
    data = _spread(s, rng)
    first = rng.integers(0, max(1, s.length // 2), s.rows)
    for position in (first, np.full(s.rows, s.length // 2), np.full(s.rows, s.length - 1)):
        data[np.arange(s.rows), position] = s.sign * 6
    return data


def _few_values(s: Shape, rng: np.random.Generator) -> Floats:
    """Integers 0 to 7: about an eighth of each row ties (ROCm/triton issue 505)."""
    return rng.integers(0, 8, (s.rows, s.length)).astype(np.float32)


def _signed_zeros(s: Shape, _rng: np.random.Generator) -> Floats:
    data = np.zeros((s.rows, s.length), np.float32)
    data[:, ::2] = -0.0
    return data


def _all_negative(s: Shape, rng: np.random.Generator) -> Floats:
    return s.sign * (_spread(s, rng) - np.float32(8))


def _lowest(s: Shape) -> float:
    return s.sign * float(ml_dtypes.finfo(s.dtype).min)


def _one_nan(s: Shape, rng: np.random.Generator) -> Floats:
    """A unique extremum and one NaN elsewhere in each row (for a row of one element: only the NaN)."""
    data = _spread(s, rng)
    best = rng.integers(0, s.length, s.rows)
    data[np.arange(s.rows), best] = s.sign * 6
    step = 1 + rng.integers(0, max(1, s.length - 1), s.rows)
    data[np.arange(s.rows), (best + step) % s.length] = np.nan
    return data


def _nan_first(s: Shape, rng: np.random.Generator) -> Floats:
    data = _spread(s, rng)
    data[:, s.length // 2] = s.sign * 6
    data[:, 0] = np.nan
    return data


def _identical_rows(s: Shape, rng: np.random.Generator) -> Floats:
    """One row many times, with ties: a choice among them must not depend on the row."""
    return np.repeat(_ties(Shape(1, s.length, s.sign, s.dtype), rng), s.rows, axis=0)


CASES: dict[str, Case] = {
    c.name: c
    for c in (
        Case("ties", "which of several equal extrema is taken", _ties),
        Case("few_values", "ties everywhere: integers 0 to 7", _few_values),
        Case("signed_zeros", "-0 and +0 are equal numbers", _signed_zeros),
        Case("all_negative", "a start value of 0 would win (argmin: all positive)", _all_negative),
        Case("all_equal", "any index is right; the first is usual", _constant(lambda _: 3.0)),
        Case(
            "all_neg_inf", "a start value of -FLT_MAX would win (argmin: +inf)", _constant(lambda s: -s.sign * np.inf)
        ),
        Case("lowest_finite", "the type's lowest number (argmin: highest) in every place", _constant(_lowest)),
        Case("nan", "one NaN and a unique extremum", _one_nan, has_nan=True),
        Case("nan_first", "NaN is the first element", _nan_first, has_nan=True),
        Case("all_nan", "nothing but NaN", _constant(lambda _: np.nan), has_nan=True),
        Case("single_element", "a row of one element: index 0", _all_negative, length=1),
        Case("identical_rows", "16 equal rows give 16 equal results", _identical_rows, rows=16),
    )
}

"""Distance between floats, counted in representable numbers of their type."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ireebench.problems.ops.base import Array


def ulp_distance(a: Array, b: Array) -> npt.NDArray[np.int64]:
    """How many representable steps lie between each a and b (same float type of 16 or 32 bits; finite or infinite).

    696.5 and 697.0 in f16 are 1 apart; -0 and +0 are 0 apart. Meaningless for NaN.
    """
    steps: npt.NDArray[np.int64] = np.abs(_ordinal(a) - _ordinal(b))
    return steps


def _ordinal(x: Array) -> npt.NDArray[np.int64]:
    """Integers in the order of the floats: sign and magnitude as a signed number."""
    bits = 8 * x.dtype.itemsize
    raw = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").astype(np.int64)
    magnitude = raw & ((1 << (bits - 1)) - 1)
    return np.where(raw >> (bits - 1) == 1, -magnitude, magnitude)

"""A problem: what one call of a kernel computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

ShapeKind = Literal["padded", "original", "custom"]
Op = Literal["argmax", "argmin", "gemv"]
OPS: tuple[Op, ...] = ("argmax", "argmin", "gemv")


@dataclass(frozen=True, slots=True)
class Problem:
    """One op at one shape.

    argmax and argmin: `shape` is the input, reduced over its last dimension; `dtype` its element type (f16, bf16, f32);
    `index_dtype` the index result's type (i32, i64).
    gemv: `shape` is (M, N, K): `M` activations of length K times a weight of N rows; `dtype` is the weight's format
    (f16, bf16, q4_0, nf4); `out_dtype` the result's type; `layout` how the weight is stored (nk: row n is contiguous).
    """

    id: str
    op: Op
    shape: tuple[int, ...]
    dtype: str
    index_dtype: str | None = "i64"
    out_dtype: str | None = None
    layout: Literal["nk", "kn"] | None = None
    shape_kind: ShapeKind = "custom"
    model: str = "custom"
    source: str = "command line"

    @property
    def reduction(self) -> int:
        """Length of the reduced dimension, elements."""
        return self.shape[-1]

    @property
    def rows(self) -> int:
        """Independent reductions of one call (1 for rank 1)."""
        return math.prod(self.shape[:-1])

    @property
    def shape_text(self) -> str:
        """The shape as the command line takes it: 32x131072."""
        return "x".join(map(str, self.shape))

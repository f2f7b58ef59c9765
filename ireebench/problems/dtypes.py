"""Element and index types: how numpy, MLIR and a person spell them."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ireebench.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class ElementType:
    """A scalar type. `name` is MLIR's spelling; `bits` its width; `neg_inf` its -inf as an MLIR hex constant."""

    name: str
    bits: int
    numpy: np.dtype[np.generic]
    neg_inf: str
    pos_inf: str

    @property
    def bytes(self) -> int:
        """Width in bytes."""
        return self.bits // 8


FLOATS: dict[str, ElementType] = {
    t.name: t
    for t in (
        ElementType("f16", 16, np.dtype(np.float16), "0xFC00", "0x7C00"),
        ElementType("bf16", 16, np.dtype(ml_dtypes.bfloat16), "0xFF80", "0x7F80"),
        ElementType("f32", 32, np.dtype(np.float32), "0xFF800000", "0x7F800000"),
    )
}

INDEX_TYPES: dict[str, np.dtype[np.generic]] = {"i32": np.dtype(np.int32), "i64": np.dtype(np.int64)}


def find_float(name: str) -> ElementType:
    """The float type called `name`; raises UnknownNameError."""
    try:
        return FLOATS[name]
    except KeyError:
        raise UnknownNameError("element type", name, FLOATS) from None

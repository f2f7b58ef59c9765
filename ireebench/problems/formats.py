"""Weight formats of GEMV: how many bytes a weight takes and how blocks share a scale. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """How a weight matrix N x K is stored.

    `block` weights along K share one scale of `scale_dtype` (None: no scales); a block never crosses a row. 4-bit codes
    are packed two a byte, the lower index in the low nibble. `activation_dtype` is the type of x.
    """

    name: str
    bits: int
    block: int | None
    scale_dtype: str | None
    activation_dtype: str
    source: str


# Bytes of the element types that inputs and outputs have.
ELEMENT_BYTES: dict[str, int] = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i64": 8}

# The largest count up to which a float type holds every integer: 2 ** (mantissa bits + 1). An index in such a type is
# wrong beyond it.
EXACT_INTEGERS: dict[str, int] = {"bf16": 256, "f16": 2048, "f32": 16_777_216}

WEIGHT_FORMATS: dict[str, WeightFormat] = {
    f.name: f
    for f in (
        WeightFormat("f16", 16, None, None, "f16", "IEEE 754 binary16"),
        WeightFormat("bf16", 16, None, None, "bf16", "bfloat16"),
        WeightFormat(
            "q4_0", 4, 32, "f16", "f16", "llama.cpp's Q4_0 block: 32 codes, one f16 scale; order of codes ours"
        ),
        # QLoRA stores the scale (absmax) of 64 weights in f32 before it quantises the scales again, which we don't.
        WeightFormat("nf4", 4, 64, "f32", "f16", "QLoRA, arXiv:2305.14314, appendix E"),
    )
}


def weight_bytes(dtype: str, n: int, k: int) -> int:
    """Bytes of the codes or floats of an N x K weight, without scales."""
    return n * k * WEIGHT_FORMATS[dtype].bits // 8


def scale_bytes(dtype: str, n: int, k: int) -> int:
    """Bytes of an N x K weight's scales; 0 where the format has none."""
    f = WEIGHT_FORMATS[dtype]
    return 0 if f.block is None or f.scale_dtype is None else n * k // f.block * ELEMENT_BYTES[f.scale_dtype]

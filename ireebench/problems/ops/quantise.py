"""4-bit weights: quantise, pack two a byte, dequantise. Blocks run along K and never cross a row.

Packed bytes hold the lower index in the low nibble. q4_0 codes are signed (two's complement, -8 to 7), nf4 codes are
unsigned positions in `NF4_TABLE`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.problems.ops.base import Array

# QLoRA (Dettmers et al., arXiv:2305.14314), appendix E: quantiles of a standard normal, scaled to [-1, 1], with a 0.
NF4_TABLE: npt.NDArray[np.float32] = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ],
    np.float32,
)


def quantise(dtype: str, weights: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.uint8], Array]:
    """Rows x K floats (K a multiple of the block) as (packed codes: rows x K/2 bytes, scales: rows x K/block).

    q4_0, as llama.cpp: the element of largest magnitude becomes -8, so scale = element / -8 (f16, rounded before it is
    used). nf4, as QLoRA without its second quantisation: scale = largest magnitude (f32), code = nearest table entry.
    """
    block = WEIGHT_FORMATS[dtype].block
    assert block is not None
    rows, k = weights.shape
    blocks = weights.reshape(rows, k // block, block)
    peak = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2, keepdims=True), axis=2)
    scales: Array
    codes: npt.NDArray[np.uint8]
    if dtype == "q4_0":
        scales = (peak / np.float32(-8)).astype(np.float16)
        wide = scales.astype(np.float32)
        steps = np.rint(np.divide(blocks, wide, out=np.zeros_like(blocks), where=wide != 0))
        codes = np.clip(steps, -8, 7).astype(np.int8).view(np.uint8) & np.uint8(0xF)
    else:
        scales = np.abs(peak)
        unit = np.divide(blocks, scales, out=np.zeros_like(blocks), where=scales != 0)
        between = (NF4_TABLE[1:] + NF4_TABLE[:-1]) / 2
        codes = np.searchsorted(between, unit).astype(np.uint8)
    return pack(codes.reshape(rows, k)), scales.reshape(rows, k // block)


def pack(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Codes 0 to 15, two a byte along the last dimension: the lower index in the low nibble."""
    packed: npt.NDArray[np.uint8] = codes[..., ::2] | (codes[..., 1::2] << np.uint8(4))
    return packed


def unpack(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The inverse of `pack`: codes 0 to 15."""
    codes = np.empty((*packed.shape[:-1], 2 * packed.shape[-1]), np.uint8)
    codes[..., ::2] = packed & 0xF
    codes[..., 1::2] = packed >> 4
    return codes


def code_values(dtype: str) -> npt.NDArray[np.float32]:
    """The 16 values that codes 0 to 15 stand for, before scaling: of q4_0, 8 to 15 are the negative ones."""
    return NF4_TABLE if dtype == "nf4" else np.array([*range(8), *range(-8, 0)], np.float32)


def dequantise(dtype: str, packed: npt.NDArray[np.uint8], scales: Array) -> npt.NDArray[np.float64]:
    """Rows x K/2 bytes and rows x K/block scales as rows x K float64 weights: code value times scale, no rounding."""
    block = WEIGHT_FORMATS[dtype].block
    assert block is not None
    values = code_values(dtype).astype(np.float64)[unpack(packed)]
    rows, k = values.shape
    return (values.reshape(rows, k // block, block) * scales.astype(np.float64)[:, :, None]).reshape(rows, k)

"""4-bit weights: packing order, code values, scales, errors of quantising."""

from __future__ import annotations

import numpy as np
import pytest

from ireebench.problems.ops.quantise import NF4_TABLE, dequantise, pack, quantise, unpack


def test_the_lower_index_is_in_the_low_nibble() -> None:
    assert pack(np.array([[1, 2, 15, 0]], np.uint8)).tolist() == [[0x21, 0x0F]]
    assert unpack(np.array([[0x21, 0x0F]], np.uint8)).tolist() == [[1, 2, 15, 0]]


def test_unpack_undoes_pack() -> None:
    codes = np.random.default_rng(0).integers(0, 16, (5, 3, 64)).astype(np.uint8)
    assert np.array_equal(unpack(pack(codes)), codes)


def test_q4_0_codes_are_twos_complement_times_an_f16_scale() -> None:
    block = np.zeros((1, 32), np.float32)
    block[0, :4] = [-8.0, 7.0, 1.0, -3.0]
    packed, scales = quantise("q4_0", block)
    assert (scales.dtype, scales.tolist()) == (np.float16, [[1.0]])
    # -8 is 0x8, 7 is 0x7, 1 is 0x1, -3 is 0xD.
    assert packed[0, :3].tolist() == [0x78, 0xD1, 0x00]
    assert np.array_equal(dequantise("q4_0", packed, scales), block.astype(np.float64))


def test_q4_0_scales_by_the_element_of_largest_magnitude_whatever_its_sign() -> None:
    block = np.zeros((1, 32), np.float32)
    block[0, 5] = 4.0
    packed, scales = quantise("q4_0", block)
    assert scales.tolist() == [[-0.5]]
    assert dequantise("q4_0", packed, scales)[0, 5] == 4.0


def test_nf4_codes_are_positions_in_the_table_times_an_f32_scale() -> None:
    block = np.zeros((1, 64), np.float32)
    block[0, :16] = NF4_TABLE * np.float32(3)
    packed, scales = quantise("nf4", block)
    assert (scales.dtype, scales.tolist()) == (np.float32, [[3.0]])
    assert unpack(packed)[0, :16].tolist() == list(range(16))
    assert (unpack(packed)[0, 16:] == 7).all()  # 0 is entry 7
    assert np.array_equal(dequantise("nf4", packed, scales)[0, :16], NF4_TABLE.astype(np.float64) * 3)


def test_the_nf4_table_is_the_papers() -> None:
    # QLoRA, appendix E: 16 values, ends -1 and 1, an exact 0, more resolution near 0.
    assert len(NF4_TABLE) == 16
    assert (NF4_TABLE[0], NF4_TABLE[7], NF4_TABLE[15]) == (-1, 0, 1)
    assert NF4_TABLE[[1, 6, 8, 14]] == pytest.approx([-0.6961928, -0.0910500, 0.0795803, 0.7229568], abs=1e-7)
    assert (np.diff(NF4_TABLE) > 0).all()


@pytest.mark.parametrize(("dtype", "low", "high"), [("q4_0", 0.07, 0.11), ("nf4", 0.07, 0.11)])
def test_quantising_normal_weights_loses_what_4_bits_lose(dtype: str, low: float, high: float) -> None:
    w = np.random.default_rng(0).standard_normal((64, 1024), np.float32)
    back = dequantise(dtype, *quantise(dtype, w))
    assert low < np.linalg.norm(back - w) / np.linalg.norm(w) < high


def test_each_weight_gets_the_nearest_code() -> None:
    w = np.random.default_rng(1).standard_normal((4, 128), np.float32)
    packed, scales = quantise("nf4", w)
    wide = np.repeat(scales, 64, axis=1)
    nearest = np.abs(w[..., None] / wide[..., None] - NF4_TABLE).argmin(axis=-1)
    assert np.array_equal(unpack(packed), nearest)


@pytest.mark.parametrize("dtype", ["q4_0", "nf4"])
def test_a_block_of_zeros_stays_zero(dtype: str) -> None:
    packed, scales = quantise(dtype, np.zeros((2, 128), np.float32))
    assert not dequantise(dtype, packed, scales).any()

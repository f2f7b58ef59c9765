"""Libraries on 4-bit weights: what they read, what they give, and that a wrong one is found."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ireebench.measure.baselines import table
from ireebench.measure.checking import check_entry
from ireebench.outcome import Status
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
EAGER = ["torch_mv_f16", "torch_linear_f16", "torch_mv_bf16", "torch_linear_bf16", "torch_dequant_mv"]

# arXiv:2305.14314, appendix E.
NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
SIGNED = (0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1)


def problem(dtype: str, shape: tuple[int, ...] = (1, 2, 64), out: str = "f32") -> Problem:
    return Problem("g", "gemv", shape, dtype, None, out, "nk")


def tiny(dtype: str) -> tuple[npt.NDArray[Any], ...]:
    """Weights 2 x 64 with every code in both nibbles, a scale of its own for each block, activations."""
    packed = np.array([[(7 * i + 3) % 256 for i in range(32)], [(91 * i + 16) % 256 for i in range(32)]], np.uint8)
    if dtype == "q4_0":
        scales = np.array([[0.5, -0.25], [0.125, 1.0]], np.float16)
    else:
        scales = np.array([[0.75], [0.3]], np.float32)
    return packed, scales, np.array([(i % 9 - 4) / 4 for i in range(64)], np.float16)


def weights_by_hand(dtype: str, packed: npt.NDArray[Any], scales: npt.NDArray[Any]) -> list[list[float]]:
    """One code at a time: the low nibble of byte j is weight 2 j, the high one 2 j + 1."""
    values, block = (SIGNED, 32) if dtype == "q4_0" else (NF4, 64)
    rows = []
    for row, row_scales in zip(packed.tolist(), scales.tolist(), strict=True):
        codes = [code for byte in row for code in (byte % 16, byte // 16)]
        rows.append([values[code] * row_scales[i // block] for i, code in enumerate(codes)])
    return rows


@needs_torch
@pytest.mark.parametrize("dtype", ["q4_0", "nf4"])
@pytest.mark.parametrize("name", EAGER)
def test_the_product_is_that_of_weights_dequantised_by_hand(name: str, dtype: str) -> None:
    inputs = tiny(dtype)
    by_hand = weights_by_hand(dtype, *inputs[:2])
    expected = [sum(w * x for w, x in zip(row, inputs[2].tolist(), strict=True)) for row in by_hand]
    runnable = table.load(name).prepare(problem(dtype), inputs, 1, "local-task")
    runnable.launch(0)
    (got,) = runnable.outputs()
    # Two ulps of the result's type, and of each weight's.
    ulp = 2.0**-7 if "bf16" in name else 2.0**-10
    assert got.astype(float).tolist() == pytest.approx(expected, rel=2 * ulp, abs=8 * ulp)
    assert abs(expected[0]) > 1  # so that the bound above is no licence
    assert op_of(problem(dtype)).check(problem(dtype), inputs, (got,)).ok


@needs_torch
@pytest.mark.parametrize("dtype", ["q4_0", "nf4"])
@pytest.mark.parametrize("name", ["torch_mv_f16", "torch_linear_f16"])
def test_what_a_16_bit_layer_reads_is_the_weights_rounded_once(name: str, dtype: str) -> None:
    packed, scales, activations = tiny(dtype)
    runnable: Any = table.load(name).prepare(problem(dtype), (packed, scales, activations), 3, "local-task")
    expected = np.array(weights_by_hand(dtype, packed, scales)).astype(np.float16)
    assert runnable.copies == 3
    copies = [weights for weights, _ in runnable._inputs]
    for weights in copies:
        assert np.array_equal(weights.numpy(), expected)
    assert len({weights.data_ptr() for weights in copies}) == 3  # memory of its own: a cold launch finds nothing cached


@needs_torch
@pytest.mark.parametrize("shape", [(1, 96, 2048), (4, 33, 512)])
@pytest.mark.parametrize("out", ["f16", "f32"])
@pytest.mark.parametrize("dtype", ["q4_0", "nf4"])
@pytest.mark.parametrize("name", EAGER)
def test_the_check_takes_right_results_and_refuses_planted_errors(
    name: str, dtype: str, out: str, shape: tuple[int, ...]
) -> None:
    p = problem(dtype, shape, out)
    op = op_of(p)
    packed, scales, activations = op.make_inputs(p, 5)
    reference = op.reference(p, (packed, scales, activations))

    def verdict(*inputs: npt.NDArray[Any]) -> bool:
        runnable = table.load(name).prepare(p, inputs, 2, "local-task")
        return check_entry(runnable, p, (packed, scales, activations), reference, 3).result.ok

    assert verdict(packed, scales, activations)
    swapped = (packed << 4) | (packed >> 4)
    assert not verdict(swapped, scales, activations)
    shifted = scales.copy()
    shifted[3] = np.roll(shifted[3], 1)  # one row's scales, each at its neighbour's place
    assert not verdict(packed, shifted, activations)


@needs_torch
def test_bitsandbytes_gets_the_lower_index_in_the_high_nibble() -> None:
    import torch

    from ireebench.measure.baselines import torch_4bit

    packed, scales, activations = (torch.from_numpy(a) for a in tiny("nf4"))
    packed[0, 0] = 0x21
    theirs, absmax, x, code = torch_4bit._bnb_inputs(torch, problem("nf4"), (packed, scales, activations))
    assert (theirs.shape, int(theirs[0, 0])) == ((64, 1), 0x12)
    assert absmax.tolist() == pytest.approx([0.75, 0.3])
    assert (absmax.dtype, x.shape, code.tolist()) == (torch.float32, (1, 64), list(NF4))


@pytest.mark.skipif(not HAS_TORCH or importlib.util.find_spec("bitsandbytes") is None, reason="needs bitsandbytes")
def test_bitsandbytes_quantises_the_same_weights_to_the_same_bytes() -> None:
    import torch
    from bitsandbytes import functional

    from ireebench.measure.baselines import torch_4bit

    inputs = tiny("nf4")
    inputs[0][:, 0] = 0xF0  # so that a block's largest magnitude is its scale
    theirs, absmax, _, code = torch_4bit._bnb_inputs(torch, problem("nf4"), tuple(map(torch.from_numpy, inputs)))
    weights = torch.tensor(weights_by_hand("nf4", *inputs[:2]), dtype=torch.float32)
    packed, state = functional.quantize_4bit(weights, blocksize=64, quant_type="nf4")
    assert torch.equal(packed, theirs)
    assert torch.equal(state.absmax, absmax)
    assert torch.equal(state.code, code)


@pytest.mark.skipif(not HAS_TORCH or importlib.util.find_spec("bitsandbytes") is None, reason="needs bitsandbytes")
def test_bitsandbytes_own_product_passes_the_check_and_swapped_nibbles_do_not() -> None:
    p = problem("nf4", (1, 96, 2048))
    packed, scales, activations = op_of(p).make_inputs(p, 5)
    for weights, right in ((packed, True), ((packed << 4) | (packed >> 4), False)):
        # On the CPU it dequantises and multiplies: its GPU kernel takes the same bytes.
        runnable = table.load("bnb_matmul_4bit").prepare(p, (weights, scales, activations), 2, "local-task")
        runnable.launch(1)
        assert op_of(p).check(p, (packed, scales, activations), runnable.outputs()).ok == right


def test_the_bytes_that_a_library_moves_are_its_own_or_unknown() -> None:
    nf4, q4_0 = problem("nf4", (1, 128, 256)), problem("q4_0", (1, 128, 256))
    # 4 bits a weight, an f32 scale for 64 (f16 for 32), f16 activations, f32 results.
    assert table.bytes_moved("bnb_gemv_4bit", nf4) == 128 * 256 // 2 + 4 * 128 * 256 // 64 + 2 * 256 + 4 * 128
    assert table.bytes_moved(None, q4_0) == 128 * 256 // 2 + 2 * 128 * 256 // 32 + 2 * 256 + 4 * 128
    for name in ("torch_mv_f16", "torch_linear_f16", "torch_mv_bf16", "torch_linear_bf16"):
        assert table.bytes_moved(name, nf4) == table.bytes_moved(name, q4_0) == 2 * (128 * 256 + 256 + 128)
    # NumPy keeps f16 weights as f32; an argmax reads the problem's own type.
    assert table.bytes_moved("numpy", problem("f16", (1, 128, 256))) == 4 * (128 * 256 + 256 + 128)
    assert table.bytes_moved("numpy", Problem("a", "argmax", (3, 1000), "f16", "i64")) == 3 * (2000 + 2 + 8)
    assert table.bytes_moved("torch_dequant_mv", nf4) is None
    assert table.bytes_moved("torch_compile_dequant_mv", q4_0) is None


def test_what_serves_other_weights_is_left_out_and_refused_only_by_name() -> None:
    assert not table.is_for("torch_mv", problem("nf4"))
    assert not table.is_for("torch_mv_f16", problem("f16"))
    assert not table.is_for("bnb_gemv_4bit", problem("q4_0"))
    assert table.is_for("bnb_gemv_4bit", problem("nf4"))


@needs_torch
def test_a_refusal_names_the_types_that_a_baseline_is_for() -> None:
    failure = table.refusal("torch_mv", problem("nf4"), "local-task")
    assert failure is not None
    assert (failure.status, failure.reason) == (Status.REJECTED, "torch_mv is for f16, bf16, f32, not nf4")


def test_bitsandbytes_takes_no_batch_and_no_cpu() -> None:
    baseline = table.load("bnb_gemv_4bit")
    assert "one activation, not 4" in str(baseline.serves("gemv", "nf4", (4, 2, 64)))
    assert baseline.serves("gemv", "nf4", (1, 2, 64)) is None
    failure = table.refusal("bnb_gemv_4bit", problem("nf4"), "local-task")
    assert failure is not None
    assert failure.status is Status.REJECTED
    assert "cuda and hip" in failure.reason

"""GEMV: shapes of arguments, the float64 reference, tolerances that pass rounding and fail errors, bytes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from ireebench.problems.ops import gemv
from ireebench.problems.ops.quantise import dequantise
from ireebench.problems.ops.ulp import ulp_distance
from ireebench.problems.problem import Problem
from ireebench.problems.validate import input_bytes

Array = npt.NDArray[Any]
FORMATS = ("f16", "bf16", "q4_0", "nf4")
OUT = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def problem(n: int, k: int, dtype: str = "f16", *, m: int = 1, out: str = "f32", layout: str = "nk") -> Problem:
    return Problem("t", "gemv", (m, n, k), dtype, None, out, layout)  # type: ignore[arg-type]


# ---- inputs and reference --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", FORMATS)
def test_inputs_have_the_shapes_and_types_that_the_specs_say(dtype: str, m: int) -> None:
    p = problem(48, 192, dtype, m=m)
    inputs = gemv.make_inputs(p, 0)
    specs = gemv.input_specs(p)
    assert [(a.shape, a.dtype) for a in inputs] == [(s.host_shape, s.dtype) for s in specs]
    assert sum(a.nbytes for a in inputs) == input_bytes(p)
    ((shape, out),) = gemv.output_specs(p)
    assert (shape, out) == ((48,) if m == 1 else (m, 48), np.dtype(np.float32))


def test_the_arguments_types_are_spelled_as_mlir_spells_them() -> None:
    def types(p: Problem) -> list[str]:
        return [s.mlir_type for s in gemv.input_specs(p)]

    assert types(problem(64, 128)) == ["tensor<64x128xf16>", "tensor<128xf16>"]
    assert types(problem(64, 128, "bf16", m=4, layout="kn")) == ["tensor<128x64xbf16>", "tensor<4x128xbf16>"]
    assert types(problem(64, 128, "q4_0")) == ["tensor<64x4x32xi4>", "tensor<64x4xf16>", "tensor<128xf16>"]
    assert types(problem(64, 128, "nf4")) == ["tensor<64x2x64xi4>", "tensor<64x2xf32>", "tensor<128xf16>"]


@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize("dtype", FORMATS)
def test_the_reference_is_the_product_summed_in_exact_order_independent_arithmetic(dtype: str, m: int) -> None:
    p = problem(5, 128, dtype, m=m)
    *weights, x = gemv.make_inputs(p, 7)
    wide = dequantise(dtype, *weights) if len(weights) == 2 else weights[0].astype(np.float64)
    got = gemv.reference(p, (*weights, x))[0].reshape(m, 5)
    for i in range(m):
        for n in range(5):
            row = x.reshape(m, 128)[i].astype(np.float64)
            assert got[i, n] == pytest.approx(math.fsum(wide[n] * row), rel=1e-12, abs=1e-13)


def test_a_weight_stored_kn_is_the_transposed_one_with_the_same_product() -> None:
    nk, kn = problem(40, 96), problem(40, 96, layout="kn")
    a, b = gemv.make_inputs(nk, 1), gemv.make_inputs(kn, 1)
    assert b[0].flags.c_contiguous
    assert np.array_equal(a[0].T, b[0])
    assert np.array_equal(gemv.reference(nk, a)[0], gemv.reference(kn, b)[0])


def test_the_reference_widens_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    p = problem(50, 64, "q4_0")
    inputs = gemv.make_inputs(p, 2)
    (whole,) = gemv.reference(p, inputs)
    monkeypatch.setattr(gemv, "_CHUNK", 200)  # three rows a chunk, two in the last
    assert np.allclose(gemv.reference(p, inputs)[0], whole, rtol=1e-13, atol=0)


@pytest.mark.parametrize("dtype", FORMATS)
def test_rows_of_a_large_weight_differ_although_they_are_windows_of_one_pool(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemv, "_POOL", 1 << 14)
    p = problem(300, 256, dtype)  # nf4 has fewer starts than rows in so small a pool, unless it grows
    inputs = gemv.make_inputs(p, 0)
    assert all(a.shape == s.host_shape for a, s in zip(inputs, gemv.input_specs(p), strict=True))
    raw = np.ascontiguousarray(inputs[0]).view(np.uint8).reshape(300, -1)
    assert len(np.unique(raw, axis=0)) == 300
    (y,) = gemv.reference(p, inputs)
    assert 0.5 < y.std() < 2


def test_inputs_depend_on_the_seed_alone() -> None:
    p = problem(16, 64, "nf4")
    first, again, other = (gemv.make_inputs(p, s) for s in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


# ---- the check -------------------------------------------------------------------------------------------------------


def answer(p: Problem, out: str | None = None) -> tuple[tuple[Array, ...], tuple[Array, ...], Array]:
    """Inputs, reference, and the reference rounded to the result's type."""
    inputs = gemv.make_inputs(p, 0)
    want = gemv.reference(p, inputs)
    return inputs, want, want[0].astype(OUT[out or str(p.out_dtype)])


@pytest.mark.parametrize("out", OUT)
@pytest.mark.parametrize("dtype", FORMATS)
def test_the_rounded_product_is_right(dtype: str, out: str) -> None:
    p = problem(256, 512, dtype)
    inputs, want, y = answer(p, out)
    result = gemv.check(p, inputs, (y,), want)
    assert (result.ok, result.reason, result.max_ulp) == (True, None, 0.0)
    assert gemv.check(p, inputs, (y,)).ok


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_accumulating_one_by_one_in_f32_is_right(dtype: str) -> None:
    p = problem(200, 28672, dtype)
    inputs, want, _ = answer(p)
    w, x = (a.astype(np.float32) for a in inputs)
    y = np.zeros(200, np.float32)
    for k in range(28672):
        y += w[:, k] * x[k]
    result = gemv.check(p, inputs, (y,), want)
    assert result.ok
    assert result.relative_error is not None
    assert 1e-7 < result.relative_error < 1e-5


def test_accumulating_in_f16_is_wrong() -> None:
    p = problem(64, 4096)
    inputs, want, _ = answer(p)
    w, x = inputs
    y = np.zeros(64, np.float16)
    for k in range(4096):
        y += w[:, k] * x[k]
    assert not gemv.check(p, inputs, (y.astype(np.float32),), want).ok
    assert not gemv.check(p, inputs, (y,), want).ok


def test_4_bit_weights_may_be_rounded_to_f16_after_dequantising() -> None:
    for dtype in ("q4_0", "nf4"):
        p = problem(256, 2048, dtype)
        inputs, want, _ = answer(p)
        rounded = dequantise(dtype, inputs[0], inputs[1]).astype(np.float16).astype(np.float64)
        y = (rounded @ inputs[2].astype(np.float64)).astype(np.float32)
        assert gemv.check(p, inputs, (y,), want).ok


def test_one_unit_in_the_last_place_of_f16_is_no_error() -> None:
    # iree-org/iree#20624: a skinny f16 matmul, one of 2560 results 696.5 where another pipeline has 697.0.
    p = problem(1280, 64, "f16", m=2, out="f16")
    w = np.zeros((1280, 64), np.float16)
    x = np.zeros((2, 64), np.float16)
    w[:, 0], x[:, 0] = 17, 41  # 17 * 41 = 697
    y = np.full((2, 1280), 697.0, np.float16)
    y[1, 59] = 696.5
    result = gemv.check(p, (w, x), (y,))
    assert (result.ok, result.max_ulp) == (True, 1.0)
    y[1, 59] = 690
    result = gemv.check(p, (w, x), (y,))
    assert (result.ok, result.max_ulp) == (False, 14.0)
    assert result.reason == "activation 1 row 59: 690 for 697 (1 of 2560 results wrong)"


@pytest.mark.parametrize("out", OUT)
@pytest.mark.parametrize("dtype", FORMATS)
def test_one_planted_error_among_many_right_results_is_found(dtype: str, out: str) -> None:
    p = problem(20000, 64, dtype)
    inputs, want, y = answer(p, out)
    y[12345] = y[12345] + y.dtype.type(0.1)  # a tenth of the results' spread
    result = gemv.check(p, inputs, (y,), want)
    assert not result.ok
    assert result.reason is not None
    assert result.reason.startswith("row 12345: ")
    assert result.reason.endswith("(1 of 20000 results wrong)")


def test_a_lost_tail_of_the_reduction_is_found() -> None:
    p = problem(512, 4096, "bf16")
    inputs, want, _ = answer(p)
    w, x = (a.astype(np.float64) for a in inputs)
    for out in OUT.values():
        assert not gemv.check(p, inputs, ((w[:, :-8] @ x[:-8]).astype(out),), want).ok


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, -6.0663e-05])
def test_untouched_outputs_are_wrong(value: float) -> None:
    p = problem(64, 128)
    inputs, want, _ = answer(p)
    result = gemv.check(p, inputs, (np.full(64, value, np.float32),), want)
    assert not result.ok
    assert "row 0: " in str(result.reason)
    assert "of 64 results wrong" in str(result.reason)


def test_one_nan_is_named() -> None:
    p = problem(64, 128)
    inputs, want, y = answer(p)
    y[17] = np.nan
    assert str(gemv.check(p, inputs, (y,), want).reason).startswith("row 17: nan for ")


def test_an_error_spread_over_all_results_is_found_by_the_norm() -> None:
    p = problem(4096, 4096, "f16")
    inputs, want, _ = answer(p)
    y = (want[0] + 2e-5 * np.sqrt((want[0] ** 2).mean())).astype(np.float32)
    result = gemv.check(p, inputs, (y,), want)
    assert result.reason == "relative norm error 2.00e-05 is above 1.54e-05"


def test_outputs_of_another_number_size_or_type_are_wrong() -> None:
    p = problem(64, 128)
    inputs, want, y = answer(p)
    assert gemv.check(p, inputs, (), want).reason == "0 outputs; gemv has one"
    assert gemv.check(p, inputs, (y[:9],), want).reason == "the result has shape (9,), 9 elements for 64"
    integers = gemv.check(p, inputs, (y.astype(np.int32),), want)
    assert integers.reason == "the result is int32; it must be one of f16, bf16, f32"


def test_tolerances_grow_with_the_square_root_of_k_and_the_types_rounding() -> None:
    f32 = [gemv.tolerance(problem(1, k), "f32").norm for k in (256, 1024, 4096)]
    assert f32 == pytest.approx([4 * 16 * 2**-24 + 2**-23, 4 * 32 * 2**-24 + 2**-23, 4 * 64 * 2**-24 + 2**-23])
    assert gemv.tolerance(problem(1, 256), "f16").norm == pytest.approx(2**-10, rel=0.01)
    assert gemv.tolerance(problem(1, 256), "bf16").norm == pytest.approx(2**-7, rel=0.01)


# ---- ulps ------------------------------------------------------------------------------------------------------------


def test_ulp_distance_counts_representable_numbers() -> None:
    def ulps(a: float, b: float, dtype: Any) -> int:
        return int(ulp_distance(np.array([a], dtype), np.array([b], dtype))[0])

    assert ulps(696.5, 697.0, np.float16) == 1
    assert ulps(511.75, 512.5, np.float16) == 2
    assert ulps(-0.0, 0.0, np.float32) == 0
    assert ulps(-1.401298464324817e-45, 1.401298464324817e-45, np.float32) == 2
    assert ulps(1.0, 1.0078125, ml_dtypes.bfloat16) == 1
    assert ulps(65504, np.inf, np.float16) == 1


# ---- bytes -----------------------------------------------------------------------------------------------------------


def test_bytes_of_a_half_precision_gemv_are_2nk_2k_and_the_results() -> None:
    # Case: iree-org/iree#23507, f16 in and f32 out.
    for n, k, total in ((32, 2048, 135_296), (128, 2048, 528_896), (151_936, 2048, 622_941_696)):
        assert gemv.bytes_moved(problem(n, k)) == 2 * n * k + 2 * k + 4 * n == total


def test_the_published_mi300x_count_is_2nk_2k_2n() -> None:
    assert gemv.bytes_moved(problem(4096, 4096, out="f16")) == 2 * 4096 * 4096 + 2 * 4096 + 2 * 4096


def test_bytes_of_4_bit_weights_count_codes_and_scales_by_name() -> None:
    p = problem(8192, 28672, "nf4")
    assert gemv.bytes_breakdown(p) == (
        ("weights", 117_440_512),
        ("scales", 14_680_064),
        ("activations", 57_344),
        ("results", 32_768),
    )
    assert gemv.bytes_moved(p) == 132_210_688
    assert dict(gemv.bytes_breakdown(replace(p, dtype="q4_0")))["scales"] == 14_680_064
    assert dict(gemv.bytes_breakdown(replace(p, dtype="f16"))).keys() == {"weights", "activations", "results"}


def test_bytes_with_several_activations_read_the_weights_once() -> None:
    one, eight = problem(1024, 2048), problem(1024, 2048, m=8)
    assert gemv.bytes_moved(eight) - gemv.bytes_moved(one) == 7 * (2 * 2048 + 4 * 1024)
    assert (gemv.flops(one), gemv.flops(eight)) == (2 * 1024 * 2048, 16 * 1024 * 2048)


def test_unknown_kinds_of_input_are_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError):
        gemv.make_inputs(problem(4, 4), 0, "ties")

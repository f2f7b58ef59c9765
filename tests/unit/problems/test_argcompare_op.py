"""argmax and argmin: seeded inputs, and a check that accepts every right answer and no wrong one."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ireebench.problems.check import CheckResult
from ireebench.problems.ops import argcompare
from ireebench.problems.ops.base import check_repeat
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

Array = npt.NDArray[Any]
NAN, INF = float("nan"), float("inf")
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def problem(shape: tuple[int, ...], dtype: str = "f32", op: str = "argmax", index: str = "i64") -> Problem:
    return Problem("t", op, shape, dtype, index)  # type: ignore[arg-type]


def judge(row: list[float], value: float, index: int, dtype: str = "f32", op: str = "argmax") -> CheckResult:
    """The check's verdict on one row's answer."""
    x = np.array(row, np.float32).astype(DTYPES[dtype])
    outputs = (np.array(value, np.float32).astype(DTYPES[dtype]), np.array(index, np.int64))
    return op_of(problem(x.shape, dtype, op)).check(problem(x.shape, dtype, op), (x,), outputs)


# ---- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4099,), (1, 5000), (7, 257), (2, 3, 64), (2, 2, 2, 33), (3, 1), (5, 2)])
def test_timed_inputs_have_one_extremum_a_row_and_no_nan(dtype: str, op: str, shape: tuple[int, ...]) -> None:
    p = problem(shape, dtype, op)
    (x,) = op_of(p).make_inputs(p, seed=3)
    assert (x.shape, x.dtype) == (shape, np.dtype(DTYPES[dtype]))
    rows = x.reshape(-1, shape[-1]).astype(np.float64)
    assert np.isfinite(rows).all()
    for row, at in zip(rows, argcompare.planted_positions(p, 3), strict=True):
        best = row.max() if op == "argmax" else row.min()
        assert np.flatnonzero(row == best).tolist() == [at]


def test_inputs_are_equal_for_equal_seeds_and_differ_for_others() -> None:
    p = problem((4, 1000), "bf16")
    first, again, other = (argcompare.make_inputs(p, s)[0].view(np.uint16) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_planted_positions_reach_the_head_the_tail_and_both_sides_of_tile_borders() -> None:
    p = problem((4096, 8192))
    positions = set(argcompare.planted_positions(p, 0).tolist())
    assert {0, 8191, 4095, 4096} <= positions
    assert len(positions) > 1000


def test_planted_positions_vary_with_the_seed_for_a_single_row() -> None:
    p = problem((1, 131072))
    assert len({int(argcompare.planted_positions(p, s)[0]) for s in range(32)}) > 10


def test_every_other_row_has_only_negative_values_so_that_a_start_value_of_zero_shows() -> None:
    for op, sign in (("argmax", 1), ("argmin", -1)):
        (x,) = argcompare.make_inputs(problem((4, 500), op=op), seed=0)
        assert (sign * x[1::2] < 0).all()
        assert (sign * x[0::2] > 0).any()


def test_large_inputs_are_made_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argcompare, "_CHUNK", 100)
    for shape in ((3, 250), (30, 7), (1, 100)):
        (x,) = argcompare.make_inputs(problem(shape), seed=0)
        noise = x[np.abs(x) != 6]
        assert noise.size == x.size - shape[0]
        assert len(np.unique(noise)) == noise.size  # no block is left out or repeated


def test_specs_say_shapes_and_types_of_arguments_and_results() -> None:
    p = problem((4, 8, 100), "bf16", index="i32")
    (spec,) = argcompare.input_specs(p)
    assert (spec.mlir_type, spec.host_shape, spec.dtype) == ("tensor<4x8x100xbf16>", (4, 8, 100), ml_dtypes.bfloat16)
    assert argcompare.output_specs(p) == (((4, 8), np.dtype(ml_dtypes.bfloat16)), ((4, 8), np.dtype(np.int32)))
    assert argcompare.output_specs(problem((100,)))[0][0] == ()


def test_bytes_count_the_input_once_and_a_value_and_an_index_a_row() -> None:
    p = problem((32, 131072), "bf16", index="i64")
    assert argcompare.bytes_breakdown(p) == (("input", 8_388_608), ("values", 64), ("indices", 256))
    assert argcompare.bytes_moved(p) == 8_388_928
    assert argcompare.flops(p) == 32 * 131_071


# ---- semantics of libraries (numpy, torch, ORT; IREE's ogt; IREE's generic maximumf) -------------------------------

# row, numpy's index, index and value of arg_compare with `ogt` (NaN ignored), and of a generic maximumf whose value and
# index disagree on NaN: the last is what a check has to refuse.
SEMANTICS: list[tuple[list[float], int, tuple[float, int], tuple[float, int]]] = [
    ([2, 7, 7, 1, 7], 1, (7, 1), (7, 1)),
    ([2, NAN, 7, 4, 1], 1, (7, 2), (NAN, 0)),
    ([NAN, 2, 7, 4, 1], 0, (7, 2), (NAN, 0)),
    ([2, 4, 7, 1, NAN], 4, (7, 2), (NAN, 2)),
    ([NAN, NAN, NAN], 0, (-INF, 0), (NAN, 0)),
    ([-INF, -INF, -INF], 0, (-INF, 0), (-INF, 0)),
    ([-0.0, 0.0, -0.0, 0.0, -0.0], 0, (-0.0, 0), (0.0, 0)),
    ([INF, NAN, -INF, 0, 0], 1, (INF, 0), (NAN, 0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "index", "ogt", "generic"), SEMANTICS)
def test_numpys_answer_is_right_and_is_the_first_index(
    row: list[float], index: int, ogt: Any, generic: Any, dtype: str
) -> None:
    result = judge(row, row[index], index, dtype)
    assert (result.ok, result.first_index) == (True, True)


@pytest.mark.parametrize(("row", "index", "ogt", "generic"), SEMANTICS)
def test_ignoring_nan_is_right_too(row: list[float], index: int, ogt: tuple[float, int], generic: Any) -> None:
    result = judge(row, *ogt)
    assert result.ok
    assert result.first_index is (ogt[1] == index)


@pytest.mark.parametrize(("row", "index", "ogt", "generic"), SEMANTICS)
def test_a_nan_value_with_the_index_of_a_number_is_wrong(
    row: list[float], index: int, ogt: Any, generic: tuple[float, int]
) -> None:
    value, at = generic
    inconsistent = np.isnan(value) and not np.isnan(row[at])
    assert judge(row, value, at).ok is not inconsistent


def test_the_last_of_several_extrema_is_right_and_not_the_first_index() -> None:
    result = judge([2, 7, 7, 1, 7], 7, 4)
    assert (result.ok, result.first_index, result.reason) == (True, False, None)


def test_minus_zero_and_plus_zero_are_equal() -> None:
    assert judge([-0.0, 0.0], 0.0, 0).ok
    assert judge([-0.0, 0.0], -0.0, 1).ok


@pytest.mark.parametrize(("op", "identity", "seed"), [("argmax", -INF, -3.40282e38), ("argmin", INF, 3.40282e38)])
def test_a_start_value_of_flt_max_is_wrong_for_a_row_of_infinities(op: str, identity: float, seed: float) -> None:
    assert judge([identity] * 10, identity, 0, op=op).ok
    result = judge([identity] * 10, seed, 0, op=op)
    assert not result.ok
    assert result.reason == f"row 0: value {seed:g} is not the element at its index 0, {identity:g} (1 of 1 rows wrong)"
    assert judge([identity] * 10, identity, 10, op=op).reason == "row 0: index 10 is outside 0..9 (1 of 1 rows wrong)"


def test_rows_of_very_low_numbers_are_not_mistaken_for_the_identity() -> None:
    assert judge([-3e38] * 5, -3e38, 0).ok
    assert not judge([-3e38] * 5, -3.40282e38, 0).ok


def test_the_index_of_a_reduced_dimension_of_one_is_zero() -> None:
    p = problem((32768, 1), "f16")
    inputs = argcompare.make_inputs(p, 0)
    first, _ = argcompare.reference(p, inputs)
    assert not first.any()
    right = argcompare.check(p, inputs, (inputs[0][:, 0], np.zeros(32768, np.int64)))
    assert right.ok
    wrong = argcompare.check(p, inputs, (inputs[0][:, 0], np.full(32768, 32400)))
    assert wrong.reason == "row 0: index 32400 is outside 0..0 (32768 of 32768 rows wrong)"


def test_an_index_out_of_range_fails_before_it_is_used() -> None:
    for index in (-1, 5, 2**40, -(2**62)):
        result = judge([1, 2, 3, 4, 5], 5, index)
        assert result.reason == f"row 0: index {index} is outside 0..4 (1 of 1 rows wrong)"


@pytest.mark.parametrize(("dtype", "exact"), [(ml_dtypes.bfloat16, 256), (np.float16, 2048), (np.float32, 16_777_216)])
def test_an_index_in_a_float_type_is_refused(dtype: Any, exact: int) -> None:
    x = np.arange(1030, dtype=np.float32)
    index = np.array(1025).astype(dtype)  # bf16 makes 1024 of it
    result = argcompare.check(problem((1030,)), (x,), (np.float32(1025), index))  # type: ignore[arg-type]
    assert result.reason == (
        f"the index is {np.dtype(dtype)}, which holds every index only up to {exact}; it must be an integer"
    )


def test_a_different_tie_order_is_told_apart_from_a_wrong_value() -> None:
    x = np.random.default_rng(0).integers(0, 8, (1028, 1028)).astype(np.float32)
    p = problem((1028, 1028))
    last = 1027 - x[:, ::-1].argmax(axis=1)
    result = argcompare.check(p, (x,), (x[np.arange(1028), last], last))
    assert (result.ok, result.first_index) == (True, False)
    worse = last.copy()
    worse[7] = x[7].argmin()
    result = argcompare.check(p, (x,), (x[np.arange(1028), worse], worse))
    assert not result.ok
    assert result.reason is not None
    assert result.reason.startswith(f"row 7: index {worse[7]} holds 0; the maximum is 7 at {x[7].argmax()}")
    assert result.reason.endswith("(1 of 1028 rows wrong)")


# ---- wrong results in each way ---------------------------------------------------------------------------------------


def right(p: Problem, seed: int = 0) -> tuple[tuple[Array, ...], Array, Array]:
    inputs = argcompare.make_inputs(p, seed)
    rows = inputs[0].reshape(p.rows, -1)
    at = argcompare.planted_positions(p, seed)
    return inputs, rows[np.arange(p.rows), at], at.copy()


@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_the_planted_answer_is_right(op: str) -> None:
    p = problem((16, 5000), "bf16", op)
    inputs, value, index = right(p)
    assert argcompare.check(p, inputs, (value, index)) == CheckResult(True, first_index=True)
    assert argcompare.check(p, inputs, (value, index.astype(np.int32)), argcompare.reference(p, inputs)).ok


def test_an_element_that_is_not_the_maximum_is_wrong() -> None:
    p = problem((16, 5000), "f16")
    inputs, value, index = right(p)
    index[5] = (index[5] + 1) % 5000
    value[5] = inputs[0][5, index[5]]
    result = argcompare.check(p, inputs, (value, index))
    assert result.reason is not None
    assert result.reason.startswith(f"row 5: index {index[5]} holds {float(value[5]):g}; the maximum is -6 at ")


def test_a_value_that_is_not_the_element_at_the_index_is_wrong() -> None:
    p = problem((16, 5000), "f32")
    inputs, value, index = right(p)
    value[9] = np.nextafter(value[9], np.float32(100))
    result = argcompare.check(p, inputs, (value, index))
    assert not result.ok
    assert result.reason is not None
    assert result.reason.startswith(f"row 9: value -6 is not the element at its index {index[9]}, -6")


@pytest.mark.parametrize("byte", [0x00, 0xAB, 0xFF])
def test_untouched_outputs_are_wrong(byte: int) -> None:
    p = problem((16, 5000), "f32")
    inputs, value, index = right(p)
    poisoned = tuple(np.frombuffer(bytes([byte]) * a.nbytes, a.dtype) for a in (value, index))
    assert not argcompare.check(p, inputs, poisoned).ok


def test_outputs_of_another_number_size_or_type_are_wrong() -> None:
    p = problem((16, 5000), "bf16")
    inputs, value, index = right(p)
    assert argcompare.check(p, inputs, (index,)).reason == "1 outputs; argmax has a value and an index"
    short = argcompare.check(p, inputs, (value[:3], index))
    assert short.reason == "the value has shape (3,), 3 elements for 16 rows"
    wide = argcompare.check(p, inputs, (value.astype(np.float32), index))
    assert wide.reason == "the value is float32; the input is bf16"
    assert argcompare.check(p, inputs, (value, index.astype(bool))).reason == "the index is bool; it must be an integer"


def test_results_that_differ_between_runs_are_wrong_and_say_where() -> None:
    value, index = np.array([1.0, 2.0], np.float32), np.array([3, 4])
    assert check_repeat([(value, index)] * 3).ok
    result = check_repeat([(value, index), (value, index), (value, np.array([3, 5]))])
    assert result.reason == "non-deterministic: run 3 on the same input gave output 1 row 1 = 5, run 1 gave 4"
    zero = check_repeat([(np.array([0.0]),), (np.array([-0.0]),)])
    assert zero.reason == "non-deterministic: run 2 on the same input gave output 0 row 0 = -0.0, run 1 gave 0.0"
    assert not check_repeat([(value,), (value[:1],)]).ok


@settings(max_examples=300, deadline=None)
@given(
    row=st.lists(st.sampled_from([NAN, INF, -INF, 0.0, -0.0, 1.0, 2.0, -3.0]), min_size=1, max_size=6),
    value=st.sampled_from([NAN, INF, -INF, 0.0, -0.0, 1.0, 2.0, -3.0, 7.0]),
    index=st.integers(-1, 6),
    op=st.sampled_from(["argmax", "argmin"]),
)
def test_the_check_agrees_with_its_rule_spelled_out(row: list[float], value: float, index: int, op: str) -> None:
    numbers = [v for v in row if v == v]  # noqa: PLR0124
    if not 0 <= index < len(row):
        expected = False
    elif not numbers:
        expected = True
    elif math.isnan(row[index]):
        expected = math.isnan(value)
    else:
        expected = row[index] == (max(numbers) if op == "argmax" else min(numbers)) and value == row[index]
    for dtype in DTYPES:
        assert judge(row, value, index, dtype, op).ok is expected


# ---- conformance inputs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_conformance_inputs_are_what_they_say(op: str, dtype: str) -> None:
    sign = 1 if op == "argmax" else -1
    p = problem((4, 3000), dtype, op)
    made = {case.name: (q, x[0].astype(np.float64)) for case, q, x in argcompare.conformance_inputs(p)}
    assert list(made) == [
        "ties", "few_values", "signed_zeros", "all_negative", "all_equal", "all_neg_inf", "lowest_finite", "nan",
        "nan_first", "all_nan", "single_element", "identical_rows",
    ]  # fmt: skip
    assert all(q.shape == x.shape for q, x in made.values())
    best = [sign * row for row in made["ties"][1]]
    assert all((row == row.max()).sum() == 3 and row[-1] == row.max() for row in best)
    assert set(np.unique(made["few_values"][1])) == set(range(8))
    zeros = made["signed_zeros"][1]
    assert (zeros == 0).all()
    assert np.signbit(zeros).mean() == 0.5
    assert (sign * made["all_negative"][1] < 0).all()
    assert (made["all_neg_inf"][1] == -sign * np.inf).all()
    assert np.isfinite(made["lowest_finite"][1]).all()
    assert (sign * made["lowest_finite"][1] < -65000).all()
    assert (np.isnan(made["nan"][1]).sum(axis=1) == 1).all()
    assert np.isnan(made["nan_first"][1][:, 0]).all()
    assert np.isnan(made["all_nan"][1]).all()
    assert made["single_element"][0].shape == (4, 1)
    assert made["identical_rows"][0].shape == (16, 3000)
    assert (made["identical_rows"][1] == made["identical_rows"][1][0]).all()


def test_an_unknown_kind_of_input_is_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError, match="tiess"):
        argcompare.make_inputs(problem((4, 4)), 0, "tiess")

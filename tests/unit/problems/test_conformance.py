"""The conformance report: it tells right implementations from wrong ones, and how each treats ties and NaN."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ireebench.measure.conformance import ConformanceRow, Outputs, conformance
from ireebench.outcome import Failure, Status
from ireebench.problems.ops.base import Array
from ireebench.problems.problem import Problem

CASES = [
    "ties", "few_values", "signed_zeros", "all_negative", "all_equal", "all_neg_inf", "lowest_finite", "nan",
    "nan_first", "all_nan", "single_element", "identical_rows", "repeat",
]  # fmt: skip


def problem(op: str = "argmax", dtype: str = "f32", shape: tuple[int, ...] = (4, 600)) -> Problem:
    return Problem("t", op, shape, dtype, "i64")  # type: ignore[arg-type]


def take(x: Array, index: Array) -> Outputs:
    return np.take_along_axis(x, np.expand_dims(index, -1), -1)[..., 0], index


def first_index(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
    """numpy: lowest index, NaN is extremal."""
    x = inputs[0]
    return take(x, np.asarray(x.argmax(axis=-1) if p.op == "argmax" else x.argmin(axis=-1)))


def last_index_ignoring_nan(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
    x = inputs[0].astype(np.float32)
    low = -np.inf if p.op == "argmax" else np.inf
    clean = np.where(np.isnan(x), np.float32(low), x)[..., ::-1]
    index = np.asarray(x.shape[-1] - 1 - (clean.argmax(axis=-1) if p.op == "argmax" else clean.argmin(axis=-1)))
    value, _ = take(np.where(np.isnan(x), np.float32(low), x), index)
    return value.astype(inputs[0].dtype), index


def rows_of(
    run: Callable[[Problem, tuple[Array, ...]], Outputs | Failure], p: Problem | None = None
) -> dict[str, ConformanceRow]:
    return {r.case: r for r in conformance(p or problem(), run)}


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("shape", [(600,), (1, 600), (4, 600), (2, 3, 64)])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_numpy_passes_everything_with_first_ties_and_first_nan(op: str, shape: tuple[int, ...], dtype: str) -> None:
    rows = rows_of(first_index, problem(op, dtype, shape))
    assert list(rows) == CASES
    assert {r.verdict for r in rows.values()} == {"pass"}
    ties = ("ties", "few_values", "signed_zeros", "all_equal", "all_neg_inf", "lowest_finite")
    assert {rows[c].ties for c in ties} == {"first"}
    assert rows["all_negative"].ties in (None, "first")
    assert {rows[c].nan for c in ("nan", "nan_first", "all_nan")} == {"first NaN"}
    assert {rows[c].nan for c in ties} == {None}


@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_last_ties_and_ignored_nan_pass_and_are_told(op: str) -> None:
    rows = rows_of(last_index_ignoring_nan, problem(op))
    assert {r.verdict for r in rows.values()} == {"pass"}
    assert {rows[c].ties for c in ("ties", "few_values", "signed_zeros", "all_equal")} == {"last"}
    assert {rows[c].nan for c in ("nan", "nan_first", "all_nan")} == {"ignored"}


def test_neither_first_nor_last_is_other() -> None:
    def middle(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        x = inputs[0]
        index = x.argmax(axis=-1)
        at = x.shape[-1] // 2
        return take(x, np.where(x[:, at] == x.max(axis=-1), at, index))

    with np.errstate(invalid="ignore"):
        assert rows_of(middle)["ties"].ties == "other"


def test_a_start_value_of_zero_fails_all_negative() -> None:
    def from_zero(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        return np.maximum(value, np.float32(0)), index

    rows = rows_of(from_zero)
    assert rows["all_negative"].verdict == "fail"
    assert str(rows["all_negative"].reason).startswith("row 0: value 0 is not the element at its index")
    assert rows["all_neg_inf"].verdict == "fail"
    assert rows["ties"].verdict == "pass"


def test_a_start_value_of_flt_max_fails_all_infinite_alone() -> None:
    def from_lowest(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        return np.maximum(value, np.finfo(np.float32).min), index

    rows = rows_of(from_lowest)
    assert [c for c, r in rows.items() if r.verdict == "fail"] == ["all_neg_inf"]
    assert rows["all_neg_inf"].reason == (
        "row 0: value -3.40282e+38 is not the element at its index 0, -inf (4 of 4 rows wrong)"
    )


def test_an_index_out_of_range_on_nan_fails() -> None:
    def beyond(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        return value, np.where(np.isnan(value), 2147483647, index)

    rows = rows_of(beyond)
    assert (rows["all_nan"].verdict, rows["all_nan"].nan) == ("fail", "out of range")
    assert rows["ties"].verdict == "pass"


def test_a_nan_value_beside_the_index_of_a_number_fails_as_inconsistent() -> None:
    def generic(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        return value, np.where(np.isnan(value), np.maximum(index - 1, 0), index)

    rows = rows_of(generic, problem(shape=(1, 600)))
    assert (rows["nan"].verdict, rows["nan"].nan) == ("fail", "inconsistent")


def test_rows_that_differ_in_nan_behaviour_are_both_told() -> None:
    def mixed(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        other_value, other_index = last_index_ignoring_nan(p, inputs)
        odd = np.arange(len(value)) % 2 == 1
        return np.where(odd, other_value, value), np.where(odd, other_index, index)

    assert rows_of(mixed)["nan"].nan == "first NaN, ignored"


def test_equal_rows_whose_ties_are_broken_differently_fail() -> None:
    def by_row(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        _, last = last_index_ignoring_nan(p, inputs)
        odd_one = np.arange(len(index)) == 5
        return value, np.where(odd_one, last, index)

    rows = rows_of(by_row, problem(shape=(16, 600)))
    assert rows["ties"].verdict == "pass"
    assert rows["identical_rows"].verdict == "fail"
    assert str(rows["identical_rows"].reason).startswith("rows 0 and 5 are equal and gave ")
    assert str(rows["identical_rows"].reason).endswith(" and 599")


def test_a_result_that_differs_once_in_a_hundred_runs_fails() -> None:
    runs = iter(range(10_000))

    def flaky(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, index = first_index(p, inputs)
        return (value, index) if next(runs) != 70 else (value, index + 1)

    rows = rows_of(flaky)
    assert rows["repeat"].verdict == "fail"
    assert "non-deterministic: run 59 on the same input gave output 1 row 0" in str(rows["repeat"].reason)


def test_outputs_that_a_later_run_overwrites_do_not_hide_a_difference() -> None:
    index = np.zeros(4, np.int64)
    calls = iter(range(10_000))

    def reused(p: Problem, inputs: tuple[Array, ...]) -> Outputs:
        value, right = first_index(p, inputs)
        if right.shape != index.shape:
            return value, right
        index[:] = right + (next(calls) > 50)
        return value, index

    assert rows_of(reused)["repeat"].verdict == "fail"


def test_a_case_without_a_kernel_is_not_run_and_a_crash_is_a_failure() -> None:
    def partial(p: Problem, inputs: tuple[Array, ...]) -> Outputs | Failure:
        if p.reduction == 1:
            return Failure(Status.REJECTED, "no form for one element")
        if p.rows == 16:
            raise RuntimeError("device lost\nwhile waiting")
        return first_index(p, inputs)

    rows = rows_of(partial)
    assert (rows["single_element"].verdict, rows["single_element"].reason) == ("not run", "no form for one element")
    assert (rows["identical_rows"].verdict, rows["identical_rows"].reason) == ("fail", "device lost while waiting")


def test_nothing_runs_where_there_is_no_kernel_at_all() -> None:
    rows = rows_of(lambda _p, _x: Failure(Status.UNAVAILABLE, "no GPU"))
    assert {(r.verdict, r.reason) for r in rows.values()} == {("not run", "no GPU")}

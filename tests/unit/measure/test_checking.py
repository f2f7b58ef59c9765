"""The check has to catch every way of being wrong; fed here by an implementation that can be wrong in each."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from ireebench.measure.checking import check_entry
from ireebench.measure.runnable import Array
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

PROBLEM = Problem("fed", "argmax", (3, 8), "bf16")
DATA = np.array(
    [[0, 1, 2, 3, 9, 1, 1, 1], [-5, -4, -3, -9, -8, -7, -6, -2], [7, 0, 0, 0, 0, 0, 0, 0]], ml_dtypes.bfloat16
)
RIGHT_INDEX = [4, 7, 0]  # read off the rows above
RIGHT_VALUE = [9, -2, 7]

Spoil = Callable[[Array, Array, int], None]


class Fed:
    """Gives right results, then lets `spoil(value, index, run)` change them."""

    copies = 2

    def __init__(self, spoil: Spoil | None = None) -> None:
        self.value = np.zeros(3, ml_dtypes.bfloat16)
        self.index = np.zeros(3, np.int64)
        self.spoil = spoil
        self.poisoned = 0
        self.launched: list[int] = []

    def poison(self) -> None:
        self.poisoned += 1
        self.value.view(np.uint16)[...] = 0xA5A5
        self.index[...] = -6510615555426900571

    def launch(self, copy: int) -> None:
        self.launched.append(copy)
        self.value[...] = RIGHT_VALUE
        self.index[...] = RIGHT_INDEX
        if self.spoil:
            self.spoil(self.value, self.index, len(self.launched))

    def sync(self) -> None:
        pass

    def outputs(self) -> tuple[Array, ...]:
        return self.value.copy(), self.index.copy()

    def close(self) -> None:
        pass


def check(spoil: Spoil | None = None, repeats: int = 3) -> CheckResult:
    reference = op_of(PROBLEM).reference(PROBLEM, (DATA,))
    return check_entry(Fed(spoil), PROBLEM, (DATA,), reference, repeats).result


def index_out_of_range(value: Array, index: Array, run: int) -> None:
    index[1] = 8


def negative_index(value: Array, index: Array, run: int) -> None:
    index[2] = -1


def not_the_maximum(value: Array, index: Array, run: int) -> None:
    value[0], index[0] = 3, 3


def value_not_at_index(value: Array, index: Array, run: int) -> None:
    value[2] = 6


def untouched_output(value: Array, index: Array, run: int) -> None:
    index[0] = -6510615555426900571


def untouched_value(value: Array, index: Array, run: int) -> None:
    value.view(np.uint16)[1] = 0xA5A5


def differs_between_runs(value: Array, index: Array, run: int) -> None:
    if run == 3:
        index[0] = 2
        value[0] = 2


WRONG: tuple[tuple[Spoil, str], ...] = (
    (index_out_of_range, "row 1"),
    (negative_index, "row 2"),
    (not_the_maximum, "row 0"),
    (value_not_at_index, "row 2"),
    (untouched_output, "row 0"),
    (untouched_value, "row 1"),
    (differs_between_runs, "non-deterministic: run 3"),
)


def test_a_right_result_passes() -> None:
    assert check() == CheckResult(ok=True, first_index=True)


@pytest.mark.parametrize(("spoil", "reason"), WRONG, ids=lambda v: getattr(v, "__name__", ""))
def test_a_wrong_result_is_refused_with_a_reason_that_says_where(spoil: Spoil, reason: str) -> None:
    result = check(spoil)
    assert not result.ok
    assert result.reason is not None
    assert reason in result.reason


def test_a_difference_that_comes_after_the_last_repeat_is_not_seen() -> None:
    """What `repeat_check` costs and gives: two runs do not see what the third one does."""
    assert check(differs_between_runs, repeats=2).ok


def test_every_run_is_on_poisoned_outputs_and_the_repeats_go_through_the_copies() -> None:
    fed = Fed()
    reference = op_of(PROBLEM).reference(PROBLEM, (DATA,))
    check_entry(fed, PROBLEM, (DATA,), reference, 4)
    assert fed.poisoned == 4
    assert fed.launched == [0, 1, 0, 1]


def test_a_wrong_result_is_not_run_again() -> None:
    fed = Fed(not_the_maximum)
    reference = op_of(PROBLEM).reference(PROBLEM, (DATA,))
    check_entry(fed, PROBLEM, (DATA,), reference, 4)
    assert len(fed.launched) == 1

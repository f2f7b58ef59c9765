"""From invocations to arrays."""

from __future__ import annotations

import numpy as np
import pytest

from ireebench.measure.sampling import Turn, collect, merge
from ireebench.measure.timers.base import Invocation, KernelRecord


def split(start: int, first: int, gap: int, second: int) -> Invocation:
    """Two kernels, `gap` ns apart."""
    a = KernelRecord("stage1", "kernel", start, start + first, registers=40, grid=(64, 1, 1))
    b = KernelRecord("stage2", "kernel", a.end_ns + gap, a.end_ns + gap + second)
    return Invocation(first + second, first + gap + second, (a, b))


def test_kernels_of_a_split_are_kept_apart_and_the_gap_is_in_the_span_alone() -> None:
    turn = collect([split(0, 1000, 300, 200), split(5000, 1100, 300, 210)])
    assert turn.kernel_ns.tolist() == [1200, 1310]
    assert turn.span_ns.tolist() == [1500, 1610]
    assert [(k.name, k.ns.tolist()) for k in turn.kernels] == [("stage1", [1000, 1100]), ("stage2", [200, 210])]
    assert turn.kernels[0].registers == 40
    assert turn.kernels[0].grid == (64, 1, 1)


def test_one_kernel_launched_twice_in_an_invocation_is_two_columns() -> None:
    records = (KernelRecord("k", "kernel", 0, 10), KernelRecord("k", "kernel", 20, 50))
    turn = collect([Invocation(40, 50, records)])
    assert [(k.name, k.ns.tolist()) for k in turn.kernels] == [("k", [10]), ("k", [30])]


@pytest.mark.parametrize("times", [(0, 5), (-3, 5), (5, 0)])
def test_a_time_that_no_invocation_can_have_is_the_timers_error(times: tuple[int, int]) -> None:
    with pytest.raises(RuntimeError, match="invocation 1"):
        collect([Invocation(7, 7), Invocation(*times)])


def test_turns_are_stored_and_restored_without_loss() -> None:
    turn = collect([split(0, 1000, 300, 200)])
    restored = Turn.restore(turn.columns(), turn.describe_kernels())
    assert restored.kernels[0].grid == (64, 1, 1)
    assert restored.kernels[1].ns.tolist() == [200]
    assert restored.span_ns.tolist() == [1500]


def test_rounds_are_joined_kernel_by_kernel() -> None:
    joined = merge([collect([split(0, 1000, 0, 200)]), collect([split(0, 1001, 0, 201), split(0, 1002, 0, 202)])])
    assert joined.kernel_ns.tolist() == [1200, 1202, 1204]
    assert [k.ns.tolist() for k in joined.kernels] == [[1000, 1001, 1002], [200, 201, 202]]
    assert joined.kernel_ns.dtype == np.int64

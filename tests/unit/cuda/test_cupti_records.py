from __future__ import annotations

import random

import pytest

from ireebench.measure.timers.base import KernelRecord
from ireebench.measure.timers.cupti_records import AttributionError, attribute, readable_name


def kernel(start_ns: int, end_ns: int, name: str = "argmax", kind: str = "kernel") -> KernelRecord:
    return KernelRecord(name, kind, start_ns, end_ns)


def two_stage(begin_ns: int) -> list[KernelRecord]:
    """First kernel 5 us after the launch for 1 us, 0.3 us of nothing, second kernel for 0.7 us."""
    first = kernel(begin_ns + 5_000, begin_ns + 6_000, "stage1")
    return [first, kernel(begin_ns + 6_300, begin_ns + 7_000, "stage2")]


BEGINS = [1_000_000, 1_040_000, 1_080_000]


def test_kernel_time_is_the_sum_and_span_includes_the_gap() -> None:
    records = [r for b in BEGINS for r in two_stage(b)]
    got = attribute(records, BEGINS)
    assert [(i.kernel_ns, i.span_ns) for i in got] == [(1_700, 2_000)] * 3
    assert [r.name for r in got[0].records] == ["stage1", "stage2"]


def test_order_of_delivery_does_not_matter() -> None:
    records = [r for b in BEGINS for r in two_stage(b)]
    random.Random(1).shuffle(records)
    got = attribute(records, BEGINS)
    assert [i.records[0].start_ns for i in got] == [1_005_000, 1_045_000, 1_085_000]


def test_copies_and_fills_of_the_program_count() -> None:
    records = [
        r
        for b in BEGINS
        for r in (
            kernel(b + 1, b + 101, "fill", "fill"),
            kernel(b + 201, b + 701),
            kernel(b + 701, b + 751, "c", "copy"),
        )
    ]
    got = attribute(records, BEGINS)
    assert [(i.kernel_ns, i.span_ns) for i in got] == [(650, 750)] * 3


@pytest.mark.parametrize("lost", range(6))
def test_a_lost_record_is_refused_whichever_it_is(lost: int) -> None:
    records = [r for b in BEGINS for r in two_stage(b)]
    del records[lost]
    with pytest.raises(AttributionError, match="do not fit 3 invocations"):
        attribute(records, BEGINS)


def test_a_whole_lost_invocation_is_refused() -> None:
    records = [r for b in BEGINS[:2] for r in two_stage(b)]
    with pytest.raises(AttributionError, match="do not fit 3 invocations: 2 of stage1, 2 of stage2"):
        attribute(records, BEGINS)


def test_a_record_in_excess_is_refused() -> None:
    records = [r for b in BEGINS for r in two_stage(b)] + [kernel(1_050_000, 1_050_100, "other")]
    with pytest.raises(AttributionError, match="1 of other"):
        attribute(records, BEGINS)


def test_equal_counts_of_different_kernels_are_refused() -> None:
    records = [kernel(b + 10, b + 20, "a" if b != BEGINS[1] else "b") for b in BEGINS]
    with pytest.raises(AttributionError, match="2 of a, 1 of b"):
        attribute(records, BEGINS)


def test_no_records_at_all_are_refused() -> None:
    with pytest.raises(AttributionError, match="no kernel"):
        attribute([], BEGINS)


def test_records_of_earlier_launches_are_left_out() -> None:
    late = two_stage(BEGINS[0] - 40_000)
    got = attribute(late + [r for b in BEGINS for r in two_stage(b)], BEGINS)
    assert [i.kernel_ns for i in got] == [1_700] * 3


def test_a_record_without_times_is_refused() -> None:
    with pytest.raises(AttributionError, match="no times for argmax"):
        attribute([kernel(0, 0)], [1_000])


def test_a_clock_that_runs_ahead_of_the_records_is_overcome_by_equal_shares() -> None:
    # Every record seems to lie 10 us before its launch began, but after the launch before it.
    records = [kernel(b - 10_000, b - 8_000) for b in BEGINS[1:]] + [kernel(1_110_000, 1_112_000)]
    got = attribute(records, BEGINS)
    assert [i.kernel_ns for i in got] == [2_000] * 3
    assert [i.records[0].start_ns for i in got] == [1_030_000, 1_070_000, 1_110_000]


def test_kernels_that_overlap_may_start_in_either_order() -> None:
    a = [kernel(BEGINS[0] + 10, BEGINS[0] + 110, "x"), kernel(BEGINS[0] + 20, BEGINS[0] + 60, "y")]
    b = [kernel(BEGINS[1] + 10, BEGINS[1] + 50, "y"), kernel(BEGINS[1] + 20, BEGINS[1] + 120, "x")]
    got = attribute(a + b, BEGINS[:2])
    assert [(i.kernel_ns, i.span_ns) for i in got] == [(140, 100), (140, 110)]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("argmax_dispatch_0_argcompare_131072xbf16", "argmax_dispatch_0_argcompare_131072xbf16"),
        ("_ZN3cub6KernelIfEEvv", "cub::Kernel"),
        ("_Z3fooi", "foo"),
        ("_ZN12_GLOBAL__N_110read_wordsILi0ELi4ELi1EEEvPKNS_4WordEmjiPj", "anonymous::read_words"),
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_cpp_names_are_shortened_to_what_a_person_reads(symbol: str, name: str) -> None:
    assert readable_name(symbol) == name

"""Rows of a ceiling that their neighbours show to be too slow. All times are written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireebench.measure.ceiling_device import Reader
from ireebench.measure.ceiling_doubt import above_larger, above_line, doubtful, kept
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable
from ireebench.measure.job import CachePolicy
from ireebench.store.database import Store
from ireebench.store.trial import Environment
from ireebench.sweep.ceiling import put_ceiling, stored_ceiling

MIB = 1 << 20


def row(size: int, median_ns: float, cache: CachePolicy = "cold") -> CeilingRow:
    return CeilingRow(size, cache, Reader(132, 256), median_ns, median_ns, median_ns, 40, 3, 64)


def table(*rows: CeilingRow) -> CeilingTable:
    return CeilingTable("NVIDIA H200", "cupti", 60 * MIB, 1_100.0, rows)


# An H200, cold: 32 MiB at 3884 GB/s, 36 MiB at 3680, 47.5 MiB at 4120. Time of 36 MiB on the line: 9529 ns.
H200 = ((32 * MIB, 8_639.0), (36 * MIB, 10_258.0), (49_807_360, 12_089.0))


def test_a_row_above_the_line_between_its_neighbours_is_doubtful() -> None:
    assert above_line(H200, 1) == pytest.approx(10_258 / 9_529.3 - 1, abs=1e-5)
    assert doubtful(H200) == [1]
    assert kept(H200, steps=False) == [H200[0], H200[2]]


def test_the_first_and_the_last_row_have_one_neighbour_and_are_never_doubtful() -> None:
    assert [above_line(H200, i) for i in (0, 2)] == [0.0, 0.0]
    assert doubtful([(32 * MIB, 9_000.0), (64 * MIB, 9_100.0)]) == []


def test_one_percent_is_within_what_medians_repeat_to() -> None:
    around = (32 * MIB, 10_000.0), (96 * MIB, 30_000.0)
    assert kept([around[0], (64 * MIB, 20_190.0), around[1]], steps=False)[1] == (64 * MIB, 20_190.0)
    assert len(kept([around[0], (64 * MIB, 20_210.0), around[1]], steps=False)) == 2


def test_large_rows_come_first_then_the_worst() -> None:
    points = [(MIB, 1_000.0), (2 * MIB, 5_000.0), (4 * MIB, 1_400.0)]  # small, and by far the worst
    points += [(32 * MIB, 8_000.0), (48 * MIB, 13_000.0), (64 * MIB, 16_000.0)]  # 8% above 12000
    points += [(80 * MIB, 25_000.0), (96 * MIB, 24_000.0)]  # 25% above 20000
    assert doubtful(points) == [6, 4, 1]


def test_small_buffers_are_bound_by_latency_and_are_never_dropped() -> None:
    points = [(64 << 10, 1_500.0), (128 << 10, 1_620.0), (256 << 10, 1_700.0)]  # 3% above 1566.7
    assert doubtful(points) == [1]
    assert kept(points, steps=False) == points


def test_the_row_behind_a_caches_end_is_right_and_stays() -> None:
    # 10 bytes a ns up to 48 MiB; behind, 4 bytes a ns and 2 us: 64 MiB lies 18% above the line from 48 to 96 MiB.
    hot = [(m * MIB, 1_500 + m * MIB / 10) for m in (16, 32, 48)]
    hot += [(m * MIB, 2_000 + m * MIB / 4) for m in (64, 96, 128, 192)]
    assert doubtful(hot) == [3]
    assert above_larger(hot, 3) == pytest.approx(0.0, abs=1e-9)
    assert kept(hot, steps=True) == hot
    slow = [(size, ns * 1.05 if size == 96 * MIB else ns) for size, ns in hot]
    assert kept(slow, steps=True) == [p for p in hot if p[0] != 96 * MIB]


def test_hot_a_row_with_one_larger_neighbour_is_not_dropped() -> None:
    assert kept(H200, steps=True) == list(H200)


def test_of_two_neighbours_the_slower_goes_first_and_shows_the_other() -> None:
    right = {m: m * MIB / 4 for m in (32, 40, 48, 64)}
    points = [(32 * MIB, right[32]), (40 * MIB, right[40] * 1.05), (48 * MIB, right[48] * 1.10), (64 * MIB, right[64])]
    # Beside 48 MiB, 10% too slow itself, 40 MiB looks right.
    assert above_line(points, 1) < 0.01
    assert kept(points, steps=False) == [points[0], points[3]]
    assert kept([points[0], (40 * MIB, right[40]), *points[2:]], steps=False) == [
        points[0],
        (40 * MIB, right[40]),
        points[3],
    ]


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(500.0, 100_000.0)), min_size=1, max_size=9), st.booleans())
def test_dropping_never_lowers_the_ceiling(found: list[tuple[int, float]], cold: bool) -> None:
    by_size = dict(found)
    full = table(*(row(m * MIB, ns, "cold" if cold else "hot") for m, ns in sorted(by_size.items())))
    sound = full.trusted()
    for size in range(MIB // 2, 320 * MIB, 3 * MIB):
        before, after = (t.best_ns(size, "cold" if cold else "hot") for t in (full, sound))
        assert before is not None
        assert after is not None
        assert after <= before * (1 + 1e-12)


def test_merged_tables_drop_what_the_others_rows_show_to_be_slow() -> None:
    one, other = table(row(*H200[1])), table(row(*H200[0]), row(*H200[2]), row(36 * MIB, 9_000.0, "hot"))
    for merged in (one.merge(other), other.merge(one)):
        assert [(r.size_bytes, r.cache) for r in merged.rows] == [
            (32 * MIB, "cold"),
            (49_807_360, "cold"),
            (36 * MIB, "hot"),
        ]
    assert one.merge(other).best_for(36 * MIB, "cold") == pytest.approx(36 * MIB / 9_529.3, rel=1e-5)


def test_a_faster_row_of_another_run_takes_the_slow_ones_place() -> None:
    again = table(row(36 * MIB, 9_400.0))
    assert table(*(row(*p) for p in H200)).merge(again).best_ns(36 * MIB, "cold") == 9_400.0


def test_imported_tables_lose_the_slow_row_whichever_comes_first(tmp_path: Path) -> None:
    environment = Environment("NVIDIA H200", "cuda://0", None, "3.13.0", "3.13.0", "0.1.0", "host", "3.11.0", "")
    parts = (table(row(*H200[0]), row(*H200[1])), table(row(*H200[2])))
    for name, order in (("a.db", parts), ("b.db", parts[::-1]), ("c.db", (table(*(row(*p) for p in H200)),))):
        with Store.open(tmp_path / name, write=True) as store:
            place = store.put_environment(environment)
            for t in order:
                put_ceiling(store, place, t)
            stored = stored_ceiling(store, place)
        assert stored is not None
        assert [r.size_bytes for r in stored.rows] == [32 * MIB, 49_807_360]

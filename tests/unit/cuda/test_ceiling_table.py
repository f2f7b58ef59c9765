from __future__ import annotations

import json
from pathlib import Path

import pytest

from ireebench.measure import ceiling
from ireebench.measure.ceiling import cpu_readers, gpu_readers
from ireebench.measure.ceiling_device import Reader
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable, ceiling_file, load, save
from ireebench.measure.job import CachePolicy


def row(size: int, median_ns: float, cache: CachePolicy = "hot") -> CeilingRow:
    return CeilingRow(size, cache, Reader(132, 256), median_ns, median_ns - 1, median_ns + 2, 40, 1, 300)


def table(*rows: CeilingRow, floor_ns: float | None = 1_000.0) -> CeilingTable:
    return CeilingTable("NVIDIA H200", "cupti", 60 << 20, floor_ns, rows)


MIB = 1 << 20


def test_time_grows_linearly_between_measured_sizes() -> None:
    t = table(row(MIB, 2_000.0), row(3 * MIB, 4_000.0), row(64 * MIB, 30_000.0))
    assert t.best_ns(MIB, "hot") == 2_000.0
    assert t.best_ns(2 * MIB, "hot") == 3_000.0
    assert t.best_for(2 * MIB, "hot") == pytest.approx(2 * MIB / 3_000.0)


def test_below_the_smallest_size_time_goes_down_to_the_empty_kernels() -> None:
    assert table(row(MIB, 2_000.0)).best_ns(MIB // 2, "hot") == 1_500.0
    assert table(row(MIB, 2_000.0), floor_ns=None).best_ns(MIB // 2, "hot") == 1_000.0


def test_above_the_largest_size_its_rate_holds() -> None:
    assert table(row(MIB, 2_000.0), row(2 * MIB, 3_000.0)).best_ns(4 * MIB, "hot") == 6_000.0


def test_a_larger_buffer_read_faster_counts_for_the_smaller_one_too() -> None:
    t = table(row(MIB, 2_000.0), row(2 * MIB, 1_900.0), row(4 * MIB, 5_000.0))
    assert t.best_ns(MIB, "hot") == 1_900.0
    sizes = range(MIB // 4, 8 * MIB, MIB // 4)
    times = [t.best_ns(s, "hot") or 0.0 for s in sizes]
    assert times == sorted(times)


def test_policies_are_kept_apart_and_an_unmeasured_one_is_unknown() -> None:
    t = table(row(MIB, 2_000.0), row(MIB, 9_000.0, "cold"))
    assert (t.best_ns(MIB, "hot"), t.best_ns(MIB, "cold")) == (2_000.0, 9_000.0)
    assert table(row(MIB, 2_000.0)).best_for(MIB, "cold") is None


def test_a_kernel_faster_than_the_ceiling_is_an_excess() -> None:
    t = table(row(MIB, 2_000.0))
    assert t.excess(MIB, "hot", 1_600.0) == pytest.approx(0.25)
    assert t.excess(MIB, "hot", 2_500.0) == 0.0
    assert t.excess(MIB, "cold", 1.0) == 0.0


def test_measuring_again_keeps_the_faster_figure_of_each_size() -> None:
    first = table(row(MIB, 2_000.0), row(2 * MIB, 3_000.0), floor_ns=900.0)
    second = table(row(MIB, 1_800.0), row(2 * MIB, 3_100.0), row(MIB, 9_000.0, "cold"))
    merged = first.merge(second)
    assert [(r.cache, r.size_bytes, r.median_ns) for r in merged.rows] == [
        ("cold", MIB, 9_000.0),
        ("hot", MIB, 1_800.0),
        ("hot", 2 * MIB, 3_000.0),
    ]
    assert merged.floor_ns == 900.0
    with pytest.raises(ValueError, match="NVIDIA H200 by cupti and other by cupti"):
        first.merge(CeilingTable("other", "cupti", None, None, ()))


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    t = table(row(MIB, 2_000.5), row(MIB, 9_000.0, "cold"))
    path = tmp_path / "new" / "h200.json"
    assert load(path) is None
    save(t, path)
    assert load(path) == t
    document = json.loads(path.read_text())
    assert document["schema_version"] == 1
    assert document["rows"][0]["gb_per_s"] == pytest.approx(MIB / 2_000.5)


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"schema_version": 2}', "no json", '{"schema_version": 1, "rows": [{}]}']
)
def test_a_file_that_is_no_ceiling_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"broken\.json"):
        load(path)


def test_devices_have_files_of_their_own() -> None:
    assert ceiling_file("NVIDIA H200").name == "nvidia-h200.json"
    assert ceiling_file("Intel(R) Xeon(R) @ 2.1GHz").name == "intel-r-xeon-r-2-1ghz.json"


def test_readers_fit_the_buffer_and_cover_every_knob() -> None:
    large = list(gpu_readers(512 * MIB, 132))
    assert {r.loads for r in large} == {"plain", "streaming", "no_allocate", "evict_first"}
    assert {r.unroll for r in large} == {1, 2, 4, 8}
    assert {r.walk for r in large} == {"grid", "chunk"}
    assert {r.grid // 132 for r in large if r.grid % 132 == 0} >= {1, 2, 4, 8, 16, 32}
    small = list(gpu_readers(64 * 1024, 132))
    assert small
    assert all(r.grid * r.block * r.unroll * 16 <= 64 * 1024 for r in small)
    assert len(set(large)) == len(large)


def test_threads_double_up_to_all_cores() -> None:
    assert [r.grid for r in cpu_readers(6)] == [1, 2, 4, 6]
    assert [r.grid for r in cpu_readers(1)] == [1]


def test_default_sizes_go_from_within_the_cache_to_far_beyond_it() -> None:
    assert min(ceiling.DEFAULT_SIZES) == 64 * 1024
    assert max(ceiling.DEFAULT_SIZES) == 4 << 30
    assert all(s % 64 == 0 for s in ceiling.DEFAULT_SIZES)

"""Every sample file against figures worked out by hand (end minus start of its rows)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.reading import Trace, read
from ireebench.measure.rocprof.summary import KernelSummary, name_filter, names_of, summarise

DATA = Path(__file__).parents[2] / "data" / "rocprof"
IREE = "mv$async_dispatch_0_matvec_like_8192x2048_f16xf16xf32"
GEMV = "void bench::gemv_rows<half, 64, 4>(half const*, half const*, half*, int, int)"
FILL = "__amd_rocclr_fillBufferAligned"
LAYOUTS = {
    "gen_a_rocprof_v1_results.csv": ("GPU 1", 20, 0),
    "gen_b_4242_kernel_trace.csv": ("4", None, 1024),
    "gen_c_4242_kernel_trace.csv": ("4", 20, 1024),
    "gen_d_out_kernel_trace.csv": ("4", 20, 1024),
    "gen_e_out_kernel_trace.csv": ("GPU 0", 20, 1024),
    "gen_f_4242_results.db": ("4", 20, 1024),
}


def load(name: str) -> Trace:
    return read([str(DATA / name)])


def by_name(trace: Trace) -> dict[str, KernelSummary]:
    s = summarise(trace)
    return {k.name: k for k in (*s.kernels, *s.helpers)}


def times(k: KernelSummary) -> tuple[int, float | None, float | None, float | None, float | None, float | None]:
    return k.calls, k.min_ns, k.median_ns, k.mean_ns, k.max_ns, k.total_ns


@pytest.mark.parametrize("name", LAYOUTS)
def test_six_layouts_of_one_trace_give_the_same_times(name: str) -> None:
    found = by_name(load(name))
    assert set(found) == {IREE, GEMV, FILL}
    assert times(found[IREE]) == (3, 74_200, 74_600, 74_600, 75_000, 223_800)
    assert times(found[GEMV]) == (3, 38_200, 38_600, 38_600, 39_000, 115_800)
    assert times(found[FILL]) == (2, 1_960, 1_980, 1_980, 2_000, 3_960)
    assert (found[IREE].q1_ns, found[IREE].q3_ns) == (74_400, 74_800)


@pytest.mark.parametrize(("name", "expected"), LAYOUTS.items())
def test_six_layouts_agree_on_agent_and_launch_and_leave_unknown_registers_unknown(
    name: str, expected: tuple[str, int | None, int]
) -> None:
    kernel = by_name(load(name))[IREE]
    ((launch, calls),) = kernel.launches
    assert (kernel.agent, launch.vgpr, launch.lds_bytes, calls) == (*expected, 3)
    assert launch.workgroup == (256, 1, 1)
    assert launch.grid_workgroups == (256, 1, 1)  # 65536 work-items in groups of 256


def test_helpers_are_listed_apart_and_counted_once() -> None:
    s = summarise(load("gen_c_4242_kernel_trace.csv"))
    assert [k.name for k in s.kernels] == [IREE, GEMV]
    assert [k.name for k in s.helpers] == [FILL]
    assert s.dropped == (("runtime helper (fill, copy)", 2),)


ADD = "void addition_kernel<float>(float*, float const*, float const*, int, int)"
SUB = "subtract_kernel(float*, float const*, float const*, int, int)"
MUL = "multiply_kernel(float*, float const*, float const*, int, int)"
DIV = "divide_kernel(float*, float const*, float const*, int, int)"


def test_rocm_63_rows_overlap_on_four_queues_and_have_no_registers() -> None:
    found = by_name(load("v3_rocm63_kernel_trace.csv"))
    # 48744, 100895, 130526, 133341
    assert times(found[ADD]) == (4, 48_744, 115_710.5, 103_376.5, 133_341, 413_506)
    assert times(found[SUB]) == (2, 103_265, 121_192, 121_192, 139_119, 242_384)
    assert times(found[MUL]) == (1, 139_563, 139_563, 139_563, 139_563, 139_563)
    ((launch, _),) = found[ADD].launches
    assert (launch.vgpr, launch.lds_bytes, launch.grid_workgroups) == (None, 0, (16, 1024, 1))
    assert {k.agent for k in found.values()} == {"1"}


def test_rocm_70_rows_have_registers() -> None:
    found = by_name(load("v3_rocm70_kernel_trace.csv"))
    assert times(found[ADD])[:3] == (3, 9_840, 11_400)
    assert times(found[DIV]) == (2, 11_200, 11_820, 11_820, 12_440, 23_640)
    assert times(found[MUL]) == (2, 9_920, 10_540, 10_540, 11_160, 21_080)
    assert times(found[SUB]) == (2, 8_240, 8_700, 8_700, 9_160, 17_400)
    assert {n: found[n].launches[0][0].vgpr for n in (ADD, DIV)} == {ADD: 8, DIV: 12}
    assert {k.agent for k in found.values()} == {"4"}


def test_a_first_fill_is_a_helper_in_someone_elses_trace() -> None:
    s = summarise(load("v3_rocm70_tracelens_with_fillBuffer.csv"))
    assert [(k.name, k.total_ns) for k in s.kernels] == [
        ("func_broad_phase_c402_0_kernel_3_range_for", 6_009),
        ("kernel_step_1_c532_0_kernel_6_range_for", 1_682),
    ]
    assert [(k.name, k.total_ns) for k in s.helpers] == [(FILL, 3_565)]


def test_memory_copies_are_told_apart_by_direction() -> None:
    found = by_name(load("v3_rocm70_memory_copy_trace.csv"))
    assert times(found["MEMORY_COPY_HOST_TO_DEVICE"]) == (2, 75_361, 76_200.5, 76_200.5, 77_040, 152_401)
    assert times(found["MEMORY_COPY_DEVICE_TO_HOST"]) == (2, 75_440, 88_380.5, 88_380.5, 101_321, 176_761)
    assert found["MEMORY_COPY_DEVICE_TO_HOST"].agent == "4 -> 0"


@pytest.mark.parametrize("name", ["v3_rocm63_counter_collection.csv", "v3_rocm70_counter_collection.csv"])
def test_counter_runs_give_counters_and_never_times(name: str) -> None:
    trace = load(name)
    assert all(k.median_ns is None and k.total_ns is None for k in summarise(trace).kernels)
    assert {(c.counter, c.mean) for c in trace.counters} == {("SQ_WAVES", 16_384.0)}
    assert "no times" in trace.notes[0]
    assert trace.counters[0].launch.grid_workgroups == (16_384, 1, 1)  # 1048576 / 64


def test_v1_without_time_columns_has_registers_and_no_times() -> None:
    trace = load("v1_rocprof_results_pmc_header_rocm_systems_issue5683.csv")
    (kernel,) = summarise(trace).kernels
    assert kernel.name == "vectoradd_float(float*, float const*, float const*, int, int)"
    assert (kernel.agent, kernel.calls, kernel.median_ns, kernel.total_ns) == ("GPU 2", 1, None, None)
    assert kernel.launches[0][0].vgpr == 8
    assert "--timestamp on" in trace.notes[0]


def test_domain_statistics_are_said_to_be_no_kernel_times() -> None:
    trace = load("v3_rocm70_domain_stats.csv")
    (line,) = summarise(trace).kernels
    assert (line.name, line.calls, line.total_ns) == ("HIP_API", 13, 458_514_859)
    assert (line.median_ns, line.min_ns, line.max_ns) == (None, 2_300, 352_276_613)
    assert "host time" in trace.notes[0]


def test_statistics_in_scientific_notation_and_a_template_name_with_commas() -> None:
    (line,) = summarise(load("kernel_stats_sci.csv")).kernels
    assert (line.name, line.calls, line.mean_ns) == (GEMV, 1, 38_600)


def test_mi300a_statistics_average_total_over_calls() -> None:
    lines = {k.name: k for k in summarise(load("mi300a_kernel_stats.csv")).kernels}
    assert lines["norm"].mean_ns == pytest.approx(87_907.575, abs=0.001)  # 87995483 / 1001
    assert sum(k.total_ns or 0 for k in lines.values()) == 201_048_351
    assert [
        round(100 * (lines[n].total_ns or 0) / 201_048_351, 2) for n in ("norm", "update", "laplacian", "boundary")
    ] == [
        43.77,
        25.96,
        25.41,
        4.85,
    ]


def test_helpers_do_not_dilute_a_mean_and_fractions_of_a_nanosecond_are_read() -> None:
    s = summarise(load("rocprof_compute_kernel_top_bmm.csv"))
    assert [(k.calls, round((k.mean_ns or 0) / 1e3, 2)) for k in s.kernels] == [
        (150, 37.48),
        (150, 29.05),
        (150, 20.10),
    ]
    assert [k.calls for k in s.helpers] == [151, 151, 151]


@pytest.mark.parametrize(
    ("pattern", "regex", "calls"),
    [("mv$async_dispatch_0", False, 3), (r"mv\$async_dispatch_0.*", True, 3), ("gemv_rows<half, 64, 4>", False, 3)],
)
def test_a_dollar_in_plain_text_means_itself(pattern: str, regex: bool, calls: int) -> None:
    trace = load("gen_c_4242_kernel_trace.csv")
    (kernel,) = summarise(trace, name_filter(pattern, regex, names_of(trace))).kernels
    assert kernel.calls == calls


@pytest.mark.parametrize(("pattern", "regex"), [("gemv_rows<half, 64, 8>", False), ("mv$async_dispatch_0.*", True)])
def test_a_filter_that_matches_nothing_names_what_was_seen(pattern: str, regex: bool) -> None:
    names = names_of(load("gen_c_4242_kernel_trace.csv"))
    with pytest.raises(TraceError, match="kernel not found") as e:
        name_filter(pattern, regex, names)
    assert IREE in str(e.value)


def test_an_exact_name_wins_over_a_longer_one_that_contains_it() -> None:
    match = name_filter("gemm_BM1", False, ["gemm_BM1", "gemm_BM16"])
    assert [n for n in ("gemm_BM1", "gemm_BM16") if match(n)] == ["gemm_BM1"]

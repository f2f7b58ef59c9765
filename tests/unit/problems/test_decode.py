"""Decode calculators: published figures come out of their own inputs, and the traps in them are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ireebench.errors import UnknownNameError, UsageError
from ireebench.measure.ceiling_device import Reader
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable
from ireebench.measure.job import CachePolicy
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.gemv import bytes_breakdown, bytes_moved
from ireebench.problems.problem import Problem
from ireebench.report import decode
from ireebench.report.decode import Comparison, Measured
from ireebench.report.decode_tables import Answer
from ireebench.space.config import Config
from ireebench.store.trial import RunSummary, Trial
from ireebench.variants import Ship


def gemv(n: int, k: int, dtype: str = "f16", out: str = "f32") -> Problem:
    return Problem("t", "gemv", (1, n, k), dtype, None, out, "nk")


# ---- published bandwidths --------------------------------------------------------------------------------------------

# iree-org/iree#23507: RX 7900 XTX (960 GB/s), f16 weights, f32 results: N, K, us, GB/s, percent of 960.
GFX1100 = [
    (8192, 2048, 74.6, 449.8, 46.9),
    (4096, 2048, 38.6, 434.5, 45.3),
    (2048, 4096, 34.8, 482.4, 50.3),
    (512, 2048, 5.1, 410.6, 42.8),
    (2048, 512, 6.2, 336.9, 35.1),
    (256, 2048, 5.4, 196.5, 20.5),
    (128, 2048, 5.3, 99.4, 10.4),
    (32, 2048, 9.0, 15.0, 1.6),
    (151936, 2048, 1413, 440.8, 45.9),
    (248320, 2048, 2570, 395.9, 41.3),
]


@pytest.mark.parametrize(("n", "k", "us", "gb", "percent"), GFX1100)
def test_f32_results_count_4_bytes(n: int, k: int, us: float, gb: float, percent: float) -> None:
    result = decode.rate(bytes_moved(gemv(n, k)), us, 960)
    assert result.gb_per_s == pytest.approx(gb, rel=0.009)
    assert result.mbu_percent == pytest.approx(percent, abs=0.3)
    assert result.bytes_counted == {32: 135_296, 128: 528_896, 151936: 622_941_696}.get(n, result.bytes_counted)


def test_gib_per_s_is_not_gb_per_s() -> None:
    # hipBLASLt issue 1321: 16192 x 16192 f32; its bench prints GiB/s under the label GB/s.
    assert decode.gb_per_s(1_048_852_992, 1164.72) == pytest.approx(900.519, rel=1e-5)
    assert decode.gb_per_s(1_048_852_992, 2185.5) == pytest.approx(479.91, rel=1e-5)
    assert decode.gb_to_gib(decode.gb_per_s(1_048_852_992, 2185.5)) == pytest.approx(446.955, rel=1e-5)
    # ROCm/vllm issue 978: 211 GiB/s is 226.56 GB/s, 88.5% of 256.
    assert decode.gib_to_gb(211) == pytest.approx(226.56, abs=0.005)
    assert 100 * decode.gib_to_gb(211) / 256 == pytest.approx(88.5, abs=0.05)
    assert decode.gb_to_gib(decode.gib_to_gb(1.87)) == pytest.approx(1.87)


@pytest.mark.parametrize(("us", "gb", "mbu"), [(29.3, 1146, 23.8), (11.6, 2897, 60.1), (9.5, 3523, 73.1)])
def test_the_published_mi300x_utilisation_follows_from_its_times(us: float, gb: float, mbu: float) -> None:
    # 4096 x 4096 f16, bytes counted as 2NK + 2K + 2N, ceiling 4822 GB/s measured; times are rounded to 0.1 us.
    result = decode.rate(bytes_moved(gemv(4096, 4096, out="f16")), us, 4822)
    rounding = 0.05 / us
    assert result.bytes_counted == 33_570_816
    assert result.gb_per_s == pytest.approx(gb, rel=rounding)
    assert result.mbu_percent == pytest.approx(mbu, rel=rounding + 0.05 / mbu)
    assert result.flag is None


def test_the_published_gfx1151_utilisation_follows_from_its_bytes_and_times() -> None:
    # bitsandbytes issue 1842, 8192 x 28672, peak 210 GB/s measured: 117 MB in 1128 us, 469 MB in 2450 us.
    nf4, bf16 = decode.rate(117_000_000, 1128, 210), decode.rate(469_000_000, 2450, 210)
    assert (round(nf4.mbu_percent or 0), round(bf16.mbu_percent or 0)) == (49, 91)
    assert bf16.gb_per_s == pytest.approx(191, abs=0.5)


def test_4_bit_bandwidth_depends_on_whether_scales_are_counted() -> None:
    parts = dict(bytes_breakdown(gemv(8192, 28672, "nf4")))
    codes = decode.rate(parts["weights"], 1128, 210)
    both = decode.rate(parts["weights"] + parts["scales"], 1128, 210)
    assert (codes.bytes_counted, both.bytes_counted) == (117_440_512, 132_120_576)
    assert (codes.gb_per_s, both.gb_per_s) == (pytest.approx(104.1, abs=0.05), pytest.approx(117.1, abs=0.05))
    assert (codes.mbu_percent, both.mbu_percent) == (pytest.approx(49.6, abs=0.05), pytest.approx(55.8, abs=0.05))
    bf16 = decode.rate(dict(bytes_breakdown(gemv(8192, 28672, "bf16")))["weights"], 2450, 210)
    assert (bf16.gb_per_s, bf16.mbu_percent) == (pytest.approx(191.7, abs=0.1), pytest.approx(91.3, abs=0.05))


@pytest.mark.parametrize(
    ("n", "k", "us", "gb"),
    [(5120, 1024, 13.2, 795), (1024, 2048, 5.3, 792), (3072, 1024, 6.1, 1033), (151936, 1024, 340.1, 916)],
)
def test_above_the_ceiling_or_in_the_cache_is_flagged_and_not_capped(n: int, k: int, us: float, gb: float) -> None:
    # A public vLLM port on gfx1100 (960 GB/s, 96 MB Infinity Cache), bf16, same buffers over and over.
    result = decode.rate(bytes_moved(gemv(n, k, "bf16", "f16")), us, 960, cache_bytes=96_000_000)
    assert result.gb_per_s == pytest.approx(gb, rel=2e-3)
    if n == 3072:
        assert result.mbu_percent == pytest.approx(107.6, abs=0.1)
        assert str(result.flag).startswith(f"{result.mbu_percent:.1f}% of the ceiling: read from a cache")
    elif n == 151936:
        assert result.flag is None
    else:
        assert result.flag == "fits the last-level cache: rotate over more copies to measure memory"


def test_a_thousandth_of_the_ceiling_is_flagged_as_not_bandwidth_bound() -> None:
    # iree-org/iree#13285: a sum of 833 x 833 f32 took 120 ms on an A100 (1555 GB/s).
    result = decode.rate(2_775_556, 120_000, 1555)
    assert result.gb_per_s == pytest.approx(0.023, abs=0.0005)
    assert result.mbu_percent == pytest.approx(0.0015, abs=0.00005)
    assert str(result.flag).startswith("0.0015% of the ceiling: not bound by bandwidth")


def test_without_a_ceiling_there_is_no_percentage() -> None:
    assert decode.rate(1000, 1.0, None).mbu_percent is None


def test_tokens_a_second_to_bandwidth_in_gib() -> None:
    # llama-bench on gfx1151 (256 GB/s): 3B Q4_K_M, 1.87 GiB, 74.98 tokens/s. KV reads are not counted.
    size_gb = decode.gib_to_gb(1.87)
    assert size_gb == pytest.approx(2.008, abs=0.0005)
    assert size_gb * 74.98 == pytest.approx(150.6, abs=0.05)
    assert 100 * size_gb * 74.98 / 256 == pytest.approx(58.8, abs=0.05)
    assert decode.tokens_per_second(size_gb * 1e9, 150.55) == pytest.approx(74.98, rel=1e-3)


# A public AITER fork, M = 1, N = 32: K, type, torch us, kernel us, published uplift %, check passed.
UPLIFTS = [
    (1024, "f16", 5.71, 3.74, 52.9, 1), (1024, "bf16", 5.64, 3.91, 44.1, 1), (2048, "f16", 6.77, 3.99, 69.6, 1),
    (2048, "bf16", 6.83, 4.14, 65.0, 1), (3072, "f16", 7.92, 4.24, 86.8, 0), (3072, "bf16", 7.98, 4.51, 77.0, 0),
    (4096, "f16", 9.13, 4.68, 95.1, 1), (4096, "bf16", 9.17, 4.8, 91.0, 1), (5120, "f16", 10.14, 4.79, 111.7, 0),
    (5120, "bf16", 10.04, 5.07, 98.0, 0), (6144, "f16", 10.03, 5.11, 96.3, 0), (6144, "bf16", 10.62, 5.23, 103.2, 0),
    (7168, "f16", 10.1, 5.34, 89.1, 0), (7168, "bf16", 10.08, 5.5, 83.4, 0), (8192, "f16", 9.74, 5.64, 72.9, 0),
    (8192, "bf16", 10.19, 5.73, 77.7, 1),
]  # fmt: skip


def test_a_kernel_whose_check_failed_has_no_speed_up() -> None:
    rows = [Comparison(f"K={k} {t}", torch, kernel, bool(ok)) for k, t, torch, kernel, _, ok in UPLIFTS]
    assert sum(r.uplift_percent is None for r in rows) == 9
    for row, (_, _, _, _, published, ok) in zip(rows, UPLIFTS, strict=True):
        if ok:
            assert row.uplift_percent == pytest.approx(published, abs=0.35)
    best = decode.best_uplift(rows)
    assert best is not None
    assert (best.label, best.uplift_percent) == ("K=4096 f16", pytest.approx(95.1, abs=0.05))
    assert decode.best_uplift(r for r in rows if not r.check_passed) is None


# ---- projection ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "published"), [(91, 3.9), (100, 4.3)])
def test_the_published_70b_rates_follow_from_the_measured_one(at: float, published: float) -> None:
    assert decode.project(2.1, 49, at) == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize(("measured", "efficiency", "at"), [(0, 49, 91), (2.1, 0, 91), (2.1, 49, 101), (2.1, -1, 9)])
def test_projections_of_nonsense_are_refused(measured: float, efficiency: float, at: float) -> None:
    with pytest.raises(UsageError):
        decode.project(measured, efficiency, at)


# ---- a model's token -------------------------------------------------------------------------------------------------


def test_a_tokens_bytes_are_all_layers_weights_once_and_the_lm_head() -> None:
    model = decode.find_model("llama3-8b")
    weights = 32 * (6144 * 4096 + 4096 * 4096 + 28672 * 4096 + 4096 * 14336) + 128256 * 4096
    for fused in (True, False):
        answer = Answer(decode.token_gemvs(model, "bf16", fused), (), {}, stored=False)
        assert answer.bytes_counted["weights"] == 2 * weights
    assert 2 * weights == pytest.approx(15.01e9, rel=1e-3)
    fused = Answer(decode.token_gemvs(model, "nf4"), (), {}, stored=False).bytes_counted
    assert (fused["weights"], fused["scales"]) == (weights // 2, weights // 64 * 4)


def test_the_fused_projections_replace_the_separate_ones() -> None:
    model = decode.find_model("llama3-8b")
    assert [(g.projection, g.count) for g in decode.token_gemvs(model)] == [
        ("qkv", 32), ("o", 32), ("gate_up", 32), ("down", 32), ("lm_head", 1),
    ]  # fmt: skip
    assert [g.projection for g in decode.token_gemvs(model, fused=False)] == [
        "q", "k", "v", "o", "gate", "up", "down", "lm_head",
    ]  # fmt: skip


def test_a_model_without_a_gate_goes_up_and_down() -> None:
    names = [g.projection for g in decode.token_gemvs(decode.find_model("falcon-7b"))]
    assert names == ["qkv", "o", "up", "down", "lm_head"]


def test_experts_count_as_often_as_a_token_goes_through_them() -> None:
    counts = {g.projection: g.count for g in decode.token_gemvs(decode.find_model("gpt-oss-20b"))}
    assert counts == {"qkv": 24, "o": 24, "gate_up": 96, "down": 96, "lm_head": 1}


def test_weights_default_to_the_type_that_the_model_ships() -> None:
    for name, dtype in (("llama2-7b", "f16"), ("llama3-8b", "bf16"), ("gpt2", "f16")):
        assert {g.problem.dtype for g in decode.token_gemvs(decode.find_model(name))} == {dtype}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("deepseek-v3", "dense and expert layers mix"),
        ("bert-base", "an encoder makes no tokens one by one"),
        ("whisper-large-v3", "cross-attention"),
    ],
)
def test_models_without_a_known_bound_are_refused_by_name(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"{name}: no decode bound: .*{why}"):
        decode.find_model(name)


def test_unknown_models_and_formats_get_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no model matches 'lamma3-8b'; nearest: llama3-8b"):
        decode.find_model("lamma3-8b")
    with pytest.raises(UnknownNameError, match="no weight format matches 'nf5'; nearest: nf4"):
        decode.token_gemvs(decode.find_model("llama3-8b"), "nf5")


# ---- stored trials ---------------------------------------------------------------------------------------------------


def trial(shape: tuple[int, ...], span_us: float, label: str = "vd", **changes: object) -> Trial:
    values: dict[str, object] = {
        "key": f"{shape}{label}{span_us}",
        "problem": Problem("stored", "gemv", shape, "bf16", None, "f32", "nk"),
        "target": "sm_89",
        "variant": label,
        "baseline": None,
        "form": "native",
        "ship": Ship.SPEC,
        "config": Config(),
        "status": Status.OK,
        "stage": Stage.TIMED,
        "check": CheckResult(True),
        "runs": (RunSummary(0, "cold", "cupti", 20, span_us * 900, span_us * 890, span_us * 910, span_us * 1000),),
    }
    return Trial(**{**values, **changes})  # type: ignore[arg-type]


SHAPES = {"qkv": (1, 6144, 4096), "o": (1, 4096, 4096), "gate_up": (1, 28672, 4096), "down": (1, 4096, 14336)}


def test_measured_times_add_up_to_tokens_a_second() -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama3-8b"))
    trials = [trial(s, 10.0) for s in SHAPES.values()] + [trial((1, 128256, 4096), 230.0), trial(SHAPES["o"], 9.0)]
    times = decode.best_times(trials, gemvs, "cold")
    assert times["o"].span_us == pytest.approx(9.0)
    # 32 x (10 + 9 + 10 + 10) + 230 = 1478 us
    assert decode.measured_rate(gemvs, times) == pytest.approx(1e6 / 1478)


@pytest.mark.parametrize(
    "changes",
    [
        {"check": CheckResult(False, "row 0: 0 for 1")},
        {"check": None},
        {"status": Status.NOT_APPLIED},
        {"variant": None, "baseline": "torch"},
        {"runs": ()},
        {"problem": Problem("stored", "gemv", (1, 4096, 4096), "f16", None, "f32", "nk")},
        {"problem": Problem("stored", "gemv", (1, 4096, 4096), "bf16", None, "f32", "kn")},
    ],
)
def test_a_trial_that_is_wrong_unchecked_or_of_another_weight_has_no_time(changes: dict[str, object]) -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama3-8b"))
    assert decode.best_times([trial((1, 4096, 4096), 9.0, **changes)], gemvs, "cold") == {}


def final(shape: tuple[int, ...], span_us: float, label: str) -> Trial:
    runs = [RunSummary(n, "cold", "cupti", 20, span_us * 900, 0.0, 0.0, span_us * 1000) for n in (1, 2)]
    return trial(shape, span_us, label, runs=tuple(runs))


def test_a_finalist_goes_before_what_was_faster_in_the_search_alone() -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama3-8b"))
    trials = [trial(SHAPES["o"], 8.0, "lucky"), final(SHAPES["o"], 9.0, "vd"), trial(SHAPES["qkv"], 12.0, "vd")]
    for order in (trials, trials[::-1]):
        times = decode.best_times(order, gemvs, "cold")
        assert {p: (m.span_us, m.final) for p, m in times.items()} == {"o": (9.0, True), "qkv": (12.0, False)}


def test_the_memory_rate_is_the_highest_of_buffers_beyond_twice_the_cache() -> None:
    def rows(cache: CachePolicy) -> list[CeilingRow]:
        sizes = [(1_000_000, 100.0), (2_000_000, 500.0), (4_000_000, 1_000.0), (8_000_000, 2_500.0)]
        return [CeilingRow(size, cache, Reader(1), ns, ns, ns, 5, 1, 1) for size, ns in sizes]

    # 1 and 2 MB are within twice the cache of 1 MB; 4 MB in 1 us are 4000 GB/s, 8 MB in 2.5 us 3200.
    table = CeilingTable("H200", "cupti", 1_000_000, None, tuple(rows("cold")))
    slow = CeilingTable("H200", "cupti", 1_000_000, None, (replace(rows("cold")[3], median_ns=4_000.0),))
    assert decode.memory_rate([slow, table], "cold") == 4000.0
    assert decode.memory_rate([slow], "cold") == 2000.0
    assert decode.memory_rate([table], "hot") is None
    assert decode.memory_rate([replace(table, cache_bytes=4_000_000)], "cold") is None
    assert decode.memory_rate([replace(table, cache_bytes=None)], "cold") == 10_000.0  # nothing is known of a cache


def test_equal_shapes_share_a_trial() -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama3-8b"), fused=False)
    times = decode.best_times([trial((1, 4096, 4096), 9.0)], gemvs, "cold")
    assert sorted(times) == ["o", "q"]


def test_a_gemv_that_was_not_measured_leaves_no_rate_and_is_named() -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama3-8b"))
    answer = Answer(gemvs, (("measured ceiling", 4822.0),), {"o": Measured("vd", 9.0)}, stored=True)
    assert decode.measured_rate(gemvs, answer.times) is None
    assert answer.limit_table().rows[-1] == ("measured GEMVs (not measured: qkv, gate_up, down, lm_head)", None, None)
    assert answer.document()["measured_tokens_per_second"] is None


def test_the_bound_is_bandwidth_over_bytes() -> None:
    gemvs = decode.token_gemvs(decode.find_model("llama2-70b"))
    answer = Answer(gemvs, (("measured ceiling", 210.0),), {}, stored=False)
    assert answer.bytes_per_token == pytest.approx(137.46e9, rel=1e-3)
    assert answer.limit_table().rows[0][2] == pytest.approx(210 / 137.46, rel=1e-3)

"""A baseline that reads other bytes than the problem's is rated by its own, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ireebench.measure.result import RunResult, Samples
from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.report.compare_tables import duels, results_table
from ireebench.report.evidence import Evidence
from ireebench.report.page.charts import bandwidth_points
from ireebench.report.rows import row_document
from ireebench.space.config import Config
from ireebench.store.trial import Trial, summarise
from ireebench.variants import Ship

# 8192 x 28672 weights: 117,440,512 bytes of codes, 14,680,064 of f32 scales, 57,344 of activations, 32,768 of results.
PROBLEM = Problem("llama3-70b-down", "gemv", (1, 8192, 28672), "nf4", None, "f32", "nk")
NS = {"vd": 40_000, "torch_mv_f16": 120_000, "torch_linear_f16": 121_000, "torch_dequant_mv": 900_000}


def trial(name: str) -> Trial:
    candidate = name == "vd"
    return Trial(
        key=name,
        problem=PROBLEM,
        target="sm_89",
        variant=name if candidate else None,
        baseline=None if candidate else name,
        form="dequant" if candidate else None,
        ship=Ship.NONE,
        config=Config(),
        status=Status.OK,
        stage=Stage.TIMED,
        runs=tuple(summarise(run) for run in runs(name)),
    )


def runs(name: str) -> list[RunResult]:
    ns = np.full(30, NS[name], np.int64)
    return [RunResult(name, process, "cold", "cupti", ns, ns, np.arange(30) % 3) for process in (1, 2, 3)]


@pytest.fixture
def evidence() -> Evidence:
    def samples(key: str, _cache: str, by: str) -> Sequence[Samples]:
        return [r.kernel_ns for r in runs(key)]

    return Evidence(tuple(map(trial, NS)), {}, samples, ceiling=lambda size, _cache: 4000.0 + size / 1e9)


def test_rates_are_of_the_bytes_that_each_one_reads(evidence: Evidence) -> None:
    documents = {d["baseline"] or d["variant"]: d for d in map(row_document, evidence.rows)}
    assert documents["vd"]["bytes_moved"] == 117_440_512 + 14_680_064 + 57_344 + 32_768
    assert documents["vd"]["gb_per_s"] == pytest.approx(3305.2672)
    # 469,762,048 bytes of f16 weights, 57,344 of activations, 16,384 of results. By 4-bit bytes: 1102 GB/s.
    assert documents["torch_mv_f16"]["bytes_moved"] == 469_835_776
    assert documents["torch_mv_f16"]["gb_per_s"] == pytest.approx(3915.298, abs=1e-3)
    assert documents["torch_mv_f16"]["percent_of_ceiling"] == pytest.approx(97.871, abs=1e-3)
    unknown = documents["torch_dequant_mv"]
    assert [unknown[k] for k in ("bytes_moved", "gb_per_s", "percent_of_ceiling", "plausible")] == [None] * 4
    assert unknown["median_ns"] == 900_000


def test_the_comparison_names_the_library_path_that_was_the_best(evidence: Evidence) -> None:
    table = results_table(duels(evidence, "cold"))
    row = dict(zip((c.title for c in table.columns), table.rows[0], strict=True))
    assert row["best / best baseline"] == pytest.approx(3.0)
    assert (row["best baseline"], row["verdict"], row["winner"]) == ("torch_mv_f16", "win", "vd")


def test_the_bandwidth_chart_places_a_baseline_at_its_own_bytes(evidence: Evidence) -> None:
    points = {p.series: p for p in bandwidth_points(evidence.standings("cold"))}
    assert points["baseline"].bytes_moved == 469_835_776
    assert points["best"].bytes_moved == 132_210_688

"""`--baselines published,ckprofiler ...`: single figures, shown beside what is measured and ranked with nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
STANDINS = Path(__file__).parents[1] / "standins"
PUBLISHED = (
    *("sweep", "argmax", "--models", "bert-base", "--target", "gfx942", "--compile-only", "--variants", "vd"),
    *("--limit", "1", "--baselines", "published", "--out", "out", "--quiet"),
)


def test_published_figures_stand_beside_what_compiles_and_the_impossible_is_marked(ireebench: Run) -> None:
    done = ireebench(*PUBLISHED, "--format", "json")
    assert done.returncode == 0, done.stderr
    figures = {t["baseline"]: t for t in json.loads(done.stdout)["trials"] if t["baseline"]}
    # From the published report's tables: hipCUB 146.09 us; tuned vd_split 43.56 us, which no 5.3 TB/s card can do.
    assert figures["published hipcub"]["figure_ns"] == pytest.approx(146_090)
    tuned = figures["published vd_split tuned 16/1024/2048"]
    assert tuned["figure_ns"] == pytest.approx(43_560)
    assert tuned["reason"].startswith("implausible: ")
    for figure in figures.values():
        assert (figure["median_ns"], figure["samples"], figure["check"]) == (None, None, None)
        assert (figure["timer"], figure["status"], figure["stage"]) == ("published", "ok", "planned")
        assert "not measured here" in figure["reason"]
    shown = ireebench(*PUBLISHED)
    assert "For comparison only, in no ranking" in shown.stdout
    compared = ireebench("compare", "argmax", "--from", "out/ireebench.db")
    assert "published hipcub" in compared.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--models", "bert-base", "--baselines", "publishd"), "nearest: published"),
        (
            ("--shape", "4x512", "--dtype", "f32", "--cluster", "tcp://localhost:1", "--baselines", "published"),
            "for a sweep on the GPU's own machine",
        ),
    ],
)
def test_a_mistake_is_one_line(ireebench: Run, arguments: tuple[str, ...], says: str) -> None:
    done = ireebench("sweep", "argmax", "--target", "cpu", *arguments)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def sweep(place: Path, baselines: str) -> dict[str, dict[str, Any]]:
    """A measured sweep on the CPU, with stand-ins for the vendor's programs; its trials by baseline."""
    env = {
        **os.environ,
        "PATH": f"{STANDINS}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(STANDINS / "site"),
        "CK_CALLS": str(place / "calls"),
    }
    arguments = (
        *("sweep", "argmax", "--shape", "4x512", "--dtype", "f32", "--target", "cpu", "--variants", "default"),
        *("--processes", "0", "--warmup", "10", "--invocations", "30", "--rounds", "2", "--quiet", "--format", "json"),
        *("--out", str(place), "--baselines", baselines),
    )
    command = [sys.executable, "-m", "ireebench.cli.main", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return {t["baseline"]: t for t in json.loads(done.stdout)["trials"]}


def test_a_vendors_program_gives_one_figure_and_is_not_run_again(tmp_path: Path) -> None:
    trials = sweep(tmp_path, "ckprofiler,rocblas,miopen,published")
    ck = trials["ckprofiler"]
    assert ck["figure_ns"] == pytest.approx(25_400)  # the stand-in's fastest instance that it does not call wrong
    assert (ck["status"], ck["timer"], ck["median_ns"], ck["samples"]) == ("ok", "ckProfiler", None, None)
    assert "DeviceReduceMultiBlock<256,M_C1_S1,K_C256_S8>" in ck["reason"]
    assert (trials["rocblas"]["status"], trials["rocblas"]["figure_ns"]) == ("rejected", None)
    assert trials["miopen"]["status"] == "unavailable"
    assert "install the package miopen-hip" in trials["miopen"]["reason"]
    assert trials["published"]["status"] == "rejected"
    assert trials["published"]["reason"] == "published is about hip, not cpu"
    assert trials[None]["median_ns"] > 0
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1
    assert calls[0].startswith("reduce -D 4,512 -R 1 -O 3")
    assert sweep(tmp_path, "ckprofiler")["ckprofiler"]["figure_ns"] == pytest.approx(25_400)
    assert (tmp_path / "calls").read_text().splitlines() == calls

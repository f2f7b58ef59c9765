"""`ireebench sweep argmax --timer rocprofv3` with a stand-in for the profiler: what is stored is what was planted.

The worker really runs, on the CPU. The stand-in (tests/standins/rocprofv3) makes times up from the worker's journal and
writes the truth beside it; the test compares the stored samples with that, which no code of the package computed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ireebench.outcome import Status
from ireebench.store.database import Store
from ireebench.store.trial import Trial

STANDINS = Path(__file__).parents[1] / "standins"
SWEEP = (
    *("sweep", "argmax", "--shape", "4x512", "--dtype", "f32", "--target", "cpu", "--variants", "default"),
    *("--baselines", "none", "--limit", "1", "--timer", "rocprofv3", "--format", "json", "--quiet"),
    *("--warmup", "10", "--invocations", "30", "--rounds", "2"),
)


def sweep(place: Path, *extra: str, path: str | None = None, **plan: Any) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PATH": f"{STANDINS}{os.pathsep}{os.environ['PATH']}" if path is None else path,
        "PYTHONPATH": str(STANDINS / "site"),
        "STANDIN": json.dumps(plan),
    }
    command = [
        sys.executable,
        "-m",
        "ireebench.cli.main",
        *SWEEP,
        "--out",
        str(place),
        "--db",
        str(place / "x.db"),
        *extra,
    ]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=280, check=False)


def trials_of(place: Path) -> list[Trial]:
    with Store.open(place / "x.db") as store:
        return list(store.trials())


def planted(place: Path, process: int) -> dict[str, dict[str, list[int]]]:
    """The stand-in's own figures for one process, hot, by entry."""
    (file,) = (place / "work" / f"process-{process}").glob("truth-*.json")
    return {entry: caches["hot"] for entry, caches in json.loads(file.read_text()).items()}


@pytest.mark.parametrize(
    ("form", "finals"), [("G0", "0"), ("G1", "0"), ("G2", "1"), ("G3", "0"), ("json", "0"), ("rocpd", "0")]
)
def test_a_sweep_stores_the_planted_times_of_every_file_generation(tmp_path: Path, form: str, finals: str) -> None:
    done = sweep(tmp_path, "--processes", finals, format=form, shift=123_456_789)
    assert done.returncode == 0, done.stderr
    seen = set()
    with Store.open(tmp_path / "x.db") as store:
        for trial in store.trials():
            assert trial.status is Status.OK
            for run in store.samples(trial.key):
                truth = planted(tmp_path, run.process)[trial.key]
                assert run.timer == "rocprofv3"
                assert run.kernel_ns.tolist() == truth["kernel_ns"]
                assert run.span_ns.tolist() == truth["span_ns"]
                assert run.rounds.tolist() == truth["rounds"]
                seen.add(run.process)
    assert int(finals) in seen
    last = planted(tmp_path, int(finals))
    shown = [t for t in json.loads(done.stdout)["trials"] if t["key"] in last]
    assert shown
    for trial_json in shown:
        assert trial_json["median_ns"] == np.median(last[trial_json["key"]]["kernel_ns"])
    dropped = json.loads((tmp_path / "work" / f"process-{finals}" / "rocprof.json").read_text())["dropped"]
    assert dropped["memory copy"] == 3
    assert dropped["runtime helper (fill, copy)"] > 0
    assert dropped["foreign kernel"] > 0


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"format": "none"}, "nothing written"),
        ({"format": "agents"}, "no kernels recorded"),
        ({"format": "header"}, "0 dispatches"),
        ({"drop": 40}, "incomplete: "),
    ],
)
def test_a_trace_that_is_not_whole_fails_with_its_reason_and_gives_no_time(
    tmp_path: Path, plan: dict[str, Any], reason: str
) -> None:
    done = sweep(tmp_path, "--processes", "0", **plan)
    assert "Traceback" not in done.stderr
    trials = trials_of(tmp_path)
    assert trials
    failed = [t for t in trials if t.status is Status.RUN_FAILED]
    assert failed
    assert all(reason in (t.reason or "") and not t.runs for t in failed)


def test_a_missing_profiler_is_named_with_the_remedy(tmp_path: Path) -> None:
    done = sweep(tmp_path, path="/usr/bin:/bin")
    assert done.returncode != 0
    assert "rocprofv3 is not here; install it with ROCm 6.4.2 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def stored(place: Path) -> list[tuple[str, int, float]]:
    return [(t.key, r.process, r.median_ns) for t in trials_of(place) for r in t.runs]


def test_counters_and_thread_traces_are_runs_of_their_own_that_leave_the_times_alone(tmp_path: Path) -> None:
    assert sweep(tmp_path, "--processes", "0").returncode == 0
    before = stored(tmp_path)
    done = sweep(tmp_path, "--processes", "0", "--pmc", "SQ_WAVES,TCC_HIT_sum", "--att")
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path) == before
    counted, traced = json.loads(done.stdout)["profiled"]
    # The stand-in plants 64 + the length of the counter's name, on each launch of the best candidate's kernel.
    assert {c["counter"]: c["mean"] for c in counted["counters"]} == {"SQ_WAVES": 72.0, "TCC_HIT_sum": 75.0}
    assert {c["kernel"] for c in counted["counters"]} == {"argmax_dispatch_0_arg_compare_4x512xf32"}
    assert all(c["calls"] >= 10 for c in counted["counters"])
    assert counted["reason"] is None
    assert not any("ns" in key.split("_") for c in counted["counters"] for key in c)
    assert traced["kind"] == "att"
    assert list(Path(traced["folder"]).rglob("*_stats_ui_output_*"))


def test_a_counter_run_that_gives_nothing_says_so_and_keeps_the_sweep(tmp_path: Path) -> None:
    assert sweep(tmp_path, "--processes", "0").returncode == 0
    done = sweep(tmp_path, "--processes", "0", "--pmc", "SQ_WAVES", format="none")
    assert done.returncode == 0, done.stderr
    (counted,) = json.loads(done.stdout)["profiled"]
    assert counted["counters"] == []
    assert "nothing written" in counted["reason"]


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (("--pmc", "SQ_WAVES", "--compile-only"), "--pmc and --att need a device"),
        (("--att", "--timer", "host"), "rocprofv3 is not here"),
    ],
)
def test_what_cannot_be_profiled_is_refused_before_anything_runs(
    tmp_path: Path, extra: tuple[str, ...], says: str
) -> None:
    done = sweep(tmp_path, *extra, path="/usr/bin:/bin")
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "x.db").exists()

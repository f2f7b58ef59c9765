"""`sweep --devices`, really measured: the CPU's two drivers stand for two cards."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ireebench.store.database import Store

Run = Callable[..., subprocess.CompletedProcess[str]]
SWEEP = ("sweep", "argmax", "--models", "resnet50,gpt2", "--target", "cpu", "--variants", "generic", "--limit", "1")
FAST = ("--seconds", "0.02", "--processes", "1", "--baselines", "numpy")
# 65536 f32 are twice the bytes of 32 x 1024.
PLACES = {"gpt2": "local-sync", "resnet50": "local-task"}


def stored(db: Path) -> dict[tuple[str, str | None], tuple[str, int]]:
    """(problem, baseline) -> the device that measured it, how many runs it has."""
    with Store.open(db) as store:
        places = store.environments()
        return {
            (t.problem.id, t.baseline): (places[t.environment or 0].device_uri, len(t.runs)) for t in store.trials()
        }


def test_devices_measure_problems_of_their_own_and_a_finished_sweep_is_not_measured_again(
    ireebench: Run, tmp_path: Path
) -> None:
    done = ireebench(*SWEEP, *FAST, "--devices", "local-sync,local-task")
    assert done.returncode == 0, done.stderr
    assert [s for s in ("resnet50", "gpt2") if f"{s} argmax" in done.stdout] == ["resnet50", "gpt2"]
    db = tmp_path / "ireebench-out" / "ireebench.db"
    first = stored(db)
    assert {(p, uri) for (p, _), (uri, _) in first.items()} == set(PLACES.items())
    assert all(runs > 0 for _, runs in first.values())
    with Store.open(db) as store:
        rows = {row: place.device_uri for row, place in store.environments().items()}
        assert {(p.id, rows[row]) for p, row, _ in store.noise()} == set(PLACES.items())

    work = tmp_path / "ireebench-out" / "work"
    written = {f: f.stat().st_mtime_ns for f in work.rglob("journal.jsonl")}
    assert {f.relative_to(work).parts[0] for f in written} == {"device-0", "device-1"}
    again = ireebench(*SWEEP, *FAST, "--devices", "local-sync,local-task", "--format", "json")
    document = json.loads(again.stdout)
    assert [e["device_uri"] for e in document["environments"]] == ["local-sync", "local-task"]
    told = {(t["problem"], document["environments"][t["environment"]]["device_uri"]) for t in document["trials"]}
    assert told == set(PLACES.items())
    assert stored(db) == first
    assert {f: f.stat().st_mtime_ns for f in work.rglob("journal.jsonl")} == written

    # What a device measured in company counts for a sweep of it alone.
    alone = ireebench(*SWEEP, *FAST, "--models", "resnet50", "--device", "local-task")
    assert alone.returncode == 0, alone.stderr
    assert stored(db) == first


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--devices", "cuda://0,local-task"), 2, "--devices mixes cuda://0 (cuda) and local-task (cpu)"),
        (("--devices", "local-sync,local-task", "--target", "sm_89"), 2, "does not run on device 'local-sync'"),
        (("--devices", "local-task,local-task"), 2, "--devices names local-task twice"),
        (("--devices", "vulkan://0,local-task"), 2, "device 'vulkan://0'"),
        (("--devices", ","), 2, "--devices names no device"),
        (("--devices", "local-sync,local-task", "--device", "local-task"), 2, "exclude each other"),
        (("--devices", "local-sync,local-task", "--cluster", "tcp://localhost:1"), 2, "leave one out"),
    ],
)  # fmt: skip
def test_a_wrong_list_of_devices_is_refused_in_one_line(
    arguments: tuple[str, ...], code: int, message: str, ireebench: Run
) -> None:
    done = ireebench("sweep", "argmax", "--models", "gpt2", *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""

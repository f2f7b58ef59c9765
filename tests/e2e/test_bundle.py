"""Bundles through their real commands, measured by their own run.py on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ireebench.measure.baselines.native_build import missing_compiler
from ireebench.store.database import Store

QUICK = ("--target", "cpu", "--limit", "2", "--variants", "two_pass", "--processes", "1", "--finalists", "1")
FEW = ("--warmup", "2", "--invocations", "10", "--seconds", "0.05", "--baselines", "numpy")


def ireebench(*arguments: str, code: int = 0) -> str:
    """Runs the command; returns what it printed."""
    command = [sys.executable, "-m", "ireebench.cli.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def create(op: str, folder: Path, *more: str) -> Path:
    ireebench("bundle", "create", op, "--shape", "4x4096", "--dtype", "f32", *QUICK, *FEW, *more, "-o", str(folder))
    return folder


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A bundle of argmax and one of argmin, of the same rules."""
    folder = tmp_path_factory.mktemp("parts")
    return create("argmax", folder / "argmax"), create("argmin", folder / "argmin")


def test_a_joined_bundle_measures_both_ops_in_the_same_processes(parts: tuple[Path, Path], tmp_path: Path) -> None:
    told = ireebench("bundle", "join", *map(str, parts), "-o", str(tmp_path / "both"))
    assert "both: 4 candidates in" in told
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = [sys.executable, "both/run.py", "--devices", "local-task"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count(" process 1: ") == 1  # one final process for both
    ireebench("bundle", "import", str(tmp_path / "both"), *done.stdout.split(), "--db", str(tmp_path / "s.db"))
    with Store.open(tmp_path / "s.db") as store:
        timed = [t for t in store.trials() if t.runs and t.status.name == "OK"]
    assert {t.problem.op for t in timed} == {"argmax", "argmin"}
    assert sum(t.baseline == "numpy" for t in timed) == 2
    assert all(t.check is not None and t.check.ok for t in timed)


def test_joining_the_same_bundle_twice_adds_nothing(parts: tuple[Path, Path], tmp_path: Path) -> None:
    ireebench("bundle", "join", str(parts[0]), str(parts[0]), "-o", str(tmp_path / "once"))
    for name in ("campaign.json", "trials.json"):
        assert json.loads((tmp_path / "once" / name).read_text()) == json.loads((parts[0] / name).read_text())


def test_bundles_of_different_rules_are_not_joined(parts: tuple[Path, Path], tmp_path: Path) -> None:
    other = create("argmin", tmp_path / "other", "--rounds", "2")
    told = ireebench("bundle", "join", str(parts[0]), str(other), "-o", str(tmp_path / "both"), code=2)
    assert told == f"error: {other}: differs from {parts[0]} in search, protocol; create both alike\n"
    assert not (tmp_path / "both").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--devices", "foo"), "error: device 'foo': ireebench measures on hip, cuda and local-task\n"),
        (("--timer", "nope"), "error: no timer matches 'nope'; known: "),
    ],
)
def test_run_py_says_in_one_line_what_it_cannot_measure(
    parts: tuple[Path, Path], tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    run = [sys.executable, str(parts[0] / "run.py"), "--out", str(tmp_path / "out"), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


def test_results_of_another_bundle_are_refused_and_leave_no_store(parts: tuple[Path, Path], tmp_path: Path) -> None:
    run = [sys.executable, str(parts[1] / "run.py"), "--devices", "local-task", "--out", str(tmp_path / "out")]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    first = done.stdout.split()[0]
    told = ireebench("bundle", "import", str(parts[0]), first, "--db", str(tmp_path / "s.db"), code=2)
    assert told.startswith(f"error: {first}: ")
    assert told.endswith(f" results are not of {parts[0]}; name the bundle that was measured\n")
    assert not (tmp_path / "s.db").exists()


def test_a_damaged_bundle_is_not_joined(parts: tuple[Path, Path], tmp_path: Path) -> None:
    damaged = create("argmax", tmp_path / "damaged")
    (damaged / "trials.json").write_text('{"trials": []}')
    told = ireebench("bundle", "join", str(parts[0]), str(damaged), "-o", str(tmp_path / "both"), code=2)
    assert f"{damaged}: its files are not those it was made with: trials.json (changed)" in told


def run(bundle: Path, out: Path, *more: str) -> list[str]:
    """Runs a bundle here; returns the results files."""
    told = ireebench("bundle", "run", str(bundle), "--devices", "local-task", "--out", str(out), *more)
    return [line for line in told.splitlines() if line.endswith(".zip")]


@pytest.mark.skipif(missing_compiler("host") is not None, reason="no C++ compiler on this machine")
def test_the_ceiling_keeps_its_seconds_on_a_cpu_and_leaves_the_time_limit_to_the_kernels(
    parts: tuple[Path, Path], tmp_path: Path
) -> None:
    started = time.monotonic()
    files = run(parts[0], tmp_path / "results", "--ceiling", "4", "--time-limit", "40")
    assert time.monotonic() - started < 40.0
    ireebench("bundle", "import", str(parts[0]), *files, "--db", str(tmp_path / "s.db"))
    assert {1} <= {n for runs in held(tmp_path / "s.db").values() for n in runs}  # the finals were reached
    (table,) = json.loads(ireebench("ceiling", "--from", str(tmp_path / "s.db"), "--format", "json"))["ceilings"]
    assert {r["cache"] for r in table["rows"]} == {"hot", "cold"}


Held = dict[tuple[str, str], dict[int, list[int]]]


def held(db: Path) -> Held:
    """All samples of a store: (trial, cache policy) -> process -> ns."""
    with Store.open(db) as store:
        timed = [(t.key, r.cache) for t in store.trials() for r in t.runs]
        return {(k, c): {r.process: r.kernel_ns.tolist() for r in store.samples(k, c)} for k, c in timed}


def noise(db: Path) -> list[tuple[int, float]]:
    """All A/A figures of a store with their processes."""
    with Store.open(db) as store:
        (environment,) = store.environments()
        return sorted((key[3], value) for key, value in store.noise_by_process(environment).items())


def test_a_bundle_that_is_run_twice_loses_nothing_and_a_file_twice_adds_nothing(
    parts: tuple[Path, Path], tmp_path: Path
) -> None:
    db, alone = tmp_path / "s.db", tmp_path / "alone.db"
    first, second = (run(parts[0], tmp_path / name) for name in ("a", "b"))
    ireebench("bundle", "import", str(parts[0]), *second, "--db", str(alone))
    ireebench("bundle", "import", str(parts[0]), *first, "--db", str(db))
    one, apart = held(db), held(alone)
    told = ireebench("bundle", "import", str(parts[0]), *second, "--db", str(db))
    assert f"{second[0]}: process 0 is stored as -1: the store holds another process 0" in told
    assert f"{second[1]}: process 1 is stored as 2: the store holds another process 1" in told
    both = held(db)
    # The first run is what it was; the second's search stands below zero, its final process after the first's.
    for key, runs in one.items():
        assert {n: both[key][n] for n in runs} == runs
    for key, runs in apart.items():
        assert {n: both[key][n] for n in both[key] if n in (-1, 2)} == {{0: -1, 1: 2}[n]: v for n, v in runs.items()}
    assert {n for runs in both.values() for n in runs} == {-1, 0, 1, 2}
    assert noise(db) == [*noise_of_one(first, parts[0], tmp_path), *((2, v) for _, v in noise(alone))]
    figures = noise(db)
    for files in ([*second, *first], second[1:]):
        again = ireebench("bundle", "import", str(parts[0]), *files, "--db", str(db))
        assert "stored as" not in again
        assert "of them were there already" in again
        assert (held(db), noise(db)) == (both, figures)


def noise_of_one(files: list[str], bundle: Path, folder: Path) -> list[tuple[int, float]]:
    """The A/A figures of one run on its own."""
    ireebench("bundle", "import", str(bundle), *files, "--db", str(folder / "one.db"))
    return noise(folder / "one.db")

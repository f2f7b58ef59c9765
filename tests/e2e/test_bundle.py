"""Bundles through their real commands, measured by their own run.py on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
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


def test_a_definition_file_says_what_a_bundle_holds_and_the_command_line_wins_over_it(tmp_path: Path) -> None:
    file = tmp_path / "few.toml"
    file.write_text(
        'description = "Few."\nop = "argmax"\nshapes = ["4x4096"]\ndtype = "f32"\n'
        'variants = ["two_pass"]\ntarget = "cpu"\nbaselines = []\n'
        'configs = ["ST=512", "ST=1024", "ST=2048"]\n[protocol]\nprocesses = 2\nfinalists = 2\n'
    )
    told = ireebench("bundle", "create", "--file", str(file), "--processes", "1", "-o", str(tmp_path / "b"))
    assert "b: 3 candidates in" in told
    campaign = json.loads((tmp_path / "b" / "campaign.json").read_text())
    assert (campaign["processes"], campaign["finalists"]) == (1, 2)
    assert [g["problem"]["shape"] for g in campaign["groups"]] == [[4, 4096]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: create needs an op (argmax, argmin, gemv) or --file\n"),
        (("argmax", "--file", "smoke"), "error: --file says what to sweep: leave 'argmax' out\n"),
        (("argmux",), "error: no op matches 'argmux'; nearest: argmax, argmin\n"),
        (("--file", "smole"), "error: "),
    ],
)
def test_a_bundle_of_nothing_or_of_two_things_is_refused_in_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    told = ireebench("bundle", "create", *arguments, "-o", str(tmp_path / "b"), code=2)
    assert told.startswith(message)
    assert told.count("\n") == 1
    assert not (tmp_path / "b").exists()


def test_joining_the_same_bundle_twice_adds_nothing(parts: tuple[Path, Path], tmp_path: Path) -> None:
    ireebench("bundle", "join", str(parts[0]), str(parts[0]), "-o", str(tmp_path / "once"))
    for name in ("campaign.json", "trials.json"):
        assert json.loads((tmp_path / "once" / name).read_text()) == json.loads((parts[0] / name).read_text())


def test_bundles_of_different_rules_are_not_joined(parts: tuple[Path, Path], tmp_path: Path) -> None:
    other = create("argmin", tmp_path / "other", "--rounds", "2")
    told = ireebench("bundle", "join", str(parts[0]), str(other), "-o", str(tmp_path / "both"), code=2)
    assert told == f"error: {other}: differs from {parts[0]} in search, protocol; create both alike\n"
    assert not (tmp_path / "both").exists()


LISTS = "; run.py --help lists the arguments\n"


def run_py(bundle: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a bundle's own run.py, which finds ireebench in the bundle alone."""
    command = [sys.executable, str(bundle / "run.py"), "--out", str(out), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--devices", "foo"), "device 'foo': ireebench measures on hip, cuda and local-task\n"),
        (("--devices", "local-task, local-task"),
         "--devices names local-task twice; a device runs one job at a time\n"),
        (("--devices", "local-task,cuda://0"),
         "--devices: cuda://0 is of kind cuda; this bundle was compiled for cpu\n"),
        (("--devices", " , "), f"argument --devices: ' , ' names nothing{LISTS}"),
        (("--devices", ""), f"argument --devices: '' names nothing{LISTS}"),
        (("--timer", "nope"), "no timer matches 'nope'; known: "),
        (("--problems", "nosuch"), "no problem of this bundle matches 'nosuch'; known: custom-4x4096-f32\n"),
        (("--problems", "custom-4x4096-f32,custom-4x4O96"),
         "no problem of this bundle matches 'custom-4x4O96'; nearest: custom-4x4096-f32\n"),
        (("--problems", ","), f"argument --problems: ',' names nothing{LISTS}"),
        (("--time-limit", "-3"), f"argument --time-limit: '-3' is not a number of seconds above 0{LISTS}"),
        (("--time-limit", "0"), f"argument --time-limit: '0' is not a number of seconds above 0{LISTS}"),
        (("--time-limit", "nan"), f"argument --time-limit: 'nan' is not a number of seconds above 0{LISTS}"),
        (("--time-limit", "inf"), f"argument --time-limit: 'inf' is not a number of seconds above 0{LISTS}"),
        (("--ceiling", "-1"), f"argument --ceiling: '-1' is not a number of seconds from 0 on{LISTS}"),
        (("--ceiling", "nan"), f"argument --ceiling: 'nan' is not a number of seconds from 0 on{LISTS}"),
        (("--processes", "-1"), f"argument --processes: '-1' is not a whole number from 0 on{LISTS}"),
        (("--processes", "1.5"), f"argument --processes: '1.5' is not a whole number from 0 on{LISTS}"),
    ],
)  # fmt: skip
def test_run_py_says_in_one_line_what_it_cannot_measure(
    parts: tuple[Path, Path], tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run_py(parts[0], tmp_path / "out", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {told}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_gpu_that_is_named_twice_in_two_ways_is_refused(tmp_path: Path) -> None:
    vd = ("--target", "sm_89", "--variants", "vd", "--limit", "1", "--baselines", "none")
    ireebench("bundle", "create", "argmax", "--shape", "4x4096", "--dtype", "f32", *vd, "-o", str(tmp_path / "b"))
    for listed, told in (
        ("cuda://0, cuda://0", "--devices names cuda://0 twice; a device runs one job at a time"),
        ("cuda,cuda://0", "--devices names cuda://0 twice (it is cuda); a device runs one job at a time"),
    ):
        done = run_py(tmp_path / "b", tmp_path / "out", "--devices", listed)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {told}\n")


def test_the_spaces_of_a_list_are_not_part_of_its_names(parts: tuple[Path, Path], tmp_path: Path) -> None:
    listed = ("--devices", " local-task , local-sync ", "--problems", " custom-4x4096-f32 ", "--processes", "0")
    done = run_py(parts[0], tmp_path / "out", *listed)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'out' / 'results-0.zip'}\n"


def test_a_run_that_measured_nothing_does_not_end_well(parts: tuple[Path, Path], tmp_path: Path) -> None:
    done = run_py(parts[0], tmp_path / "out", "--time-limit", "0.001")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("error: nothing was measured: ")


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


def details_of(db: Path) -> dict[str, str]:
    """The libraries that a report of a store tells."""
    document = json.loads(ireebench("report", str(db), "--format", "json"))
    assert document["environments"] == [document["environment"]]
    details: dict[str, str] = document["environment"]["details"]
    return details


def test_library_versions_come_home_and_change_no_trials_key(
    parts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch-2.6.0+cu124.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0+cu124\n"
    (tmp_path / "torch-2.6.0+cu124.dist-info" / "METADATA").write_text(metadata)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    files = run(parts[0], tmp_path / "results")
    ireebench("bundle", "import", str(parts[0]), *files, "--db", str(tmp_path / "new.db"))
    assert details_of(tmp_path / "new.db") == {"numpy": np.__version__, "torch": "2.6.0+cu124"}
    # The same results as an older run.py wrote them: without any versions of libraries.
    older = []
    for file in map(Path, files):
        older.append(tmp_path / file.name)
        with zipfile.ZipFile(file) as there, zipfile.ZipFile(older[-1], "w") as here:
            for name in there.namelist():
                body = there.read(name)
                if name == "environment.json":
                    told = json.loads(body)
                    assert told.pop("details")["torch"] == "2.6.0+cu124"
                    body = json.dumps(told).encode()
                here.writestr(name, body)
    ireebench("bundle", "import", str(parts[0]), *map(str, older), "--db", str(tmp_path / "old.db"))
    assert details_of(tmp_path / "old.db") == {}
    assert held(tmp_path / "old.db") == held(tmp_path / "new.db")


def test_run_py_names_the_package_that_the_machine_lacks(parts: tuple[Path, Path], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True, timeout=120)
    done = subprocess.run(
        [str(bare / "bin" / "python"), str(parts[0] / "run.py"), "--help"],
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: numpy is missing here; pip install iree-base-runtime numpy ml_dtypes\n"

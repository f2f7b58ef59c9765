from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ireebench.store.database import Store

Run = Callable[..., subprocess.CompletedProcess[str]]
SMALL = ("sweep", "argmax", "--shape", "4x4096", "--dtype", "f32", "--target", "cpu", "--limit", "3")
FAST = ("--seconds", "0.05", "--processes", "1", "--baselines", "numpy")


def trial_set(db: Path) -> set[tuple[str, str]]:
    with Store.open(db) as store:
        return {(t.label, t.status.value) for t in store.trials()}


def test_a_sweep_ranks_checked_and_timed_candidates_and_writes_its_files(ireebench: Run, tmp_path: Path) -> None:
    done = ireebench(*SMALL, *FAST)
    assert done.returncode == 0, done.stderr
    assert "custom-4x4096-f32 argmax 4x4096 f32, hot, noise floor" in done.stdout
    assert "[numpy]" in done.stdout
    assert "is fastest at" in done.stdout.strip().splitlines()[-1]
    with (tmp_path / "ireebench-out" / "argmax-cpu.csv").open() as f:
        rows = list(csv.DictReader(f))
    timed = [r for r in rows if r["status"] == "ok"]
    assert {r["variant"] for r in timed} >= {"default", "vd", "vd_split", "generic"}
    # 4 x 4096 x 4 bytes read, 4 values of 4 bytes and 4 indices of 8 bytes written.
    assert {r["bytes_moved"] for r in rows} == {str(65536 + 16 + 32)}
    for r in timed:
        assert float(r["gb_per_s"]) == pytest.approx(65584 / float(r["median_ns"]), rel=1e-9)


def test_the_json_of_a_sweep_has_the_documented_keys(ireebench: Run) -> None:
    done = ireebench(*SMALL, *FAST, "--variants", "generic", "--format", "json")
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    trial = document["trials"][0]
    assert set(trial) >= {
        "problem", "op", "shape", "shape_kind", "dtype", "index_dtype", "target", "variant", "baseline", "form", "ship",
        "config", "status", "stage", "reason", "applied", "check", "timer", "cache", "samples", "median_ns", "q1_ns",
        "q3_ns", "span_ns", "gap_ns", "kernels", "bytes_moved", "gb_per_s", "percent_of_ceiling", "plausible",
        "evidence", "compile_key", "measure_key",
    }  # fmt: skip
    assert trial["check"] == {"ok": True, "first_index": True, "by": "device"}
    assert trial["baseline"] is None
    numpy = next(t for t in document["trials"] if t["baseline"] == "numpy")
    assert numpy["variant"] is None
    assert numpy["config"] is None


def test_a_finished_sweep_is_not_measured_again(ireebench: Run, tmp_path: Path) -> None:
    first = ireebench(*SMALL, *FAST, "--format", "csv")
    before = (tmp_path / "ireebench-out" / "argmax-cpu.csv").read_text()
    again = ireebench(*SMALL, *FAST, "--format", "csv")
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert (tmp_path / "ireebench-out" / "argmax-cpu.csv").read_text() == before


@pytest.mark.slow
def test_a_sweep_killed_in_the_middle_goes_on_and_ends_with_the_same_trials(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", *SMALL, *FAST, "--out", "killed"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=dict(caches), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as p:
        journal = tmp_path / "killed" / "work" / "process-0" / "journal.jsonl"
        deadline = time.monotonic() + 120
        while p.poll() is None and time.monotonic() < deadline:
            if journal.exists() and journal.read_text().count('"finished"') >= 2:
                p.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
    assert p.returncode == -signal.SIGKILL, "the sweep ended before it could be killed"
    assert not leftovers(tmp_path, within_s=5)
    resumed = ireebench(*SMALL, *FAST, "--out", "killed")
    assert resumed.returncode == 0, resumed.stderr
    whole = ireebench(*SMALL, *FAST, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    assert trial_set(tmp_path / "killed" / "ireebench.db") == trial_set(tmp_path / "whole" / "ireebench.db")


def leftovers(folder: Path, within_s: float) -> list[str]:
    """Processes that still work in `folder` when `within_s` have passed; [] as soon as there are none."""
    deadline = time.monotonic() + within_s
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                inside = str(folder) in command or str((process / "cwd").readlink()).startswith(str(folder))
            except OSError:
                continue
            if inside and int(process.name) != os.getpid():
                found.append(command)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def test_a_dry_run_counts_and_runs_nothing(ireebench: Run, tmp_path: Path) -> None:
    done = ireebench(*SMALL, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == ["problem", "shape", "candidates", "refused", "by", "constraint"]
    assert not (tmp_path / "ireebench-out").exists()


def test_a_forced_configuration_that_is_refused_exits_3_and_names_the_constraint(ireebench: Run) -> None:
    done = ireebench(
        "sweep", "argmax", "--models", "llama3-8b", "--target", "gfx942", "--compile-only",
        "--variants", "vd", "--config", "SG=3,PR=768,TH=4",
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    assert "power_of_two_subgroups" in done.stdout
    assert "rejected" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sweep", "argmax", "--models", "lamma3"), 2, "no model matches 'lamma3'; nearest: llama3-8b"),
        (("sweep", "argmx", "--models", "llama3"), 2, "no op matches 'argmx'; nearest: argmax"),
        (("sweep", "argmax", "--models", "llama3", "--target", "gfx9000"), 2, "no target matches 'gfx9000'"),
        (("sweep", "argmax", "--shape", "-4x10", "--dtype", "f32"), 2, "-4x10"),
        (("sweep", "argmax", "--shape", "4x10", "--dtype", "f64"), 2, "f64"),
        (("sweep", "argmax", "--shape", "1000000x1000000", "--dtype", "f32"), 2, "1000000x1000000"),
        (("sweep", "argmax", "--models", "llama3", "--variants", "vdd"), 2, "no variant matches 'vdd'; nearest: vd"),
        (("sweep", "argmax", "--models", "llama3", "--config", "XX=3"), 2, "no knob is called 'XX'"),
        (("sweep", "argmax", "--models", "llama3", "--timer", "watch"), 2, "no timer matches 'watch'"),
        (("sweep", "argmax", "--models", "llama3", "--baselines", "nmpy"), 2, "no baseline matches 'nmpy'"),
        (("sweep", "argmax", "--models", "llama3", "--cache", "warm"), 2, "no cache policy matches 'warm'"),
        (("sweep", "argmax"), 2, "--models"),
        (("sweep", "argmax", "--models", "llama3", "--target", "gfx942"), 1, "--compile-only needs no device"),
        (("sweep", "argmax", "--problems", "none.toml"), 2, "none.toml"),
        (("sweep", "argmax", "--shape", "4x8", "--dtype", "f32", "--cluster", "foo"), 2, "write tcp://HOST:PORT"),
        (("swep",), 2, "no command is called 'swep'; nearest: sweep"),
        (("compare", "a.db", "b.db"), 2, "a.db: no such store"),
    ],
)
def test_bad_input_gets_one_line_that_names_the_culprit(
    ireebench: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = ireebench(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert message in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[problem]\n", "p.toml"),
        ('[[problem]]\nid = "a"\nop = "argmax"\nshape = [4, 8]\ndtype = "f32"\ncolour = "red"\n', "colour"),
        ('[[problem]]\nid = "a"\nop = "argmax"\nshape = "4x8"\ndtype = "f32"\n', "shape"),
    ],
)
def test_a_malformed_problem_file_is_named_with_its_key(
    ireebench: Run, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "p.toml").write_text(text)
    done = ireebench("sweep", "argmax", "--problems", "p.toml", "--target", "cpu")
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert message in line


def test_an_output_folder_that_cannot_be_made_is_named(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = ireebench(*SMALL, "--out", "file/out")
    assert done.returncode == 1
    assert "cannot write file/out" in done.stderr
    assert "Traceback" not in done.stderr

"""Faults that a sweep has to survive, each really caused: docs/reliability.md lists them all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ireebench.store.database import Store

Run = Callable[..., subprocess.CompletedProcess[str]]
SWEEP = (
    "sweep", "argmax", "--shape", "4x4096", "--dtype", "f32", "--target", "cpu", "--variants", "vd_split", "--limit",
    "2", "--baselines", "numpy",
)  # fmt: skip
FAST = ("--seconds", "0.05", "--processes", "1", "--rounds", "2")
SLOW = ("--seconds", "1", "--invocations", "100000", "--processes", "1")  # long enough to be disturbed

pytestmark = pytest.mark.slow


def trial_set(db: Path) -> set[tuple[str, str, str]]:
    with Store.open(db) as store:
        return {(t.label, t.status.value, t.stage.value) for t in store.trials()}


EXPECTED = {
    ("vd_split/split_attr ST=2048", "ok", "timed"),
    ("vd_split/split_attr ST=256", "ok", "timed"),
    ("baseline numpy", "ok", "timed"),
}


def start(folder: Path, env: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def patched(folder: Path, env: Mapping[str, str], code: str) -> dict[str, str]:
    """An environment in which every Python process runs `code` first."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(code)
    return {**env, "PYTHONPATH": str(site)}


def waits_for(path: Path, part: str, process: subprocess.Popen[str], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        if path.exists() and part in path.read_text(errors="replace"):
            return
        time.sleep(0.01)
    process.kill()
    raise AssertionError(f"{path} never held {part!r}")


def left_in(folder: Path, within_s: float = 5) -> list[str]:
    """Commands of processes that still work in `folder` after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                at = str((process / "cwd").readlink())
                if int(process.name) != os.getpid() and (str(folder) in command or at.startswith(str(folder))):
                    found.append(command)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of a given size, or gives it another size; skips where this process may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = tmp_path / "disk"
    place.mkdir()
    mounted = []

    def mount(size: str) -> Path:
        remount = 32 if mounted else 0  # MS_REMOUNT, <sys/mount.h>
        if libc.mount(b"none", str(place).encode(), b"tmpfs", remount, f"size={size}".encode()) != 0:
            pytest.skip(f"mounting a tmpfs: {os.strerror(ctypes.get_errno())}")
        mounted.append(place)
        return place

    yield mount
    if mounted:
        libc.umount2(str(place).encode(), 2)


@pytest.mark.parametrize(
    "full",
    [
        ("40k", "cache", ("--db", "disk/s.db")),
        ("8k", "cache", ("--out", "disk/out", "--db", "s.db")),
        ("100k", "disk/cache", ("--db", "s.db")),
    ],
    ids=["store", "journal and samples", "artifacts and dumps"],
)
def test_a_full_disk_is_named_and_blamed_on_no_candidate(
    caches: Mapping[str, str],
    small_disk: Callable[[str], Path],
    tmp_path: Path,
    full: tuple[str, str, tuple[str, ...]],
) -> None:
    size, cache, arguments = full
    small_disk(size)
    env = {**caches, "XDG_CACHE_HOME": str(tmp_path / cache)}
    process = start(tmp_path, env, *SWEEP, *FAST, *arguments)
    _, told = process.communicate(timeout=200)
    assert process.returncode == 1, told
    last = told.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "no space left on" in last.lower()
    assert "Traceback" not in told
    # With room again the sweep goes on where it was, and ends as if nothing had been.
    small_disk("64m")
    again = start(tmp_path, env, *SWEEP, *FAST, *arguments)
    _, told = again.communicate(timeout=200)
    assert again.returncode == 0, told
    assert trial_set(tmp_path / arguments[-1]) == EXPECTED


def test_two_sweeps_on_one_store_at_once_both_end_and_store_every_trial_once(
    caches: Mapping[str, str], tmp_path: Path
) -> None:
    both = [start(tmp_path, caches, *SWEEP, *FAST, "--db", "one.db", "--out", out) for out in ("a", "b")]
    told = [p.communicate(timeout=240)[1] for p in both]
    assert [p.returncode for p in both] == [0, 0], told
    assert trial_set(tmp_path / "one.db") == EXPECTED
    with Store.open(tmp_path / "one.db") as store:
        assert len(store.trials()) == len(EXPECTED)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_at_once_keeps_what_is_done_and_says_how_to_go_on(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path, times: int
) -> None:
    process = start(tmp_path, caches, *SWEEP, *SLOW)
    journal = tmp_path / "ireebench-out" / "work" / "process-0" / "journal.jsonl"
    waits_for(journal, '"phase": "round"', process)
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    begin = time.monotonic()
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - begin < 10
    assert process.returncode in ((130,) if times == 1 else (130, -signal.SIGINT)), told
    assert "Traceback" not in told
    if times == 1:
        assert "To go on, run it again:" in told
        assert "ireebench sweep argmax --shape 4x4096" in told
    assert left_in(tmp_path) == []
    if times == 1:
        done = ireebench(*SWEEP, *SLOW)
        assert done.returncode == 0, done.stderr
        assert trial_set(tmp_path / "ireebench-out" / "ireebench.db") == EXPECTED


def test_removing_the_output_folder_ends_the_sweep_in_one_line(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path
) -> None:
    process = start(tmp_path, caches, *SWEEP, *SLOW, "--out", "gone")
    waits_for(tmp_path / "gone" / "work" / "process-0" / "journal.jsonl", '"phase": "round"', process)
    shutil.rmtree(tmp_path / "gone")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "was removed while the sweep ran; run it again" in told.strip().splitlines()[-1]
    assert "Traceback" not in told
    assert left_in(tmp_path) == []
    assert ireebench(*SWEEP, *FAST, "--out", "gone").returncode == 0
    assert trial_set(tmp_path / "gone" / "ireebench.db") == EXPECTED


BACKWARDS = """
import time
_now = time.time()
def _backwards():
    global _now
    _now -= 3600.0
    return _now
time.time = _backwards
time.time_ns = lambda: int(_backwards() * 1e9)
"""


def test_a_clock_that_goes_backwards_changes_nothing(caches: Mapping[str, str], tmp_path: Path) -> None:
    env = patched(tmp_path, {**caches, "XDG_CACHE_HOME": str(tmp_path / "cache")}, BACKWARDS)
    process = start(tmp_path, env, *SWEEP, *FAST)
    _, told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    db = tmp_path / "ireebench-out" / "ireebench.db"
    assert trial_set(db) == EXPECTED
    with Store.open(db) as store:
        assert all(r.median_ns > 0 and r.q1_ns <= r.median_ns <= r.q3_ns for t in store.trials() for r in t.runs)


def test_power_lost_between_two_commits_costs_what_was_not_committed(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path
) -> None:
    """Store and journal are copied in the middle of the sweep and opened as they were: what a power cut leaves."""
    process = start(tmp_path, caches, *SWEEP, *SLOW)
    out = tmp_path / "ireebench-out"
    waits_for(out / "work" / "process-0" / "journal.jsonl", '"phase": "round"', process)
    os.killpg(process.pid, signal.SIGSTOP)
    shutil.copytree(out, tmp_path / "after")
    os.killpg(process.pid, signal.SIGCONT)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    # The last line was being written when the power went.
    with (tmp_path / "after" / "work" / "process-0" / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"entry": "torn')
    assert trial_set(tmp_path / "after" / "ireebench.db") == {
        (label, "ok", "compiled") for label, _, _ in EXPECTED if not label.startswith("baseline")
    }
    done = ireebench(*SWEEP, *SLOW, "--out", "after")
    assert done.returncode == 0, done.stderr
    assert trial_set(tmp_path / "after" / "ireebench.db") == EXPECTED


# The device stays the CPU, but errors are taken as a GPU's: the process is given up and a fresh one goes on.
BROKEN_GPU = """
import os, pathlib, sys
if any("ireebench.measure.worker" in a for a in sys.orig_argv):
    from ireebench.measure import artifact_runner, workplace
    launch = artifact_runner.ArtifactRunner.launch
    victim = pathlib.Path(os.environ["VICTIM"])
    workplace.kind_of = lambda uri: "cuda"

    def broken(self, copy):
        me = f"{self.vmfb} {self.function}"
        if not victim.exists():
            victim.write_text(me)
        if victim.read_text() == me:
            raise RuntimeError("INTERNAL; CUDA_ERROR_ILLEGAL_ADDRESS; an illegal memory access was encountered")
        launch(self, copy)

    artifact_runner.ArtifactRunner.launch = broken
"""


def test_a_gpu_error_costs_one_candidate(caches: Mapping[str, str], tmp_path: Path) -> None:
    env = patched(tmp_path, {**caches, "VICTIM": str(tmp_path / "victim")}, BROKEN_GPU)
    process = start(tmp_path, env, *SWEEP, *FAST)
    _, told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    assert "Traceback" not in told
    with Store.open(tmp_path / "ireebench-out" / "ireebench.db") as store:
        trials = store.trials()
    (lost,) = (t for t in trials if t.status.value != "ok")
    assert lost.status.value == "run_failed"
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in (lost.reason or "")
    assert {t.stage.value for t in trials if t is not lost} == {"timed"}
    journal = (tmp_path / "ireebench-out" / "work" / "process-0" / "journal.jsonl").read_text()
    assert journal.count('"session"') == 2, "the process with the error was not replaced"
    assert left_in(tmp_path) == []


KILLED_PROFILER = """#!/bin/sh
case "$1" in --version) echo "rocm_version: 6.4.2"; exit 0;; esac
while [ "$1" != "--" ]; do shift; done
shift
"$@" &
sleep 1
kill -9 $$
"""


def test_a_profiler_that_is_killed_leaves_no_process_and_fails_its_candidates_with_the_reason(
    caches: Mapping[str, str], tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "rocprofv3"
    tool.parent.mkdir()
    tool.write_text(KILLED_PROFILER)
    tool.chmod(0o755)
    site = Path(__file__).parents[1] / "standins" / "site"
    env = {**caches, "PATH": f"{tool.parent}{os.pathsep}{caches['PATH']}", "PYTHONPATH": str(site)}
    process = start(tmp_path, env, *SWEEP[:-1], "none", *FAST[:2], "--processes", "0", "--timer", "rocprofv3")
    _, told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    assert "Traceback" not in told
    with Store.open(tmp_path / "ireebench-out" / "ireebench.db") as store:
        trials = store.trials()
    assert trials
    assert {t.status.value for t in trials} == {"run_failed"}
    assert all(t.reason and not t.runs for t in trials)
    assert left_in(tmp_path) == []


# A bug of ours: nothing that any user or machine did.
BUG = """
from ireebench.problems import select
def broken(*_, **__):
    raise ZeroDivisionError("ours")
select.match_names = broken
"""


def test_a_bug_of_ours_is_said_to_be_one_and_its_traceback_is_kept(caches: Mapping[str, str], tmp_path: Path) -> None:
    env = patched(tmp_path, {**caches, "TMPDIR": str(tmp_path)}, BUG)
    process = start(tmp_path, env, "models", "--models", "llama3")
    out, told = process.communicate(timeout=60)
    assert process.returncode == 1
    (log,) = tmp_path.glob("ireebench-*.log")
    assert (out, told) == ("", f"internal error: ZeroDivisionError: ours; please report it with {log}\n")
    assert "in broken" in log.read_text()


def test_a_bug_of_ours_shows_its_traceback_where_it_is_asked_for(caches: Mapping[str, str], tmp_path: Path) -> None:
    env = patched(tmp_path, {**caches, "TMPDIR": str(tmp_path), "IREEBENCH_TRACEBACK": "1"}, BUG)
    process = start(tmp_path, env, "models", "--models", "llama3")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert told.startswith("Traceback")
    assert not list(tmp_path.glob("ireebench-*.log"))

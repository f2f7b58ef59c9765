"""Sweeps on a Dask cluster of this machine: the same trials as a local sweep, whatever happens to a worker."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from ireebench.store.database import Store

Run = Callable[..., subprocess.CompletedProcess[str]]
SWEEP = ("sweep", "argmax", "--problems", "two.toml", "--target", "cpu", "--variants", "vd_split", "--limit", "2")
FAST = ("--seconds", "0.05", "--processes", "1", "--baselines", "numpy", "--rounds", "2")
PROBLEMS = "".join(f'[[problem]]\nid = "{n}"\nop = "argmax"\nshape = [4, {n}]\ndtype = "f32"\n' for n in (4096, 8192))

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


def trial_set(db: Path) -> set[tuple[str, str, str, str]]:
    with Store.open(db) as store:
        return {(t.key, t.label, t.status.value, t.stage.value) for t in store.trials()}


@pytest.fixture(scope="module")
def local(caches: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str, str]]:
    """The trials of a sweep that no cluster had a hand in."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "two.toml").write_text(PROBLEMS)
    command = [sys.executable, "-m", "ireebench.cli.main", *SWEEP, *FAST, "--quiet"]
    subprocess.run(command, cwd=folder, env=dict(caches), check=True, capture_output=True, timeout=240)
    return trial_set(folder / "ireebench-out" / "ireebench.db")


@contextmanager
def program(env: Mapping[str, str], log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        p = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
            env=dict(env), stdout=out, stderr=out, start_new_session=True, cwd=log.parent,
        )  # fmt: skip
        try:
            yield p
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(p.pid, number)
                    p.wait(timeout=10)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass


def waited(log: Path, pattern: str, seconds: float = 60) -> re.Match[str]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text() if log.exists() else "")
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{log} never said {pattern!r}: {log.read_text()[-2000:]}")


@pytest.fixture
def scheduler(caches: Mapping[str, str], tmp_path: Path) -> Iterator[str]:
    log = tmp_path / "scheduler.log"
    with program(caches, log, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"):
        yield waited(log, r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")[1]


@contextmanager
def worker(caches: Mapping[str, str], folder: Path, name: str, address: str, *options: str) -> Iterator[int]:
    """A worker of its own process, with its own cache; gives the process to kill."""
    env = {**caches, "XDG_CACHE_HOME": str(folder / f"{name}-cache")}
    log = folder / f"{name}.log"
    common = ("--no-nanny", "--no-dashboard", "--nthreads", "1", "--name", name, "--local-directory", str(folder))
    with program(env, log, "dask_worker", address, *common, *options) as p:
        waited(log, r"Registered to:")
        yield p.pid


def test_two_worker_processes_give_the_trials_of_a_local_sweep(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path, scheduler: str, local: set[tuple[str, str, str, str]]
) -> None:
    (tmp_path / "two.toml").write_text(PROBLEMS)
    with (
        worker(caches, tmp_path, "one", scheduler, "--resources", "GPU=1"),
        worker(caches, tmp_path, "two", scheduler, "--resources", "GPU=1"),
    ):
        done = ireebench(*SWEEP, *FAST, "--cluster", scheduler, "--out", "far")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert trial_set(tmp_path / "far" / "ireebench.db") == local


LOCAL_CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, resources={"GPU": 1}, dashboard_address=None) as cluster:
        print("Scheduler at: ", cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_a_local_cluster_gives_the_trials_of_a_local_sweep(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path, local: set[tuple[str, str, str, str]]
) -> None:
    (tmp_path / "two.toml").write_text(PROBLEMS)
    (tmp_path / "cluster.py").write_text(LOCAL_CLUSTER)
    env = {**caches, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    log = tmp_path / "cluster.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "cluster.py"], cwd=tmp_path, env=env, stdin=subprocess.PIPE, stdout=out, stderr=out
        ) as cluster,
    ):
        address = waited(log, r"Scheduler at:\s+(tcp://\S+)")[1]
        done = ireebench(*SWEEP, *FAST, "--cluster", address, "--out", "far")
        assert cluster.stdin is not None
        cluster.stdin.close()
    assert done.returncode == 0, done.stderr
    assert trial_set(tmp_path / "far" / "ireebench.db") == local


def test_killing_a_worker_in_the_middle_loses_nothing(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path, scheduler: str, local: set[tuple[str, str, str, str]]
) -> None:
    (tmp_path / "two.toml").write_text(PROBLEMS)
    command = [sys.executable, "-m", "ireebench.cli.main", *SWEEP, *FAST, "--cluster", scheduler, "--out", "far"]
    with (
        worker(caches, tmp_path, "one", scheduler, "--resources", "GPU=1") as victim,
        worker(caches, tmp_path, "two", scheduler, "--resources", "GPU=1"),
        subprocess.Popen(command, cwd=tmp_path, env=dict(caches), stderr=subprocess.PIPE, text=True) as sweep,
    ):
        # The victim is at a measuring job: its worker process runs as our grandchild.
        deadline = time.monotonic() + 120
        while not measuring_below(victim) and time.monotonic() < deadline and sweep.poll() is None:
            time.sleep(0.01)
        assert sweep.poll() is None, "the sweep ended before its worker could be killed"
        os.killpg(victim, signal.SIGKILL)
        _, told = sweep.communicate(timeout=200)
    assert sweep.returncode == 0, told
    assert "Traceback" not in told
    assert trial_set(tmp_path / "far" / "ireebench.db") == local


def measuring_below(pid: int) -> bool:
    """Whether a measuring process runs somewhere below `pid`."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(c) for c in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:
                continue
            if b"ireebench.measure.worker" in command or measuring_below(child):
                return True
    return False


def test_a_cluster_in_which_nobody_measures_is_refused_in_one_line(
    ireebench: Run, caches: Mapping[str, str], tmp_path: Path, scheduler: str
) -> None:
    (tmp_path / "two.toml").write_text(PROBLEMS)
    with worker(caches, tmp_path, "one", scheduler):
        done = ireebench(*SWEEP, *FAST, "--cluster", scheduler)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "--resources GPU=1" in line


def test_an_address_where_nobody_answers_is_named(
    ireebench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ireebench.cluster.client.CONNECT_S", 1)
    from ireebench.cluster.client import Cluster
    from ireebench.errors import UsageError

    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        Cluster("tcp://127.0.0.1:1")


def test_a_local_sweep_imports_nothing_of_dask(tmp_path: Path, caches: Mapping[str, str]) -> None:
    code = (
        "import sys; from ireebench.cli.main import main\n"
        "try: main()\n"
        "finally: print('dask' in sys.modules, 'distributed' in sys.modules, file=sys.stderr)"
    )
    arguments = ("sweep", "argmax", "--shape", "4x4096", "--dtype", "f32", "--target", "cpu", "--dry-run")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=dict(caches), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr.strip() == "False False"

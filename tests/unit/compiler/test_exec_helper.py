"""Nothing outlives ireebench, however it ends, and nothing passes its limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ireebench.compiler.spawner import HelperDiedError, Limits, Spawner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="death with the parent is Linux's prctl")

# The parent asks for a shell that starts a child of its own: both must go. The mark finds them in /proc.
PARENT = """
import sys
from pathlib import Path
from ireebench.compiler.spawner import Limits, Spawner
folder, mark = Path(sys.argv[1]), sys.argv[2]
script = f": {mark}; sleep 60 & touch started; wait"
Spawner().run(["/bin/sh", "-c", script, mark], folder, folder / "err", Limits(60.0))
"""


def alive(mark: str) -> list[int]:
    """Processes whose command line or environment carries `mark`."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in text and state != "Z":
            found.append(int(folder.name))
    return found


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


@pytest.fixture
def mark() -> str:
    return f"ireebench-test-{uuid.uuid4().hex}"


@pytest.fixture
def parent(tmp_path: Path, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs a compiler stand-in through the helper."""
    env = {**os.environ, "IREEBENCH_TEST_MARK": mark}
    process = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path), mark], env=env)
    assert wait_until((tmp_path / "started").exists, 20), "the stand-in never started"
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_two_seconds_after_ireebench_is_killed(
    parent: subprocess.Popen[bytes], mark: str, number: signal.Signals
) -> None:
    assert len(alive(mark)) >= 4  # parent, helper, shell, sleep: else this test looks at nothing
    parent.send_signal(number)
    parent.wait(timeout=10)
    assert wait_until(lambda: not alive(mark), 2.0), alive(mark)


def test_a_compiler_dies_with_a_helper_that_is_killed(parent: subprocess.Popen[bytes], mark: str) -> None:
    helper = next(p for p in alive(mark) if b"exec_helper" in Path(f"/proc/{p}/cmdline").read_bytes())
    shell = next(p for p in alive(mark) if Path(f"/proc/{p}/cmdline").read_bytes().startswith(b"/bin/sh"))
    os.kill(helper, signal.SIGKILL)
    assert wait_until(lambda: shell not in alive(mark), 2.0)


def test_a_timeout_kills_what_the_compiler_had_started_too(tmp_path: Path, mark: str) -> None:
    with Spawner() as spawner:
        script = f": {mark}; /bin/sh -c 'sleep 60; : {mark}' & wait"
        ended = spawner.run(["/bin/sh", "-c", script], tmp_path, tmp_path / "err", Limits(0.4))
        assert ended.timed_out
        assert ended.code == -signal.SIGKILL
        assert 0.4 <= ended.wall_s < 3
        assert wait_until(lambda: not alive(mark), 2.0)


def test_memory_is_limited(tmp_path: Path) -> None:
    with Spawner() as spawner:
        script = "x = bytearray(2_000_000_000)"
        argv = [sys.executable, "-c", script]
        ended = spawner.run(argv, tmp_path, tmp_path / "err", Limits(30.0, 1_000_000_000))
        assert ended.code == 1
        assert "MemoryError" in (tmp_path / "err").read_text()
        assert spawner.run(argv, tmp_path, tmp_path / "err", Limits(30.0, 4_000_000_000)).code == 0


def test_a_program_that_cannot_start_says_so(tmp_path: Path) -> None:
    with Spawner() as spawner:
        ended = spawner.run(["/no/such/compiler"], tmp_path, tmp_path / "err", Limits())
    assert ended.code == 127
    assert "cannot start /no/such/compiler" in (tmp_path / "err").read_text()


def test_starting_a_process_costs_milliseconds(tmp_path: Path) -> None:
    with Spawner() as spawner:
        spawner.run(["/bin/true"], tmp_path, tmp_path / "err", Limits())  # starts the helper
        begin = time.monotonic()
        for _ in range(20):
            spawner.run(["/bin/true"], tmp_path, tmp_path / "err", Limits())
        assert (time.monotonic() - begin) / 20 < 0.1


def test_processes_outlive_the_thread_that_asked_for_them(tmp_path: Path) -> None:
    """PR_SET_PDEATHSIG fires when the forking thread ends: threads must not be what forks."""
    codes: list[int] = []

    def ask(spawner: Spawner, n: int) -> None:
        codes.append(spawner.run(["/bin/sleep", "0.3"], tmp_path, tmp_path / f"err{n}", Limits()).code)

    with Spawner() as spawner:
        for n in range(4):
            threading.Thread(target=ask, args=(spawner, n)).start()
        assert wait_until(lambda: len(codes) == 4, 10)
    assert codes == [0, 0, 0, 0]


def test_a_killed_helper_fails_the_run_and_the_next_one_works(tmp_path: Path) -> None:
    with Spawner() as spawner:
        script = "kill -9 $PPID; sleep 60"
        with pytest.raises(HelperDiedError):
            spawner.run(["/bin/sh", "-c", script], tmp_path, tmp_path / "err", Limits())
        assert spawner.run(["/bin/true"], tmp_path, tmp_path / "err", Limits()).code == 0


def test_closing_ends_what_runs(tmp_path: Path, mark: str) -> None:
    spawner = Spawner()
    threading.Timer(0.5, spawner.close).start()
    with pytest.raises(HelperDiedError):
        spawner.run(["/bin/sh", "-c", f": {mark}; sleep 60"], tmp_path, tmp_path / "err", Limits())
    assert wait_until(lambda: not alive(mark), 2.0)
    with pytest.raises(HelperDiedError):
        spawner.run(["/bin/true"], tmp_path, tmp_path / "err", Limits())

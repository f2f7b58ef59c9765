"""Nothing is left running, however the starter ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ireebench.procs import Supervised, describe_exit

# Starts a child in a session of its own and one in the same session, writes all process ids, and waits.
TREE = "setsid sh -c 'echo $$; exec sleep 60' & sh -c 'echo $$; exec sleep 60' & echo $$; wait"


def pids_of(path: Path) -> list[int]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        lines = path.read_text().split() if path.exists() else []
        if len(lines) == 3:
            return [int(line) for line in lines]
        time.sleep(0.01)
    raise AssertionError("the tree did not start")


def all_gone(pids: Sequence[int], within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("exit 0", 0, "exit code 0"),
        ("exit 3", 3, "exit code 3"),
        ("kill -SEGV $$", -signal.SIGSEGV, "SIGSEGV"),
        ("kill -9 $$", -signal.SIGKILL, "SIGKILL"),
    ],
)
def test_the_end_is_told_as_the_command_ended(script: str, code: int, words: str) -> None:
    with Supervised(["sh", "-c", script]) as running:
        assert running.wait(10) == code
    assert describe_exit(code) == words


def test_a_program_that_is_not_there_is_exit_code_127(tmp_path: Path) -> None:
    with (tmp_path / "err").open("wb") as err, Supervised(["no-such-program"], stderr=err) as running:
        assert running.wait(10) == 127
    assert "no-such-program" in (tmp_path / "err").read_text()


def test_closing_kills_the_whole_tree_even_what_left_the_session(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out, Supervised(["sh", "-c", TREE], stdout=out) as running:
        pids = pids_of(tmp_path / "out")
        assert running.poll() is None
        assert running.close() == -signal.SIGKILL
    assert all_gone(pids)


def test_what_the_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    script = "setsid sleep 60 & echo $!"
    with (tmp_path / "out").open("wb") as out, Supervised(["sh", "-c", script], stdout=out) as running:
        assert running.wait(10) == 0
    assert all_gone([int((tmp_path / "out").read_text())])


def test_kill_9_of_the_starter_kills_the_tree(tmp_path: Path) -> None:
    code = (
        "import sys, time; from ireebench.procs import Supervised\n"
        f"running = Supervised(['sh', '-c', {TREE!r}], stdout=open(sys.argv[1], 'wb')); time.sleep(60)"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out")])
    pids = pids_of(tmp_path / "out")
    starter.kill()
    starter.wait()
    assert all_gone(pids)


def test_the_thread_that_started_it_may_end(tmp_path: Path) -> None:
    """PR_SET_PDEATHSIG in the command itself would fire here."""
    import threading

    started: list[Supervised] = []
    thread = threading.Thread(target=lambda: started.append(Supervised(["sleep", "60"])))
    thread.start()
    thread.join()
    time.sleep(0.3)
    assert started[0].poll() is None
    started[0].close()


def test_memory_beyond_the_limit_is_refused_to_the_command() -> None:
    grab = [sys.executable, "-c", "bytearray(2 << 30)"]
    with Supervised(grab, memory_bytes=1 << 30, stderr=subprocess.DEVNULL) as running:
        assert running.wait(30) == 1

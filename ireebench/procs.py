"""Runs a program so that nothing of it is left running, however the program that started it ends.

A small supervisor process, single-threaded and of the standard library only, leads a new session and starts the command
in it. It holds the reading end of a pipe, the lifeline: when the starter closes it or dies (kill -9 included), the
supervisor kills the whole tree. PR_SET_PDEATHSIG alone would not do: it fires when the forking THREAD ends, and it does
not reach grandchildren. The supervisor is a subreaper, so children that left the session are found and killed too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_POLL_MS = 500


class Supervised:
    """A running command. Closing it, or the death of this process, kills the command and its children."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdout: IO[bytes] | int | None = None,
        stderr: IO[bytes] | int | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        """Starts `command`; `memory_bytes` limits the address space of each of its processes."""
        read_end, self._lifeline = os.pipe()
        options = ["--memory", str(memory_bytes)] if memory_bytes is not None else []
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(read_end), *options, "--", *command],
                pass_fds=(read_end,),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=env,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(read_end)

    @property
    def pid(self) -> int:
        """The supervisor's process id, which is the session's too."""
        return self._supervisor.pid

    def poll(self) -> int | None:
        """None while it runs; then its exit code, or minus the number of the signal that ended it."""
        return self._supervisor.poll()

    def wait(self, timeout_s: float | None = None) -> int:
        """Waits for the end; raises subprocess.TimeoutExpired."""
        return self._supervisor.wait(timeout_s)

    def close(self) -> int:
        """Kills what still runs and returns the exit code as `poll` does."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        return self._supervisor.wait()

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def describe_exit(code: int) -> str:
    """An exit code of `poll` in words: "SIGSEGV" or "exit code 3"."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _children(pid: int) -> list[int]:
    """Process ids of the direct children of `pid`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def _kill_tree(session: int) -> None:
    """Kills every process of the session but this one, and whatever was handed to this subreaper."""
    me = os.getpid()
    # A child may fork between the listing and the kill: repeat until no child is left.
    while children := _children(me):
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                if os.getpgid(child) != session:
                    os.killpg(os.getpgid(child), signal.SIGKILL)
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _start(command: Sequence[str], memory_bytes: int | None, libc: ctypes.CDLL) -> int:
    """Forks and executes the command; it dies with the supervisor. Returns its process id."""
    supervisor = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(127)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if memory_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        os.execvp(command[0], list(command))
    except OSError as e:
        os.write(2, f"{command[0]}: {e.strerror}\n".encode())
    os._exit(127)


def _end_like(status: int) -> NoReturn:
    """Ends this process as the command ended, so that the starter sees the same exit code or signal."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _supervise(lifeline: int, memory_bytes: int | None, command: Sequence[str]) -> NoReturn:
    """Starts the command and waits for its end or the lifeline's; leaves no process behind either way."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(lifeline, False)
    # SIGCHLD must wake poll(): a handler and a wake-up pipe, with a timed poll as the second line of defence.
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C is the starter's to handle: it closes the lifeline when it wants the end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = _start(command, memory_bytes, libc)
    poller = select.poll()
    poller.register(lifeline, select.POLLIN | select.POLLHUP)
    poller.register(wake_read, select.POLLIN)
    session = os.getpgid(0)
    status: int | None = None
    while status is None:
        ready = dict(poller.poll(_POLL_MS))
        if wake_read in ready:
            os.read(wake_read, 4096)
        while True:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == child:
                status = ended
        if lifeline in ready and status is None:
            status = signal.SIGKILL
    _kill_tree(session)
    _end_like(status)


if __name__ == "__main__":
    _separator = sys.argv.index("--")
    _head = sys.argv[1:_separator]
    _limit = int(_head[2]) if len(_head) == 3 else None
    _supervise(int(_head[0]), _limit, sys.argv[_separator + 1 :])

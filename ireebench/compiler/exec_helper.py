"""Starts compilers for ireebench, and makes sure that none outlives it. Run as a script; standard library only.

ireebench starts one of these (`python -I -S exec_helper.py`) and writes one JSON request a line to its standard input:

    {"id": 1, "argv": [...], "cwd": "...", "stderr": "file", "time_s": 60.0, "memory_bytes": 12000000000}

and reads one JSON line an ended process from its standard output:

    {"id": 1, "code": 0, "timed_out": false, "wall_s": 0.31, "max_rss_bytes": 190000000}

A negative code is the signal that ended the process.

Why a process of its own: Linux delivers PR_SET_PDEATHSIG when the *thread* that forked the child ends, and a sweep's
pool threads come and go. This process has one thread, which lives as long as ireebench does. Every compiler gets its
own session (so that the process group can be killed with whatever it started), a limit on address space, and SIGKILL
when this process dies. This process itself ends when its standard input closes or its parent changes, whichever is
seen first: both happen on kill -9 of ireebench.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any, NamedTuple

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PARENT_CHECK_S = 0.5


class Running(NamedTuple):
    """A started process; `deadline` is on the monotonic clock."""

    request: int
    started: float
    deadline: float


def _become(request: dict[str, Any], helper: int, libc: ctypes.CDLL | None) -> None:
    """In the forked child: sets the limits and becomes the compiler. Does not return."""
    os.setsid()
    if libc is not None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != helper:  # the helper died before prctl took hold
            os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory_bytes"],) * 2)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    err = os.open(request["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(err, 2)
    os.dup2(err, 1)
    os.chdir(request["cwd"])
    os.execv(request["argv"][0], request["argv"])


def _start(request: dict[str, Any], helper: int, libc: ctypes.CDLL | None) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            _become(request, helper, libc)
        except BaseException as e:
            os.write(2, f"cannot start {request['argv'][0]}: {e}\n".encode())
        finally:
            os._exit(127)
    return pid


def _kill_group(pid: int) -> None:
    # The child may not have reached setsid yet: then there is no such group, and the process itself is killed.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


class Helper:
    """The one thread: requests in, results out, deadlines kept."""

    def __init__(self) -> None:
        self.pid, self.parent = os.getpid(), os.getppid()
        self.running: dict[int, Running] = {}
        self.killed: set[int] = set()
        self.inbox = b""
        try:
            self.libc: ctypes.CDLL | None = ctypes.CDLL(None)
            self.libc.prctl  # noqa: B018  (absent outside Linux)
        except (AttributeError, OSError):
            self.libc = None
        self.wakeup, write_end = os.pipe()
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def accept(self, line: bytes) -> None:
        """Starts what a request asks for."""
        request = json.loads(line)
        now = time.monotonic()
        pid = _start(request, self.pid, self.libc)
        self.running[pid] = Running(request["id"], now, now + request["time_s"])

    def reap(self) -> None:
        """Reports every process that has ended."""
        while self.running:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            job = self.running.pop(pid)
            _kill_group(pid)  # whatever it had started and left
            result = {
                "id": job.request,
                "code": os.waitstatus_to_exitcode(status),
                "timed_out": pid in self.killed,
                "wall_s": time.monotonic() - job.started,
                "max_rss_bytes": usage.ru_maxrss * 1024,
            }
            self.killed.discard(pid)
            os.write(1, (json.dumps(result) + "\n").encode())

    def enforce(self) -> None:
        """Kills what is past its deadline."""
        now = time.monotonic()
        for pid, job in self.running.items():
            if now >= job.deadline and pid not in self.killed:
                self.killed.add(pid)
                _kill_group(pid)

    def patience(self) -> float:
        """Seconds until something has to be looked at again."""
        now = time.monotonic()
        waits = [j.deadline - now for p, j in self.running.items() if p not in self.killed]
        return max(0.0, min([PARENT_CHECK_S, *waits]))

    def serve(self) -> None:
        """Runs until ireebench closes our input or dies."""
        while os.getppid() == self.parent:
            ready, _, _ = select.select([0, self.wakeup], [], [], self.patience())
            if self.wakeup in ready:
                os.read(self.wakeup, 4096)
            if 0 in ready:
                data = os.read(0, 1 << 16)
                if not data:
                    return
                *lines, self.inbox = (self.inbox + data).split(b"\n")
                for line in lines:
                    self.accept(line)
            self.enforce()
            self.reap()


def main() -> None:
    """Serves, and kills everything that still runs on the way out."""
    helper = Helper()
    try:
        helper.serve()
    except BrokenPipeError:
        pass  # ireebench has gone
    finally:
        for pid in helper.running:
            _kill_group(pid)
    sys.exit(0)


if __name__ == "__main__":
    main()

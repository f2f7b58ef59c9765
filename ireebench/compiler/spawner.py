"""Talks to the exec helper: starts compilers under limits from any thread, and leaves none behind."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """What one compiler may use: wall-clock seconds and bytes of address space.

    60 s and 12 GB let every input compile that can (docs/compiling.md).
    """

    time_s: float = 60.0
    memory_bytes: int = 12_000_000_000


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended. A negative `code` is the signal; `wall_s` in seconds, `max_rss_bytes` resident."""

    code: int
    timed_out: bool
    wall_s: float
    max_rss_bytes: int


class HelperDiedError(RuntimeError):
    """The exec helper itself was killed, and the compilers with it."""


class _Helper:
    """One helper process, the requests that it has not answered yet, and the thread that hears its answers."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("exec_helper.py")
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches ireebench alone, which then closes our input
        )
        self.ended: str | None = None
        self._waiting: dict[int, Future[Exit]] = {}
        self._lock = threading.Lock()
        self._listener = threading.Thread(target=self._listen, daemon=True, name="exec-helper")
        self._listener.start()

    def send(self, request: dict[str, Any]) -> Future[Exit]:
        """Hands over a request; the future fails with HelperDiedError when the helper ends first."""
        future: Future[Exit] = Future()
        with self._lock:
            if self.ended is not None:
                raise HelperDiedError(self.ended)
            self._waiting[request["id"]] = future
            assert self.process.stdin is not None
            # A helper that has just died is noticed by the listener, which fails the future.
            with contextlib.suppress(OSError, ValueError):
                self.process.stdin.write((json.dumps(request) + "\n").encode())
                self.process.stdin.flush()
        return future

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            result: dict[str, Any] = json.loads(line)
            with self._lock:
                future = self._waiting.pop(result.pop("id"), None)
            if future is not None:
                future.set_result(Exit(**result))
        with self._lock:
            self.ended = self.ended or "the exec helper was killed"
            orphans, self._waiting = list(self._waiting.values()), {}
        for future in orphans:
            future.set_exception(HelperDiedError(self.ended))

    def close(self) -> None:
        """Closes the helper's input, on which it kills what still runs and ends."""
        with self._lock:
            self.ended = self.ended or "compiling was stopped"
            assert self.process.stdin is not None
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listener.join(timeout=5)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Spawner:
    """Runs processes through one exec helper. Thread-safe; the helper starts on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._helper: _Helper | None = None
        self._closed = False

    def run(self, argv: Sequence[str], cwd: Path, stderr: Path, limits: Limits) -> Exit:
        """Runs `argv` in `cwd` with its output in `stderr`; returns when it has ended or its time is over.

        Raises HelperDiedError when the helper was killed meanwhile, or the spawner closed.
        """
        with self._lock:
            if self._closed:
                raise HelperDiedError("the compiler was closed")
            if self._helper is not None and self._helper.ended is not None:
                self._helper.close()
                self._helper = None
            if self._helper is None:
                self._helper = _Helper()
            helper = self._helper
            number = next(self._ids)
        request = {
            "id": number,
            "argv": list(argv),
            "cwd": str(cwd.resolve()),
            "stderr": str(stderr.resolve()),
            "time_s": limits.time_s,
            "memory_bytes": limits.memory_bytes,
        }
        return helper.send(request).result()

    def close(self) -> None:
        """Kills what runs, for good: each such `run` raises HelperDiedError, and so does every later one."""
        with self._lock:
            self._closed = True
            helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()

    def __enter__(self) -> Spawner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

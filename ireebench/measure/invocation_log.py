"""What the worker launched, in order: what a whole-process timer attributes kernels by.

A profiler around the worker sees kernels, not invocations. So the worker writes a line for each batch of invocations
that it has launched: `invocations.jsonl` in the job's folder, first line the process id, then in launch order
{"entry", "phase", "round", "cache", "count", "kernels"}. Standard library only.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal, get_args

from ireebench.measure.job import CachePolicy

FILE_NAME = "invocations.jsonl"
SCHEMA_VERSION = 1
Phase = Literal["check", "warmup", "round"]


@dataclass(frozen=True, slots=True)
class Segment:
    """`count` invocations of one entry, launched one after the other. Only phase "round" is timed.

    `kernels` are the symbols that one invocation dispatches, in order; empty where the entry does not know them.
    """

    entry: str
    phase: Phase
    count: int
    kernels: tuple[str, ...] = ()
    round: int = 0
    cache: CachePolicy = "hot"


@dataclass(frozen=True, slots=True)
class InvocationLog:
    """A log that was read: the worker's process id and its segments in launch order."""

    pid: int
    segments: tuple[Segment, ...]


class InvocationWriter:
    """Appends segments to a log. Write each one after its last invocation was waited for, not before."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] = (folder / FILE_NAME).open("w", encoding="utf-8")
        self._line({"schema_version": SCHEMA_VERSION, "pid": os.getpid()})

    def add(self, segment: Segment) -> None:
        """Appends one segment; on disk when it returns, so that a crash loses nothing. Nothing for count 0."""
        if segment.count:
            self._line(asdict(segment))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _line(self, data: dict[str, Any]) -> None:
        self._file.write(json.dumps(data) + "\n")
        self._file.flush()


def read_log(path: Path) -> InvocationLog:
    """Reads a log; a cut-off last line is left out. Raises ValueError that names file and line when it is no log."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines:
        raise ValueError(f"{path}: empty: the worker ended before it launched anything")
    segments: list[Segment] = []
    pid = 0
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            if number == 1:
                if data["schema_version"] != SCHEMA_VERSION:
                    raise ValueError(f"schema_version {data['schema_version']}, this ireebench reads {SCHEMA_VERSION}")
                pid = int(data["pid"])
                continue
            if data["phase"] not in get_args(Phase):
                raise ValueError(f"phase '{data['phase']}'")
            segments.append(Segment(**{**data, "kernels": tuple(data["kernels"])}))
        except (KeyError, TypeError, ValueError) as e:
            if number == len(lines) and number > 1 and isinstance(e, json.JSONDecodeError):
                break
            raise ValueError(f"{path}:{number}: no invocation log: {e}") from e
    return InvocationLog(pid, tuple(segments))

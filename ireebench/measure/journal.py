"""The job's journal: one JSON line an event, and the samples in a file of raw integers beside it.

Everything that is known of a running or interrupted job is read back from these two files. A line is written and
synced before the work it announces, and after the work it reports; samples are synced before the line that names
them. So a crash costs the item that had begun, and a power cut leaves at worst a torn last line, which is dropped.

Events: `session` (a worker started), `begin` and `end` of an item (entry, phase, cache, round), `failed` (an entry's
outcome), `lost` (the same, written by the client for a worker that died), `fatal` (the job cannot go on), `done`.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ireebench.measure.job import CachePolicy
from ireebench.measure.result import Samples

JOURNAL = "journal.jsonl"
SAMPLES = "samples.bin"

# prepare: an input set of a group is made (entry is the group's number); the others belong to an entry.
Phase = Literal["prepare", "load", "check", "warmup", "round", "recheck", "close"]


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of work that has a begin and an end. `entry` is an entry's key, or "group N" for `prepare`."""

    entry: str
    phase: Phase
    cache: CachePolicy | None = None
    round: int | None = None

    def __str__(self) -> str:
        where = f" ({self.cache}, round {self.round})" if self.phase == "round" else ""
        return f"{PHASE_WORDS[self.phase]}{where}"


PHASE_WORDS: dict[Phase, str] = {
    "prepare": "making the inputs",
    "load": "loading it",
    "check": "checking it",
    "warmup": "warming it up",
    "round": "timing it",
    "recheck": "checking it again after timing",
    "close": "closing it",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One line. `data` is the event's own, as JSON values."""

    name: str
    item: Item | None
    data: dict[str, Any]


class Journal:
    """Appends events and samples to a job's folder. One writer at a time: the worker, or the client once it is dead."""

    def __init__(self, folder: Path) -> None:
        _drop_torn_line(folder / JOURNAL)
        self._lines = (folder / JOURNAL).open("ab", buffering=0)
        self._samples = (folder / SAMPLES).open("ab", buffering=0)

    def write(self, name: str, item: Item | None = None, **data: Any) -> None:
        """Appends one event and syncs it to the disk."""
        record: dict[str, Any] = {"event": name}
        if item is not None:
            record |= {"entry": item.entry, "phase": item.phase, "cache": item.cache, "round": item.round}
        # Two clocks, because profilers stamp records with one or the other; neither steps with the wall clock.
        clocks = {"monotonic_ns": time.monotonic_ns(), "boottime_ns": time.clock_gettime_ns(time.CLOCK_BOOTTIME)}
        line = json.dumps(record | data | clocks, sort_keys=True) + "\n"
        self._lines.write(line.encode())
        os.fsync(self._lines.fileno())

    def write_samples(self, columns: list[Samples]) -> dict[str, int | list[int]]:
        """Appends arrays of int64 and syncs them; returns the reference that an `end` event carries."""
        payload = b"".join(np.ascontiguousarray(c, dtype="<i8").tobytes() for c in columns)
        offset = self._samples.seek(0, os.SEEK_END)
        self._samples.write(payload)
        os.fsync(self._samples.fileno())
        return {"offset": offset, "lengths": [len(c) for c in columns], "crc32": zlib.crc32(payload)}

    def close(self) -> None:
        """Closes both files."""
        self._lines.close()
        self._samples.close()


def read_samples(folder: Path, reference: dict[str, Any]) -> list[Samples] | None:
    """The arrays that `write_samples` stored; None when the file is shorter or altered (a disk that lied)."""
    count = sum(reference["lengths"])
    with (folder / SAMPLES).open("rb") as file:
        file.seek(reference["offset"])
        payload = file.read(8 * count)
    if len(payload) != 8 * count or zlib.crc32(payload) != reference["crc32"]:
        return None
    flat = np.frombuffer(payload, dtype="<i8").astype(np.int64)
    ends = np.cumsum(reference["lengths"])
    return [np.asarray(part) for part in np.split(flat, ends[:-1])]


def parse(line: str) -> Event | None:
    """One line of the journal; None for one that is torn or is no event."""
    try:
        record = json.loads(line)
        name = record.pop("event")
        item = None
        if "phase" in record:
            item = Item(record.pop("entry"), record.pop("phase"), record.pop("cache"), record.pop("round"))
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return Event(name, item, record)


def read(folder: Path) -> list[Event]:
    """All whole events of a job's folder, in order; empty when it has not begun."""
    path = folder / JOURNAL
    if not path.exists():
        return []
    return [event for line in path.read_text(errors="replace").splitlines() if (event := parse(line))]


class Tail:
    """Follows a journal while a worker writes it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._offset = self._path.stat().st_size if self._path.exists() else 0

    def events(self) -> Iterator[Event]:
        """The whole events that were appended since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            if event := parse(line):
                yield event


def _drop_torn_line(path: Path) -> None:
    """Cuts what follows the last line end, so that the next line does not continue a torn one."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        with path.open("r+b") as file:
            file.truncate(whole)

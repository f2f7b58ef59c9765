"""What a worker launched, in order: what a whole-process timer attributes kernels by.

A profiler around the worker sees kernels, not invocations. The job's journal says which entry ran how often, phase by
phase, in launch order; this module reads it as one log a worker process (a job whose worker died has several).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ireebench.measure.job import CachePolicy, Job
from ireebench.measure.journal import Event

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
    """One worker's segments in launch order.

    `interrupted` is the entry that the worker was launching when it failed or died: it launched more than is logged.
    """

    pid: int
    segments: tuple[Segment, ...]
    interrupted: str | None = None


def read_logs(job: Job, events: Sequence[Event]) -> tuple[InvocationLog, ...]:
    """A log for each worker that the journal's events tell of, in order."""
    kernels = {e.key: e.kernels for g in job.groups for e in g.entries}
    logs: list[InvocationLog] = []
    for event in events:
        if event.name == "session":
            logs.append(InvocationLog(int(event.data["pid"]), ()))
            continue
        item = event.item
        if not logs or item is None or item.entry not in kernels:
            continue
        log = logs[-1]
        open_entry = log.interrupted
        if event.name == "begin" and item.phase != "load":
            open_entry = item.entry
        elif event.name in ("end", "failed") and item.entry == open_entry:
            open_entry = None if event.name == "end" or item.phase in ("check", "recheck") else open_entry
        added = _segments(event, kernels[item.entry])
        logs[-1] = InvocationLog(log.pid, (*log.segments, *added), open_entry)
    return tuple(log for log in logs if log.segments or log.interrupted)


def _segments(event: Event, kernels: tuple[str, ...]) -> list[Segment]:
    """What the work that an event reports had launched; empty for other events."""
    item, data = event.item, event.data
    if item is None:
        return []
    key = item.entry
    match event.name, item.phase:
        case ("end" | "failed", "check") if "launches" in data:
            found = [Segment(key, "check", data["launches"], kernels)]
        case ("end" | "failed", "recheck"):
            found = [Segment(key, "check", 1, kernels)]
        case ("end", "warmup"):
            found = [Segment(key, "warmup", data["launches"], kernels, cache=item.cache or "hot")]
        case ("end", "round"):
            cache, number = item.cache or "hot", item.round or 0
            found = [
                Segment(key, "warmup", data.get("rewarm", 0), kernels, number, cache),
                Segment(key, "round", data["launches"], kernels, number, cache),
            ]
        case _:
            found = []
    return [s for s in found if s.count]

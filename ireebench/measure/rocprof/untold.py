"""Finds the dispatches of entries whose kernels nobody knows in advance: baselines of other libraries.

What lies between two candidates' dispatches, which are known, is what the log says was launched between them. A turn
that an entry has to itself there tells its sequence: so many dispatches in so many invocations, the same each time.
Turns that it shares with others are then cut by the sequences that are known. Whatever does not fit exactly is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.measure.invocation_log import Segment
from ireebench.measure.rocprof.dispatches import Dispatches
from ireebench.measure.rocprof.sequences import streams

Rows = npt.NDArray[np.int64]
_LONGEST = 64  # kernels of one invocation


@dataclass(frozen=True, slots=True)
class Placed:
    """Segments with the rows of their dispatches, and why the rest has none."""

    rows: dict[int, Rows]  # by the segment's position in the log
    refused: dict[str, str]  # by entry


@dataclass(frozen=True, slots=True)
class _Window:
    """Untold segments (positions in the log) between two told ones, and the untold dispatches there, in time order.

    `ends`: which end of the rows the segments are flush with; checks and set-up at the other end are of no interest.
    """

    at: tuple[int, ...]
    rows: Rows
    ends: str  # "both", "first", "last"


def place(d: Dispatches, free: Rows, log: tuple[Segment, ...], told: dict[int, Rows]) -> Placed:
    """Places the segments without kernels. `free` are the rows of no known kernel; `told` are segments with rows."""
    entries = {s.entry for s in log if not s.kernels and s.phase == "round"}
    if not entries:
        return Placed({}, {})
    if not told:
        return _alone(d, free, log, entries)
    windows = _windows(d, free, log, told)
    known = _learn(d, windows, log)
    placed: dict[int, Rows] = {}
    refused = {e: _UNKNOWN for e in entries if e not in known}
    for w in windows:
        parts = _split(d, w, log, known)
        for i in w.at:
            if parts is None and log[i].phase == "round":
                refused.setdefault(log[i].entry, _UNKNOWN)
            elif parts is not None:
                placed[i] = parts[i]
    missing = {s.entry for i, s in enumerate(log) if s.phase == "round" and not s.kernels and i not in placed}
    refused |= {e: _UNKNOWN for e in missing if e not in refused}
    return Placed({i: r for i, r in placed.items() if log[i].entry not in refused}, refused)


_UNKNOWN = (
    "its kernels are not known in advance and cannot be told from the others' in this trace; measure it by itself"
)


def _windows(d: Dispatches, free: Rows, log: tuple[Segment, ...], told: dict[int, Rows]) -> list[_Window]:
    """Windows with timed segments in them, where it is certain which rows are theirs."""
    free = free[np.argsort(d.start_ns[free], kind="stable")]
    starts = d.start_ns[free]
    found: list[_Window] = []
    begin, pending = np.iinfo(np.int64).min, list[int]()
    for i in range(len(log) + 1):
        if i < len(log) and i not in told:
            if not log[i].kernels:
                pending.append(i)
            continue
        end = d.start_ns[told[i]].min() if i < len(log) else np.iinfo(np.int64).max
        rows = free[np.searchsorted(starts, begin) : np.searchsorted(starts, end)]
        if (w := _window(log, pending, rows)) is not None:
            found.append(w)
        pending = []
        if i < len(log):
            begin = d.end_ns[told[i]].max()
    return found


def _window(log: tuple[Segment, ...], pending: list[int], rows: Rows) -> _Window | None:
    timed = [n for n, i in enumerate(pending) if log[i].phase != "check"]
    if not timed:
        return None
    inner = pending[timed[0] : timed[-1] + 1]
    before, after = timed[0] > 0, timed[-1] < len(pending) - 1
    if len(inner) != len(timed) or (before and after):
        return None
    return _Window(tuple(inner), rows, "last" if before else "first" if after else "both")


def _learn(d: Dispatches, windows: list[_Window], log: tuple[Segment, ...]) -> dict[str, Rows]:
    """The sequence of each entry, from windows that hold one unknown entry and nothing beside."""
    known: dict[str, Rows] = {}
    whole = [w for w in windows if w.ends == "both"]
    while True:
        before = len(known)
        for w in whole:
            new = {log[i].entry for i in w.at} - set(known)
            if len(new) == 1 and (sequence := _sequence(d, w, log, known, next(iter(new)))) is not None:
                known[next(iter(new))] = sequence
        if len(known) == before:
            return known


def _sequence(d: Dispatches, w: _Window, log: tuple[Segment, ...], known: dict[str, Rows], entry: str) -> Rows | None:
    left = len(w.rows) - sum(log[i].count * len(known[log[i].entry]) for i in w.at if log[i].entry != entry)
    times = sum(log[i].count for i in w.at if log[i].entry == entry)
    if left <= 0 or left % times or left // times > _LONGEST:
        return None
    skip = 0
    for i in w.at:
        if log[i].entry == entry:
            break
        skip += log[i].count * len(known[log[i].entry])
    sequence = d.name[w.rows[skip : skip + left // times]]
    return sequence if _split(d, w, log, {**known, entry: sequence}) is not None else None


def _split(d: Dispatches, w: _Window, log: tuple[Segment, ...], known: dict[str, Rows]) -> dict[int, Rows] | None:
    """A window's rows by segment; None when they are not exactly what the segments launched."""
    if any(log[i].entry not in known for i in w.at):
        return None
    lengths = [log[i].count * len(known[log[i].entry]) for i in w.at]
    total = sum(lengths)
    if total > len(w.rows) or (w.ends == "both" and total != len(w.rows)):
        return None
    rows = w.rows[-total:] if w.ends == "last" else w.rows[:total]
    expected = np.concatenate([np.tile(known[log[i].entry], log[i].count) for i in w.at])
    if not np.array_equal(d.name[rows], expected):
        return None
    return dict(zip(w.at, np.split(rows, np.cumsum(lengths)[:-1]), strict=True))


def _alone(d: Dispatches, free: Rows, log: tuple[Segment, ...], entries: set[str]) -> Placed:
    """A trace of one untold entry and nothing else that is known: a run that repeats as often as it was launched."""
    if len(entries) > 1:
        return Placed({}, dict.fromkeys(entries, _UNKNOWN))
    mine = [i for i, s in enumerate(log) if not s.kernels]
    times = sum(log[i].count for i in mine)
    found: list[Rows] = []
    for stream in streams(d.take(free)):
        rows = free[stream]
        for period in range(1, min(_LONGEST, len(rows) // times) + 1):
            starts = _periodic(d.name[rows], period, period * times)
            if starts:
                found += [rows[a : a + period * times] for a in starts]
                break
    (entry,) = entries
    if len(found) != 1:
        many = "several sequences repeat" if found else "no sequence of kernels repeats"
        return Placed({}, {entry: f"{many} {times} times in the trace, so its kernels cannot be told"})
    length = len(found[0]) // times
    cuts = np.cumsum([log[i].count * length for i in mine])[:-1]
    return Placed(dict(zip(mine, np.split(found[0], cuts), strict=True)), {})


def _periodic(names: Rows, period: int, length: int) -> list[int]:
    """Where runs of exactly `length` begin in which each name equals the one `period` before it."""
    if period == length:
        return [0] if len(names) == length else []
    same = np.concatenate(([False], names[period:] == names[:-period], [False]))
    begins = np.flatnonzero(~same[:-1] & same[1:])
    ends = np.flatnonzero(same[:-1] & ~same[1:])
    return [int(b) for b, e in zip(begins, ends, strict=True) if e - b + period == length]

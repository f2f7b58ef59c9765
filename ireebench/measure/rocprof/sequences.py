"""Groups dispatches into invocations by the sequence in which they repeat, for traces of any program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.measure.rocprof.dispatches import Dispatches, is_helper, times_dropped
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.summary import Match

_LONGEST = 256  # dispatches in one invocation; a decoder layer has some tens


@dataclass(frozen=True, slots=True)
class InvocationSummary:
    """Invocations of one sequence in one (process, agent, queue). Times in ns.

    Kernel time sums an invocation's dispatches, span is from its first start to its last end, gap the difference.
    `incomplete` dispatches belong to no whole invocation and count for nothing.
    """

    sequence: tuple[str, ...]
    agent: str | None
    process: str | None
    queue: int
    calls: int
    median_ns: float
    q1_ns: float
    q3_ns: float
    span_ns: float
    gap_ns: float
    incomplete: int


def by_invocation(d: Dispatches, wanted: Match) -> tuple[InvocationSummary, ...]:
    """Invocations among the dispatches whose kernels are wanted (never helpers), in order of first start.

    Raises TraceError when the trace does not say when a dispatch began.
    """
    keep = np.array([wanted(n) and not is_helper(n) for n in d.names], bool)[d.name] if len(d) else np.empty(0, bool)
    d = d.take(keep)
    if len(d) and not d.start_ns.any():
        raise TraceError(
            "the trace has durations only, no start times: invocations cannot be told; profile with rocprofv3"
        )
    found: list[tuple[int, InvocationSummary]] = []
    for rows in streams(d):
        names = d.name[rows]
        starts, length = _cut(names.tolist())
        if not len(starts):
            continue
        chunks = rows[starts[:, None] + np.arange(length)]
        bad = np.logical_or.reduce(list(times_dropped(d).values()))[chunks].any(axis=1)
        good = chunks[~bad]
        if len(good):
            found.append((int(d.start_ns[good[0, 0]]), _summary(d, rows, good)))
    return tuple(s for _, s in sorted(found, key=lambda f: f[0]))


def streams(d: Dispatches) -> list[npt.NDArray[np.int64]]:
    """Row numbers of each (process, agent, queue), sorted by start (rows of a trace are not), then by number."""
    if not len(d):
        return []
    order = np.lexsort((d.order, d.start_ns, d.queue, d.agent, d.process))
    border = (np.diff(d.process[order]) != 0) | (np.diff(d.agent[order]) != 0) | (np.diff(d.queue[order]) != 0)
    return np.split(order, np.flatnonzero(border) + 1)


def _cut(names: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Where invocations begin, and their length: the shortest period, else what most often follows the first kernel."""
    n = len(names)
    column = np.array(names)
    for period in range(1, min(n, _LONGEST) + 1):
        if period <= n // 2 and (column[period:] == column[:-period]).all():
            return np.arange(0, n - period + 1, period), period
    firsts = np.flatnonzero(column == column[0])
    ends = np.append(firsts[1:], n)
    chunks = [tuple(names[a:b]) for a, b in zip(firsts.tolist(), ends.tolist(), strict=True)]
    common = Counter(chunks).most_common(1)[0][0]
    starts = [a for a, chunk in zip(firsts.tolist(), chunks, strict=True) if chunk == common]
    return np.array(starts, np.int64), len(common)


def _summary(d: Dispatches, rows: npt.NDArray[np.int64], chunks: npt.NDArray[np.int64]) -> InvocationSummary:
    kernel = d.duration_ns[chunks].sum(axis=1)
    span = (d.end_ns[chunks].max(axis=1) - d.start_ns[chunks].min(axis=1)).astype(np.float64)
    q1, median, q3 = np.percentile(kernel, (25, 50, 75)).tolist()
    first = rows[0]
    return InvocationSummary(
        sequence=tuple(d.names[i] for i in d.name[chunks[0]].tolist()),
        agent=d.agents[d.agent[first]] or None,
        process=d.processes[d.process[first]] or None,
        queue=int(d.queue[first]),
        calls=len(chunks),
        median_ns=median,
        q1_ns=q1,
        q3_ns=q3,
        span_ns=float(np.median(span)),
        gap_ns=float(np.median(np.maximum(span - kernel, 0.0))),
        incomplete=len(rows) - chunks.size,
    )

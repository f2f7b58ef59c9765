"""Attributes dispatches to invocations: what each of them cost, by what the worker says that it launched.

Kernels of different entries can bear one name (IREE names kernels of equal code alike), so a name alone says nothing.
Entries that share a symbol form a group; the group's dispatches, in time order, must be exactly the sequence that the
worker launched, or the whole group is refused: a sample is never taken from a stream that is not understood.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.measure.invocation_log import InvocationLog, Segment
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import KernelSamples, RunResult
from ireebench.measure.rocprof.dispatches import Dispatches, is_helper, kernel_name, times_dropped
from ireebench.measure.rocprof.sequences import streams
from ireebench.outcome import Failure, Stage, Status

Rows = npt.NDArray[np.int64]
_LONGEST = 64  # kernels of one invocation that are found without being told


@dataclass(frozen=True, slots=True)
class Attributed:
    """Runs by entry, or why an entry has none; `foreign` counts every dispatch that is in no sample, by cause."""

    runs: dict[str, tuple[RunResult, ...]]
    failures: dict[str, Failure]
    foreign: tuple[tuple[str, int], ...]


def attribute(d: Dispatches, log: InvocationLog, timer: str, process: int) -> Attributed:
    """Cuts dispatches into the invocations of the log. `process` numbers the repetition, as in the job."""
    foreign: Counter[str] = Counter()
    d = _own_process(d, log.pid, foreign)
    known = {kernel_name(k) for s in log.segments for k in s.kernels}
    helper = np.array([is_helper(n) and n not in known for n in d.names], bool)[d.name] if len(d) else np.zeros(0, bool)
    _count(foreign, "runtime helper (fill, copy)", helper)
    d = d.take(~helper)
    runs: dict[str, tuple[RunResult, ...]] = {}
    failures: dict[str, Failure] = {}
    used = np.zeros(len(d), bool)
    told = [s for s in log.segments if s.kernels]
    untold = [s for s in log.segments if not s.kernels]
    for group in _groups(told):
        found = _match(d, group, log.interrupted)
        if isinstance(found, str):
            failures.update({s.entry: _refused(found) for s in group})
            continue
        used[found] = True
        runs.update(_cut(d, found, group, timer, process))
    if untold:
        free = np.array([n not in known for n in d.names], bool)[d.name] if len(d) else np.zeros(0, bool)
        found_at = _find_untold(d, np.flatnonzero(free), untold)
        if isinstance(found_at, str):
            failures.update({s.entry: _refused(found_at) for s in untold})
        else:
            used[found_at] = True
            runs.update(_cut(d, found_at, untold, timer, process))
    _count(foreign, "foreign kernel", ~used)
    total = tuple(sorted(foreign.items()))
    return Attributed({e: tuple(_with_foreign(r, total) for r in rs) for e, rs in runs.items()}, failures, total)


def _with_foreign(run: RunResult, total: tuple[tuple[str, int], ...]) -> RunResult:
    return RunResult(
        run.entry, run.process, run.cache, run.timer, run.kernel_ns, run.span_ns, run.rounds, run.kernels,
        (*run.foreign, *total),
    )  # fmt: skip


def _count(foreign: Counter[str], cause: str, mask: npt.NDArray[np.bool_]) -> None:
    if n := int(np.count_nonzero(mask)):
        foreign[cause] += n


def _refused(reason: str) -> Failure:
    return Failure(Status.RUN_FAILED, reason, Stage.CHECKED)


def _own_process(d: Dispatches, pid: int, foreign: Counter[str]) -> Dispatches:
    """The worker's dispatches, where the trace says which process a dispatch is of; else all of them."""
    if str(pid) not in d.processes:
        return d
    own = d.process == d.processes.index(str(pid))
    _count(foreign, "another process", ~own)
    return d.take(own)


def _groups(segments: list[Segment]) -> list[list[Segment]]:
    """Segments of entries that share a symbol, directly or through others, in launch order."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for s in segments:
        for k in s.kernels:
            parent[root(kernel_name(k))] = root(kernel_name(s.kernels[0]))
    groups: dict[str, list[Segment]] = {}
    for s in segments:
        groups.setdefault(root(kernel_name(s.kernels[0])), []).append(s)
    return list(groups.values())


def _match(d: Dispatches, group: list[Segment], interrupted: str | None) -> Rows | str:
    """The rows of the one stream that is exactly the group's sequence, in order; or why there is none.

    Where the worker was interrupted at an entry of the group, more of its dispatches may follow.
    """
    code = {n: i for i, n in enumerate(d.names)}
    symbols = list(dict.fromkeys(kernel_name(k) for s in group for k in s.kernels))
    absent = [s for s in symbols if s not in code]
    if absent:
        return _absent(absent, d)
    expected = np.concatenate([np.tile([code[kernel_name(k)] for k in s.kernels], s.count) for s in group])
    ours = np.isin(d.name, [code[s] for s in symbols])
    per_queue = [np.flatnonzero(ours)[rows] for rows in streams(d.take(ours))]
    cut = len(expected) if any(s.entry == interrupted for s in group) else None
    exact = [rows[:cut] for rows in per_queue if np.array_equal(d.name[rows[:cut]], expected)]
    if not exact and len(per_queue) > 1:
        exact = [rows[:cut] for rows in _across_queues(d, ours) if np.array_equal(d.name[rows[:cut]], expected)]
    if len(exact) == 1:
        return exact[0]
    if exact:
        return f"{len(exact)} queues or processes ran the same sequence; profile on a GPU that nothing else uses"
    return _mismatch(d, symbols, code, expected, ours)


def _across_queues(d: Dispatches, ours: npt.NDArray[np.bool_]) -> list[Rows]:
    """As `streams`, with the queues of an agent taken together: a runtime may spread one stream over several."""
    rows = np.flatnonzero(ours)
    rows = rows[np.lexsort((d.order[rows], d.start_ns[rows], d.agent[rows], d.process[rows]))]
    border = (np.diff(d.agent[rows]) != 0) | (np.diff(d.process[rows]) != 0)
    return np.split(rows, np.flatnonzero(border) + 1)


def _absent(absent: list[str], d: Dispatches) -> str:
    seen = ", ".join(n for n in d.names[:5] if n) or "none"
    return f"the trace has no dispatch of {', '.join(absent[:2])}; kernels seen: {seen}"


def _mismatch(
    d: Dispatches, symbols: list[str], code: dict[str, int], expected: Rows, ours: npt.NDArray[np.bool_]
) -> str:
    want, have = Counter(expected.tolist()), Counter(d.name[ours].tolist())
    for s in symbols:
        w, h = want[code[s]], have[code[s]]
        if h < w:
            return f"incomplete: {w} dispatches of {s} were launched, the trace has {h}; profile again"
        if h > w:
            return (
                f"{h} dispatches of {s} in the trace, {w} launched: another process or queue runs it too; "
                "profile on a GPU that nothing else uses"
            )
    return f"dispatches of {symbols[0]} are not in the order in which they were launched; profile again"


def _find_untold(d: Dispatches, rows: Rows, segments: list[Segment]) -> Rows | str:
    """The dispatches of an entry whose kernels nobody knows: a run that repeats as often as it was launched."""
    entries = sorted({s.entry for s in segments})
    if len(entries) > 1:
        return (
            f"kernels of {', '.join(entries)} are not known in advance and cannot be told apart in one trace; "
            "measure each in a run of its own"
        )
    times = sum(s.count for s in segments)
    found: list[Rows] = []
    for stream in streams(d.take(rows)):
        stream_rows = rows[stream]
        names = d.name[stream_rows]
        for period in range(1, min(_LONGEST, len(names) // times) + 1):
            starts = _periodic(names, period, period * times)
            if starts:
                found += [stream_rows[a : a + period * times] for a in starts]
                break
    if len(found) == 1:
        return found[0]
    many = "several sequences repeat" if found else "no sequence of kernels repeats"
    return f"{many} {times} times in the trace, so the kernels of {entries[0]} cannot be told"


def _periodic(names: Rows, period: int, length: int) -> list[int]:
    """Where runs of exactly `length` begin in which each name equals the one `period` before it."""
    same = np.concatenate(([False], names[period:] == names[:-period], [False]))
    begins = np.flatnonzero(~same[:-1] & same[1:])
    ends = np.flatnonzero(same[:-1] & ~same[1:])
    if period == length:
        return [0] if len(names) == length else []
    return [int(b) for b, e in zip(begins, ends, strict=True) if e - b + period == length]


def _cut(d: Dispatches, rows: Rows, group: list[Segment], timer: str, process: int) -> dict[str, tuple[RunResult, ...]]:
    """Samples of each entry and cache policy from the group's rows, which are exactly its launches in order."""
    per = len(rows) // sum(s.count for s in group) if not group[0].kernels else 0
    invalid = times_dropped(d)
    timed: dict[tuple[str, CachePolicy], list[tuple[int, Rows]]] = {}
    at = 0
    for s in group:
        length = len(s.kernels) or per
        chunks = rows[at : at + s.count * length].reshape(s.count, length)
        at += s.count * length
        if s.phase == "round":
            timed.setdefault((s.entry, s.cache), []).append((s.round, chunks))
    runs: dict[str, tuple[RunResult, ...]] = {}
    for (entry, cache), parts in timed.items():
        chunks = np.concatenate([c for _, c in parts])
        rounds = np.concatenate([np.full(len(c), r, np.int64) for r, c in parts])
        run = _run(d, chunks, rounds, invalid, (entry, process, cache, timer))
        runs[entry] = (*runs.get(entry, ()), run)
    return runs


def _run(
    d: Dispatches,
    chunks: Rows,
    rounds: Rows,
    invalid: dict[str, npt.NDArray[np.bool_]],
    labels: tuple[str, int, CachePolicy, str],
) -> RunResult:
    entry, process, cache, timer = labels
    dropped: list[tuple[str, int]] = []
    good = np.ones(len(chunks), bool)
    for cause, mask in invalid.items():
        bad = mask[chunks].any(axis=1) & good
        if bad.any():
            dropped.append((f"invocation with {cause}", int(bad.sum())))
            good &= ~bad
    chunks, rounds = chunks[good], rounds[good]
    start, end = d.start_ns[chunks], d.end_ns[chunks]
    kernels = tuple(_kernel(d, chunks[:, i]) for i in range(chunks.shape[1])) if len(chunks) else ()
    return RunResult(
        entry=entry,
        process=process,
        cache=cache,
        timer=timer,
        kernel_ns=np.rint(d.duration_ns[chunks].sum(axis=1)).astype(np.int64),
        span_ns=end.max(axis=1) - start.min(axis=1) if len(chunks) else np.empty(0, np.int64),
        rounds=rounds,
        kernels=kernels,
        foreign=tuple(dropped),
    )


def _kernel(d: Dispatches, rows: Rows) -> KernelSamples:
    launch = d.launches[d.launch[rows[0]]]
    return KernelSamples(
        name=d.names[d.name[rows[0]]],
        ns=np.rint(d.duration_ns[rows]).astype(np.int64),
        registers=launch.vgpr,
        local_bytes=launch.scratch_bytes,
        shared_bytes=launch.lds_bytes,
        grid=launch.grid_workgroups,
        block=launch.workgroup,
    )

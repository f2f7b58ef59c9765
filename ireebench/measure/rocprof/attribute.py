"""Attributes dispatches to invocations: what each of them cost, by what the worker says that it launched.

Kernels of different entries can bear one name (IREE names kernels of equal code alike), so a name alone says nothing.
Entries that share a symbol form a group; the group's dispatches, in time order, must be exactly the sequence that the
worker launched, or the whole group is refused: a sample is never taken from a stream that is not understood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.measure.invocation_log import InvocationLog, Segment
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import KernelSamples, RunResult
from ireebench.measure.rocprof import untold
from ireebench.measure.rocprof.dispatches import Dispatches, is_helper, kernel_name, times_dropped
from ireebench.measure.rocprof.sequences import streams
from ireebench.outcome import Failure, Stage, Status

Rows = npt.NDArray[np.int64]


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
    placed: dict[int, Rows] = {}
    failures: dict[str, Failure] = {}
    for group in _groups(log.segments):
        segments = [log.segments[i] for i in group]
        found = _match(d, segments, log.interrupted)
        if isinstance(found, str):
            failures.update({s.entry: _refused(found) for s in segments})
        else:
            lengths = [s.count * len(s.kernels) for s in segments]
            placed.update(zip(group, np.split(found, np.cumsum(lengths)[:-1]), strict=True))
    free = np.array([n not in known for n in d.names], bool)[d.name] if len(d) else np.zeros(0, bool)
    rest = untold.place(d, np.flatnonzero(free), log.segments, placed)
    failures |= {entry: _refused(reason) for entry, reason in rest.refused.items()}
    placed |= rest.rows
    used = np.zeros(len(d), bool)
    for rows in placed.values():
        used[rows] = True
    runs = _cut(d, log.segments, placed, timer, process)
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


def _groups(segments: Sequence[Segment]) -> list[list[int]]:
    """Positions of segments whose entries share a symbol, directly or through others, in launch order."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for s in segments:
        for k in s.kernels:
            parent[root(kernel_name(k))] = root(kernel_name(s.kernels[0]))
    groups: dict[str, list[int]] = {}
    for i, s in enumerate(segments):
        if s.kernels:
            groups.setdefault(root(kernel_name(s.kernels[0])), []).append(i)
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


def _cut(
    d: Dispatches, segments: Sequence[Segment], placed: dict[int, Rows], timer: str, process: int
) -> dict[str, tuple[RunResult, ...]]:
    """Samples of each entry and cache policy from the timed segments that have rows."""
    invalid = times_dropped(d)
    timed: dict[tuple[str, CachePolicy], list[tuple[int, Rows]]] = {}
    for i in sorted(placed):
        s = segments[i]
        if s.phase == "round":
            timed.setdefault((s.entry, s.cache), []).append((s.round, placed[i].reshape(s.count, -1)))
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

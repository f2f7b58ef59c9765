"""One line a kernel and agent, from dispatches."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.errors import UsageError
from ireebench.measure.rocprof.counters_csv import Counter
from ireebench.measure.rocprof.dispatches import Dispatches, Launch, is_helper, times_dropped
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.reading import Trace
from ireebench.measure.rocprof.stats_csv import Totals


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """Times of one kernel on one agent, ns; None: not in the trace. `launches` are its launch shapes with their counts.

    Quartiles interpolate linearly between samples. `helper` marks the runtime's own fills and copies.
    """

    name: str
    agent: str | None
    calls: int
    median_ns: float | None
    q1_ns: float | None
    q3_ns: float | None
    mean_ns: float | None
    min_ns: float | None
    max_ns: float | None
    total_ns: float | None
    helper: bool
    launches: tuple[tuple[Launch, int], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Kernels by total time, the runtime's helpers apart, and rows left out, by cause."""

    kernels: tuple[KernelSummary, ...]
    helpers: tuple[KernelSummary, ...]
    dropped: tuple[tuple[str, int], ...]


Match = Callable[[str], bool]


def name_filter(pattern: str | None, regex: bool, names: list[str]) -> Match:
    """Whether a kernel is wanted: the exact name where one is exactly `pattern`, else every name that contains it.

    Text is text: `$` and brackets mean themselves unless `regex`. Raises TraceError that lists the names seen when
    nothing matches (an average over no rows is no number), UsageError for a broken regular expression.
    """
    if pattern is None:
        return lambda _: True
    if regex:
        try:
            compiled = re.compile(pattern)
        except re.error as e:
            raise UsageError(
                f"--kernel '{pattern}': no regular expression: {e}; leave out --regex for plain text"
            ) from e

        def match(name: str) -> bool:
            return compiled.search(name) is not None
    elif pattern in names:

        def match(name: str) -> bool:
            return name == pattern
    else:

        def match(name: str) -> bool:
            return pattern in name

    if not any(match(n) for n in names):
        seen = "\n  ".join(names[:20]) or "none"
        more = f"\n  ... and {len(names) - 20} more" if len(names) > 20 else ""
        hint = "; '$' ends a line in a regular expression: write '\\$'" if regex and "$" in pattern else ""
        raise TraceError(f"kernel not found: no name matches '{pattern}'{hint}; names seen:\n  {seen}{more}")
    return match


def names_of(trace: Trace) -> list[str]:
    """Every kernel's name in the trace, in order of first sight."""
    names = [*(trace.dispatches.names if trace.dispatches is not None else ())]
    names += [t.name for t in trace.totals] + [c.kernel for c in trace.counters]
    return list(dict.fromkeys(n for n in names if n))


def summarise(trace: Trace, wanted: Match = lambda _: True) -> Summary:
    """The summary of the kernels that are wanted."""
    kernels: list[KernelSummary] = []
    dropped: dict[str, int] = {}
    if trace.malformed:
        dropped["malformed line"] = trace.malformed
    if trace.dispatches is not None:
        listed, causes = _of_dispatches(trace.dispatches, wanted)
        kernels += listed
        dropped.update(causes)
    kernels += [_of_totals(t) for t in trace.totals if wanted(t.name)]
    kernels += _of_counters([c for c in trace.counters if wanted(c.kernel)])
    helpers = tuple(k for k in kernels if k.helper)
    if helpers:
        dropped["runtime helper (fill, copy)"] = sum(k.calls for k in helpers)
    order = sorted((k for k in kernels if not k.helper), key=lambda k: -(k.total_ns or 0.0))
    return Summary(tuple(order), helpers, tuple(dropped.items()))


def _of_dispatches(d: Dispatches, wanted: Match) -> tuple[list[KernelSummary], dict[str, int]]:
    keep = np.array([wanted(n) for n in d.names], bool)[d.name] if len(d) else np.empty(0, bool)
    if not keep.all():
        d = d.take(keep)
    causes = {cause: mask for cause, mask in times_dropped(d).items() if mask.any()}
    dropped = {cause: int(np.count_nonzero(mask)) for cause, mask in causes.items()}
    if causes:
        usable = ~np.logical_or.reduce(list(causes.values()))
        timeless = not usable.any()
        if not timeless:
            d = d.take(usable)
    else:
        timeless = False
    return [_kernel(d, rows, timeless) for rows in _groups(d)], dropped


def _groups(d: Dispatches) -> list[npt.NDArray[np.intp]]:
    """Row numbers of each (kernel, agent), in order of first sight."""
    if not len(d):
        return []
    which = d.name * len(d.agents) + d.agent
    small = which.astype(np.uint16) if len(d.names) * len(d.agents) < 2**16 else which  # radix sort, not merge sort
    order = np.argsort(small, kind="stable")
    borders = np.flatnonzero(np.diff(which[order])) + 1
    return sorted(np.split(order, borders), key=lambda rows: int(rows[0]))


def _kernel(d: Dispatches, rows: npt.NDArray[np.intp], timeless: bool) -> KernelSummary:
    name, agent = d.names[d.name[rows[0]]], d.agents[d.agent[rows[0]]] or None
    counts = np.bincount(d.launch[rows], minlength=len(d.launches))
    launches = tuple((d.launches[i], int(counts[i])) for i in np.flatnonzero(counts).tolist())
    if timeless:
        return KernelSummary(name, agent, len(rows), *(None,) * 7, is_helper(name), launches)
    ns = d.duration_ns[rows]
    q1, median, q3 = np.percentile(ns, (25, 50, 75)).tolist()
    return KernelSummary(
        name=name,
        agent=agent,
        calls=len(rows),
        median_ns=median,
        q1_ns=q1,
        q3_ns=q3,
        mean_ns=float(ns.mean()),
        min_ns=float(ns.min()),
        max_ns=float(ns.max()),
        total_ns=float(ns.sum()),
        helper=is_helper(name),
        launches=launches,
    )


def _of_totals(t: Totals) -> KernelSummary:
    return KernelSummary(
        t.name, None, t.calls, t.median_ns, None, None, t.mean_ns, t.min_ns, t.max_ns, t.total_ns, t.helper, ()
    )


def _of_counters(counters: list[Counter]) -> list[KernelSummary]:
    """Counter runs have no times: one line a kernel with what it occupies."""
    seen: dict[tuple[str, str], KernelSummary] = {}
    for c in counters:
        where = (c.kernel, c.agent)
        if where not in seen:
            launches = ((c.launch, c.calls),)
            seen[where] = KernelSummary(c.kernel, c.agent or None, c.calls, *(None,) * 7, is_helper(c.kernel), launches)
    return list(seen.values())

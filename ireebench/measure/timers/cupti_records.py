"""From a profiler's records to invocations: pure functions, so that every way in which records go wrong is testable."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache

from ireebench.measure.timers.base import Invocation, KernelRecord

Signature = tuple[tuple[str, str], ...]


class AttributionError(RuntimeError):
    """The records do not add up to the invocations: some are missing, in excess, or without times."""


def signature(records: Sequence[KernelRecord]) -> Signature:
    """What an invocation ran: its (kind, name) pairs, sorted, since concurrent kernels may start in either order."""
    return tuple(sorted((r.kind, r.name) for r in records))


def signature_of(invocation: Invocation) -> Signature:
    """The signature of an invocation that was attributed."""
    return signature(invocation.records)


def to_invocation(records: Sequence[KernelRecord]) -> Invocation:
    """One invocation from its records: sum of durations, and last end minus first start, in ns."""
    ordered = tuple(sorted(records, key=lambda r: r.start_ns))
    total = sum(r.end_ns - r.start_ns for r in ordered)
    span = max(r.end_ns for r in ordered) - ordered[0].start_ns
    return Invocation(total, span, ordered)


def attribute(records: Sequence[KernelRecord], begins_ns: Sequence[int]) -> list[Invocation]:
    """One Invocation per entry of `begins_ns`, in order, from records in any order.

    `begins_ns` are the moments just before each launch, on the records' clock; every invocation was waited for before
    the next began, so a record belongs to the last launch that began before it started. Where that does not fit, as
    when the two clocks drift apart by more than a launch takes, equal consecutive shares are tried. Either way all
    invocations must have run the same kernels, copies and fills. Records that ended before the first launch began are
    those of earlier, untimed launches. Raises AttributionError when records are missing, in excess or without times.
    """
    own = [r for r in records if r.end_ns == 0 or r.end_ns >= begins_ns[0]]
    for r in own:
        if r.start_ns <= 0 or r.end_ns < r.start_ns:
            raise AttributionError(f"the profiler gives no times for {r.name}")
    ordered = sorted(own, key=lambda r: r.start_ns)
    groups = _by_window(ordered, begins_ns)
    if not _alike(groups):
        groups = in_equal_shares(ordered, len(begins_ns))
    return [to_invocation(g) for g in groups]


def _by_window(ordered: Sequence[KernelRecord], begins_ns: Sequence[int]) -> list[list[KernelRecord]]:
    groups: list[list[KernelRecord]] = [[] for _ in begins_ns]
    for record in ordered:
        # A record that started before the first launch, and ended after it began, stays with the first.
        groups[max(0, bisect_right(begins_ns, record.start_ns) - 1)].append(record)
    return groups


def _alike(groups: Sequence[Sequence[KernelRecord]]) -> bool:
    return bool(groups[0]) and len({signature(g) for g in groups}) == 1


def in_equal_shares(ordered: Sequence[KernelRecord], invocations: int) -> list[list[KernelRecord]]:
    """Splits records, sorted by start, into equal consecutive shares.

    Raises AttributionError unless they divide evenly and every share ran the same things.
    """
    if not ordered:
        raise AttributionError(f"the profiler recorded no kernel for {invocations} invocations")
    share, rest = divmod(len(ordered), invocations)
    groups = [list(ordered[i * share : (i + 1) * share]) for i in range(invocations)]
    if rest or not _alike(groups):
        counts = Counter(r.name for r in ordered)
        seen = ", ".join(f"{n} of {name}" for name, n in sorted(counts.items()))
        raise AttributionError(f"the profiler's records do not fit {invocations} invocations: {seen}")
    return groups


@cache
def readable_name(symbol: str) -> str:
    """A C++ symbol as its qualified name without template arguments and parameters; other names as they are.

    "_ZN3cub6KernelIfEEvv" becomes "cub::Kernel".
    """
    if not symbol.startswith("_Z"):
        return symbol
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        libc = ctypes.CDLL(None)
    except OSError:
        return symbol
    library.__cxa_demangle.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    status = ctypes.c_int()
    text = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return symbol
    full = (ctypes.string_at(text)).decode(errors="replace")
    libc.free(text)
    return _without_arguments(full) or symbol


def _without_arguments(full: str) -> str:
    """Drops template arguments, parameters and the return type of a demangled function name."""
    kept: list[str] = []
    depth = 0
    text = full.replace("(anonymous namespace)", "anonymous")
    for char in text:
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "(" and depth == 0:
            break
        elif depth == 0:
            kept.append(char)
    return "".join(kept).split(" ")[-1]

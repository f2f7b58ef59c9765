"""One cadence for everything that is timed by its kernels: a loop that launches faster would time a busier device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

# As far apart as the slowest way of launching needs: an IREE invocation from Python takes about 60 us on an H200, a
# library call about 10. What takes longer by itself sets its own cadence.
CADENCE_NS = 100_000


def paced(copies: Iterable[int], clock_ns: Callable[[], int]) -> Iterator[tuple[int, int]]:
    """(copy, the moment of its launch on `clock_ns`), each at least CADENCE_NS after the one before; waits spinning."""
    due_ns = 0
    for copy in copies:
        begin_ns = clock_ns()
        while begin_ns < due_ns:
            begin_ns = clock_ns()
        due_ns = begin_ns + CADENCE_NS
        yield copy, begin_ns

"""Which rows of a ceiling are doubtful: slower than what their neighbours show to be possible.

The best reader of a size is found by a search with a budget, and a search can miss it. Times of one policy, by size,
tell where: a row above the line between its neighbours' times.

Is the line a bound? While latency and a constant rate make the time it is the time itself, and where the rate falls
with size time bends upwards and lies below it. A right row lies above the line in two places. Small buffers are
bound by latency, which grows in steps: their rows are measured again, but never dropped. Hot, the time steps up
where a buffer outgrows a cache, and the row behind the step lies above the line that begins before it. But such a row
lies on one line with the next two, which are behind the step as well, while a row that is too slow lies above that line
too: hot, a row is dropped for both reasons or not at all. Cold buffers come out of memory at every size: no step.

Without the row the line is the ceiling there, as between any two sizes. That is shorter than the row: dropping can
only raise the ceiling and never flatters a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Points = Sequence[tuple[int, float]]  # (bytes, ns) of one policy, sizes rising

LARGE_BYTES = 16_000_000  # smaller buffers and problems are bound by latency more than by bandwidth
MARGIN = 0.01  # medians of 40 samples repeat within this on an H200


def above_line(points: Points, i: int) -> float:
    """By which share the i-th time exceeds the line between its neighbours' times; 0 or less where it does not.

    0 for the first and the last, which have one neighbour.
    """
    if not 0 < i < len(points) - 1:
        return 0.0
    (before, before_ns), (size, ns), (after, after_ns) = points[i - 1 : i + 2]
    return ns / float(np.interp(size, [before, after], [before_ns, after_ns])) - 1.0


def above_larger(points: Points, i: int) -> float:
    """By which share the i-th time exceeds the line through the next two, drawn down to its size; 0 without two."""
    if i + 2 >= len(points):
        return 0.0
    (size, ns), (near, near_ns), (far, far_ns) = points[i : i + 3]
    line = near_ns - (near - size) * (far_ns - near_ns) / (far - near)
    return ns / line - 1.0 if line > 0 else 0.0


def doubtful(points: Points) -> list[int]:
    """The positions of the rows that are over 1% slower than their neighbours' line: large sizes first, worst first."""
    found = [(points[i][0] < LARGE_BYTES, -above_line(points, i), i) for i in range(len(points))]
    return [i for _, share, i in sorted(found) if -share > MARGIN]


def kept(points: Points, steps: bool) -> list[tuple[int, float]]:
    """The points without the large ones that are too slow, the worst dropped first: a neighbour may be the slow one.

    `steps`: caches make the time step up (hot).
    """
    left = list(points)
    while True:
        slow = (i for i in doubtful(left) if left[i][0] >= LARGE_BYTES)
        worst = next((i for i in slow if not steps or above_larger(left, i) > MARGIN), None)
        if worst is None:
            return left
        del left[worst]

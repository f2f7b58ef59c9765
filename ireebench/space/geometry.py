"""What a configuration means on a problem: lanes, padded lengths, partial results. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ireebench.candidate import Candidate

# Lanes load at most 16 bytes at once on every GPU target (global_load_dwordx4, ld.global.v4).
MAX_LOAD_BYTES = 16


def is_power_of_two(n: int) -> bool:
    """Whether `n` is 1, 2, 4, ..."""
    return n > 0 and n & (n - 1) == 0


def next_power_of_two(n: int) -> int:
    """The smallest power of two that is not below `n` (n >= 1)."""
    return 1 << (n - 1).bit_length()


def round_up(n: int, multiple: int) -> int:
    """`n` rounded up to a multiple of `multiple`."""
    return -(-n // multiple) * multiple


def lanes_used(subgroup_size: int, subgroups: int, partial_reduction: int, thread: int) -> int:
    """Lanes of a subgroup that a tile of `partial_reduction` elements keeps busy.

    All of them, except where one subgroup reduces fewer elements than it has lanes (the second stage of a split).
    """
    if subgroups == 1 and partial_reduction < subgroup_size * thread:
        return max(partial_reduction // thread, 1)
    return subgroup_size


@dataclass(frozen=True, slots=True)
class StageShape:
    """One dispatch of an argmax: `length` elements reduced, out of which `padding` are made up inside the dispatch.

    The knobs of the stage follow; `rows_per_workgroup` is 1 but for subgroups spread over rows.
    """

    length: int
    padding: int
    subgroups: int
    partial_reduction: int
    thread: int
    rows_per_workgroup: int


def partials(candidate: Candidate) -> int:
    """How many partial winners a row has after the first stage of a split."""
    return math.ceil(candidate.problem.reduction / (candidate.config.st or candidate.problem.reduction))


def stage_shapes(candidate: Candidate) -> tuple[StageShape, ...]:
    """The dispatches of a configured argmax or argmin on a GPU, in order; a knob that is not set counts as 1."""
    c = candidate.config
    sg, pr, th, rw = c.sg or 1, c.pr or 1, c.th or 1, c.rw or 1
    padded = candidate.form.name == "inner_pad"
    if not candidate.variant.split:
        length = round_up(candidate.problem.reduction, pr) if padded else candidate.problem.reduction
        return (StageShape(length, length - candidate.problem.reduction, sg, pr, th, rw),)
    st = c.st or candidate.problem.reduction
    count = partials(candidate)
    sg2, pr2, th2 = c.sg2 or 1, c.pr2 or count, c.th2 or 1
    length2 = round_up(count, pr2) if padded else count
    return (
        StageShape(st, 0, sg, pr, th, rw),
        StageShape(length2, length2 - count, sg2, pr2, th2, 1),
    )

"""What a strategy is, and the distance between candidates that strategies go by."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import astuple

from ireebench.candidate import Candidate

# A strategy yields candidates to measure, some at a time, and is sent their costs in the same order: ns, or None for
# what did not work. It ends when it sees nothing worth measuring. It never yields a candidate twice.
Search = Generator[Sequence[Candidate], Sequence[float | None], None]
# (all candidates of a problem, seed) -> a search.
Strategy = Callable[[Sequence[Candidate], int], Search]

_UNSET = -1.0


def coordinates(candidate: Candidate) -> tuple[float, ...]:
    """The knobs as logarithms to base 2: a step of a knob is a factor of two; -1 where it is not set."""
    return tuple(_UNSET if v is None else math.log2(v) for v in astuple(candidate.config))


def distance(a: Candidate, b: Candidate) -> float:
    """Steps between two candidates of one variant; infinite between variants, whose knobs mean different things."""
    if a.variant.name != b.variant.name:
        return math.inf
    return sum(abs(x - y) for x, y in zip(coordinates(a), coordinates(b), strict=True))

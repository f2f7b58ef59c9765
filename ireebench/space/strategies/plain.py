"""The two strategies that look at no result: everything in order, and everything in a random order."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ireebench.candidate import Candidate
from ireebench.space.strategies.base import Search


def exhaustive(candidates: Sequence[Candidate], _seed: int) -> Search:
    """Every candidate, in the order of the plan."""
    yield candidates


def shuffled(candidates: Sequence[Candidate], seed: int) -> Search:
    """Every candidate in an order drawn with `seed`: what any other strategy has to beat."""
    yield random.Random(seed).sample(candidates, len(candidates))

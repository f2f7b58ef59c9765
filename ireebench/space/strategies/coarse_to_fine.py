"""Coarse to fine: a few candidates spread over the space, then the neighbours of the best, again and again."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ireebench.candidate import Candidate
from ireebench.space.heuristics import preferred
from ireebench.space.strategies.base import Search, coordinates

# Of each variant: the share that is measured before anything is known, and at least so many.
COARSE_SHARE = 0.1
COARSE_LEAST = 2
# How many of the best are looked around at once: one gets stuck in a dip, many are no better than chance.
BEAM = 2
# Neighbours of one candidate that are measured at once.
NEIGHBOURS = 3

Points = npt.NDArray[np.float64]


def coarse_to_fine(candidates: Sequence[Candidate], seed: int) -> Search:
    """Measures a coarse sample of every variant, then whatever unmeasured is nearest to the best so far.

    Half of the sample is what the heuristic prefers, half is as far from the rest as can be. It goes on until all
    candidates are measured, the nearest to the best first: the caller's budget decides when that is enough.
    """
    points = np.array([coordinates(c) for c in candidates], np.float64).reshape(len(candidates), -1)
    variants = np.array([c.variant.name for c in candidates])
    costs: dict[int, float] = {}
    order = _coarse(candidates, points, seed)
    expanded: dict[int, int] = {}
    while order:
        told = yield [candidates[i] for i in order]
        costs |= {i: math.inf if cost is None else cost for i, cost in zip(order, told, strict=True)}
        left = np.array([i for i in range(len(candidates)) if i not in costs], np.int64)
        order = _finer(points, variants, costs, left, expanded)


def _coarse(candidates: Sequence[Candidate], points: Points, seed: int) -> list[int]:
    by_variant: dict[str, list[int]] = {}
    for i, c in enumerate(candidates):
        by_variant.setdefault(c.variant.name, []).append(i)
    place = {c: i for i, c in enumerate(candidates)}
    chosen: list[int] = []
    for name, members in by_variant.items():
        count = min(len(members), max(COARSE_LEAST, math.ceil(COARSE_SHARE * len(members))))
        liked = [place[c] for c in preferred([candidates[i] for i in members])[: (count + 1) // 2]]
        chosen += _spread(points, members, liked, count, random.Random(f"{seed} {name}"))
    return chosen


def _spread(points: Points, members: list[int], chosen: list[int], count: int, rng: random.Random) -> list[int]:
    """`count` members: `chosen`, then always the one that is farthest from those already there."""
    mine = np.array(members)
    jitter = np.array([rng.random() * 1e-3 for _ in members])  # ties are broken by the seed
    nearest = np.full(len(members), np.inf)
    for i in chosen:
        nearest = np.minimum(nearest, np.abs(points[mine] - points[i]).sum(1))
    result = list(chosen)
    while len(result) < count:
        taken = np.isin(mine, result)
        best = int(np.argmax(np.where(taken, -1.0, nearest + jitter)))
        result.append(members[best])
        nearest = np.minimum(nearest, np.abs(points[mine] - points[members[best]]).sum(1))
    return result


def _finer(
    points: Points,
    variants: npt.NDArray[np.str_],
    costs: dict[int, float],
    left: npt.NDArray[np.int64],
    expanded: dict[int, int],
) -> list[int]:
    """The unmeasured neighbours of the best that have been looked around least; `expanded` counts that."""
    if not len(left):
        return []
    alive = [i for i in sorted(costs, key=lambda i: costs[i]) if math.isfinite(costs[i])]
    # The cost of looking around again grows with how often it was done, so that the next best get their turn.
    ranked = sorted(alive, key=lambda i: costs[i] * (1 + 0.02 * expanded.get(i, 0)))
    order: list[int] = []
    for i in ranked[:BEAM]:
        same = left[variants[left] == variants[i]]
        same = same[~np.isin(same, order)]
        steps = np.abs(points[same] - points[i]).sum(1)
        order += same[np.argsort(steps, kind="stable")[:NEIGHBOURS]].tolist()
        expanded[i] = expanded.get(i, 0) + 1
    if order:
        return order
    # The best variants are measured to the end: on with whatever is left.
    return [int(i) for i in left[:NEIGHBOURS]]

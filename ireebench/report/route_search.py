"""Finds the smallest routing table within limits: breadth first over the shapes that are left after each row.

A row may take any shapes that one choice serves. Fewer shapes left are never harder to route than more, so of two
tables that are equally long, one that leaves a subset of what the other leaves is kept alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.report.route_rule import Rule, RuleRow, conditions
from ireebench.report.route_shapes import Choice, Shape

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]

# Beginnings of tables that are kept at each length, times shapes: seconds for 60 shapes and a hundred choices. Where
# there are more, the smallest table may be missed, and is not called proven.
_KEPT = 6_000
# Tables of the same length that are polished; the rest differ little.
_POLISHED = 4
SLACK = 1e-9  # a loss that is equal to its limit is within it, however it was rounded
_NEVER = np.float32(1e6)  # the loss of a choice that does not serve a shape: above any sum of losses


@dataclass(frozen=True, slots=True)
class _Space:
    """Choices, shapes and conditions as matrices: `serves` and `losses` are choices x shapes (log of 1 + loss)."""

    choices: tuple[Choice, ...]
    serves: Bools
    losses: Floats
    holds: Bools
    tests: npt.NDArray[np.int64]  # how many a condition has
    all_holds: Floats  # `holds` as numbers: products of matrices are the quickest way to count
    unserved: Floats  # not `serves`, of the choices that no other serves all shapes of

    def served(self, left: Bools) -> bool:
        """Whether one choice serves all these shapes."""
        return bool((self.unserved @ left.astype(np.float32) == 0).any())

    def least(self, groups: Bools) -> tuple[Floats, npt.NDArray[np.int64]]:
        """For each group of shapes (a row): the least sum of losses of one choice, and that choice."""
        sums = groups.astype(np.float32) @ self.losses.T
        best = sums.argmin(axis=1)
        return sums[np.arange(len(sums)), best], best


def find_rule(shapes: Sequence[Shape], limits: Sequence[float]) -> Rule:
    """The smallest table that routes every shape to a choice with a loss within its limit (a share).

    Of tables of one length, the one with the fewest tests, then with the least losses, as far as was looked. Every
    shape must have a choice within its limit.
    """
    listed = conditions(shapes)
    space = _space(shapes, limits, listed.holds, [len(t) for t in listed.tests])
    paths, complete = _shortest(space)
    polished = [_polish(space, path) for path in sorted(paths, key=lambda p: _cost(space, p))[:_POLISHED]]
    path = min(polished, key=lambda p: _cost(space, p))
    rows = []
    left = np.ones(len(shapes), dtype=bool)
    for c in path:
        if (left & space.holds[c]).any():
            rows.append(RuleRow(listed.tests[c], _choose(space, left & space.holds[c])))
        left = left & ~space.holds[c]
    rows.append(RuleRow((), _choose(space, left)))
    proven = (complete and listed.complete) or len(rows) == fewest_choices(space.serves)
    return Rule(tuple(rows), proven)


def serving(shapes: Sequence[Shape], limits: Sequence[float]) -> tuple[tuple[Choice, ...], Bools]:
    """All choices in a fixed order, and which serve which shape within its limit: choices x shapes."""
    choices = tuple(sorted({c for s in shapes for c in s.losses}, key=lambda c: c.label))
    losses = np.array([[s.losses.get(c, np.inf) for s in shapes] for c in choices])
    return choices, np.isfinite(losses) & (losses <= np.asarray(limits) + SLACK)


def _space(shapes: Sequence[Shape], limits: Sequence[float], holds: Bools, tests: Sequence[int]) -> _Space:
    choices, serves = serving(shapes, limits)
    logs = np.array([[np.log1p(s.losses.get(c, 0.0)) for s in shapes] for c in choices], dtype=np.float32)
    return _Space(
        choices=choices,
        serves=serves,
        losses=np.where(serves, logs, _NEVER),
        holds=holds,
        tests=np.array(tests, dtype=np.int64),
        all_holds=holds.astype(np.float32),
        unserved=(~serves[_without_subsets(serves)]).astype(np.float32),
    )


def _choose(space: _Space, group: Bools) -> Choice:
    return space.choices[int(space.least(group[None])[1][0])]


def _shortest(space: _Space) -> tuple[list[tuple[int, ...]], bool]:
    """The shortest tables, as conditions in order without the last "otherwise"; whether none was passed over."""
    states: list[tuple[Bools, tuple[int, ...]]] = [(np.ones(space.serves.shape[1], dtype=bool), ())]
    width = max(12, _KEPT // space.serves.shape[1])
    complete = True
    while True:
        done = [path for left, path in states if space.served(left)]
        if done:
            return done, complete
        reached: dict[bytes, tuple[Bools, tuple[int, ...]]] = {}
        for left, path in states:
            for c in _widest(space, left):
                rest = left & ~space.holds[c]
                reached.setdefault(rest.tobytes(), (rest, (*path, c)))
        lefts = np.array([left for left, _ in reached.values()])
        kept = _without_subsets(~lefts, most=width + 1)
        complete = complete and len(kept) <= width
        found = list(reached.values())
        states = [found[i] for i in kept[:width]]


def _widest(space: _Space, left: Bools) -> list[int]:
    """Conditions that take, of the shapes that are left, only ones that one choice serves; none within another."""
    useful = space.unserved * left
    valid = np.flatnonzero((space.all_holds @ useful.T == 0).any(axis=1) & (space.holds & left).any(axis=1))
    takes = space.holds[valid] & left
    return [int(valid[i]) for i in _without_subsets(takes)]


def _without_subsets(sets: Bools, most: int | None = None) -> list[int]:
    """The sets (rows) that lie in no other, the largest first; of equal ones the first. At most `most` of them."""
    waiting = np.argsort(-sets.sum(axis=1), kind="stable")
    kept: list[int] = []
    while len(waiting) and (most is None or len(kept) < most):
        largest = waiting[0]
        kept.append(int(largest))
        waiting = waiting[(sets[waiting] & ~sets[largest]).any(axis=1)]
    return kept


def _cost(space: _Space, path: tuple[int, ...]) -> tuple[int, float]:
    left = np.ones(space.holds.shape[1], dtype=bool)
    groups = []
    for c in path:
        groups.append(left & space.holds[c])
        left = left & ~space.holds[c]
    return int(space.tests[list(path)].sum()), float(space.least(np.array([*groups, left]))[0].sum())


def _polish(space: _Space, path: tuple[int, ...]) -> tuple[int, ...]:
    """Puts in each place the condition with the fewest tests and then the least losses, until nothing improves."""
    improved = True
    while improved:
        improved = False
        for place in range(len(path)):
            better = _replaced(space, path, place)
            if _cost(space, better) < (_cost(space, path)[0], _cost(space, path)[1] - 1e-5):
                path, improved = better, True
    return path


def _replaced(space: _Space, path: tuple[int, ...], place: int) -> tuple[int, ...]:
    """The table with the best condition at one place, the others as they are."""
    before = np.ones(space.holds.shape[1], dtype=bool)
    for c in path[:place]:
        before = before & ~space.holds[c]
    takes = space.holds & before
    rest = ~space.holds & before
    sums = space.least(takes)[0]
    for c in path[place + 1 :]:
        sums = sums + space.least(rest & space.holds[c])[0]
        rest = rest & ~space.holds[c]
    sums = np.where(takes.any(axis=1), sums + space.least(rest)[0], 2 * _NEVER)
    best = int(np.lexsort((sums, space.tests, sums >= _NEVER))[0])
    return (*path[:place], best, *path[place + 1 :])


def fewest_choices(serves: Bools, nodes: int = 20_000) -> int | None:
    """The fewest choices of which every shape (column) has one that serves it; None where the search grew too large.

    No table has fewer rows, whatever its conditions. Raises ValueError where a shape has none.
    """
    if not serves.any(axis=0).all():
        raise ValueError("a shape has no choice within its limit")
    sets = serves[_without_subsets(serves)]
    budget = _Budget(nodes)
    for count in range(1, len(sets) + 1):
        covered = _cover(sets, np.ones(sets.shape[1], dtype=bool), count, budget)
        if budget.spent:
            return None
        if covered:
            return count
    return None


class _Budget:
    """Counts the nodes of a search that gives up after so many."""

    def __init__(self, nodes: int) -> None:
        self._left = nodes

    @property
    def spent(self) -> bool:
        """Whether the search gave up, or must."""
        return self._left <= 0

    def take(self) -> None:
        """Counts a node."""
        self._left -= 1


def _cover(sets: Bools, left: Bools, count: int, budget: _Budget) -> bool:
    """Whether `count` of the sets cover all that is left: one of those that hold its rarest shape is in the cover."""
    if not left.any():
        return True
    budget.take()
    if count == 0 or budget.spent or (sets & left).sum(axis=1).max() * count < left.sum():
        return False
    rarest = int(np.where(left, sets.sum(axis=0), len(sets) + 1).argmin())
    return any(_cover(sets, left & ~s, count - 1, budget) for s in sets[sets[:, rarest]])

"""Learns a routing rule from measured shapes, and tells it on shapes that were held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.report.route_rule import Rule
from ireebench.report.route_search import SLACK, fewest_choices, find_rule, serving
from ireebench.report.route_shapes import Choice, Shape


@dataclass(frozen=True, slots=True)
class Goal:
    """What a table must keep: a loss of at most `within` (a share; or the shape's noise), in at most `rows` rows."""

    within: float
    rows: int | None = None

    def limit(self, shape: Shape) -> float:
        """The loss up to which a choice is as good as the best of a shape."""
        return max(self.within, shape.noise)


@dataclass(frozen=True, slots=True)
class Learnt:
    """A rule and whether it keeps the goal. `prevents`: the shapes that no table of this kind serves within it.

    `fewest`: the fewest choices of which every shape has one within its limit, whatever the conditions; None where
    that was too much to search.
    """

    rule: Rule
    fewest: int | None
    prevents: tuple[Shape, ...]

    @property
    def kept(self) -> bool:
        """Whether the goal is kept on all shapes that it was learnt on."""
        return not self.prevents


@dataclass(frozen=True, slots=True)
class HoldOut:
    """How shapes are held out: a share (0 to 1) of them once, or each once in so many folds; drawn with a seed."""

    share: float | None = None
    folds: int | None = 5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """What a rule that never saw a shape does there. `loss` is None where its choice has no time; `status` says why."""

    shape: Shape
    fold: int
    row: int
    choice: Choice
    loss: float | None
    status: str
    within: bool


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The rules learnt without the shapes of each fold, and what they do there."""

    folds: tuple[Learnt, ...]
    told: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """Losses against each shape's own best. `worst` and `geomean` are of the shapes where the choice has a time.

    `within` counts the shapes within the goal's share, `good` those within it or within their noise.
    """

    what: str
    shapes: int
    within: int
    good: int
    unmeasured: int
    worst: float | None
    geomean: float | None


def learn(shapes: Sequence[Shape], goal: Goal) -> Learnt:
    """The smallest table that keeps the goal; raises ValueError without shapes.

    Where a shape has no choice within the limit (problems that no feature tells apart, with different bests), it gets
    the least loss that there is. Where so few rows do not do, the table of so many with the least worst loss; where
    none is measured everywhere either, the smallest within the limits, which is longer.
    """
    if not shapes:
        raise ValueError("a rule is learnt from shapes")
    limits = [max(goal.limit(s), min(s.losses.values())) for s in shapes]
    fewest = fewest_choices(serving(shapes, limits)[1])
    rule = find_rule(shapes, limits)
    if goal.rows is not None and len(rule.rows) > goal.rows:
        shorter = _short(shapes, limits, goal.rows)
        if shorter is None:
            return Learnt(rule, fewest, _left_by_the_best(shapes, goal.rows))
        rule = shorter
    beyond = tuple(s for s in shapes if not _within(s, rule.choose(s), goal))
    return Learnt(rule, fewest, beyond)


def _within(shape: Shape, choice: Choice, goal: Goal) -> bool:
    loss = shape.losses.get(choice)
    return loss is not None and loss <= goal.limit(shape) + SLACK


def _short(shapes: Sequence[Shape], limits: Sequence[float], rows: int) -> Rule | None:
    """The table of at most `rows` rows whose worst loss is least; None where none has a time everywhere."""

    def at(worst: float) -> Rule | None:
        wide = [max(limit, worst) for limit in limits]
        too_many = fewest_choices(serving(shapes, wide)[1])
        if too_many is not None and too_many > rows:
            return None
        found = find_rule(shapes, wide)
        return found if len(found.rows) <= rows else None

    levels = sorted({loss for s in shapes for loss in s.losses.values() if loss > 0})
    best = at(levels[-1]) if levels else None
    if best is None:
        return None
    low, high = 0, len(levels) - 1  # levels[high] is enough
    while low < high:
        middle = (low + high) // 2
        found = at(levels[middle])
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best


def _left_by_the_best(shapes: Sequence[Shape], count: int) -> tuple[Shape, ...]:
    """The shapes on which none of the `count` choices that serve most was measured."""
    _, measured = serving(shapes, [math.inf] * len(shapes))
    left = np.ones(len(shapes), dtype=bool)
    for _ in range(count):
        left = left & ~measured[int((measured & left).sum(axis=1).argmax())]
    return tuple(s for s, open_ in zip(shapes, left, strict=True) if open_)


def hold_out(shapes: Sequence[Shape], goal: Goal, plan: HoldOut) -> HeldOut | None:
    """Learns on part of the shapes and tells the rest; None with a single size, which leaves nothing to learn from.

    Shapes of one size go together, whatever their types: a twin in another type would give the answer away.
    """
    parts = _parts(shapes, plan)
    if not parts:
        return None
    folds, told = [], []
    for fold, held in enumerate(parts):
        learnt = learn([s for i, s in enumerate(shapes) if i not in held], goal)
        folds.append(learnt)
        told += [_tell(shapes[i], fold, learnt.rule, goal) for i in sorted(held)]
    return HeldOut(tuple(folds), tuple(told))


def _parts(shapes: Sequence[Shape], plan: HoldOut) -> list[set[int]]:
    """The places of the shapes that are held out together, one set a fold."""
    sizes = sorted({s.problem.shape for s in shapes})
    if len(sizes) < 2:
        return []
    drawn = [sizes[i] for i in np.random.default_rng(plan.seed).permutation(len(sizes))]
    if plan.share is not None:
        count = min(len(sizes) - 1, max(1, round(plan.share * len(sizes))))
        chosen = [drawn[:count]]
    else:
        folds = min(plan.folds or len(sizes), len(sizes))
        chosen = [drawn[f::folds] for f in range(folds)]
    return [{i for i, s in enumerate(shapes) if s.problem.shape in part} for part in chosen]


def _tell(shape: Shape, fold: int, rule: Rule, goal: Goal) -> Told:
    row = rule.row_of(shape.features)
    choice = rule.rows[row].choice
    loss = shape.losses.get(choice)
    status = "ok" if loss is not None else shape.why_unmeasured(choice)
    return Told(shape, fold, row, choice, loss, status, _within(shape, choice, goal))


def summary(what: str, losses: Sequence[tuple[Shape, float | None]], goal: Goal) -> Losses:
    """Counts and losses of a choice a shape; None where the choice has no time there."""
    timed = [loss for _, loss in losses if loss is not None]
    return Losses(
        what=what,
        shapes=len(losses),
        within=sum(loss <= goal.within + SLACK for loss in timed),
        good=sum(loss is not None and loss <= goal.limit(s) + SLACK for s, loss in losses),
        unmeasured=len(losses) - len(timed),
        worst=max(timed, default=None),
        geomean=math.exp(math.fsum(map(math.log1p, timed)) / len(timed)) - 1 if timed else None,
    )


def summaries(shapes: Sequence[Shape], rule: Rule, held: HeldOut | None, goal: Goal) -> tuple[Losses, ...]:
    """The rule on what it was learnt on, on what was held out, and what it replaces: one choice for all, stock IREE."""
    found = [
        summary("the rule, on the shapes it was learnt on", [(s, s.losses.get(rule.choose(s))) for s in shapes], goal)
    ]
    if held is not None:
        found.append(summary("rules on shapes held out", [(t.shape, t.loss) for t in held.told], goal))
    single = best_single(shapes)
    found.append(summary(f"one choice for all: {single.label}", [(s, s.losses.get(single)) for s in shapes], goal))
    stock = [(s, _stock(s)) for s in shapes]
    if any(loss is not None for _, loss in stock):
        found.append(summary("stock IREE (default)", stock, goal))
    return tuple(found)


def best_single(shapes: Sequence[Shape]) -> Choice:
    """Of the choices with a time on the most shapes, the one that loses least in the geometric mean."""
    choices = sorted({c for s in shapes for c in s.losses}, key=lambda c: c.label)

    def rank(choice: Choice) -> tuple[int, float]:
        timed = [s.losses[choice] for s in shapes if choice in s.losses]
        return -len(timed), math.fsum(map(math.log1p, timed))

    return min(choices, key=rank)


def _stock(shape: Shape) -> float | None:
    return min((loss for c, loss in shape.losses.items() if c.variant == "default"), default=None)

"""A routing rule as data: an ordered table of conditions on a shape's features, each with the choice it routes to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ireebench.report.route_shapes import Choice, Shape, Value

# Values of a type (dtype, layout) above which no sets of them are asked for, only single ones and their complements.
_MOST_IN_SETS = 5
# Sizes closer than this are not parted: a rule that turns on a few bytes of output says nothing of other shapes.
_APART = 1.05
# Cuts of one feature; more are thinned out evenly, so that a store of hundreds of shapes is still searched in seconds.
_MOST_CUTS = 32


@dataclass(frozen=True, slots=True)
class Test:
    """One comparison. `value` is a whole number for "<=" and ">", the values allowed for "in"."""

    feature: str
    op: Literal["<=", ">", "in"]
    value: int | tuple[Value, ...]

    def holds(self, features: Mapping[str, Value]) -> bool:
        """Whether a shape with these features passes."""
        mine = features[self.feature]
        if isinstance(self.value, tuple):
            return mine in self.value
        assert isinstance(mine, int)
        return mine <= self.value if self.op == "<=" else mine > self.value

    def __str__(self) -> str:
        if not isinstance(self.value, tuple):
            return f"{self.feature} {self.op} {_size(self.value) if self.feature == 'bytes' else self.value}"
        if len(self.value) == 1:
            return f"{self.feature} = {self.value[0]}"
        return f"{self.feature} in {', '.join(map(str, self.value))}"

    def document(self) -> dict[str, Any]:
        """For programs: `value` is a number, or a list for "in"."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"feature": self.feature, "op": self.op, "value": value}


def _size(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


@dataclass(frozen=True, slots=True)
class RuleRow:
    """All tests must hold; no test is "otherwise"."""

    tests: tuple[Test, ...]
    choice: Choice

    @property
    def when(self) -> str:
        """The condition for people."""
        return " and ".join(map(str, self.tests)) or "otherwise"


@dataclass(frozen=True, slots=True)
class Rule:
    """The first row whose tests hold decides; the last has none, so every shape is routed.

    `proven`: no table of fewer rows (of at most two tests each, or one shape alone) does the same; see `conditions`.
    """

    rows: tuple[RuleRow, ...]
    proven: bool

    def row_of(self, features: Mapping[str, Value]) -> int:
        """The place of the row that decides, from 0."""
        return next(i for i, row in enumerate(self.rows) if all(t.holds(features) for t in row.tests))

    def choose(self, shape: Shape) -> Choice:
        """What the rule routes a shape to."""
        return self.rows[self.row_of(shape.features)].choice


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that tell shapes apart: `holds[c, s]` says whether tests[c] hold on shape s.

    `complete`: no cut was left out.
    """

    tests: tuple[tuple[Test, ...], ...]
    holds: npt.NDArray[np.bool_]
    complete: bool


def conditions(shapes: Sequence[Shape]) -> Conditions:
    """Every set of shapes that one or two tests pick out, and each shape alone; the plainest tests for each set."""
    single, complete = _single_tests(shapes)
    told: list[tuple[Test, ...]] = [(t,) for t in single]
    holds = np.array([[t.holds(s.features) for s in shapes] for t in single], dtype=bool).reshape(-1, len(shapes))
    first, second = np.triu_indices(len(single), 1)
    told += [(single[a], single[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    told += [_alone(shapes, s) for s in shapes]
    every = np.concatenate([holds, holds[first] & holds[second], np.eye(len(shapes), dtype=bool)])
    _, places = np.unique(np.packbits(every, axis=1), axis=0, return_index=True)
    kept = [int(i) for i in np.sort(places) if 0 < every[i].sum() < len(shapes)]
    return Conditions(tuple(told[i] for i in kept), every[kept], complete)


def _single_tests(shapes: Sequence[Shape]) -> tuple[list[Test], bool]:
    """One comparison each, of the features that differ."""
    found: list[Test] = []
    complete = True
    for name in shapes[0].features:
        values = {s.features[name] for s in shapes}
        if all(isinstance(v, int) for v in values):
            cuts = _cuts(sorted(v for v in values if isinstance(v, int)))
            complete = complete and len(cuts) <= _MOST_CUTS
            found += [t for cut in _thinned(cuts) for t in (Test(name, "<=", cut), Test(name, ">", cut))]
        elif len(values) > 1:
            found += [Test(name, "in", chosen) for chosen in _subsets(sorted(map(str, values)))]
    return found, complete


def _subsets(values: Sequence[str]) -> list[tuple[Value, ...]]:
    """Proper subsets, the smallest first."""
    count = len(values)
    sizes = range(1, count) if count <= _MOST_IN_SETS else sorted({1, count - 1})
    return [chosen for size in sizes for chosen in combinations(values, size)]


def _cuts(values: Sequence[int]) -> list[int]:
    """Where to part the sorted values: between neighbours at least 5% apart, at the roundest number in binary."""
    return [round_between(a, b) for a, b in pairwise(values) if b >= _APART * a]


def _thinned(cuts: Sequence[int]) -> Sequence[int]:
    if len(cuts) <= _MOST_CUTS:
        return cuts
    return [cuts[round(i * (len(cuts) - 1) / (_MOST_CUTS - 1))] for i in range(_MOST_CUTS)]


def round_between(low: int, high: int) -> int:
    """The number t, low <= t < high, with the most zeros at its end; of several, nearest to the geometric mean."""
    step = 1 << high.bit_length()
    while True:
        first = -(-low // step) * step
        found = range(first, high, step)
        if found:
            middle = math.sqrt(low * high)
            return min(found, key=lambda t: abs(t - middle))
        step >>= 1


def _alone(shapes: Sequence[Shape], shape: Shape) -> tuple[Test, ...]:
    """The fewest equalities that no other shape passes, the earlier features first."""
    names = [n for n in shape.features if any(s.features[n] != shape.features[n] for s in shapes)]
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            tests = tuple(Test(n, "in", (shape.features[n],)) for n in chosen)
            if not any(all(t.holds(s.features) for t in tests) for s in shapes if s is not shape):
                return tests
    return tuple(Test(n, "in", (shape.features[n],)) for n in names)

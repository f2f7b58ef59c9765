"""What a knob is, and the place where its values are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ireebench.problems.dtypes import find_float
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.geometry import MAX_LOAD_BYTES
from ireebench.targets import Target
from ireebench.variants import Variant

Values = tuple[int | None, ...]

UNSET: Values = (None,)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a configuration is used: what the values of a knob may depend on."""

    problem: Problem
    variant: Variant
    target: Target

    @property
    def load_elements(self) -> int:
        """Elements of a 16-byte load."""
        return MAX_LOAD_BYTES // find_float(self.problem.dtype).bytes


@dataclass(frozen=True, slots=True)
class Knob:
    """One axis of the search space. `values` are what a sweep tries, given the knobs before it; None: left out."""

    name: str
    meaning: str
    values: Callable[[Place, Config], Values]

    def neighbours(self, place: Place, config: Config) -> Values:
        """The values just before and after the configuration's own; every value where its own is not in the list."""
        values, value = self.values(place, config), getattr(config, self.name)
        if value not in values:
            return values
        at = values.index(value)
        return tuple(values[i] for i in (at - 1, at + 1) if 0 <= i < len(values))


def powers_of_two(low: int, high: int) -> tuple[int, ...]:
    """Powers of two from `low` up to `high`, both included."""
    return tuple(1 << n for n in range(high.bit_length()) if low <= 1 << n <= high)

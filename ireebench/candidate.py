"""A candidate: what a sweep compiles and measures, and what every stage passes on."""

from __future__ import annotations

from dataclasses import dataclass

from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.targets import Target
from ireebench.variants import Form, Ship, Variant

# The largest tile that `split-reduction-target-size` gives an arg_compare in IREE 3.13; above it nothing is split.
_LARGEST_FLAG_SPLIT = 32_768


@dataclass(frozen=True, slots=True)
class Candidate:
    """Problem x variant x form x configuration x target."""

    problem: Problem
    variant: Variant
    form: Form
    config: Config
    target: Target

    def __str__(self) -> str:
        p = self.problem
        return f"{self.target.name} {p.id} {p.op} {p.shape_text}x{p.dtype} {self.label}"

    @property
    def ship(self) -> Ship:
        """How a user gets this candidate.

        Without a configuration there is nothing to ship but flags. Up to 3.13 IREE ignores tuning specs on CUDA, so a
        configured op needs its attribute in the IR there; likewise a split that no flag asks for.
        """
        if not self.form.ship.ships or self.form.ship is Ship.FLAGS:
            return self.form.ship
        if self.config.is_default:
            return Ship.FLAGS
        if self.target.backend == "cuda" or (self.config.st is not None and not self.split_by_flags):
            return Ship.IR_REWRITE
        return self.form.ship

    @property
    def split_by_flags(self) -> bool:
        """Whether IREE's flags can split a plain arg_compare into tiles of exactly ST elements.

        At rank 1 the flag's pass falls back to a tile of its own; at higher ranks it takes the divisor asked for.
        """
        st, problem = self.config.st, self.problem
        return st is not None and len(problem.shape) > 1 and problem.reduction % st == 0 and st <= _LARGEST_FLAG_SPLIT

    @property
    def label(self) -> str:
        """Short and unique within a problem and target: "vd/rows SG=4,PR=2048"."""
        return f"{self.variant.name}/{self.form.name} {self.config}"

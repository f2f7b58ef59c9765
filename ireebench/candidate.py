"""A candidate: what a sweep compiles and measures, and what every stage passes on."""

from __future__ import annotations

from dataclasses import dataclass

from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.targets import Target
from ireebench.variants import Form, Variant


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
    def label(self) -> str:
        """Short and unique within a problem and target: "vd/rows SG=4,PR=2048"."""
        return f"{self.variant.name}/{self.form.name} {self.config}"

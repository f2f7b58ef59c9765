"""The layouts of a candidate, whatever its op."""

from __future__ import annotations

from ireebench.candidate import Candidate
from ireebench.ir.gemv import gemv_layouts
from ireebench.ir.layout import Layout, argcompare_layouts


def layouts_of(candidate: Candidate) -> tuple[Layout, ...]:
    """The layout of each configured dispatch of a candidate, in order; empty where the compiler chooses."""
    return gemv_layouts(candidate) if candidate.problem.op == "gemv" else argcompare_layouts(candidate)

"""The ops by name: a new one is a module and a line here."""

from __future__ import annotations

from ireebench.problems.ops import argcompare, gemv
from ireebench.problems.ops.base import Op
from ireebench.problems.problem import Problem

OPS: dict[str, Op] = {"argmax": argcompare, "argmin": argcompare, "gemv": gemv}


def op_of(problem: Problem) -> Op:
    """The op's functions for a problem."""
    return OPS[problem.op]

"""Checks candidates for AMD targets with no AMD GPU: compile, execute the assembly on the CPU, judge the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ireebench.candidate import Candidate
from ireebench.compiler.driver import Compiler
from ireebench.compiler.emulated import emulate_artifact
from ireebench.ir.build import build_program
from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.program import EmulationResult, check_emulated, with_rows
from ireebench.measure.conformance import ConformanceRow, Outputs, conformance
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.base import Array
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem


@dataclass(frozen=True, slots=True)
class Emulated:
    """One candidate that was emulated: `rows` of its rows, what came of it, and how the result was judged."""

    candidate: Candidate
    rows: int
    outcome: EmulationResult | Failure
    check: CheckResult | None

    @property
    def good(self) -> bool:
        """Whether the result is right and nothing was reported."""
        return self.check is not None and self.check.ok

    @property
    def failure(self) -> Failure | None:
        """How a trial of this candidate ends where it is not good: the check's reason, or what kept it from running."""
        if isinstance(self.outcome, Failure):
            return self.outcome
        if self.good or self.check is None:
            return None
        return Failure(Status.WRONG_RESULT, f"emulated: {self.check.reason}", Stage.COMPILED)


def emulate_candidate(
    compiler: Compiler, candidate: Candidate, rows: int, seed: int = 0, options: Options | None = None
) -> Emulated:
    """Compiles a candidate and executes up to `rows` of its rows on seeded inputs."""
    problem = candidate.problem
    kept = min(rows, problem.rows)
    part = with_rows(problem, kept) if kept < problem.rows else problem
    inputs = op_of(part).make_inputs(part, seed)
    outcome = _run(compiler, candidate, inputs, kept, options)
    if isinstance(outcome, Failure):
        return Emulated(candidate, kept, outcome, None)
    return Emulated(candidate, kept, outcome, check_emulated(problem, inputs, outcome))


def _run(
    compiler: Compiler, candidate: Candidate, inputs: Sequence[Array], rows: int, options: Options | None
) -> EmulationResult | Failure:
    artifact = compiler.compile(build_program(candidate))
    if isinstance(artifact, Failure):
        return artifact
    some = rows if rows < candidate.problem.rows else None
    return emulate_artifact(compiler, artifact, candidate.problem, inputs, rows=some, options=options)


def conformance_emulated(
    compiler: Compiler, candidate: Candidate, rows: int, seed: int = 0, options: Options | None = None
) -> tuple[ConformanceRow, ...]:
    """Ties, +-0, infinities and NaN on up to `rows` rows of a candidate's code.

    A case that wants another shape is compiled for it with the same configuration, and "not run" where that fails.
    """
    problem = candidate.problem
    asked = with_rows(problem, rows) if rows < problem.rows else problem

    def run(case: Problem, inputs: tuple[Array, ...]) -> Outputs | Failure:
        same = case.reduction == problem.reduction and case.rows <= problem.rows
        chosen = candidate if same else replace(candidate, problem=case)
        outcome = _run(compiler, chosen, inputs, case.rows, options)
        if isinstance(outcome, Failure):
            return outcome
        if outcome.reports:
            return Failure(Status.RUN_FAILED, str(outcome.reports[0]), Stage.COMPILED)
        shapes = op_of(case).output_specs(case)
        return tuple(o.reshape(s) for o, (s, _) in zip(outcome.outputs, shapes, strict=True))

    return conformance(asked, run, repeats=2, seed=seed)

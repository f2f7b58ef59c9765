"""Checks candidates for AMD targets with no AMD GPU: compile, execute the assembly on the CPU, judge the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
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
from ireebench.store.trial import NOT_EMULATED, Trial


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


def emulate_candidate(
    compiler: Compiler, candidate: Candidate, rows: int, seed: int = 0, options: Options | None = None
) -> Emulated:
    """Compiles a candidate and executes up to `rows` of its rows on seeded inputs."""
    kept = min(rows, candidate.problem.rows)
    artifact = compiler.compile(build_program(candidate))
    if isinstance(artifact, Failure):
        return Emulated(candidate, kept, artifact, None)
    outcome, check = _judge(compiler, artifact, candidate.problem, (kept, seed), options)
    return Emulated(candidate, kept, outcome, check)


def _judge(
    compiler: Compiler, artifact: Artifact, problem: Problem, how: tuple[int, int], options: Options | None
) -> tuple[EmulationResult | Failure, CheckResult | None]:
    """Runs and checks `how` = (rows, seed) of a problem."""
    rows, seed = how
    part = with_rows(problem, rows) if rows < problem.rows else problem
    inputs = op_of(part).make_inputs(part, seed)
    some = rows if rows < problem.rows else None
    outcome = emulate_artifact(compiler, artifact, problem, inputs, rows=some, options=options)
    if isinstance(outcome, Failure):
        return outcome, None
    return outcome, check_emulated(problem, inputs, outcome)


def checked_trial(compiler: Compiler, trial: Trial, artifact: Artifact, rows: int = 1, seed: int = 0) -> Trial:
    """A compiled trial with the emulator's verdict: `check.by` is "emulator", a wrong result or a fault fails it.

    What the emulator lacks leaves the status alone: the trial is as good as one that was only compiled, and says why.
    """
    kept = min(rows, trial.problem.rows)
    outcome, check = _judge(compiler, artifact, trial.problem, (kept, seed), None)
    if isinstance(outcome, Failure) or check is None:
        return replace(trial, reason=f"{NOT_EMULATED}{outcome.reason}" if isinstance(outcome, Failure) else None)
    trial = replace(trial, check=check, counts=outcome.counts)
    if check.ok:
        return replace(trial, stage=Stage.CHECKED)
    return replace(trial, status=Status.WRONG_RESULT, reason=f"emulated: {check.reason}")


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
        artifact = compiler.compile(build_program(chosen))
        if isinstance(artifact, Failure):
            return artifact
        some = case.rows if case.rows < chosen.problem.rows else None
        outcome = emulate_artifact(compiler, artifact, chosen.problem, inputs, rows=some, options=options)
        if isinstance(outcome, Failure):
            return outcome
        if outcome.reports:
            return Failure(Status.RUN_FAILED, str(outcome.reports[0]), Stage.COMPILED)
        shapes = op_of(case).output_specs(case)
        return tuple(o.reshape(s) for o, (s, _) in zip(outcome.outputs, shapes, strict=True))

    return conformance(asked, run, repeats=2, seed=seed)

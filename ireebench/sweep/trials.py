"""Makes trials of what the stages gave."""

from __future__ import annotations

from dataclasses import replace

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.flags import plain_command
from ireebench.ir.program import Program
from ireebench.measure.result import EntryResult
from ireebench.outcome import Failure, Stage, Status
from ireebench.space.config import Config
from ireebench.store import codec
from ireebench.store.trial import Trial
from ireebench.sweep.plan import Planned, Refused
from ireebench.variants import Ship


def planned_trial(planned: Planned, target: str, environment: int) -> Trial:
    """A trial of which nothing is known yet; its status says so by its stage."""
    subject = planned.subject
    trial = Trial(
        key=planned.key,
        problem=subject.problem,
        target=target,
        variant=None,
        baseline=subject.baseline,
        form=None,
        ship=Ship.NONE,
        config=Config(),
        status=Status.UNAVAILABLE,
        stage=Stage.PLANNED,
        reason="the sweep was stopped before it came to this",
        environment=environment,
    )
    c = subject.candidate
    if c is None:
        return trial
    ship = c.ship
    return replace(trial, variant=c.variant.name, form=c.form.name, ship=ship, config=c.config)


def refused_trial(refused: Refused, environment: int) -> Trial:
    """A trial that a constraint refused."""
    candidate = refused.candidate
    return Trial(
        key=refused.key,
        problem=candidate.problem,
        target=candidate.target.name,
        variant=candidate.variant.name,
        baseline=None,
        form=candidate.form.name,
        ship=candidate.ship,
        config=candidate.config,
        status=Status.REJECTED,
        stage=Stage.PLANNED,
        reason=f"{refused.constraint}: {refused.reason}",
        environment=environment,
    )


def compiled_trial(trial: Trial, program: Program, outcome: Artifact | Failure) -> Trial:
    """What compiling made of a planned trial."""
    trial = replace(trial, mlir=program.mlir, spec=program.spec, command=plain_command(program), reason=None)
    if isinstance(outcome, Failure):
        return failed_trial(trial, outcome)
    trial = replace(
        trial,
        status=Status.OK,
        stage=Stage.COMPILED,
        applied=outcome.applied,
        kernels=outcome.kernels,
        compile_key=outcome.compile_key,
        compile_s=outcome.compile_s,
    )
    if outcome.applied is False:
        return replace(trial, status=Status.NOT_APPLIED, reason=outcome.not_applied_reason)
    return trial


def failed_trial(trial: Trial, failure: Failure) -> Trial:
    """A trial that ended in a failure."""
    reason = failure.reason
    if failure.reproducer:
        reason = f"{reason} (reproducer: {failure.reproducer})"
    return replace(trial, status=failure.status, stage=failure.stage, reason=reason, known=failure.known)


def measured_trial(trial: Trial, result: EntryResult) -> Trial:
    """What the worker made of a compiled trial or a baseline."""
    timer = result.runs[0].timer if result.runs else trial.timer
    trial = replace(trial, check=result.check or trial.check, timer=timer)
    if result.failure is not None:
        return failed_trial(trial, result.failure)
    code = trial.compile_key or trial.baseline
    # The key holds the device, the driver and the protocol with its seed and cache policies.
    measure_key = codec.digest(f"{code} {timer} {trial.key}")
    return replace(trial, status=Status.OK, stage=Stage.TIMED, reason=None, measure_key=measure_key)

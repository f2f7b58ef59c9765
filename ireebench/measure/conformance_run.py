"""Runs conformance cases on artifacts or a baseline, in a process of their own: a crash costs one implementation."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from ireebench.measure.conformance import ConformanceRow, Outputs, conformance
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.ops.base import Array
from ireebench.problems.problem import Problem


@dataclass(frozen=True, slots=True)
class Built:
    """An artifact for one of the cases' problems, or why there is none."""

    problem: Problem
    vmfb: Path | None
    function: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Implementation:
    """What is tried: artifacts, one a problem of the cases, or a baseline by its name."""

    name: str
    device: str
    artifacts: tuple[Built, ...] = ()
    baseline: str | None = None


def _run_artifact(implementation: Implementation, problem: Problem, inputs: tuple[Array, ...]) -> Outputs | Failure:
    from ireebench.measure.artifact_runner import ArtifactRunner, Device, input_tensors, output_tensors, upload_inputs
    from ireebench.problems.ops.table import op_of

    built = next((b for b in implementation.artifacts if b.problem == problem), None)
    if built is None or built.vmfb is None:
        failure = built.failure if built else None
        return failure or Failure(Status.UNAVAILABLE, f"nothing was compiled for {problem.shape_text}", Stage.PLANNED)
    op = op_of(problem)
    device = Device(implementation.device)
    uploaded = upload_inputs(device, inputs, input_tensors(op.input_specs(problem)), 1)
    runner = ArtifactRunner(device, built.vmfb, built.function, uploaded, output_tensors(op.output_specs(problem)))
    runner.poison()
    runner.launch(0)
    runner.sync()
    outputs = runner.outputs()
    runner.close()
    return outputs


def _run_baseline(implementation: Implementation, problem: Problem, inputs: tuple[Array, ...]) -> Outputs | Failure:
    from ireebench.measure.baselines.table import load, refusal

    assert implementation.baseline is not None
    failure = refusal(implementation.baseline, problem, implementation.device)
    if failure is not None:
        return failure
    runnable = load(implementation.baseline).prepare(problem, inputs, 1, implementation.device)
    runnable.poison()
    runnable.launch(0)
    runnable.sync()
    outputs = runnable.outputs()
    runnable.close()
    return outputs


def _conformance(implementation: Implementation, problem: Problem, repeats: int) -> tuple[ConformanceRow, ...]:
    run = _run_baseline if implementation.baseline else _run_artifact
    return conformance(problem, lambda p, inputs: run(implementation, p, inputs), repeats)


def run_implementation(implementation: Implementation, problem: Problem, repeats: int) -> tuple[ConformanceRow, ...]:
    """The rows of one implementation, from a fresh process; one failing row where that process dies."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(_conformance, implementation, problem, repeats).result()
        except BrokenProcessPool:
            return (ConformanceRow("all", "the process ended", "fail", reason="it crashed the process that ran it"),)

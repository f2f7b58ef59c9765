"""Checks one implementation before it is timed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ireebench.measure.runnable import Array, Runnable
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.base import check_repeat
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem


@dataclass(frozen=True, slots=True)
class Checked:
    """A check's result, the digest of the first run's outputs, and how often it launched."""

    result: CheckResult
    digest: str
    launches: int


def run_once(runnable: Runnable, copy: int) -> tuple[Array, ...]:
    """One invocation on poisoned outputs, to its end; returns its outputs."""
    runnable.poison()
    runnable.launch(copy)
    runnable.sync()
    return runnable.outputs()


def digest(outputs: Sequence[Array]) -> str:
    """A hash of the outputs' bits: equal exactly when no bit differs."""
    total = hashlib.sha256()
    for array in outputs:
        total.update(array.tobytes())
    return total.hexdigest()


def check_entry(
    runnable: Runnable,
    problem: Problem,
    inputs: Sequence[Array],
    reference: Sequence[Array],
    repeats: int,
) -> Checked:
    """Runs on poisoned outputs, checks the result, then repeats and compares bit for bit.

    The repeats go through the copies of the inputs: an implementation that is right on one and not on another differs
    here. Raises RuntimeError (or the runtime's own error) when a launch fails.
    """
    runs = [run_once(runnable, 0)]
    result = op_of(problem).check(problem, inputs, runs[0], reference)
    if result.ok:
        runs += [run_once(runnable, repeat % runnable.copies) for repeat in range(1, repeats)]
        repeated = check_repeat(runs)
        result = replace(result, ok=repeated.ok, reason=repeated.reason)
    return Checked(result, digest(runs[0]), len(runs))

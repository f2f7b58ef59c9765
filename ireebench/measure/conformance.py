"""How an implementation of argmax or argmin treats ties, zeros, infinities, NaN, and one input many times over.

Pure apart from the implementation that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.argcompare import check, conformance_inputs, make_inputs
from ireebench.problems.ops.argcompare_cases import Case
from ireebench.problems.ops.base import Array, bits_of, check_repeat
from ireebench.problems.problem import Problem

Outputs = tuple[Array, ...]
# Runs the problem once on poisoned outputs. Some cases have another shape than the problem under test: where the
# implementation has no kernel for it, it returns a Failure. It may raise RuntimeError.
Implementation = Callable[[Problem, tuple[Array, ...]], Outputs | Failure]
Verdict = Literal["pass", "fail", "not run"]


@dataclass(frozen=True, slots=True)
class ConformanceRow:
    """One case. `ties`: which of equal extrema was taken (first, last, other), None where there was one or NaN.

    `nan`: "first NaN", "a NaN", "ignored", "inconsistent" (value is not the element at the index), "out of range", or
    several of them joined by commas where rows differ; None for cases without NaN. `reason` says why it failed or was
    not run.
    """

    case: str
    shows: str
    verdict: Verdict
    ties: str | None = None
    nan: str | None = None
    reason: str | None = None


def conformance(problem: Problem, run: Implementation, repeats: int = 100, seed: int = 0) -> tuple[ConformanceRow, ...]:
    """A row a case, and one for the timed input run `repeats` times, whose results must agree bit for bit."""
    rows = [_case(case, variant, inputs, run) for case, variant, inputs in conformance_inputs(problem, seed)]
    return (*rows, _repeat(problem, run, repeats, seed))


def _attempt(problem: Problem, inputs: tuple[Array, ...], run: Implementation) -> Outputs | Failure:
    try:
        return run(problem, inputs)
    except RuntimeError as e:
        return Failure(Status.RUN_FAILED, " ".join(str(e).split())[:200], Stage.COMPILED)


def _case(case: Case, problem: Problem, inputs: tuple[Array, ...], run: Implementation) -> ConformanceRow:
    outputs = _attempt(problem, inputs, run)
    if isinstance(outputs, Failure):
        verdict: Verdict = "fail" if outputs.status is Status.RUN_FAILED else "not run"
        return ConformanceRow(case.name, case.shows, verdict, reason=outputs.reason)
    result = check(problem, inputs, outputs)
    if result.ok and case.name == "identical_rows":
        result = _rows_agree(outputs)
    judged = len(outputs) == 2 and all(o.size == problem.rows for o in outputs)
    data = inputs[0].reshape(problem.rows, problem.reduction)
    return ConformanceRow(
        case.name,
        case.shows,
        "pass" if result.ok else "fail",
        ties=_ties(problem, data, outputs[1].reshape(-1)) if result.ok and not case.has_nan else None,
        nan=_nan(problem, data, outputs) if judged and case.has_nan else None,
        reason=result.reason,
    )


def _rows_agree(outputs: Outputs) -> CheckResult:
    """Equal rows must give results that are equal bit for bit."""
    for output in outputs:
        per_row = bits_of(output).reshape(output.size, -1)
        different = np.flatnonzero((per_row != per_row[0]).any(axis=1))
        if different.size:
            row = int(different[0])
            values = output.reshape(-1)
            return CheckResult(False, f"rows 0 and {row} are equal and gave {values[0]} and {values[row]}")
    return CheckResult(True)


def _ties(problem: Problem, data: Array, index: Array) -> str | None:
    pick = np.argmax if problem.op == "argmax" else np.argmin
    first = pick(data, axis=1)
    last = data.shape[1] - 1 - pick(data[:, ::-1], axis=1)
    tied = first != last
    if not tied.any():
        return None
    if (index == first)[tied].all():
        return "first"
    return "last" if (index == last)[tied].all() else "other"


def _nan(problem: Problem, data: Array, outputs: Outputs) -> str:
    values, indices = outputs[0].reshape(-1).astype(np.float64), outputs[1].reshape(-1)
    kinds = (
        _nan_row(problem, data[r].astype(np.float64), float(values[r]), int(indices[r])) for r in range(problem.rows)
    )
    return ", ".join(dict.fromkeys(kinds))


def _nan_row(problem: Problem, row: npt.NDArray[np.float64], value: float, index: int) -> str:
    if not 0 <= index < row.size:
        return "out of range"
    nan = np.isnan(row)
    if nan[index] and np.isnan(value):
        return "first NaN" if index == int(np.flatnonzero(nan)[0]) else "a NaN"
    numbers = row[~nan]
    best = None if numbers.size == 0 else numbers.max() if problem.op == "argmax" else numbers.min()
    # In a row of nothing but NaN an implementation that skips them returns its start value.
    return "ignored" if value == best == row[index] or (best is None and not np.isnan(value)) else "inconsistent"


def _repeat(problem: Problem, run: Implementation, repeats: int, seed: int) -> ConformanceRow:
    name, shows = "repeat", f"the same input {repeats} times gives the same bits"
    inputs = make_inputs(problem, seed)
    runs: list[Outputs] = []
    for _ in range(repeats):
        outputs = _attempt(problem, inputs, run)
        if isinstance(outputs, Failure):
            verdict: Verdict = "fail" if outputs.status is Status.RUN_FAILED else "not run"
            return ConformanceRow(name, shows, verdict, reason=outputs.reason)
        runs.append(tuple(o.copy() for o in outputs))
    same, right = check_repeat(runs), check(problem, inputs, runs[0])
    reason = same.reason or right.reason
    return ConformanceRow(name, shows, "fail" if reason else "pass", reason=reason)

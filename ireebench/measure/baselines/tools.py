"""Baselines that are programs of their own: ckProfiler, rocblas-bench, hipblaslt-bench, MIOpenDriver.

They time themselves and say a mean over their own iterations; there are no samples, and their outputs are checked by
themselves or not at all. So a figure of theirs is shown as what it is, never among the sampled trials.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ireebench.measure.rocm import find_tool
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem


@dataclass(frozen=True, slots=True)
class ToolFigure:
    """A tool's mean time of one call. `instance` names the kernel it chose; `verified` is the tool's own verdict.

    `instances` counts the kernels that it tried, where it tries several and the best counts.
    """

    mean_ns: float
    instance: str | None = None
    verified: bool | None = None
    instances: int | None = None


class ToolBaseline(Protocol):
    """A vendor's benchmark program."""

    @property
    def name(self) -> str:
        """What the baseline is called."""

    @property
    def tool(self) -> str:
        """The program's name."""

    @property
    def install(self) -> str:
        """How to get it, in one line."""

    def serves(self, problem: Problem) -> str | None:
        """None when it can compute this problem; else why not."""

    def command(self, problem: Problem, tool: str) -> list[str]:
        """The command line for a problem that it serves."""

    def parse(self, output: str) -> ToolFigure | str:
        """The figure in its output, or why there is none."""


def missing(baseline: ToolBaseline, env: Mapping[str, str] = os.environ) -> str | None:
    """None when the tool is here; else how to get it."""
    return None if find_tool(baseline.tool, env) else f"{baseline.name} needs {baseline.tool}: {baseline.install}"


def run(
    baseline: ToolBaseline, problem: Problem, env: Mapping[str, str] = os.environ, timeout_s: float = 600.0
) -> ToolFigure | Failure:
    """Runs the tool on a problem. `env` selects the GPU (HIP_VISIBLE_DEVICES)."""
    if reason := baseline.serves(problem):
        return Failure(Status.REJECTED, f"{baseline.name}: {reason}")
    tool = find_tool(baseline.tool, env)
    if tool is None:
        return Failure(Status.UNAVAILABLE, f"{baseline.name} needs {baseline.tool}: {baseline.install}")
    done = _execute(baseline.command(problem, str(tool)), env, timeout_s)
    return done if isinstance(done, Failure) else _figure(baseline, done)


def _execute(
    command: list[str], env: Mapping[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str] | Failure:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=dict(env))
    except subprocess.TimeoutExpired:
        return Failure(Status.RUN_TIMEOUT, f"{command[0]} did not end in {timeout_s:g} s", Stage.COMPILED)
    except OSError as e:
        return Failure(Status.RUN_FAILED, f"{command[0]}: cannot be run: {e.strerror or e}", Stage.COMPILED)


def _figure(baseline: ToolBaseline, done: subprocess.CompletedProcess[str]) -> ToolFigure | Failure:
    found = baseline.parse(done.stdout)
    if isinstance(found, str):
        words = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        tail = f": {words[-1]}" if words else ""
        reason = f"{baseline.tool}: {found} (exit code {done.returncode}){tail}"
        return Failure(Status.RUN_FAILED, reason, Stage.COMPILED)
    if found.verified is False:
        return Failure(Status.WRONG_RESULT, f"{baseline.tool} says that its own result is wrong", Stage.CHECKED)
    return found

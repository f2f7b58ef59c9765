"""The published problems' gfx942 code, executed on the CPU and checked as a device's results are.

Part of them runs here; `IREEBENCH_EMULATE_ALL=1` runs all 18 in vd, vd_split, vd_shuffle and ukernel with six
configurations each, one full row and four rows: docs/emulator.md has the figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.emulated import assemblies_of, schedule_of
from ireebench.ir.build import build_program
from ireebench.isa.emulate.program import EmulationResult, check_emulated, emulate_program, with_rows
from ireebench.outcome import Failure
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem
from ireebench.problems.select import Selection, select
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant

EVERYTHING = bool(os.environ.get("IREEBENCH_EMULATE_ALL"))
VARIANTS = ("vd", "vd_split", "vd_shuffle", "ukernel")
CONFIGS = 6


def published() -> tuple[Problem, ...]:
    return tuple(p for op in ("argmax", "argmin") for p in select(op, Selection(suite="published")))


def candidates(problem: Problem, variant: str, limit: int) -> tuple[Candidate, ...]:
    return enumerate_space(problem, find_variant(variant), find_target("gfx942"), limit=limit).accepted


def emulate(compiler: Compiler, artifact: Artifact, problem: Problem, rows: int) -> str | None:
    """Why the emulated result of some rows is not right; None when it is."""
    schedule = schedule_of(compiler, artifact)
    if isinstance(schedule, Failure):
        return f"{schedule.status}: {schedule.reason}"
    part = with_rows(problem, rows) if rows < problem.rows else problem
    inputs = op_of(part).make_inputs(part, seed=rows)
    some = rows if rows < problem.rows else None
    result = emulate_program(schedule, assemblies_of(artifact), problem, inputs, rows=some)
    if not isinstance(result, EmulationResult):
        return f"{result.status}: {result.reason}"
    check = check_emulated(problem, inputs, result)
    assert check.by == "emulator"
    return None if check.ok else str(check.reason)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(Path(os.environ.get("IREEBENCH_EMULATE_CACHE") or tmp_path_factory.mktemp("cache"))) as c:
        yield c


FEW = (("llama3-8b", "argmax", "vd"), ("llama3-8b-batch", "argmax", "vd_split"), ("gpt2", "argmax", "ukernel"))


@pytest.mark.parametrize(("name", "op", "variant"), FEW)
def test_published_problems_are_right_when_emulated(compiler: Compiler, name: str, op: str, variant: str) -> None:
    (problem,) = select(op, Selection(models=name))
    for candidate in candidates(problem, variant, 2):
        artifact = compiler.compile(build_program(candidate))
        assert isinstance(artifact, Artifact), artifact
        for rows in {1, min(4, problem.rows)}:
            assert emulate(compiler, artifact, problem, rows) is None, candidate


@pytest.mark.skipif(not EVERYTHING, reason="set IREEBENCH_EMULATE_ALL=1 to run the whole matrix (minutes)")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("problem", published(), ids=lambda p: f"{p.id}-{p.op}")
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_whole_matrix(compiler: Compiler, problem: Problem, variant: str) -> None:
    ran, wrong = 0, []
    chosen = candidates(problem, variant, CONFIGS)
    if not chosen:
        pytest.skip(f"{variant} does not apply to {problem.id}")
    for program, artifact in compiler.compile_many([build_program(c) for c in chosen]):
        if isinstance(artifact, Failure):
            print(f"  {program.candidate}: {artifact.status}: {artifact.reason[:100]}")  # noqa: T201
            continue
        for rows in sorted({1, min(4, problem.rows)}):
            why = emulate(compiler, artifact, problem, rows)
            ran += 1
            if why is not None:
                wrong.append(f"{program.candidate} rows={rows}: {why}")
    counts = f"{len(chosen)} configurations, {ran} runs, {len(wrong)} wrong"
    print(f"{problem.id} {problem.op} {variant}: {counts}")  # noqa: T201
    assert not wrong
    assert ran or variant == "ukernel"

"""Candidates that a sweep checks on the emulator: what becomes of the trial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.ir.build import build_program
from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.store.trial import Trial
from ireebench.sweep.emulated import checked_trial, conformance_emulated, emulate_candidate
from ireebench.targets import find_target
from ireebench.variants import Ship, find_variant

PROBLEM = Problem("custom", "argmax", (8, 2048), "f32")


@pytest.fixture(scope="module")
def candidate() -> object:
    space = enumerate_space(
        PROBLEM, find_variant("vd"), find_target("gfx942"), config=Config.parse("SG=2,PR=1024,TH=4")
    )
    return space.accepted[0]


def trial_of(artifact: Artifact) -> Trial:
    return Trial(
        "key", PROBLEM, "gfx942", "vd", None, "rows", Ship.IR_REWRITE, Config(), Status.OK, Stage.COMPILED,
        applied=artifact.applied,
    )  # fmt: skip


def test_a_right_candidate_is_checked_by_the_emulator(compiler: Compiler, candidate: object) -> None:
    emulated = emulate_candidate(compiler, candidate, rows=2)  # type: ignore[arg-type]
    assert emulated.good
    assert emulated.rows == 2
    artifact = compiler.compile(build_program(candidate))  # type: ignore[arg-type]
    assert isinstance(artifact, Artifact)
    trial = checked_trial(compiler, trial_of(artifact), artifact, rows=2)
    assert (trial.status, trial.stage) == (Status.OK, Stage.CHECKED)
    assert trial.check is not None
    assert trial.check.by == "emulator"
    (counts,) = trial.counts
    # Two rows of 2048 f32, loaded once (scalar loads and reads of the LDS are apart): 16 KiB in 128 lines.
    loaded = sum(n for name, n in counts.bytes.items() if name == "global load b128")
    assert loaded >= 2 * 2048 * 4
    assert counts.cache_lines >= 128
    assert counts.dpp > 0


def test_a_wrong_candidate_becomes_a_wrong_result(compiler: Compiler, candidate: object) -> None:
    artifact = compiler.compile(build_program(candidate))  # type: ignore[arg-type]
    assert isinstance(artifact, Artifact)
    # The code computes a maximum: as an argmin its answer is wrong.
    trial = replace(trial_of(artifact), problem=replace(PROBLEM, op="argmin"))
    judged = checked_trial(compiler, trial, artifact, rows=1)
    assert judged.status is Status.WRONG_RESULT
    assert judged.reason is not None
    assert judged.reason.startswith("emulated: ")


def test_conformance_cases_run_on_emulated_code(compiler: Compiler, candidate: object) -> None:
    rows = {r.case: r for r in conformance_emulated(compiler, candidate, rows=2)}  # type: ignore[arg-type]
    for case in ("ties", "signed_zeros", "all_negative", "all_neg_inf", "nan"):
        assert rows[case].verdict == "pass", rows[case]
    assert rows["nan"].nan == "ignored"
    assert rows["repeat"].verdict == "pass"

"""4-bit GEMVs on the emulator: their tables are constants of the module, bound where the compiler's IR binds them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.emulated import assemblies_of, schedule_of
from ireebench.ir.build import build_program
from ireebench.isa.emulate.program import EmulationResult, check_emulated, emulate_schedule
from ireebench.isa.emulate.schedule import DispatchCommand, Schedule
from ireebench.outcome import Stage, Status
from ireebench.problems.ops import gemv
from ireebench.problems.ops.quantise import code_values, unpack
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.store.trial import Trial
from ireebench.sweep.emulated import checked_trial
from ireebench.targets import find_target
from ireebench.variants import find_variant

# Shapes and configurations for gfx942 that several tests compile: the session's compiler keeps them.
SMALL = {
    ("vd_words", "nf4"): ((1, 32, 2048), "SG=2,PR=1024,TH=8,RW=4,SR=2"),
    ("vd_words", "q4_0"): ((1, 32, 1024), "SG=1,PR=512,TH=8,RW=8,SR=2"),
    ("vd_pairs", "nf4"): ((1, 32, 2048), "SG=2,PR=1024,TH=8,RW=4,SR=2"),
    ("vd_pairs", "q4_0"): ((1, 32, 1024), "SG=1,PR=1024,TH=16,RW=8,SR=2"),
    ("vd_sums", "q4_0"): ((1, 32, 4096), "SG=2,PR=4096,TH=32,RW=4,SR=1"),
}


def candidate_of(form: tuple[str, str], shape: tuple[int, ...], config: str, target: str = "gfx942") -> Candidate:
    variant, dtype = form
    problem = Problem("p", "gemv", shape, dtype, None, "f32", "nk")
    found = enumerate_space(problem, find_variant(variant), find_target(target), config=Config.parse(config))
    (candidate,) = found.accepted
    return candidate


def compiled(compiler: Compiler, candidate: Candidate, planted: tuple[str, str] = ("", "")) -> Artifact:
    """The artifact of a candidate; of `planted`, the first text is in its module once and is replaced by the second."""
    program = build_program(candidate)
    if planted[0]:
        assert program.mlir.count(planted[0]) == 1
        program = replace(program, mlir=program.mlir.replace(*planted))
    artifact = compiler.compile(program)
    assert isinstance(artifact, Artifact), artifact
    assert artifact.applied is True, artifact.not_applied_reason
    return artifact


def judged(compiler: Compiler, candidate: Candidate, artifact: Artifact) -> Trial:
    """The trial that `sweep --check emulated --emulated-rows 32` makes of an artifact."""
    trial = Trial(
        "key", candidate.problem, "gfx942", candidate.variant.name, None, candidate.form.name, candidate.ship,
        candidate.config, Status.OK, Stage.COMPILED, applied=True,
    )  # fmt: skip
    return checked_trial(compiler, trial, artifact, rows=32)


def relative_error(compiler: Compiler, candidate: Candidate) -> float:
    """Of all rows, right and with nothing reported: against the product of the values that the form computes with.

    `dequant_pairs` rounds them to f16; what is left is what sums in f32 lose.
    """
    problem = candidate.problem
    artifact = compiled(compiler, candidate)
    schedule = schedule_of(compiler, artifact)
    assert isinstance(schedule, Schedule), schedule
    weights, scales, x = gemv.make_inputs(problem, 3)
    result = emulate_schedule(schedule, assemblies_of(artifact), (weights, scales, x))
    assert result.reports == ()
    check = check_emulated(problem, (weights, scales, x), result)
    assert check.ok, check.reason
    m, n, k = problem.shape
    rounded = np.float16 if candidate.form.name == "dequant_pairs" else np.float32
    values = code_values(problem.dtype).astype(rounded).astype(np.float64)
    wide = (values[unpack(weights)].reshape(n, scales.shape[1], -1) * np.float64(scales)[:, :, None]).reshape(n, k)
    want = np.float64(x).reshape(m, k) @ wide.T
    return float(np.linalg.norm(result.outputs[0].reshape(m, n) - want) / np.linalg.norm(want))


@pytest.mark.parametrize(
    ("form", "shape", "config", "target"),
    [
        *((form, shape, config, "gfx942") for form, (shape, config) in SMALL.items() if form[0] != "vd_sums"),
        (("vd_words", "q4_0"), (1, 16, 1024), "SG=1,PR=1024,TH=32,RW=4,SR=1", "gfx1100"),
        (("vd_words", "nf4"), (4, 16, 1024), "SG=1,PR=512,TH=8,RW=4,SR=4", "gfx942"),
        (("vd_pairs", "nf4"), (1, 16, 1024), "SG=1,PR=1024,TH=32,RW=4,SR=1", "gfx1100"),
        (("vd_pairs", "nf4"), (4, 16, 1024), "SG=1,PR=512,TH=8,RW=4,SR=4", "gfx942"),
    ],
)
def test_every_row_is_right_and_nothing_is_reported(
    compiler: Compiler, form: tuple[str, str], shape: tuple[int, ...], config: str, target: str
) -> None:
    assert relative_error(compiler, candidate_of(form, shape, config, target)) < 1e-6


@pytest.mark.parametrize(
    ("shape", "config", "target"),
    [
        (*SMALL["vd_sums", "q4_0"], "gfx942"),
        ((1, 16, 1024), "SG=1,PR=512,TH=16,RW=8,SR=1", "gfx1100"),
        ((1, 16, 1024), "SG=1,PR=1024,TH=16,RW=4,SR=4", "gfx942"),
        ((2, 16, 2048), "SG=1,PR=2048,TH=32,RW=2,SR=2", "gfx942"),
    ],
)
def test_sums_of_unscaled_codes_lose_a_tenth_of_what_rounding_weights_to_f16_would(
    compiler: Compiler, shape: tuple[int, ...], config: str, target: str
) -> None:
    error = relative_error(compiler, candidate_of(("vd_sums", "q4_0"), shape, config, target))
    # Codes of 4.6 (root mean square) are summed as floats of up to 4104 in f32; f16 rounds to 2.0e-4.
    assert 5e-6 < error < 1e-4


# A text of the module's constant as it is and with one value changed: NF4's lowest value; the exponent of the first
# code of each word, whose lowest bit then always counts as set; the low value of the pair of byte 0x88 (0.0796 to
# 0.0952) and of byte 0 (0 to 1); the sign of code 3, which is then not flipped.
PLANTED = {
    ("vd_words", "nf4"): ("dense<[0xBF800000,", "dense<[0xBF820000,"),
    ("vd_words", "q4_0"): ("dense<[1191182336,", "dense<[1191182592,"),
    ("vd_pairs", "nf4"): (" 756559128,", " 756559384,"),
    ("vd_pairs", "q4_0"): ("dense<[0, 15360, 16384,", "dense<[15360, 15360, 16384,"),
    ("vd_sums", "q4_0"): (" 1157660672,", " 1157627904,"),
}


@pytest.mark.parametrize("form", PLANTED)
def test_a_sweep_checks_it_and_one_wrong_value_among_its_constants_is_a_wrong_result(
    compiler: Compiler, form: tuple[str, str]
) -> None:
    candidate = candidate_of(form, *SMALL[form])
    right = judged(compiler, candidate, compiled(compiler, candidate))
    assert (right.status, right.stage, right.reason) == (Status.OK, Stage.CHECKED, None)
    assert right.check is not None
    assert right.check.by == "emulator"
    wrong = judged(compiler, candidate, compiled(compiler, candidate, PLANTED[form]))
    assert wrong.status is Status.WRONG_RESULT
    assert wrong.reason is not None
    assert wrong.reason.startswith("emulated: ")


PAIRS = ("vd_pairs", "nf4")


def pairs_run(compiler: Compiler) -> tuple[Artifact, Schedule, DispatchCommand]:
    artifact = compiled(compiler, candidate_of(PAIRS, *SMALL[PAIRS]))
    schedule = schedule_of(compiler, artifact)
    assert isinstance(schedule, Schedule), schedule
    (command,) = schedule.commands
    assert isinstance(command, DispatchCommand)
    return artifact, schedule, command


def test_constants_are_those_of_the_binary_and_lie_where_it_binds_them(compiler: Compiler) -> None:
    artifact, schedule, command = pairs_run(compiler)
    (constants,) = (b for b in schedule.buffers if b.kind == "constant")
    assert constants.data in artifact.vmfb.read_bytes()
    number = schedule.buffers.index(constants)
    bound = [constants.data[s.offset : s.offset + s.length] for s in command.bindings if s.buffer == number]
    # The banks are four bytes apart; byte 0x70 is the pair of codes 0 and 7: -1 and 0 as f16.
    banks = np.arange(0, 128, 4, dtype=np.int32).tobytes()
    assert bound[0] == banks
    assert len(bound[1]) == 1024
    assert bound[1][4 * 0x70 : 4 * 0x70 + 4] == bytes.fromhex("00bc0000")


def test_two_constants_bound_the_wrong_way_round_do_not_pass(compiler: Compiler) -> None:
    artifact, schedule, command = pairs_run(compiler)
    number = next(i for i, b in enumerate(schedule.buffers) if b.kind == "constant")
    first, second = (i for i, s in enumerate(command.bindings) if s.buffer == number)
    bindings = list(command.bindings)
    bindings[first], bindings[second] = bindings[second], bindings[first]
    crossed = replace(schedule, commands=(replace(command, bindings=tuple(bindings)),))
    problem = candidate_of(PAIRS, *SMALL[PAIRS]).problem
    inputs = gemv.make_inputs(problem, 3)
    result = emulate_schedule(crossed, assemblies_of(artifact), inputs)
    assert isinstance(result, EmulationResult)
    assert not check_emulated(problem, inputs, result).ok

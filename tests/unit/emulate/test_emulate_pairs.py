"""Forms `dequant_pairs` and `dequant_sums` on the emulator: their tables are constants, bound by hand here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.spawner import Limits
from ireebench.ir.build import build_program
from ireebench.ir.gemv_pairs import pair_table
from ireebench.ir.gemv_sums import exponents
from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.listing import read_listing
from ireebench.isa.emulate.standalone import BindingSpec, KernelRun, choose_kernel, run_kernel
from ireebench.problems.check import CheckResult
from ireebench.problems.ops import gemv
from ireebench.problems.ops.quantise import code_values, unpack
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache"), Limits()) as made:
        yield made


def emulated(
    compiler: Compiler, problem: Problem, asked: tuple[str, str, str], table: npt.NDArray[np.int32]
) -> tuple[KernelRun, CheckResult]:
    """One run with `table` as the pairs or exponents, sanitized, and the check of its result.

    Its relative error is against the product of values rounded to f16: nothing but sums in f32 is left of it.
    """
    variant, config, target = asked
    found = enumerate_space(problem, find_variant(variant), find_target(target), config=Config.parse(config))
    (case,) = found.accepted
    artifact = compiler.compile(build_program(case))
    assert isinstance(artifact, Artifact), artifact
    assert artifact.applied is True, artifact.not_applied_reason
    (file,) = (artifact.folder / "dump").glob("*.rocmasm")
    weights, scales, x = gemv.make_inputs(problem, 3)
    packed = np.ascontiguousarray(weights)
    banks = np.arange(0, 128, 4, dtype=np.int32)
    read = (banks, table, packed, x, scales) if variant == "vd_pairs" else (packed, table, x, scales)
    shape = gemv.output_specs(problem)[0][0]
    bindings = [BindingSpec("in", a.shape, a.dtype, a) for a in read]
    bindings.append(BindingSpec("out", shape, np.dtype(np.float32), None))
    grid = (problem.shape[1] // (case.config.rw or 1), 1, 1)
    run = run_kernel(choose_kernel(read_listing(file.read_text()), None, target), bindings, grid, (), Options())
    inputs = (weights, scales, x)
    check = gemv.check(problem, inputs, (run.bindings[-1],))
    m, n, k = problem.shape
    values = np.float64(np.float16(code_values(problem.dtype)))[unpack(weights)].reshape(n, scales.shape[1], -1)
    wide = (values * np.float64(scales)[:, :, None]).reshape(n, k)
    want = (np.float64(x).reshape(m, k) @ wide.T).reshape(shape)
    error = float(np.linalg.norm(run.bindings[-1] - want) / np.linalg.norm(want))
    return run, replace(check, relative_error=error)


@pytest.mark.parametrize(
    ("dtype", "shape", "config", "target"),
    [
        ("nf4", (1, 32, 2048), "SG=2,PR=1024,TH=8,RW=4,SR=2", "gfx942"),
        ("nf4", (1, 16, 1024), "SG=1,PR=1024,TH=32,RW=4,SR=1", "gfx1100"),
        ("nf4", (4, 16, 1024), "SG=1,PR=512,TH=8,RW=4,SR=4", "gfx942"),
        ("q4_0", (1, 32, 1024), "SG=1,PR=1024,TH=16,RW=8,SR=2", "gfx942"),
    ],
)
def test_the_looked_up_product_is_right_and_nothing_races(
    compiler: Compiler, dtype: str, shape: tuple[int, ...], config: str, target: str
) -> None:
    problem = Problem("p", "gemv", shape, dtype, None, "f32", "nk")
    run, check = emulated(compiler, problem, ("vd_pairs", config, target), np.array(pair_table(dtype), np.int32))
    assert check.ok, check.reason
    assert check.relative_error is not None
    assert check.relative_error < 1e-6
    assert run.result.reports == ()


def test_one_wrong_value_of_the_table_fails_the_check(compiler: Compiler) -> None:
    problem = Problem("p", "gemv", (1, 16, 1024), "nf4", None, "f32", "nk")
    pairs = np.array(pair_table("nf4"), np.int32)
    pairs[0x7E] += 0x20  # a low value is 0.73853 for 0.72296
    _, check = emulated(compiler, problem, ("vd_pairs", "SG=1,PR=1024,TH=32,RW=8,SR=1", "gfx942"), pairs)
    assert not check.ok


@pytest.mark.parametrize(
    ("shape", "config", "target"),
    [
        ((1, 32, 4096), "SG=2,PR=4096,TH=32,RW=4,SR=1", "gfx942"),
        ((1, 16, 1024), "SG=1,PR=512,TH=16,RW=8,SR=1", "gfx1100"),
        ((1, 16, 1024), "SG=1,PR=1024,TH=16,RW=4,SR=4", "gfx942"),
        ((2, 16, 2048), "SG=1,PR=2048,TH=32,RW=2,SR=2", "gfx942"),
    ],
)
def test_sums_of_unscaled_codes_lose_a_tenth_of_what_rounding_weights_to_f16_would(
    compiler: Compiler, shape: tuple[int, ...], config: str, target: str
) -> None:
    problem = Problem("p", "gemv", shape, "q4_0", None, "f32", "nk")
    run, check = emulated(compiler, problem, ("vd_sums", config, target), np.array(exponents(), np.int32))
    assert check.ok, check.reason
    assert check.relative_error is not None
    # Codes of 4.6 (root mean square) are summed as floats of up to 4104 in f32; f16 rounds to 2.0e-4.
    assert 5e-6 < check.relative_error < 1e-4
    assert run.result.reports == ()


def test_one_wrong_exponent_fails_the_check(compiler: Compiler) -> None:
    problem = Problem("p", "gemv", (1, 16, 1024), "q4_0", None, "f32", "nk")
    wrong = np.array(exponents(), np.int32)
    wrong[3] ^= 8 << 12  # the sign of code 3 is not flipped
    _, check = emulated(compiler, problem, ("vd_sums", "SG=1,PR=1024,TH=32,RW=4,SR=1", "gfx942"), wrong)
    assert not check.ok

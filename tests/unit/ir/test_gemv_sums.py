"""Form `dequant_sums`: what its operations make of a code, what the compiler makes of it, where it is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.spawner import Limits
from ireebench.ir.build import build_program
from ireebench.ir.gemv_sums import LEFT, POSITIONS, RIGHT, exponents, surplus
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import Enumeration, enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


def forced(dtype: str, target: str, config: str, shape: tuple[int, ...] = (1, 1024, 4096)) -> Enumeration:
    problem = Problem("p", "gemv", shape, dtype, None, "f32", "nk")
    return enumerate_space(problem, find_variant("vd_sums"), find_target(target), config=Config.parse(config))


def test_each_code_of_any_word_becomes_its_number_and_a_known_surplus_exactly() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, 4096, dtype=np.uint32)
    for u in range(8):
        moved = (words << np.uint32(LEFT[u])) >> np.uint32(RIGHT[u])
        bits = (moved & np.uint32(0xF << POSITIONS[u])) ^ np.uint32(exponents()[u])
        nibble = (words >> np.uint32(4 * u) & np.uint32(0xF)).astype(np.int64)
        number = np.where(nibble < 8, nibble, nibble - 16)
        assert np.array_equal(bits.view(np.float32).astype(np.float64), number + surplus()[u])


def test_no_surplus_is_so_large_that_sums_of_it_lose_the_code() -> None:
    assert max(surplus()) == 2.0**12 + 8


def test_on_nvidia_a_weight_costs_a_logic_operation_and_a_multiply_add(tmp_path: Path) -> None:
    (case,) = forced("q4_0", "sm_89", "SG=4,PR=4096,TH=32,RW=4,SR=1", (1, 256, 28672)).accepted
    with Compiler(tmp_path, Limits()) as compiler:
        artifact = compiler.compile(build_program(case))
    assert isinstance(artifact, Artifact), artifact
    assert artifact.applied is True, artifact.not_applied_reason
    (file,) = Path(artifact.folder / "dump").glob("*.ptx")
    loop = file.read_text().partition("$L__BB0_1:")[2].partition("bra")[0]
    rows, codes = 4, 32
    weights = rows * codes
    # Two shifts a word of eight codes; an AND and an XOR a code, which ptxas makes one LOP3.
    assert len(re.findall(r"shl\.b32\s+%r\d+, %r\d+, 11;", loop)) == weights // 8
    assert len(re.findall(r"shr\.u32\s+%r\d+, %r\d+, 9;", loop)) == weights // 8
    assert len(re.findall(r"and\.b32", loop)) == weights
    assert len(re.findall(r"xor\.b32", loop)) == weights
    # A weight's own multiply-add; the surplus once for all rows; the scale once a row.
    multiplied = len(re.findall(r"fma\.rn\.f32|mul\.rn\.f32|mul\.f32", loop))
    assert weights + codes <= multiplied <= weights + codes + 2 * rows
    assert len(re.findall(r"cvt\.f32\.f16", loop)) == codes + rows


@pytest.mark.parametrize(
    ("m", "dtype", "target", "config", "constraint"),
    [
        (1, "nf4", "sm_89", "SG=4,PR=4096,TH=32,RW=4,SR=1", "weight_format"),
        (1, "f16", "sm_89", "SG=2,PR=1024,TH=8,RW=1,SR=1", "weight_format"),
        (1, "q4_0", "cpu", "default", "gpu_layout"),
        (2, "q4_0", "gfx942", "SG=1,PR=512,TH=8,RW=4,SR=4", "halves_of_block"),
    ],
)
def test_it_is_refused_by_name_for_other_weights_without_lanes_and_for_quarters_of_a_block(
    m: int, dtype: str, target: str, config: str, constraint: str
) -> None:
    assert [r.constraint for r in forced(dtype, target, config, (m, 1024, 4096)).rejected] == [constraint]


def test_two_lanes_may_share_a_block() -> None:
    assert forced("q4_0", "gfx942", "SG=1,PR=1024,TH=16,RW=4,SR=4").accepted


def test_a_lane_may_hold_eight_rows_of_a_block_where_words_may_hold_four() -> None:
    config = "SG=4,PR=4096,TH=32,RW=8,SR=1"
    assert forced("q4_0", "sm_89", config).accepted
    words = enumerate_space(
        Problem("p", "gemv", (1, 1024, 4096), "q4_0", None, "f32", "nk"),
        find_variant("vd_words"),
        find_target("sm_89"),
        config=Config.parse(config),
    )
    assert [r.constraint for r in words.rejected] == ["tile_in_registers"]

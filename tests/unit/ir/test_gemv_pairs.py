"""Form `dequant_pairs`: the table, the addresses, what the compiler makes of them, and where it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.spawner import Limits
from ireebench.ir.build import build_program
from ireebench.ir.gemv_pairs import LEFT, RIGHT, ROW_MASK, pair_table
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import Enumeration, enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache"), Limits()) as made:
        yield made


def forced(dtype: str, target: str, config: str, shape: tuple[int, ...] = (1, 1024, 4096)) -> Enumeration:
    problem = Problem("p", "gemv", shape, dtype, None, "f32", "nk")
    return enumerate_space(problem, find_variant("vd_pairs"), find_target(target), config=Config.parse(config))


@pytest.mark.parametrize(
    ("dtype", "byte", "bits"),
    [
        ("nf4", 0x00, 0xBC00BC00),  # -1, -1
        ("nf4", 0x0F, 0xBC003C00),  # low code 15: 1; high code 0: -1
        ("nf4", 0x7E, 0x000039C9),  # low code 14: 0.72296 is 0x39C9 in f16; high code 7: 0
        ("q4_0", 0x87, 0xC8004700),  # low code 7: 7; high code 8: -8
        ("q4_0", 0xF0, 0xBC000000),  # low code 0: 0; high code 15: -1
    ],
)
def test_a_byte_picks_the_f16_values_of_its_low_and_high_code(dtype: str, byte: int, bits: int) -> None:
    table = pair_table(dtype)
    assert len(table) == 256
    assert table[byte] & 0xFFFFFFFF == bits


def test_every_lane_reads_its_own_bank_at_the_row_of_its_byte() -> None:
    """The integer operations of the IR, on random words."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**32, 1000, dtype=np.uint32)
    for lane in range(32):
        for n in range(4):
            row = ((words << np.uint32(LEFT[n])) >> np.uint32(RIGHT[n])) & np.uint32(ROW_MASK)
            address = row | np.uint32(4 * lane)
            assert np.array_equal(address, (words >> np.uint32(8 * n) & np.uint32(0xFF)) * 128 + 4 * lane)
            assert np.all(address // 4 % 32 == lane)


def test_on_nvidia_a_byte_costs_a_shift_a_mask_and_a_load_from_shared_memory(compiler: Compiler) -> None:
    (case,) = forced("nf4", "sm_89", "SG=4,PR=4096,TH=32,RW=4,SR=1", (1, 256, 28672)).accepted
    artifact = compiler.compile(build_program(case))
    assert isinstance(artifact, Artifact), artifact
    assert artifact.applied is True, artifact.not_applied_reason
    (file,) = Path(artifact.folder / "dump").glob("*.ptx")
    loop = file.read_text().partition("$L__BB0_1:")[2].partition("bra")[0]
    looked_up = 4 * 32 // 2  # four rows of 32 codes, two at a time
    assert len(re.findall(r"ld\.shared", loop)) == looked_up
    assert len(re.findall(r"sh[lr]\.b32|shr\.u32", loop)) == looked_up
    assert len(re.findall(r"and\.b32", loop)) == looked_up
    assert "mul.wide" not in loop  # no address is scaled by the size of a pair
    assert len(re.findall(r"ld\.global", loop)) == 4 + 4 + 4  # weights, scales, 64 bytes of activations


def test_the_table_is_whole_before_it_is_read(compiler: Compiler) -> None:
    (case,) = forced("nf4", "sm_89", "SG=4,PR=4096,TH=32,RW=2,SR=1").accepted
    artifact = compiler.compile(build_program(case))
    assert isinstance(artifact, Artifact), artifact
    (file,) = Path(artifact.folder / "dump").glob("*.ptx")
    before, barrier, after = file.read_text().partition("bar.sync")
    stored = sum(4 for _ in re.findall(r"st\.shared\.v4\.b32", before))
    assert barrier
    assert stored * 4 * 32 == 256 * 32  # four subgroups fill 256 rows of 32 copies
    assert "ld.shared" not in before
    assert "ld.shared" in after


def test_a_cpu_has_no_lanes_that_look_up_in_banks_of_their_own() -> None:
    assert [r.constraint for r in forced("nf4", "cpu", "default").rejected] == ["gpu_layout"]


def test_float_weights_have_no_pairs() -> None:
    assert [r.constraint for r in forced("f16", "sm_89", "SG=2,PR=1024,TH=8,RW=1,SR=1").rejected] == ["weight_format"]


def test_a_sweep_of_a_cpu_does_not_try_it_unasked() -> None:
    assert not find_variant("vd_pairs").serves("gemv", "cpu")
    assert find_variant("vd_pairs").serves("gemv", "cuda")
    assert find_variant("vd_pairs").serves("gemv", "hip")


def test_a_small_sample_begins_with_four_rows_a_lane_and_eight_subgroups() -> None:
    problem = Problem("p", "gemv", (1, 8192, 28672), "nf4", None, "f32", "nk")
    first = enumerate_space(problem, find_variant("vd_pairs"), find_target("sm_89"), limit=4).accepted[0].config
    assert (first.th, (first.sg or 0) * (first.sr or 0), (first.rw or 0) // (first.sr or 1)) == (32, 8, 4)

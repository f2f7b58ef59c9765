"""What IREE itself writes: its default GEMV, and DPP against shuffles. Compiles for gfx942; no GPU is needed."""

from __future__ import annotations

import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.flags import base_flags
from ireebench.ir.build import build_program
from ireebench.isa.summary import KernelSummary, summarise
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem
from ireebench.report.dpp_shuffle import static_document, static_table, static_twins
from ireebench.targets import find_target

GEMV = """\
func.func @gemv(%weight: tensor<4096x4096xf16>, %x: tensor<4096xf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096xf32>) -> tensor<4096xf32>
  %y = linalg.matvec ins(%weight, %x : tensor<4096x4096xf16>, tensor<4096xf16>)
                     outs(%init : tensor<4096xf32>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
"""
GFX942 = find_target("gfx942")
PROBLEM = Problem("test", "argmax", (131072,), "bf16", "i64")


@pytest.fixture(scope="module")
def gemv(tmp_path_factory: pytest.TempPathFactory) -> KernelSummary:
    with Compiler(tmp_path_factory.mktemp("cache")) as compiler:
        compiled = compiler.compile_source(Source(GEMV, None, base_flags(GFX942)))
        assert compiled.failure is None
        (file,) = compiled.folder.glob("dump/*.rocmasm")
        (summary,) = summarise(file.read_text())
    return summary


def test_the_default_f16_gemv_loads_16_bytes_and_converts_instead_of_using_dots(gemv):
    assert gemv.load_width_bytes == 16
    assert gemv.dot == 0
    assert gemv.mfma == 0
    # One conversion an element: 8 rows and the vector, 8 elements of each a lane.
    assert gemv.convert == 72
    assert gemv.packed == 32  # v_pk_fma_f32, two elements each: 8 rows x 8 elements
    assert "convert-multiply-add" in gemv.lints
    assert (gemv.scratch_bytes, gemv.vgpr_spills) == (0, 0)


def test_dpp_and_shuffle_variants_differ_in_the_assembly(tmp_path):
    with Compiler(tmp_path) as compiler:

        def compile_(candidate: Candidate) -> Artifact | Failure:
            return compiler.compile(build_program(candidate))

        standard, split = static_twins([PROBLEM], GFX942, compile_)
    assert (standard.pipeline, split.pipeline) == ("standard", "split")
    assert standard.differ is True
    assert split.differ is True
    assert standard.ballot.dpp is not None
    assert standard.ballot.dpp > 0
    assert standard.ballot.swizzle == 0
    assert standard.shuffle.dpp == 0
    assert standard.shuffle.swizzle is not None
    assert standard.shuffle.swizzle > 0
    assert (standard.ballot.kernels, split.ballot.kernels) == (1, 2)
    assert (standard.ballot.barriers, standard.shuffle.barriers) == (2, 1)


def test_a_compile_that_fails_is_a_row_with_its_reason():
    def compile_(_candidate: Candidate) -> Artifact | Failure:
        return Failure(Status.COMPILE_FAILED, "failed to distribute", Stage.PLANNED)

    twins = static_twins([PROBLEM], GFX942, compile_)
    assert [t.differ for t in twins] == [None, None]
    table = static_table(twins)
    assert table.rows[0][-1] == "compile_failed: failed to distribute"
    assert table.rows[0][7:12] == (None,) * 5
    document = static_document(twins, GFX942)
    assert document["twins"][0]["ballot"]["failure"] == "compile_failed: failed to distribute"
    assert document["twins"][0]["ballot"]["dpp"] is None

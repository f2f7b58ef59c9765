"""Every form compiles for gfx942, and what was asked for is what the dumps show. Real compiles, a second each."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.flags import base_flags, find_compiler
from ireebench.compiler.spawner import Limits
from ireebench.ir.batch import merge
from ireebench.ir.build import build_program
from ireebench.ir.flags import shipping_flags
from ireebench.ir.program import Program
from ireebench.ir.specs import emit_spec
from ireebench.ir.verify import verify
from ireebench.problems.problem import Op, Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache"), Limits()) as made:
        yield made


def candidate(
    variant: str, shape: tuple[int, ...], config: str, *, op: Op = "argmax", dtype: str = "bf16"
) -> Candidate:
    problem = Problem("p", op, shape, dtype)
    if op == "gemv":
        problem = Problem("p", op, shape, dtype, None, "f32", "nk")
    found = enumerate_space(problem, find_variant(variant), find_target("gfx942"), config=Config.parse(config))
    return found.accepted[0]


def compiled(compiler: Compiler, program: Program) -> Artifact:
    outcome = compiler.compile(program)
    assert isinstance(outcome, Artifact), outcome
    return outcome


def kernels_code(artifact: Artifact) -> str:
    """All assembly of an artifact without names, comments and debug lines: what the hardware would run."""
    text = "".join(path.read_text() for path in sorted((artifact.folder / "dump").glob("*.rocmasm")))
    code = "\n".join(line.split(";")[0].rstrip() for line in text.splitlines())
    return re.sub(r"\w*_dispatch_\w+", "kernel", code)


@pytest.mark.parametrize(
    ("form", "case"),
    [
        ("native", candidate("vd", (131072,), "SG=4,PR=2048,TH=8")),
        ("collapse", candidate("vd", (1, 131072), "SG=4,PR=2048,TH=8")),
        ("rows", candidate("vd", (2, 16, 32768), "SG=4,PR=1024,TH=4,WPE=2", dtype="f32")),
        ("inner_pad", candidate("vd", (1, 50257), "SG=4,PR=1024,TH=4", dtype="f32")),
        ("inner_pad", candidate("vd_split", (1, 50257), "SG=2,PR=512,ST=4096,TH=4", op="argmin", dtype="f32")),
        ("split_attr", candidate("vd_split", (32, 131072), "SG=1,PR=512,ST=2048,TH=8,RW=4")),
        ("two_stage", candidate("vd_split", (1, 131072), "SG=4,PR=2048,ST=8192,TH=8")),
        ("matvec", candidate("vd", (1, 1024, 4096), "SG=4,PR=2048,TH=8,RW=1,SR=1", op="gemv", dtype="f16")),
        (
            "dequant_words",
            candidate("vd_words", (1, 1024, 4096), "SG=2,PR=4096,TH=32,RW=2,SR=1", op="gemv", dtype="q4_0"),
        ),
        (
            "dequant_pairs",
            candidate("vd_pairs", (1, 1024, 4096), "SG=2,PR=4096,TH=32,RW=4,SR=1", op="gemv", dtype="nf4"),
        ),
        (
            "dequant_pairs",
            candidate("vd_pairs", (4, 1024, 4096), "SG=2,PR=2048,TH=8,RW=4,SR=4", op="gemv", dtype="q4_0"),
        ),
        (
            "dequant_sums",
            candidate("vd_sums", (1, 1024, 4096), "SG=2,PR=4096,TH=32,RW=8,SR=1", op="gemv", dtype="q4_0"),
        ),
    ],
)
def test_a_form_compiles_and_its_configuration_is_applied(compiler: Compiler, form: str, case: Candidate) -> None:
    assert case.form.name == form
    program = build_program(case)
    assert len(program.asked) == (2 if case.variant.split else 1)
    artifact = compiled(compiler, program)
    assert artifact.applied is True, artifact.not_applied_reason
    assert len(artifact.kernels) == len(program.asked)
    assert {k.pipeline for k in artifact.kernels} == {"VectorDistribute"}


@pytest.mark.parametrize(
    ("variant", "dtype"),
    [
        ("vd", "f16"),
        ("vd", "q4_0"),
        ("vd_words", "nf4"),
        ("vd_pairs", "nf4"),
        ("vd_pairs", "q4_0"),
        ("vd_sums", "q4_0"),
    ],
)
def test_every_form_of_gemv_can_round_its_result_to_f16(compiler: Compiler, variant: str, dtype: str) -> None:
    problem = Problem("p", "gemv", (1, 256, 4096), dtype, None, "f16", "nk")
    case = enumerate_space(problem, find_variant(variant), find_target("gfx942"), limit=1).accepted[0]
    artifact = compiled(compiler, build_program(case))
    assert artifact.applied is True, artifact.not_applied_reason


@pytest.mark.parametrize(
    ("variant", "config"), [("vd", "SG=1,PR=512,TH=8,RW=4"), ("vd_split", "SG=1,PR=512,ST=2048,TH=8")]
)
def test_a_plain_op_with_the_spec_is_the_same_kernel(compiler: Compiler, variant: str, config: str) -> None:
    case = candidate(variant, (32, 131072), config)
    ours = build_program(case)
    plain = build_program(enumerate_space(case.problem, find_variant("default"), case.target).accepted[0])
    assert "compilation_info" not in plain.mlir
    shipped = replace(plain, spec=emit_spec([ours]), flags=shipping_flags(case), asked=ours.asked)
    assert kernels_code(compiled(compiler, shipped)) == kernels_code(compiled(compiler, ours))


@pytest.mark.parametrize(
    ("dtype", "config"), [("f16", "SG=4,PR=2048,TH=8,RW=2,SR=1"), ("q4_0", "SG=2,PR=4096,TH=32,RW=2,SR=1")]
)
def test_a_plain_gemv_with_the_spec_is_the_same_kernel(compiler: Compiler, dtype: str, config: str) -> None:
    case = candidate("vd", (1, 1024, 4096), config, op="gemv", dtype=dtype)
    ours = build_program(case)
    plain = build_program(enumerate_space(case.problem, find_variant("default"), case.target).accepted[0])
    shipped = replace(plain, spec=emit_spec([ours]), asked=ours.asked)
    assert kernels_code(compiled(compiler, shipped)) == kernels_code(compiled(compiler, ours))


@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_the_shuffle_comparator_uses_no_dpp_and_the_ballot_one_does(compiler: Compiler, op: Op) -> None:
    def dpp(variant: str) -> int:
        case = candidate(variant, (131072,), "SG=4,PR=2048,TH=8", op=op)
        return len(re.findall(r"row_shr:|row_bcast:|_dpp", kernels_code(compiled(compiler, build_program(case)))))

    assert dpp("vd_shuffle") == 0
    assert dpp("vd") >= 6


def test_a_batch_is_one_module_with_a_function_for_each_program(tmp_path: Path) -> None:
    programs = [build_program(candidate("vd", (131072,), f"SG={sg},PR=8192,TH=8")) for sg in (4, 8, 16)]
    text, names = merge(programs)
    assert names == ("argmax_0", "argmax_1", "argmax_2")
    assert verify(text) is None
    (tmp_path / "module.mlir").write_text(text)
    flags = base_flags(find_target("gfx942"))
    command = [find_compiler(), "module.mlir", *flags, "--compile-to=executable-sources", "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=100)
    assert [f"subgroup_basis = [[{sg}], [0]]" in done.stdout for sg in (4, 8, 16)] == [True] * 3


def test_programs_with_a_spec_or_other_flags_share_no_module() -> None:
    split = build_program(candidate("vd_split", (32, 131072), "SG=1,PR=512,ST=2048,TH=8"))
    ukernel = build_program(candidate("ukernel", (131072,), "default"))
    plain = build_program(candidate("vd", (131072,), "SG=4,PR=2048,TH=8"))
    for group in ([plain, split], [plain, ukernel]):
        with pytest.raises(ValueError, match="equal flags and no spec"):
            merge(group)

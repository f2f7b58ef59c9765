"""Evidence read from real compiles: the published columns, batches against single compiles, what was not applied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.ir.build import build_program
from ireebench.ir.layouts import layouts_of
from ireebench.ir.specs import spec_text
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache")) as made:
        yield made


def candidate(
    shape: tuple[int, ...],
    dtype: str,
    config: str,
    form: str = "native",
    *,
    variant: str = "vd",
    target: str = "gfx942",
) -> Candidate:
    problem = Problem("p", "argmax", shape, dtype)
    return Candidate(problem, VARIANTS[variant], FORMS[form], Config.parse(config), find_target(target))


def artifact(compiler: Compiler, c: Candidate) -> Artifact:
    result = compiler.compile(build_program(c))
    assert isinstance(result, Artifact), result
    return result


# Rows of the published table of lowering configurations on MI300X: (workgroup threads, subgroup size, subgroups,
# thread loads, partial reduction, elements a workgroup, iterations).
PUBLISHED = {
    "LLaMA-3-8B": ((131072,), "bf16", "native", "SG=16,PR=8192,TH=8", (1024, 64, 16, 8, 8192, 8192, 16)),
    "GPT-2": ((65536,), "f32", "native", "SG=16,PR=4096,TH=4", (1024, 64, 16, 4, 4096, 4096, 16)),
    "ResNet-50": ((32, 1024), "f32", "rows", "SG=4,PR=1024,TH=4", (256, 64, 4, 4, 1024, 1024, 1)),
    "BERT-Base": ((4096, 32768), "f32", "native", "SG=1,PR=256,TH=4,RW=1", (64, 64, 1, 4, 256, 256, 128)),
}


@pytest.mark.parametrize("model", PUBLISHED)
def test_the_published_columns_are_read_from_a_compiled_kernel(compiler: Compiler, model: str) -> None:
    shape, dtype, form, config, expected = PUBLISHED[model]
    result = artifact(compiler, candidate(shape, dtype, config, form))
    assert result.applied is True
    (k,) = result.kernels
    assert k.workgroup_size is not None
    assert k.workgroup_size[1:] == (1, 1)
    columns = (k.workgroup_size[0], k.subgroup_size, k.subgroups, k.thread_loads, k.partial_reduction)
    assert (*columns, k.elements_per_workgroup, k.iterations) == expected
    assert k.pipeline == "VectorDistribute"
    assert k.vgpr is not None
    assert 0 < k.vgpr <= 512
    assert (k.vgpr_spills, k.scratch_bytes) == (0, 0)


def test_a_split_is_two_kernels_that_are_told_apart(compiler: Compiler) -> None:
    config = "SG=4,PR=2048,ST=8192,TH=8,SG2=1,PR2=16,TH2=1"
    result = artifact(compiler, candidate((32, 131072), "bf16", config, "two_stage", variant="vd_split"))
    assert result.applied is True
    first, second = result.kernels
    assert (first.input_shape, first.workgroup_count, first.elements_per_workgroup, first.iterations) == (
        (8192,),
        (16, 32, 1),
        2048,
        4,
    )
    assert (second.input_shape, second.workgroup_count, second.partial_reduction) == ((16,), (32, 1, 1), 16)
    assert first.assembly == second.assembly


def test_a_spill_is_seen(compiler: Compiler) -> None:
    """32 elements a lane in at most 64 registers, which is what eight waves an execution unit leave."""
    result = artifact(compiler, candidate((65536,), "f32", "SG=1,PR=2048,TH=4,WPE=8"))
    assert result.kernels[0].vgpr == 64
    assert result.kernels[0].vgpr_spills is not None
    assert result.kernels[0].vgpr_spills > 0
    assert (result.kernels[0].scratch_bytes or 0) > 0


def test_a_ukernel_that_is_linked_is_seen_and_one_dispatch(compiler: Compiler) -> None:
    result = artifact(compiler, candidate((131072,), "bf16", "default", "generic", variant="ukernel"))
    assert result.applied is True
    assert [k.ukernel for k in result.kernels] == ["iree_uk_amdgpu_argmax_bf16i64"]


def test_a_ukernel_of_one_stage_only_is_not_applied(compiler: Compiler) -> None:
    program = build_program(candidate((131072,), "bf16", "default", "generic", variant="ukernel"))
    result = compiler.compile(replace(program, flags=("--iree-rocm-enable-ukernels=all",)))
    assert isinstance(result, Artifact)
    assert result.applied is False
    assert result.not_applied_reason == "the micro-kernel is only one of 2 dispatches"


def test_without_the_flag_no_ukernel_is_linked(compiler: Compiler) -> None:
    program = build_program(candidate((32768,), "bf16", "default", "generic", variant="ukernel"))
    result = compiler.compile(replace(program, flags=()))
    assert isinstance(result, Artifact)
    assert (result.applied, result.not_applied_reason) == (False, "no micro-kernel was linked")


def test_a_spec_that_cuda_ignores_is_reported_as_not_applied(compiler: Compiler) -> None:
    c = candidate((131072,), "f32", "SG=4,PR=1024,TH=4", target="sm_89")
    plain = build_program(replace(c, config=Config(), variant=VARIANTS["default"]))
    program = replace(build_program(c), mlir=plain.mlir, spec=spec_text(layouts_of(c)))
    result = compiler.compile(program)
    assert isinstance(result, Artifact)
    assert result.applied is False
    assert result.not_applied_reason is not None
    assert "IREE 3.13 ignores tuning specs on cuda" in result.not_applied_reason
    attribute = artifact(compiler, c)
    assert attribute.applied is True


def kernel_code(result: Artifact) -> str:
    """The instructions of an artifact's only kernel, without names and debug lines."""
    (k,) = result.kernels
    assert k.assembly is not None
    text = (result.folder / k.assembly).read_text()
    body = re.search(rf"^{re.escape(k.symbol)}:.*?s_endpgm", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    lines = (re.sub(r"[;].*|\.LBB\d+|BB\d+", "", line).strip() for line in body[0].splitlines()[1:])
    return "\n".join(line for line in lines if line and not line.startswith((".", ";")))


def test_kernels_of_a_batch_are_those_of_single_compiles(tmp_path: Path) -> None:
    configs = ["SG=1,PR=512,TH=8", "SG=2,PR=1024,TH=8", "SG=4,PR=2048,TH=8", "SG=8,PR=4096,TH=8", "SG=4,PR=1024,TH=4"]
    programs = [build_program(candidate((32, 131072), "bf16", c, "rows")) for c in configs]
    with Compiler(tmp_path / "batch", batch=8) as together, Compiler(tmp_path / "alone", batch=1) as alone:
        batch, single = dict(together.compile_many(programs)), dict(alone.compile_many(programs))
    for program in programs:
        a, b = batch[program], single[program]
        assert isinstance(a, Artifact)
        assert isinstance(b, Artifact)
        assert a.compile_key == b.compile_key
        assert a.function != b.function == "argmax"
        assert kernel_code(a) == kernel_code(b)
        assert replace(a.kernels[0], symbol="", assembly="") == replace(b.kernels[0], symbol="", assembly="")
    assert len({a.vmfb for a in batch.values() if isinstance(a, Artifact)}) == 1


def test_equal_kernels_of_a_batch_each_have_a_name_of_their_own(tmp_path: Path) -> None:
    """IREE merges equal dispatches under the first one's name: the second is then compiled alone."""
    program = build_program(candidate((32, 131072), "bf16", "SG=4,PR=2048,TH=8", "rows"))
    twin = replace(program, candidate=replace(program.candidate, problem=Problem("q", "argmax", (32, 131072), "bf16")))
    twin = replace(twin, mlir=twin.mlir + "\n// another program, with equal code\n")
    with Compiler(tmp_path) as compiler:
        outcomes = dict(compiler.compile_many([program, twin]))
    artifacts = [o for o in outcomes.values() if isinstance(o, Artifact)]
    assert len(artifacts) == 2
    assert all(a.applied and len(a.kernels) == 1 and a.kernels[0].vgpr for a in artifacts)
    names = {(a.vmfb, k.symbol) for a in artifacts for k in a.kernels}
    assert len(names) == 2
    assert all(k.symbol.startswith(f"{a.function}_dispatch_0") for a in artifacts for k in a.kernels)


def test_where_it_is_compiled_does_not_show_in_the_output(tmp_path: Path) -> None:
    program = build_program(candidate((131072,), "bf16", "SG=4,PR=2048,TH=8"))
    outputs = []
    for folder, jobs in (("a", 1), ("deeper/in/b", 2)):
        with Compiler(tmp_path / folder, jobs=jobs) as compiler:
            result = compiler.compile(program)
            assert isinstance(result, Artifact)
            outputs.append(result.vmfb.read_bytes())
    assert outputs[0] == outputs[1]

"""Tuning specs say what they are for, and refuse what no spec can ship; broken IR is told in one line."""

from __future__ import annotations

import pytest

from ireebench.errors import UsageError
from ireebench.ir.build import build_program
from ireebench.ir.program import Program, StageConfig
from ireebench.ir.specs import emit_spec
from ireebench.ir.verify import verify
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


def program(variant: str, shape: tuple[int, ...], config: str, target: str = "gfx942") -> Program:
    problem = Problem("p", "argmax", shape, "bf16")
    found = enumerate_space(problem, find_variant(variant), find_target(target), config=Config.parse(config))
    return build_program(found.accepted[0])


def test_a_spec_matches_both_stages_of_a_split_and_names_its_flags() -> None:
    text = emit_spec([program("vd_split", (32, 131072), "SG=1,PR=512,ST=2048,TH=8")])
    assert verify(text) is None
    assert "tensor<32x2048xbf16>" in text
    assert "tensor<32x64xbf16>" in text
    header = [line for line in text.splitlines() if line.startswith("//")]
    assert "--iree-dispatch-creation-enable-split-reduction" in header[2]
    assert "split-reduction-target-size=2048" in header[2]


def test_a_split_that_no_flag_asks_for_says_what_it_needs() -> None:
    text = emit_spec([program("vd_split", (131072,), "SG=1,PR=512,ST=2048,TH=8")])
    assert "needs {iree_linalg_ext.split_reduction = [2048 : index]} on the op" in text


@pytest.mark.parametrize(
    ("variant", "shape", "config", "target", "why"),
    [
        ("vd", (32, 131072), "SG=4,PR=2048", "gfx942", "form 'rows' is IR that no model emits"),
        ("default", (32, 131072), "default", "gfx942", "nothing is configured"),
        ("vd", (131072,), "SG=4,PR=2048", "sm_89", "ignores tuning specs on cuda"),
    ],
)
def test_what_no_spec_can_ship_is_refused(
    variant: str, shape: tuple[int, ...], config: str, target: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        emit_spec([program(variant, shape, config, target)])


def test_a_program_says_what_the_dumps_must_show() -> None:
    asked = program("vd_split", (1, 131072), "SG=4,PR=2048,ST=8192,TH=8").asked
    assert asked == (
        StageConfig((8192,), 256, 64, 4, 2048, 8),
        StageConfig((16,), 64, 64, 1, 16, 1),  # 16 winners on 16 of 64 lanes
    )


def test_broken_ir_is_told_with_its_line() -> None:
    text = verify("func.func @f(%a: tensor<4xf32>) -> tensor<3xf32> {\n  return %a : tensor<4xf32>\n}")
    assert text is not None
    assert text.startswith("line 2: ")
    assert verify("func.func @f() { return %x }") is not None


def test_equal_shapes_of_two_models_give_equal_ir() -> None:
    text = {
        build_program(
            enumerate_space(
                Problem(name, "argmax", (1, 32768), "f16", model=name),
                find_variant("vd"),
                find_target("gfx942"),
                config=Config.parse("SG=4,PR=2048"),
            ).accepted[0]
        ).mlir
        for name in ("llama2-7b", "mistral-7b")
    }
    assert len(text) == 1

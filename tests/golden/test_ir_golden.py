"""Golden IR: one file for each form and kind of target. `make golden` rewrites them; the diff is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from ireebench.ir.build import build_program
from ireebench.ir.program import Program
from ireebench.ir.specs import emit_spec
from ireebench.ir.verify import verify
from ireebench.problems.problem import Op, Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant

DATA = Path(__file__).parent / "data"


Case = tuple[Op, str, str, str, str, str, str]


def program(case: Case, layout: Literal["nk", "kn"] = "nk") -> Program:
    op, shape, dtype, variant, form, target, config = case
    sizes = tuple(int(n) for n in shape.split("x"))
    if op == "gemv":
        problem = Problem("golden", op, sizes, dtype, None, "f32", layout)
    else:
        problem = Problem("golden", op, sizes, dtype)
    given = Config.parse(config) if config else None
    found = enumerate_space(problem, find_variant(variant), find_target(target), config=given)
    (candidate,) = [c for c in found.accepted if c.form.name == form]
    return build_program(candidate)


# name: op, shape, type, variant, form, target, configuration
CASES: dict[str, Case] = {
    "native-gfx942": ("argmax", "131072", "bf16", "vd", "native", "gfx942", "SG=4,PR=2048,TH=8"),
    "native-rows-gfx942": ("argmax", "32x131072", "bf16", "vd", "native", "gfx942", "SG=1,PR=512,TH=8,RW=4,WPE=2"),
    "native-sm_89": ("argmin", "65536", "f32", "vd", "native", "sm_89", "SG=16,PR=2048,TH=4"),
    "native-cpu": ("argmax", "32x131072", "bf16", "vd", "native", "cpu", ""),
    "native-shuffle-gfx942": ("argmax", "131072", "f16", "vd_shuffle", "native", "gfx942", "SG=4,PR=2048,TH=8"),
    "collapse-gfx942": ("argmax", "1x131072", "bf16", "vd", "collapse", "gfx942", "SG=4,PR=2048,TH=8"),
    "rows-gfx942": ("argmax", "8x512x32768", "f32", "vd", "rows", "gfx942", "SG=4,PR=1024,TH=4"),
    "inner_pad-gfx942": ("argmax", "1x50257", "f32", "vd", "inner_pad", "gfx942", "SG=4,PR=1024,TH=4"),
    "inner_pad-split-gfx942": (
        "argmin",
        "1x50257",
        "f32",
        "vd_split",
        "inner_pad",
        "gfx942",
        "SG=2,PR=1024,ST=4096,TH=4,SG2=1,PR2=16,TH2=1",
    ),
    "split_attr-gfx942": (
        "argmax",
        "32x131072",
        "bf16",
        "vd_split",
        "split_attr",
        "gfx942",
        "SG=1,PR=512,ST=8192,TH=8,SG2=1,PR2=16,TH2=1,RW=4",
    ),
    "two_stage-sm_89": (
        "argmax",
        "131072",
        "bf16",
        "vd_split",
        "two_stage",
        "sm_89",
        "SG=2,PR=512,ST=2048,TH=8,SG2=1,PR2=64,TH2=2",
    ),
    "split_attr-cpu": ("argmax", "1x2048", "f32", "vd_split", "split_attr", "cpu", "ST=512"),
    "two_pass-cpu": ("argmax", "32x131072", "bf16", "two_pass", "two_pass", "cpu", "ST=2048,DIST=8,VEC=32"),
    "two_pass-tail-cpu": ("argmin", "50257", "f32", "two_pass", "two_pass", "cpu", "ST=2048"),
    "generic-gfx942": ("argmax", "32x131072", "f16", "ukernel", "generic", "gfx942", ""),
    "matvec-gfx942": ("gemv", "1x4096x4096", "f16", "vd", "matvec", "gfx942", "SG=4,PR=2048,TH=8,RW=1,SR=1"),
    "matvec_split-gfx942": (
        "gemv",
        "1x1024x8192",
        "bf16",
        "vd_split",
        "matvec_split",
        "gfx942",
        "SG=2,PR=1024,ST=2048,TH=8,RW=2,SR=2",
    ),
    "matvec-batch-sm_89": ("gemv", "4x4096x4096", "bf16", "vd", "matvec", "sm_89", "SG=4,PR=1024,TH=8,RW=4,SR=4"),
    "dequant-q4_0-gfx942": ("gemv", "1x4096x4096", "q4_0", "vd", "dequant", "gfx942", "SG=2,PR=4096,TH=32,RW=2,SR=1"),
    "dequant_words-q4_0-sm_89": (
        "gemv",
        "1x8192x28672",
        "q4_0",
        "vd_words",
        "dequant_words",
        "sm_89",
        "SG=4,PR=4096,TH=32,RW=2,SR=1",
    ),
    "dequant_words-nf4-sm_89": (
        "gemv",
        "2x4096x4096",
        "nf4",
        "vd_words",
        "dequant_words",
        "sm_89",
        "SG=2,PR=2048,TH=32,RW=1,SR=1",
    ),
    "dequant_pairs-nf4-sm_89": (
        "gemv",
        "1x8192x28672",
        "nf4",
        "vd_pairs",
        "dequant_pairs",
        "sm_89",
        "SG=4,PR=4096,TH=32,RW=4,SR=1",
    ),
    "dequant_pairs-q4_0-gfx942": (
        "gemv",
        "2x4096x4096",
        "q4_0",
        "vd_pairs",
        "dequant_pairs",
        "gfx942",
        "SG=2,PR=2048,TH=16,RW=1,SR=1",
    ),
    "dequant_sums-q4_0-sm_89": (
        "gemv",
        "1x8192x28672",
        "q4_0",
        "vd_sums",
        "dequant_sums",
        "sm_89",
        "SG=4,PR=4096,TH=32,RW=4,SR=1",
    ),
    "dequant_sums-batch-gfx942": (
        "gemv",
        "2x4096x4096",
        "q4_0",
        "vd_sums",
        "dequant_sums",
        "gfx942",
        "SG=2,PR=2048,TH=16,RW=1,SR=1",
    ),
}


def check(name: str, text: str) -> None:
    path = DATA / name
    if os.environ.get("IREEBENCH_UPDATE_GOLDEN"):
        DATA.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path.name} differs; if that is meant, run make golden and read the diff"


@pytest.mark.parametrize("name", CASES)
def test_ir_is_as_pinned_and_verifies(name: str) -> None:
    built = program(CASES[name])
    assert verify(built.mlir) is None
    check(f"{name}.mlir", built.mlir)


def test_a_vecmat_is_as_pinned() -> None:
    built = program(("gemv", "1x4096x4096", "f16", "vd", "matvec", "gfx942", "SG=1,PR=128,TH=8,RW=16,SR=1"), "kn")
    assert verify(built.mlir) is None
    check("vecmat-gfx942.mlir", built.mlir)


def test_a_spec_of_two_problems_and_both_stages_of_a_split_is_as_pinned() -> None:
    split = program(CASES["split_attr-gfx942"])
    plain = program(CASES["native-gfx942"])
    text = emit_spec([split, plain])
    assert verify(text) is None
    check("spec-gfx942.mlir", text)

"""The tuning specs that ship: each applies to the plain ops that it is for, and the result compiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.flags import base_flags, compiler_flags
from ireebench.compiler.spec_check import check_spec
from ireebench.compiler.spec_entries import read_entries
from ireebench.compiler.spec_rules import broken_rules
from ireebench.resources import folder
from ireebench.targets import find_target

SPECS = sorted(folder("tuning_specs").rglob("*.mlir"))
LOWEST = {"bf16": "0xFF80", "f16": "0xFC00", "f32": "0xFF800000"}
SPLIT = re.compile(r"split-reduction-target-size=(\d+)")


def plain_op(name: str, shape: tuple[int, ...], dtype: str) -> str:
    """A function with one arg_compare over the last dimension, as a model emits it: written here, not by ireebench."""
    rows = "".join(f"{n}x" for n in shape[:-1])
    full = "".join(f"{n}x" for n in shape)
    return f"""
func.func @{name}(%in: tensor<{full}{dtype}>) -> (tensor<{rows}{dtype}>, tensor<{rows}i64>) {{
  %low = arith.constant {LOWEST[dtype]} : {dtype}
  %zero = arith.constant 0 : i64
  %ev = tensor.empty() : tensor<{rows}{dtype}>
  %ei = tensor.empty() : tensor<{rows}i64>
  %v = linalg.fill ins(%low : {dtype}) outs(%ev : tensor<{rows}{dtype}>) -> tensor<{rows}{dtype}>
  %i = linalg.fill ins(%zero : i64) outs(%ei : tensor<{rows}i64>) -> tensor<{rows}i64>
  %r:2 = iree_linalg_ext.arg_compare dimension({len(shape) - 1})
      ins(%in : tensor<{full}{dtype}>) outs(%v, %i : tensor<{rows}{dtype}>, tensor<{rows}i64>) {{
  ^bb0(%a: {dtype}, %b: {dtype}):
    %c = arith.cmpf ogt, %a, %b : {dtype}
    iree_linalg_ext.yield %c : i1
  }} -> tensor<{rows}{dtype}>, tensor<{rows}i64>
  return %r#0, %r#1 : tensor<{rows}{dtype}>, tensor<{rows}i64>
}}
"""


def problems(header: str) -> list[tuple[tuple[int, ...], str]]:
    """The problems that the header names: "argmax 32x131072xbf16"."""
    found = re.findall(r"^// gfx\w+ \S+ arg(?:max|min) ([\dx]+)x(b?f\d+) ", header, re.MULTILINE)
    return list(dict.fromkeys((tuple(int(n) for n in shape.split("x")), dtype) for shape, dtype in found))


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache")) as made:
        yield made


def test_there_are_specs_for_gfx942() -> None:
    assert {p.name for p in SPECS if p.parent.name == "gfx942"} >= {"argmax-llama3-8b.mlir", "argmax-published.mlir"}


@pytest.mark.parametrize("path", SPECS, ids=[f"{p.parent.name}/{p.stem}" for p in SPECS])
def test_a_shipped_spec_keeps_the_rules_and_says_where_it_was_measured(path: Path) -> None:
    text = path.read_text()
    assert broken_rules(text) == ()
    assert re.match(r"// (unmeasured|measured|published)\b", text)
    assert all(entry.given is not None and not entry.opaque for entry in read_entries(text))


@pytest.mark.parametrize("path", SPECS, ids=[f"{p.parent.name}/{p.stem}" for p in SPECS])
def test_a_shipped_spec_applies_to_every_op_that_it_names(path: Path, compiler: Compiler) -> None:
    text, target = path.read_text(), find_target(path.parent.name)
    named = problems(text)
    assert named
    module = "".join(plain_op(f"op{i}", shape, dtype) for i, (shape, dtype) in enumerate(named))
    split = SPLIT.search(text)
    flags = (
        "--iree-dispatch-creation-enable-split-reduction",
        "--iree-preprocessing-pass-pipeline=builtin.module(iree-dispatch-creation-set-split-reduction-sizes"
        f"{{split-reduction-target-size={split[1] if split else 0}}})",
    )
    source = Source(module, text, compiler_flags(target, flags if split else (), "spec.mlir"))
    compiled = compiler.compile_source(source)
    assert compiled.failure is None
    report = check_spec(text, compiled, target)
    assert [op.reason for op in report.ops if not op.applied] == []
    assert len(report.ops) == len(named) * (2 if split else 1)
    assert report.unused == ()
    assert report.good


def test_without_the_spec_stock_iree_does_not_compile_the_batch_shape(compiler: Compiler) -> None:
    source = Source(plain_op("op", (32, 131072), "bf16"), None, base_flags(find_target("gfx942")))
    failure = compiler.compile_source(source).failure
    assert failure is not None
    assert "failed to distribute" in failure.reason
    assert failure.known is not None
    assert "iree-org/iree#23005" in failure.known

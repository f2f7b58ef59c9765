"""`ireebench spec`: specs that apply, specs that don't, and why not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ireebench.cli.main import cli
from ireebench.errors import UserError

SPECS = Path(__file__).parents[1] / "data" / "specs"
PROGRAM = SPECS / "prog.mlir"

# A user's own function: a projection, then the argmax of its rows, and another argmax beside it.
DECODE = """
func.func @decode(%h: tensor<32x64xbf16>, %w: tensor<64x131072xbf16>, %row: tensor<131072xbf16>)
    -> (tensor<32xi64>, tensor<i64>) {
  %low = arith.constant 0xFF80 : bf16
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %e = tensor.empty() : tensor<32x131072xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x131072xf32>) -> tensor<32x131072xf32>
  %p = linalg.matmul ins(%h, %w : tensor<32x64xbf16>, tensor<64x131072xbf16>)
      outs(%f : tensor<32x131072xf32>) -> tensor<32x131072xf32>
  %logits = arith.truncf %p : tensor<32x131072xf32> to tensor<32x131072xbf16>
  %e0 = tensor.empty() : tensor<32xbf16>
  %e1 = tensor.empty() : tensor<32xi64>
  %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<32xbf16>) -> tensor<32xbf16>
  %f1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<32xi64>) -> tensor<32xi64>
  %r:2 = iree_linalg_ext.arg_compare dimension(1)
      ins(%logits : tensor<32x131072xbf16>) outs(%f0, %f1 : tensor<32xbf16>, tensor<32xi64>) {
  ^bb0(%a: bf16, %b: bf16):
    %c = arith.cmpf ogt, %a, %b : bf16
    iree_linalg_ext.yield %c : i1
  } -> tensor<32xbf16>, tensor<32xi64>
  %g0 = tensor.empty() : tensor<bf16>
  %g1 = tensor.empty() : tensor<i64>
  %h0 = linalg.fill ins(%low : bf16) outs(%g0 : tensor<bf16>) -> tensor<bf16>
  %h1 = linalg.fill ins(%c0 : i64) outs(%g1 : tensor<i64>) -> tensor<i64>
  %s:2 = iree_linalg_ext.arg_compare dimension(0)
      ins(%row : tensor<131072xbf16>) outs(%h0, %h1 : tensor<bf16>, tensor<i64>) {
  ^bb0(%a: bf16, %b: bf16):
    %c = arith.cmpf ogt, %a, %b : bf16
    iree_linalg_ext.yield %c : i1
  } -> tensor<bf16>, tensor<i64>
  return %r#1, %s#1 : tensor<32xi64>, tensor<i64>
}
"""
BATCH, ROW = [32, 131072], [131072]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def invoke(*args: object) -> Result:
    return CliRunner().invoke(cli, ["spec", *map(str, args)])


def emit(tmp_path: Path, *args: object) -> Path:
    path = tmp_path / "spec.mlir"
    result = invoke("emit", "argmax", *args, "--target", "gfx942", "-o", path)
    assert result.exit_code == 0, result.output
    return path


def check(cache: Path, spec: Path, file: Path, *args: object) -> tuple[int, dict[str, Any]]:
    result = invoke("check", spec, file, "--cache-dir", cache, "--format", "json", *args)
    return result.exit_code, json.loads(result.stdout)


def op(document: dict[str, Any], shape: list[int]) -> dict[str, Any]:
    (found,) = [o for o in document["ops"] if o["shape"] == shape]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def decode(tmp_path: Path) -> Path:
    path = tmp_path / "decode.mlir"
    path.write_text(DECODE)
    return path


def test_an_emitted_spec_applies_inside_a_larger_function(tmp_path: Path, cache: Path, decode: Path) -> None:
    spec = emit(tmp_path, "--models", "llama3")
    code, document = check(cache, spec, decode)
    assert code == 0
    assert document["schema_version"] == 1
    batch = op(document, BATCH)
    assert (batch["function"], batch["op"], batch["dtype"]) == ("decode", "iree_linalg_ext.arg_compare", "bf16")
    assert batch["applied"] is True
    row = op(document, ROW)
    assert row["applied"] is False
    assert row["reason"].startswith("no entry is for it; the compiler chose its own (VectorDistribute [1024,1,1]")
    assert document["unused_entries"] == ["@match_0 (iree_linalg_ext.arg_compare on tensor<1x131072xbf16>)"]


def test_on_cuda_the_answer_is_no(tmp_path: Path, cache: Path, decode: Path) -> None:
    spec = emit(tmp_path, "--models", "llama3")
    code, document = check(cache, spec, decode, "--target", "sm_89")
    assert code == 3
    assert {o["applied"] for o in document["ops"]} == {False}
    assert all("ignores tuning specs on cuda" in o["reason"] for o in document["ops"])


def test_several_subgroups_over_a_batch_reduction_need_another_form(tmp_path: Path, cache: Path, decode: Path) -> None:
    spec = emit(tmp_path, "--models", "llama3", "--config", "SG=1,PR=512,TH=8")
    text = spec.read_text()
    for old, new in (
        ("partial_reduction = [0, 512]", "partial_reduction = [0, 2048]"),
        ("subgroup_basis = [[1, 1]", "subgroup_basis = [[1, 4]"),
        ("workgroup_size = [64,", "workgroup_size = [256,"),
    ):
        assert old in text
        text = text.replace(old, new)
    spec.write_text(text)
    code, document = check(cache, spec, decode)
    assert code == 3
    assert document["status"] == "compile_failed"
    batch = op(document, BATCH)
    assert batch["applied"] is False
    for part in (
        "failed to distribute",
        "iree-org/iree#23005",
        "--iree-dispatch-creation-enable-split-reduction",
        "split-reduction-target-size=8192",
        "--variants vd_split",
        "form 'rows'",
    ):
        assert part in batch["reason"]


def test_a_spec_for_both_stages_needs_the_flags_that_it_is_told(tmp_path: Path, cache: Path) -> None:
    split = "ST=8192,SG=1,PR=512,TH=8,SG2=1,PR2=16,TH2=1,RW=1"
    spec = emit(tmp_path, "--models", "llama3-8b-batch", "--variants", "vd_split", "--config", split)
    assert "needs --iree-dispatch-creation-enable-split-reduction" in spec.read_text()
    file = tmp_path / "batch.mlir"
    short = "tensor<512xbf16>"  # too short for another split
    file.write_text(DECODE.replace("tensor<131072xbf16>", short))
    code, document = check(cache, spec, file)
    assert code == 3
    reason = op(document, BATCH)["reason"]
    told = re.search(r"split into chunks of 8192: add --flags '([^']*)'", reason)
    assert told is not None
    code, document = check(cache, spec, file, "--flags", told[1])
    assert code == 0
    assert op(document, [32, 8192])["applied"] is True
    assert op(document, [32, 16])["applied"] is True


@pytest.mark.parametrize("name", ["s_new_ok", "s_new_prefetch_stages"])
def test_a_current_spec_applies(cache: Path, name: str) -> None:
    code, document = check(cache, SPECS / f"{name}.mlir", PROGRAM)
    assert code == 0
    assert [(o["function"], o["op"], o["applied"]) for o in document["ops"]] == [("mv", "linalg.generic", True)]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("s_old_pipeline_keyword", "line 10: 'pipeline = LLVMGPUVectorDistribute' is gone: "),
        (
            "s_old_prefetch_bool",
            "line 10: 'prefetch_shared_memory' (true or false) is gone: write 'prefetch_num_stages",
        ),
        ("s_old_subgroup_count", "line 9: 'subgroup_m_count' is gone: write 'subgroup_basis"),
        ("s_two_foreach", "'@__kernel_config' must hold exactly one foreach_match and its yield; it holds 2"),
        ("s_entry_attr_missing", "'@__kernel_config' lacks the unit attribute 'iree_codegen.tuning_spec_entrypoint'"),
        ("s_no_with_named_sequence", "lacks the attribute 'transform.with_named_sequence'"),
    ],
)
def test_a_stale_or_malformed_spec_is_told_its_rule(cache: Path, name: str, rule: str) -> None:
    code, document = check(cache, SPECS / f"{name}.mlir", PROGRAM)
    assert code == 3
    ((function, applied, reason),) = [(o["function"], o["applied"], o["reason"]) for o in document["ops"]]
    assert (function, applied) == ("mv", False)
    assert rule in reason
    assert any(rule in broken for broken in document["broken_rules"])


def test_a_file_that_does_not_compile_is_no_success(cache: Path) -> None:
    slow = SPECS.parent / "mlir" / "m11_argcompare_100352_f16.mlir"
    code, document = check(cache, SPECS / "s_new_ok.mlir", slow)
    assert code == 3
    assert document["status"] == "compile_failed"
    assert document["ops"][0]["applied"] is False


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("check", "nowhere.mlir", PROGRAM), "nowhere.mlir: no such file; give a tuning spec"),
        (("check", SPECS / "s_new_ok.mlir", "nowhere.mlir"), "nowhere.mlir: no such file; give an MLIR file"),
        (("check", SPECS, PROGRAM), "specs is a folder; give a tuning spec"),
        (("check", SPECS / "s_new_ok.mlir", PROGRAM, "--target", "gfx9"), "no target matches 'gfx9'"),
        (("check", SPECS / "s_new_ok.mlir", PROGRAM, "--flags", "nonsense"), "'nonsense' is no compiler flag"),
        (("emit", "argmax", "--models", "lamma3"), "no model matches 'lamma3'; nearest: llama3"),
        (
            ("emit", "argmax", "--models", "llama3-8b-batch", "--config", "SG=4,PR=2048,TH=8"),
            "subgroups on a reduction",
        ),
        (("emit", "argmax", "--models", "llama3", "--variants", "ukernel"), "variant 'ukernel' is not something that"),
        (
            ("emit", "argmax", "--shape", "131072", "--dtype", "f32", "--target", "sm_89"),
            "ignores tuning specs on cuda",
        ),
        (("emit", "argmax", "--from", "nowhere.db"), "nowhere.db"),
        (("emit", "argmax", "--from", "x.db", "--models", "llama3"), "--from takes problems"),
    ],
)
def test_a_mistake_is_one_line(args: tuple[object, ...], message: str) -> None:
    result = invoke(*args)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_what_is_no_spec_is_refused_with_its_place(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "mine.mlir"
    path.write_text("hello\n")
    result = invoke("check", path, PROGRAM, "--cache-dir", cache)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{path}:1:1: not a valid tuning spec: ")


def test_an_emitted_spec_says_that_nobody_measured_it(tmp_path: Path) -> None:
    text = emit(tmp_path, "--shape", "131072", "--dtype", "bf16", "--config", "SG=4,PR=2048,TH=8").read_text()
    assert text.startswith("// unmeasured: a given configuration, nobody has timed it\n")
    assert "argmax 131072xbf16 vd/native SG=4,PR=2048,TH=8" in text


def test_the_table_is_for_people(cache: Path) -> None:
    argv = [sys.executable, "-m", "ireebench.cli.main", "spec", "check", SPECS / "s_new_ok.mlir", PROGRAM]
    done = subprocess.run([*argv, "--cache-dir", cache], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].endswith("prog.mlir for gfx942: ok")
    assert lines[1].split() == ["function", "op", "shape", "applied", "reason"]
    assert lines[3].split()[:4] == ["mv", "linalg.generic", "4096x4096xf16", "yes"]
    assert done.stderr == ""

"""Small modules compiled for the CPU by the real compiler, one a way to behave; and a problem that they all claim."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iree.compiler.tools.binaries import find_tool

from ireebench.problems.problem import Problem

SHAPE = (4, 512)
FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)

RESULTS = "(tensor<4xbf16>, tensor<4xi64>)"


def arg_compare(name: str, comparison: str, identity: str) -> str:
    return f"""
func.func @{name}(%input: tensor<4x512xbf16>) -> {RESULTS} {{
  %identity = arith.constant {identity} : bf16
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<4xbf16>
  %e1 = tensor.empty() : tensor<4xi64>
  %f0 = linalg.fill ins(%identity : bf16) outs(%e0 : tensor<4xbf16>) -> tensor<4xbf16>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = iree_linalg_ext.arg_compare dimension(1) ins(%input : tensor<4x512xbf16>)
      outs(%f0, %f1 : tensor<4xbf16>, tensor<4xi64>) {{
  ^bb0(%a: bf16, %b: bf16):
    %cmp = arith.cmpf {comparison}, %a, %b : bf16
    iree_linalg_ext.yield %cmp : i1
  }} -> tensor<4xbf16>, tensor<4xi64>
  return %r#0, %r#1 : tensor<4xbf16>, tensor<4xi64>
}}"""


def dispatch(name: str, offset: str, value: str) -> str:
    """Stores one index at `offset` and nothing else."""
    return f"""
func.func @{name}(%input: tensor<4x512xbf16>) -> {RESULTS} {{
  %r:2 = flow.dispatch.workgroups(%input) : (tensor<4x512xbf16>) -> {RESULTS} =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x512xbf16>>,
       %ov: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xbf16>>,
       %oi: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi64>>) {{
    %base = arith.constant {offset} : index
    %id = flow.dispatch.workgroup.id[0] : index
    %at = arith.addi %id, %base : index
    %v = arith.constant dense<{value}> : tensor<1xi64>
    iree_tensor_ext.dispatch.tensor.store %v, %oi, offsets = [%at], sizes = [1], strides = [1]
        : tensor<1xi64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi64>>
    flow.return
  }} count() -> (index, index, index) {{
    %x = arith.constant 1 : index
    flow.return %x, %x, %x : index, index, index
  }}
  return %r#0, %r#1 : tensor<4xbf16>, tensor<4xi64>
}}"""


HANG = f"""
func.func @hang(%input: tensor<4x512xbf16>) -> {RESULTS} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %forever = arith.constant 1000000000000 : index
  %zero = arith.constant 0 : i64
  %last = scf.for %i = %c0 to %forever step %c1 iter_args(%t = %zero) -> (i64) {{
    %v = util.optimization_barrier %t : i64
    scf.yield %v : i64
  }}
  %ei = tensor.empty() : tensor<4xi64>
  %ev = tensor.empty() : tensor<4xbf16>
  %one = arith.constant 1.0 : bf16
  %index = linalg.fill ins(%last : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %value = linalg.fill ins(%one : bf16) outs(%ev : tensor<4xbf16>) -> tensor<4xbf16>
  return %value, %index : tensor<4xbf16>, tensor<4xi64>
}}"""

SOURCES = {
    "good": arg_compare("good", "ogt", "0xFF80"),
    "smallest": arg_compare("smallest", "olt", "0x7F80"),
    "untouched": dispatch("untouched", "1", "7"),
    "crash": dispatch("crash", "1000000000000", "7"),
    "hang": HANG,
}


@pytest.fixture(scope="session")
def vmfbs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with NAME.vmfb (function @NAME) for each of SOURCES."""
    folder = tmp_path_factory.mktemp("vmfbs")
    compiler = find_tool("iree-compile")
    running = []
    for name, text in SOURCES.items():
        (folder / f"{name}.mlir").write_text(text)
        command = [compiler, f"{name}.mlir", *FLAGS, "-o", f"{name}.vmfb"]
        running.append(subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE))
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    return folder


@pytest.fixture
def problem() -> Problem:
    return Problem("tiny", "argmax", SHAPE, "bf16")

"""Whole invocations: several dispatches with transient buffers, some rows only, and a miscompiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.host import read_schedule
from ireebench.isa.emulate.program import EmulationResult, check_emulated, emulate_program
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.schedule import DispatchCommand
from ireebench.outcome import Failure, Status
from ireebench.problems.problem import Problem

BF16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def argmax(rows: int, length: int, subgroups: int, tile: int) -> str:
    """Row-wise argmax, one workgroup a row; `subgroups` x 64 lanes, 4 elements at once."""
    sizes = f"{rows}x{length}xbf16"
    return f"""
#config = #iree_gpu.lowering_config<{{workgroup = [0], partial_reduction = [{tile}], thread = [4],
    subgroup_basis = [[{subgroups}], [0]], lane_basis = [[64], [0]]}}>
#tr = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute>
    workgroup_size = [{64 * subgroups}, 1, 1] subgroup_size = 64>
#ci = #iree_codegen.compilation_info<lowering_config = #config, translation_info = #tr>
func.func @argmax(%input: tensor<{sizes}>) -> (tensor<{rows}xbf16>, tensor<{rows}xi64>) {{
  %r:2 = flow.dispatch.workgroups(%input) : (tensor<{sizes}>) -> (tensor<{rows}xbf16>, tensor<{rows}xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<{sizes}>>,
       %ov: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<{rows}xbf16>>,
       %oi: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<{rows}xi64>>) {{
    %ninf = arith.constant 0xFF80 : bf16
    %c0 = arith.constant 0 : i64
    %i = flow.dispatch.workgroup.id[0] : index
    %v = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%i, 0], sizes = [1, {length}], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<{sizes}>> -> tensor<{length}xbf16>
    %e0 = tensor.empty() : tensor<bf16>
    %e1 = tensor.empty() : tensor<i64>
    %f0 = linalg.fill ins(%ninf : bf16) outs(%e0 : tensor<bf16>) -> tensor<bf16>
    %f1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<i64>) -> tensor<i64>
    %q:2 = iree_linalg_ext.arg_compare {{compilation_info = #ci}} dimension(0)
        ins(%v : tensor<{length}xbf16>) outs(%f0, %f1 : tensor<bf16>, tensor<i64>) {{
    ^bb0(%a: bf16, %b: bf16):
      %cmp = arith.cmpf ogt, %a, %b : bf16
      iree_linalg_ext.yield %cmp : i1
    }} -> tensor<bf16>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %q#0, %ov, offsets = [%i], sizes = [1], strides = [1]
        : tensor<bf16> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<{rows}xbf16>>
    iree_tensor_ext.dispatch.tensor.store %q#1, %oi, offsets = [%i], sizes = [1], strides = [1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<{rows}xi64>>
    flow.return
  }} count() -> (index, index, index) {{
    %rows = arith.constant {rows} : index
    %one = arith.constant 1 : index
    flow.return %rows, %one, %one : index, index, index
  }}
  return %r#0, %r#1 : tensor<{rows}xbf16>, tensor<{rows}xi64>
}}
"""


def test_three_subgroups_read_lds_that_none_of_them_wrote(build: Callable[..., Any]) -> None:
    """IREE 3.13 compiles a number of subgroups that is no power of two, and the code reads one element too many."""
    built = build(argmax(1, 7680, 3, 768))
    x = -np.abs(np.random.default_rng(3).standard_normal((1, 7680))).astype(BF16) - BF16.type(1)
    result = emulate_program(
        read_schedule(built.hal, "argmax"), built.files, Problem("p", "argmax", (1, 7680), "bf16"), [x]
    )
    assert isinstance(result, EmulationResult)
    faults = [r for r in result.reports if r.fault is Fault.UNINITIALISED]
    assert faults
    assert all("LDS load of byte" in r.message and "past byte" in r.message for r in faults)
    check = check_emulated(Problem("p", "argmax", (1, 7680), "bf16"), [x], result)
    assert not check.ok
    assert check.by == "emulator"


def test_four_subgroups_are_right_and_only_the_rows_asked_for_are_run(build: Callable[..., Any]) -> None:
    built = build(argmax(512, 4096, 4, 1024))
    x = np.random.default_rng(4).standard_normal((2, 4096)).astype(BF16)
    problem = Problem("p", "argmax", (512, 4096), "bf16")
    schedule = read_schedule(built.hal, "argmax")
    result = emulate_program(schedule, built.files, problem, [x], rows=2)
    assert isinstance(result, EmulationResult)
    assert check_emulated(problem, [x], result).ok
    assert result.counts[0].workgroups == 2
    assert np.array_equal(result.outputs[1], x.astype(np.float32).argmax(axis=1))


TWO_STAGES = """
func.func @two(%a: tensor<64x256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x256xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %t = arith.addf %x, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %e2 = tensor.empty() : tensor<256xf32>
  %z2 = linalg.fill ins(%c0 : f32) outs(%e2 : tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i)>,
      affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %s : tensor<64x256xf32>, tensor<64xf32>) outs(%z2 : tensor<256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %m, %o : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  return %r : tensor<256xf32>
}
"""


def test_two_dispatches_hand_over_a_transient_buffer(build: Callable[..., Any]) -> None:
    built = build(TWO_STAGES)
    schedule = read_schedule(built.hal, "two")
    dispatches = [c for c in schedule.commands if isinstance(c, DispatchCommand)]
    assert len(dispatches) == 2
    assert [b.kind for b in schedule.buffers].count("allocation") == 2  # the result and the sums
    a = np.random.default_rng(5).integers(-3, 4, (64, 256)).astype(np.float32)
    result = built.run("two", [a])
    assert result.reports == ()
    assert np.array_equal(result.outputs[0], a.sum(axis=1) @ a)
    assert [c.kernel for c in result.counts] == list(schedule.kernels)


def test_a_function_that_is_not_there_is_named(build: Callable[..., Any]) -> None:
    with pytest.raises(Unsupported, match="function 'three'"):
        read_schedule(build(TWO_STAGES).hal, "three")


def test_assembly_that_lacks_a_kernel_ends_as_unavailable(build: Callable[..., Any]) -> None:
    schedule = read_schedule(build(TWO_STAGES).hal, "two")
    result = emulate_program(schedule, [], Problem("p", "argmax", (64, 256), "f32"), [np.zeros((64, 256), np.float32)])
    assert isinstance(result, Failure)
    assert result.status is Status.UNAVAILABLE
    assert "two_dispatch_0" in result.reason


ONE_WORKGROUP = """
func.func @sums(%a: tensor<32x64xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"],
      compilation_info = #iree_codegen.compilation_info<
        lowering_config = #iree_gpu.lowering_config<{workgroup = [32, 0], thread = [1, 0], reduction = [0, 4]}>,
        translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse>
          workgroup_size = [32, 1, 1] subgroup_size = 64>>}
      ins(%a : tensor<32x64xf32>) outs(%z : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %t = arith.addf %x, %o : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  return %s : tensor<32xf32>
}
"""


def test_rows_are_right_where_one_workgroup_has_more_of_them_than_were_asked_for(build: Callable[..., Any]) -> None:
    built = build(ONE_WORKGROUP)
    a = np.random.default_rng(6).integers(-9, 10, (2, 64)).astype(np.float32)
    schedule = read_schedule(built.hal, "sums")
    result = emulate_program(schedule, built.files, Problem("p", "argmax", (32, 64), "f32"), [a], rows=2)
    assert isinstance(result, EmulationResult)
    assert np.array_equal(result.outputs[0], a.sum(axis=1))

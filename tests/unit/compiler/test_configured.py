"""Reading the configuration that the compiler dumps."""

from __future__ import annotations

import pytest

from ireebench.compiler.configured import Lowering, Translation, balanced, parse_entries, read_dispatch, split_top

# ruff: noqa: E501
# Our own shortening of what IREE 3.13 prints for gfx942.
ROWS = """\
hal.executable public @argmax_dispatch_0 {
  hal.executable.variant public @rocm_hsaco_fb target(<"rocm", "rocm-hsaco-fb", {abi = "hip"}>) {
    hal.executable.export public @argmax_dispatch_0_arg_compare_8192xbf16 ordinal(0) count(%arg0: !hal.device) -> (index, index, index) {
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c1 = arith.constant 1 : index
      hal.return %c16, %c32, %c1 : index, index, index
    }
    builtin.module {
      func.func @argmax_dispatch_0_arg_compare_8192xbf16() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64, {llvm_func_attrs = {"amdgpu-waves-per-eu" = "2"}}>} {
        %cst = arith.constant 0xFF80 : bf16
        %10 = linalg.fill ins(%cst : bf16) outs(%8 : tensor<bf16>) -> tensor<bf16>
        %12:2 = iree_linalg_ext.arg_compare {lowering_config = #iree_gpu.lowering_config<{lane_basis = [[64], [0]], partial_reduction = [2048], subgroup_basis = [[4], [0]], thread = [8], workgroup = [0]}>} dimension(0) ins(%7 : tensor<8192xbf16>) outs(%10, %11 : tensor<bf16>, tensor<i64>) index_base(%6 : index) {
        ^bb0(%arg0: bf16, %arg1: bf16):
          %13 = arith.cmpf ogt, %arg0, %arg1 : bf16
          iree_linalg_ext.yield %13 : i1
        } -> tensor<bf16>, tensor<i64>
        return
      }
    }
  }
}
"""
GENERIC = """\
func.func @f_dispatch_0() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [64, 1, 1] subgroup_size = 64>} {
  %9 = linalg.fill {lowering_config = #iree_gpu.lowering_config<{workgroup = []}>} ins(%c0 : f32) outs(%8 : tensor<64xf32>) -> tensor<64xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%6, %7 : tensor<32x64x1024xf32>, tensor<?x64xf32>) outs(%9 : tensor<64xf32>) attrs =  {lowering_config = #iree_gpu.lowering_config<{reduction = [0, 4, 4], thread = [1, 0, 0], workgroup = [64, 0, 0]}>} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
}
"""
CPU = """\
func.func @g_dispatch_1() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<Default>>} {
  %6:2 = iree_linalg_ext.arg_compare {lowering_config = #iree_cpu.lowering_config<distribution = [4, 0], vector_common_parallel = [4, 0]>} dimension(1) ins(%3 : tensor<?x131072xbf16>) outs(%4, %5 : tensor<?xbf16>, tensor<?xi64>) {
  } -> tensor<?xbf16>, tensor<?xi64>
}
"""


def test_a_dispatch_is_read_whole() -> None:
    dispatch = read_dispatch(ROWS)
    assert dispatch is not None
    assert dispatch.symbol == "argmax_dispatch_0_arg_compare_8192xbf16"
    assert dispatch.workgroup_count == (16, 32, 1)
    assert dispatch.translation == Translation(
        "VectorDistribute", (256, 1, 1), 64, '{llvm_func_attrs = {"amdgpu-waves-per-eu" = "2"}}'
    )
    op = dispatch.root
    assert op is not None
    assert op.lowering is not None
    assert (op.name, op.input_shape, op.element_type) == ("iree_linalg_ext.arg_compare", (8192,), "bf16")
    assert (op.iterators, op.reduction) == (("reduction",), 8192)
    assert dict(op.lowering.entries) == {
        "lane_basis": [[64], [0]],
        "partial_reduction": [2048],
        "subgroup_basis": [[4], [0]],
        "thread": [8],
        "workgroup": [0],
    }
    assert op.lowering.counts("subgroup_basis") == (4,)
    assert op.lowering.tile("partial_reduction") == 2048
    assert op.lowering.tile("workgroup") is None


def test_the_root_is_the_reduction_and_its_loops_follow_the_map() -> None:
    dispatch = read_dispatch(GENERIC)
    assert dispatch is not None
    assert dispatch.root is not None
    assert dispatch.root.name == "linalg.generic"
    assert dispatch.root.operands == ("tensor<32x64x1024xf32>", "tensor<?x64xf32>")
    assert dispatch.root.reduction == 32 * 1024
    assert dispatch.workgroup_count is None


def test_cpu_configurations_and_dynamic_sizes_are_read() -> None:
    dispatch = read_dispatch(CPU)
    assert dispatch is not None
    assert dispatch.translation == Translation("Default", None, None, None)
    assert dispatch.root is not None
    assert dispatch.root.lowering is not None
    assert dispatch.root.lowering.dialect == "iree_cpu"
    assert dispatch.root.lowering.ints("distribution") == (4, 0)
    assert dispatch.root.input_shape == (None, 131072)
    assert dispatch.root.reduction == 131072


@pytest.mark.parametrize("text", ["", "module {}", "not MLIR at all"])
def test_what_holds_no_function_is_no_dispatch(text: str) -> None:
    assert read_dispatch(text) is None


def test_brackets_are_matched_and_arrows_are_none() -> None:
    assert balanced("x<a -> (b, [c])> y", 1) == "<a -> (b, [c])>"
    assert list(split_top("a = [1, 2], b = <c -> d, e>, f")) == ["a = [1, 2]", "b = <c -> d, e>", "f"]


def test_entries_are_integers_lists_or_text() -> None:
    expected = {"a": [1, [2]], "n": 3, "t": "#x<y = 1, z = 2>"}
    assert parse_entries("a = [1, [2]], n = 3 : i64, t = #x<y = 1, z = 2>") == expected


def test_the_first_lowering_configuration_is_found() -> None:
    assert Lowering.find("nothing here") is None
    found = Lowering.find("{lowering_config = #iree_gpu.lowering_config<{thread = [0, 8]}>}")
    assert found is not None
    assert (found.dialect, found.tile("thread")) == ("iree_gpu", 8)

// gemv 1x4096x4096 f16 kn -> f32: matvec SG=1,PR=128,TH=8,RW=16,SR=1
// One vector times a weight whose columns are contiguous (stored K x N), as models emit it: one dispatch.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[2, 32], [0, 1]], partial_reduction = [0, 128], subgroup_basis = [[1, 1], [0, 1]], thread = [8, 4], workgroup = [16, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>>
func.func @gemv(%weights: tensor<4096x4096xf16>, %x: tensor<4096xf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %nothing = tensor.empty() : tensor<4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<4096xf32>) -> tensor<4096xf32>
  %sums = linalg.vecmat {compilation_info = #config1} ins(%x, %weights : tensor<4096xf16>, tensor<4096x4096xf16>) outs(%start : tensor<4096xf32>) -> tensor<4096xf32>
  return %sums : tensor<4096xf32>
}

// gemv 1x4096x4096 f16 nk -> f32: matvec SG=4,PR=2048,TH=8,RW=1,SR=1
// A weight whose rows are contiguous times one vector, as models emit it: one dispatch. A tuning spec can configure it.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64], [0, 1]], partial_reduction = [0, 2048], subgroup_basis = [[1, 4], [0, 1]], thread = [0, 8], workgroup = [1, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>>
func.func @gemv(%weights: tensor<4096x4096xf16>, %x: tensor<4096xf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %nothing = tensor.empty() : tensor<4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<4096xf32>) -> tensor<4096xf32>
  %sums = linalg.matvec {compilation_info = #config1} ins(%weights, %x : tensor<4096x4096xf16>, tensor<4096xf16>) outs(%start : tensor<4096xf32>) -> tensor<4096xf32>
  return %sums : tensor<4096xf32>
}

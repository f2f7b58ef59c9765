// argmin 65536xf32 -> i64: native SG=16,PR=2048,TH=4
// The op as a model emits it, in the problem's own rank: one dispatch. A tuning spec can configure it.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[32], [0]], partial_reduction = [2048], subgroup_basis = [[16], [0]], thread = [4], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [512, 1, 1] subgroup_size = 32>>
func.func @argmin(%input: tensor<65536xf32>) -> (tensor<f32>, tensor<i64>) {
  %neutral = arith.constant 0x7F800000 : f32
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<f32>
  %no_index = tensor.empty() : tensor<i64>
  %worst = linalg.fill ins(%neutral : f32) outs(%no_value : tensor<f32>) -> tensor<f32>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
  %best, %where = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(0)
      ins(%input : tensor<65536xf32>) outs(%worst, %first : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %b: f32):
    %better = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %better : i1
  } -> tensor<f32>, tensor<i64>
  return %best, %where : tensor<f32>, tensor<i64>
}

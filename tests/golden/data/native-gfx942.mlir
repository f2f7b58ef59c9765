// argmax 131072xbf16 -> i64: native SG=4,PR=2048,TH=8
// The op as a model emits it, in the problem's own rank: one dispatch. A tuning spec can configure it.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[64], [0]], partial_reduction = [2048], subgroup_basis = [[4], [0]], thread = [8], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>>
func.func @argmax(%input: tensor<131072xbf16>) -> (tensor<bf16>, tensor<i64>) {
  %neutral = arith.constant 0xFF80 : bf16
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<bf16>
  %no_index = tensor.empty() : tensor<i64>
  %worst = linalg.fill ins(%neutral : bf16) outs(%no_value : tensor<bf16>) -> tensor<bf16>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
  %best, %where = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(0)
      ins(%input : tensor<131072xbf16>) outs(%worst, %first : tensor<bf16>, tensor<i64>) {
  ^bb0(%a: bf16, %b: bf16):
    %better = arith.cmpf ogt, %a, %b : bf16
    iree_linalg_ext.yield %better : i1
  } -> tensor<bf16>, tensor<i64>
  return %best, %where : tensor<bf16>, tensor<i64>
}

// argmax 32x131072xbf16 -> i64: native SG=1,PR=512,TH=8,RW=4,WPE=2
// The op as a model emits it, in the problem's own rank: one dispatch. A tuning spec can configure it.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64], [0, 1]], partial_reduction = [0, 512], subgroup_basis = [[4, 1], [0, 1]], thread = [0, 8], workgroup = [4, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64, {llvm_func_attrs = {"amdgpu-waves-per-eu" = "2"}}>>
func.func @argmax(%input: tensor<32x131072xbf16>) -> (tensor<32xbf16>, tensor<32xi64>) {
  %neutral = arith.constant 0xFF80 : bf16
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<32xbf16>
  %no_index = tensor.empty() : tensor<32xi64>
  %worst = linalg.fill ins(%neutral : bf16) outs(%no_value : tensor<32xbf16>) -> tensor<32xbf16>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<32xi64>) -> tensor<32xi64>
  %best, %where = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(1)
      ins(%input : tensor<32x131072xbf16>) outs(%worst, %first : tensor<32xbf16>, tensor<32xi64>) {
  ^bb0(%a: bf16, %b: bf16):
    %better = arith.cmpf ogt, %a, %b : bf16
    iree_linalg_ext.yield %better : i1
  } -> tensor<32xbf16>, tensor<32xi64>
  return %best, %where : tensor<32xbf16>, tensor<32xi64>
}

// argmax 32x131072xbf16 -> i64: split_attr SG=1,PR=512,ST=8192,TH=8,SG2=1,PR2=16,TH2=1,RW=4
// The op in the problem's own rank with the attribute that makes IREE split its reduction: two dispatches, which a tuning
// spec configures one by one (the op's own compilation_info would be dropped by the split).
func.func @argmax(%input: tensor<32x131072xbf16>) -> (tensor<32xbf16>, tensor<32xi64>) {
  %neutral = arith.constant 0xFF80 : bf16
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<32xbf16>
  %no_index = tensor.empty() : tensor<32xi64>
  %worst = linalg.fill ins(%neutral : bf16) outs(%no_value : tensor<32xbf16>) -> tensor<32xbf16>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<32xi64>) -> tensor<32xi64>
  %best, %where = iree_linalg_ext.arg_compare {iree_linalg_ext.split_reduction = [8192 : index]} dimension(1)
      ins(%input : tensor<32x131072xbf16>) outs(%worst, %first : tensor<32xbf16>, tensor<32xi64>) {
  ^bb0(%a: bf16, %b: bf16):
    %better = arith.cmpf ogt, %a, %b : bf16
    iree_linalg_ext.yield %better : i1
  } -> tensor<32xbf16>, tensor<32xi64>
  return %best, %where : tensor<32xbf16>, tensor<32xi64>
}

// argmax 1x2048xf32 -> i64: split_attr ST=512
// The op in the problem's own rank with the attribute that makes IREE split its reduction: two dispatches, which a tuning
// spec configures one by one (the op's own compilation_info would be dropped by the split).
func.func @argmax(%input: tensor<1x2048xf32>) -> (tensor<1xf32>, tensor<1xi64>) {
  %neutral = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<1xf32>
  %no_index = tensor.empty() : tensor<1xi64>
  %worst = linalg.fill ins(%neutral : f32) outs(%no_value : tensor<1xf32>) -> tensor<1xf32>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<1xi64>) -> tensor<1xi64>
  %best, %where = iree_linalg_ext.arg_compare {iree_linalg_ext.split_reduction = [512 : index]} dimension(1)
      ins(%input : tensor<1x2048xf32>) outs(%worst, %first : tensor<1xf32>, tensor<1xi64>) {
  ^bb0(%a: f32, %b: f32):
    %better = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %better : i1
  } -> tensor<1xf32>, tensor<1xi64>
  return %best, %where : tensor<1xf32>, tensor<1xi64>
}

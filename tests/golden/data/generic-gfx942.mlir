// argmax 32x131072xf16 -> i64: generic default
// A linalg.generic that keeps the extremum and its index: what frontends emit for argmax, and what IREE's micro-kernel matches.
func.func @argmax(%input: tensor<32x131072xf16>) -> (tensor<32xf16>, tensor<32xi64>) {
  %neutral = arith.constant 0xFC00 : f16
  %zero = arith.constant 0 : i64
  %no_value = tensor.empty() : tensor<32xf16>
  %no_index = tensor.empty() : tensor<32xi64>
  %worst = linalg.fill ins(%neutral : f16) outs(%no_value : tensor<32xf16>) -> tensor<32xf16>
  %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<32xi64>) -> tensor<32xi64>
  %best, %where = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%input : tensor<32x131072xf16>) outs(%worst, %first : tensor<32xf16>, tensor<32xi64>) {
  ^bb0(%a: f16, %b: f16, %kept: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %extremum = arith.maximumf %a, %b : f16
    %better = arith.cmpf ogt, %a, %b : f16
    %chosen = arith.select %better, %here, %kept : i64
    linalg.yield %extremum, %chosen : f16, i64
  } -> (tensor<32xf16>, tensor<32xi64>)
  return %best, %where : tensor<32xf16>, tensor<32xi64>
}

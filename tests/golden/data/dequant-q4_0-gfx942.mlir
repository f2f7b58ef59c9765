// gemv 1x4096x4096 q4_0 nk -> f32: dequant SG=2,PR=4096,TH=32,RW=2,SR=1
// 4-bit weights in blocks that share a scale: dequantised by one generic, multiplied and summed by the next. IREE fuses the
// two into one dispatch; a tuning spec configures the second.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64, 1], [0, 1, 2]], partial_reduction = [0, 128, 32], subgroup_basis = [[1, 2, 1], [0, 1, 2]], thread = [0, 1, 32], workgroup = [2, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 64>>
func.func @gemv(%weights: tensor<4096x128x32xi4>, %scales: tensor<4096x128xf16>, %x: tensor<4096xf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %blocks = tensor.expand_shape %x [[0, 1]] output_shape [128, 32] : tensor<4096xf16> into tensor<128x32xf16>
  %no_weights = tensor.empty() : tensor<4096x128x32xf32>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(n, b, j) -> (n, b, j)>, affine_map<(n, b, j) -> (n, b)>, affine_map<(n, b, j) -> (n, b, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%weights, %scales : tensor<4096x128x32xi4>, tensor<4096x128xf16>) outs(%no_weights : tensor<4096x128x32xf32>) {
  ^bb0(%code: i4, %scale: f16, %unused: f32):
    %signed = arith.sitofp %code : i4 to f32
    %wide_scale = arith.extf %scale : f16 to f32
    %value = arith.mulf %signed, %wide_scale : f32
    linalg.yield %value : f32
  } -> tensor<4096x128x32xf32>
  %nothing = tensor.empty() : tensor<4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<4096xf32>) -> tensor<4096xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(n, b, j) -> (n, b, j)>, affine_map<(n, b, j) -> (b, j)>, affine_map<(n, b, j) -> (n)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%wide, %blocks : tensor<4096x128x32xf32>, tensor<128x32xf16>) outs(%start : tensor<4096xf32>) attrs = {compilation_info = #config1} {
  ^bb0(%w: f32, %a: f16, %sum: f32):
    %wide_a = arith.extf %a : f16 to f32
    %product = arith.mulf %w, %wide_a : f32
    %next = arith.addf %product, %sum : f32
    linalg.yield %next : f32
  } -> tensor<4096xf32>
  return %sums : tensor<4096xf32>
}

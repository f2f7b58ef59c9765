// gemv 1x1024x8192 bf16 nk -> f32: matvec_split SG=2,PR=1024,ST=2048,TH=8,RW=2,SR=2
// Split K: the first dispatch sums each row's 4 parts of 2048 products, the second adds the parts. For
// weights with too few rows to fill a GPU.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 64], [0, 1, 2]], partial_reduction = [0, 0, 1024], subgroup_basis = [[2, 1, 2], [0, 1, 2]], thread = [0, 0, 8], workgroup = [2, 1, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>>
func.func @gemv(%weights: tensor<1024x8192xbf16>, %x: tensor<8192xbf16>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %parts = tensor.expand_shape %weights [[0], [1, 2]] output_shape [1024, 4, 2048] : tensor<1024x8192xbf16> into tensor<1024x4x2048xbf16>
  %x_parts = tensor.expand_shape %x [[0, 1]] output_shape [4, 2048] : tensor<8192xbf16> into tensor<4x2048xbf16>
  %no_part = tensor.empty() : tensor<1024x4xf32>
  %part_start = linalg.fill ins(%zero : f32) outs(%no_part : tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %partial = linalg.generic {
      indexing_maps = [affine_map<(n, s, k) -> (n, s, k)>, affine_map<(n, s, k) -> (s, k)>, affine_map<(n, s, k) -> (n, s)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%parts, %x_parts : tensor<1024x4x2048xbf16>, tensor<4x2048xbf16>) outs(%part_start : tensor<1024x4xf32>) attrs = {compilation_info = #config1} {
  ^bb0(%w: bf16, %a: bf16, %sum: f32):
    %wide_w = arith.extf %w : bf16 to f32
    %wide_a = arith.extf %a : bf16 to f32
    %product = arith.mulf %wide_w, %wide_a : f32
    %next = arith.addf %product, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1024x4xf32>
  %nothing = tensor.empty() : tensor<1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<1024xf32>) -> tensor<1024xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(n, s) -> (n, s)>, affine_map<(n, s) -> (n)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%partial : tensor<1024x4xf32>) outs(%start : tensor<1024xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %part, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1024xf32>
  return %sums : tensor<1024xf32>
}

// gemv 4x4096x4096 bf16 nk -> f32: matvec SG=4,PR=1024,TH=8,RW=4,SR=4
// A few vectors at once: each weight is read once and multiplied with all of them. Loops: weight rows, vectors, K.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 32], [0, 1, 2]], partial_reduction = [0, 0, 1024], subgroup_basis = [[4, 1, 4], [0, 1, 2]], thread = [0, 0, 8], workgroup = [4, 4, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [512, 1, 1] subgroup_size = 32>>
func.func @gemv(%weights: tensor<4096x4096xbf16>, %x: tensor<4x4096xbf16>) -> tensor<4x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %nothing = tensor.empty() : tensor<4x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weights, %x : tensor<4096x4096xbf16>, tensor<4x4096xbf16>) outs(%start : tensor<4x4096xf32>) attrs = {compilation_info = #config1} {
  ^bb0(%w: bf16, %a: bf16, %sum: f32):
    %wide_w = arith.extf %w : bf16 to f32
    %wide_a = arith.extf %a : bf16 to f32
    %product = arith.mulf %wide_w, %wide_a : f32
    %next = arith.addf %product, %sum : f32
    linalg.yield %next : f32
  } -> tensor<4x4096xf32>
  return %sums : tensor<4x4096xf32>
}

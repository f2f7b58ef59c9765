// gemv 2x4096x4096 nf4 nk -> f32: dequant_words SG=2,PR=2048,TH=32,RW=1,SR=1
// 4-bit weights read as 32-bit words of eight, unpacked with as few instructions as the hardware allows, in one dispatch.
// Loops: weight rows, vectors, blocks, words of a block, codes of a word.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 16, 2, 1], [0, 1, 2, 3, 4]], partial_reduction = [0, 0, 32, 8, 8], subgroup_basis = [[1, 1, 2, 1, 1], [0, 1, 2, 3, 4]], thread = [0, 0, 1, 4, 8], workgroup = [1, 2, 0, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 32>>
func.func @gemv(%weights: tensor<4096x64x64xi4>, %scales: tensor<4096x64xf32>, %x: tensor<2x4096xf16>) -> tensor<2x4096xf32> {
  %words = flow.tensor.bitcast %weights : tensor<4096x64x64xi4> -> tensor<4096x64x8xi32>
  %blocks = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [2, 64, 8, 8] : tensor<2x4096xf16> into tensor<2x64x8x8xf16>
  %entries = arith.constant dense<[0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0, 0xBE91A24D, 0xBE3D353F, 0xBDBA7871, 0x00000000, 0x3DA2FAFF, 0x3E24CAE3, 0x3E7C04DD, 0x3EAD033A, 0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3, 0x3F800000]> : tensor<16xf32>
  %table = util.optimization_barrier %entries : tensor<16xf32>
  %result = flow.dispatch.region -> (tensor<2x4096xf32>) {
    %zero = arith.constant 0.0 : f32
    %shifts = arith.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
    %no_weights = tensor.empty() : tensor<4096x64x8x8xf32>
    %wide = linalg.generic {
        indexing_maps = [affine_map<(n, b, v, u) -> (n, b, v)>, affine_map<(n, b, v, u) -> (n, b)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (n, b, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%words, %scales, %shifts : tensor<4096x64x8xi32>, tensor<4096x64xf32>, tensor<8xi32>) outs(%no_weights : tensor<4096x64x8x8xf32>) {
    ^bb0(%word: i32, %scale: f32, %shift: i32, %unused: f32):
      %low = arith.constant 15 : i32
      %near = arith.shrui %word, %shift : i32
      %code = arith.andi %near, %low : i32
      %place = arith.index_castui %code : i32 to index
      %entry = tensor.extract %table[%place] : tensor<16xf32>
      %value = arith.mulf %entry, %scale : f32
      linalg.yield %value : f32
    } -> tensor<4096x64x8x8xf32>
    %nothing = tensor.empty() : tensor<2x4096xf32>
    %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<2x4096xf32>) -> tensor<2x4096xf32>
    %sums = linalg.generic {
        indexing_maps = [affine_map<(n, m, b, v, u) -> (n, b, v, u)>, affine_map<(n, m, b, v, u) -> (m, b, v, u)>, affine_map<(n, m, b, v, u) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%wide, %blocks : tensor<4096x64x8x8xf32>, tensor<2x64x8x8xf16>) outs(%start : tensor<2x4096xf32>) attrs = {compilation_info = #config1} {
    ^bb0(%w: f32, %a: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %w, %wide_a : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<2x4096xf32>
    flow.return %sums : tensor<2x4096xf32>
  }
  return %result : tensor<2x4096xf32>
}

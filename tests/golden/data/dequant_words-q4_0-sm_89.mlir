// gemv 1x8192x28672 q4_0 nk -> f32: dequant_words SG=4,PR=4096,TH=32,RW=2,SR=1
// 4-bit weights read as 32-bit words of eight, unpacked with as few instructions as the hardware allows, in one dispatch.
// Loops: weight rows, blocks, words of a block, codes of a word.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 32, 1, 1], [0, 1, 2, 3]], partial_reduction = [0, 128, 4, 8], subgroup_basis = [[1, 4, 1, 1], [0, 1, 2, 3]], thread = [0, 1, 4, 8], workgroup = [2, 0, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 32>>
func.func @gemv(%weights: tensor<8192x896x32xi4>, %scales: tensor<8192x896xf16>, %x: tensor<28672xf16>) -> tensor<8192xf32> {
  %words = flow.tensor.bitcast %weights : tensor<8192x896x32xi4> -> tensor<8192x896x4xi32>
  %blocks = tensor.expand_shape %x [[0, 1, 2]] output_shape [896, 4, 8] : tensor<28672xf16> into tensor<896x4x8xf16>
  %some_exponents = arith.constant dense<[1191182336, 1157627904, 1191182336, 1157627904, 1124073472, 1191182336, 1157627904, 1124073472]> : tensor<8xi32>
  %exponents = util.optimization_barrier %some_exponents : tensor<8xi32>
  %result = flow.dispatch.region -> (tensor<8192xf32>) {
    %zero = arith.constant 0.0 : f32
    %lefts = arith.constant dense<[8, 8, 0, 0, 0, 0, 0, 0]> : tensor<8xi32>
    %rights = arith.constant dense<[0, 0, 0, 0, 0, 12, 12, 12]> : tensor<8xi32>
    %masks = arith.constant dense<[3840, 61440, 3840, 61440, 983040, 3840, 61440, 983040]> : tensor<8xi32>
    %offsets = arith.constant dense<[-32776.0, -2056.0, -32776.0, -2056.0, -136.0, -32776.0, -2056.0, -136.0]> : tensor<8xf32>
    %no_weights = tensor.empty() : tensor<8192x896x4x8xf32>
    %wide = linalg.generic {
        indexing_maps = [affine_map<(n, b, v, u) -> (n, b, v)>, affine_map<(n, b, v, u) -> (n, b)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (u)>, affine_map<(n, b, v, u) -> (n, b, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%words, %scales, %lefts, %rights, %masks, %offsets, %exponents : tensor<8192x896x4xi32>, tensor<8192x896xf16>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xf32>, tensor<8xi32>) outs(%no_weights : tensor<8192x896x4x8xf32>) {
    ^bb0(%word: i32, %scale: f16, %left: i32, %right: i32, %mask: i32, %offset: f32, %exponent: i32, %unused: f32):
      %signs = arith.constant -2004318072 : i32
      %codes = arith.xori %word, %signs : i32
      %up = arith.shli %codes, %left : i32
      %down = arith.shrui %up, %right : i32
      %code = arith.andi %down, %mask : i32
      %bits = arith.ori %code, %exponent : i32
      %big = arith.bitcast %bits : i32 to f32
      %wide_scale = arith.extf %scale : f16 to f32
      %less = arith.mulf %offset, %wide_scale : f32
      %value = math.fma %big, %wide_scale, %less : f32
      linalg.yield %value : f32
    } -> tensor<8192x896x4x8xf32>
    %nothing = tensor.empty() : tensor<8192xf32>
    %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<8192xf32>) -> tensor<8192xf32>
    %sums = linalg.generic {
        indexing_maps = [affine_map<(n, b, v, u) -> (n, b, v, u)>, affine_map<(n, b, v, u) -> (b, v, u)>, affine_map<(n, b, v, u) -> (n)>],
        iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
        ins(%wide, %blocks : tensor<8192x896x4x8xf32>, tensor<896x4x8xf16>) outs(%start : tensor<8192xf32>) attrs = {compilation_info = #config1} {
    ^bb0(%w: f32, %a: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %w, %wide_a : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<8192xf32>
    flow.return %sums : tensor<8192xf32>
  }
  return %result : tensor<8192xf32>
}

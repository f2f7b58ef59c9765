// gemv 2x4096x4096 q4_0 nk -> f32: dequant_sums SG=2,PR=2048,TH=16,RW=1,SR=1
// 4-bit weights summed before they are scaled: each code stays where it is in its word and an exponent above it makes it
// the float 2^p + code + 8 (+ 8: two's complement with the sign flipped). A lane sums these times the activations over its
// part of a block, takes off what 2^p + 8 added, which is the same for all rows, and multiplies by the scale once.
// Loops: weight rows, vectors, blocks, lanes of a block, words of a lane, codes of a word.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 32, 2], [0, 1, 2, 3]], partial_reduction = [0, 0, 64, 2], subgroup_basis = [[1, 1, 2, 1], [0, 1, 2, 3]], thread = [0, 0, 1, 1], workgroup = [1, 2, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 64>>
#dot = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 32, 2, 1, 1], [0, 1, 2, 3, 4, 5]], subgroup_basis = [[1, 1, 2, 1, 1, 1], [0, 1, 2, 3, 4, 5]], thread = [0, 0, 1, 1, 2, 8]}>
#surplus = #iree_gpu.lowering_config<{lane_basis = [[1, 32, 2, 1, 1], [0, 1, 2, 3, 4]], subgroup_basis = [[1, 2, 1, 1, 1], [0, 1, 2, 3, 4]], thread = [0, 1, 1, 2, 8]}>
func.func @gemv(%weights: tensor<4096x128x32xi4>, %scales: tensor<4096x128xf16>, %x: tensor<2x4096xf16>) -> tensor<2x4096xf32> {
  %words = flow.tensor.bitcast %weights : tensor<4096x128x32xi4> -> tensor<4096x128x2x2xi32>
  %blocks = tensor.expand_shape %x [[0], [1, 2, 3, 4]] output_shape [2, 128, 2, 2, 8] : tensor<2x4096xf16> into tensor<2x128x2x2x8xf16>
  %some_exponents = arith.constant dense<[1166032896, 1132724224, 1103101952, 1157660672, 1124597760, 1166032896, 1132724224, 1103101952]> : tensor<8xi32>
  %exponents = util.optimization_barrier %some_exponents : tensor<8xi32>
  %result = flow.dispatch.region -> (tensor<2x4096xf32>) {
    %zero = arith.constant 0.0 : f32
    %left = arith.constant dense<[11, 11, 11, 0, 0, 0, 0, 0]> : tensor<8xi32>
    %right = arith.constant dense<[0, 0, 0, 0, 0, 9, 9, 9]> : tensor<8xi32>
    %mask = arith.constant dense<[30720, 491520, 7864320, 61440, 983040, 30720, 491520, 7864320]> : tensor<8xi32>
    %surpluses = arith.constant dense<[4104.0, 264.0, 24.0, 2056.0, 136.0, 4104.0, 264.0, 24.0]> : tensor<8xf32>
    %no_weights = tensor.empty() : tensor<4096x128x2x2x8xf32>
    %wide = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u) -> (n, b, l, v)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (n, b, l, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%words, %left, %right, %mask, %exponents : tensor<4096x128x2x2xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) outs(%no_weights : tensor<4096x128x2x2x8xf32>) {
    ^bb0(%word: i32, %up: i32, %down: i32, %place: i32, %exponent: i32, %unused: f32):
      %high = arith.shli %word, %up : i32
      %low = arith.shrui %high, %down : i32
      %code = arith.andi %low, %place : i32
      %bits = arith.xori %code, %exponent : i32
      %value = arith.bitcast %bits : i32 to f32
      linalg.yield %value : f32
    } -> tensor<4096x128x2x2x8xf32>
    %no_parts = tensor.empty() : tensor<4096x2x128x2xf32>
    %start_parts = linalg.fill ins(%zero : f32) outs(%no_parts : tensor<4096x2x128x2xf32>) -> tensor<4096x2x128x2xf32>
    %parts = linalg.generic {
        indexing_maps = [affine_map<(n, m, b, l, v, u) -> (n, b, l, v, u)>, affine_map<(n, m, b, l, v, u) -> (m, b, l, v, u)>, affine_map<(n, m, b, l, v, u) -> (n, m, b, l)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%wide, %blocks : tensor<4096x128x2x2x8xf32>, tensor<2x128x2x2x8xf16>) outs(%start_parts : tensor<4096x2x128x2xf32>) attrs = {lowering_config = #dot} {
    ^bb0(%w: f32, %a: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %w, %wide_a : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<4096x2x128x2xf32>
    %no_surplus = tensor.empty() : tensor<2x128x2x2x8xf32>
    %each_surplus = linalg.generic {
        indexing_maps = [affine_map<(m, b, l, v, u) -> (u)>, affine_map<(m, b, l, v, u) -> (m, b, l, v, u)>, affine_map<(m, b, l, v, u) -> (m, b, l, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%surpluses, %blocks : tensor<8xf32>, tensor<2x128x2x2x8xf16>) outs(%no_surplus : tensor<2x128x2x2x8xf32>) {
    ^bb0(%surplus: f32, %a: f16, %unused: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %surplus, %wide_a : f32
      linalg.yield %product : f32
    } -> tensor<2x128x2x2x8xf32>
    %no_added = tensor.empty() : tensor<2x128x2xf32>
    %start_added = linalg.fill ins(%zero : f32) outs(%no_added : tensor<2x128x2xf32>) -> tensor<2x128x2xf32>
    %added = linalg.generic {
        indexing_maps = [affine_map<(m, b, l, v, u) -> (m, b, l, v, u)>, affine_map<(m, b, l, v, u) -> (m, b, l)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%each_surplus : tensor<2x128x2x2x8xf32>) outs(%start_added : tensor<2x128x2xf32>) attrs = {lowering_config = #surplus} {
    ^bb0(%each: f32, %sum: f32):
      %next = arith.addf %each, %sum : f32
      linalg.yield %next : f32
    } -> tensor<2x128x2xf32>
    %nothing = tensor.empty() : tensor<2x4096xf32>
    %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<2x4096xf32>) -> tensor<2x4096xf32>
    %sums = linalg.generic {
        indexing_maps = [affine_map<(n, m, b, l) -> (n, m, b, l)>, affine_map<(n, m, b, l) -> (m, b, l)>, affine_map<(n, m, b, l) -> (n, b)>, affine_map<(n, m, b, l) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%parts, %added, %scales : tensor<4096x2x128x2xf32>, tensor<2x128x2xf32>, tensor<4096x128xf16>) outs(%start : tensor<2x4096xf32>) attrs = {compilation_info = #config1} {
    ^bb0(%part: f32, %surplus: f32, %scale: f16, %sum: f32):
      %wide_scale = arith.extf %scale : f16 to f32
      %codes = arith.subf %part, %surplus : f32
      %product = arith.mulf %codes, %wide_scale : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<2x4096xf32>
    flow.return %sums : tensor<2x4096xf32>
  }
  return %result : tensor<2x4096xf32>
}

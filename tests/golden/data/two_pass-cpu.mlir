// argmax 32x131072xbf16 -> i64: two_pass ST=2048,DIST=8,VEC=32
// Two passes that a CPU can vectorise. Floats are compared as integers of the same order, so that a maximum is one
// instruction: the bits, with all but the sign flipped where the sign is set. First every chunk's extremum, over all cores;
// then the chunk that has the row's, and the first place in it that holds it.
#tiles = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [1, 8, 0], vector_common_parallel = [1, 8, 0], vector_reduction = [0, 0, 32]>, translation_info = <pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
func.func @argmax(%input: tensor<32x131072xbf16>) -> (tensor<32xbf16>, tensor<32xi64>) {
  %worst = arith.constant -32768 : i16
  %nowhere = arith.constant 2048 : i32
  %zero = arith.constant 0 : i32
  %chunks = tensor.expand_shape %input [[0], [1, 2]] output_shape [32, 64, 2048] : tensor<32x131072xbf16> into tensor<32x64x2048xbf16>

  %no_keys = tensor.empty() : tensor<32x64xi16>
  %worst_keys = linalg.fill ins(%worst : i16) outs(%no_keys : tensor<32x64xi16>) -> tensor<32x64xi16>
  %extrema = linalg.generic {
      indexing_maps = [affine_map<(r, c, k) -> (r, c, k)>, affine_map<(r, c, k) -> (r, c)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%chunks : tensor<32x64x2048xbf16>) outs(%worst_keys : tensor<32x64xi16>) attrs = {compilation_info = #tiles} {
  ^bb0(%a: bf16, %best: i16):
    %bits = arith.bitcast %a : bf16 to i16
    %shift = arith.constant 15 : i16
    %magnitude = arith.constant 32767 : i16
    %sign = arith.shrsi %bits, %shift : i16
    %flip = arith.andi %sign, %magnitude : i16
    %key = arith.xori %bits, %flip : i16
    %extremum = arith.maxsi %key, %best : i16
    linalg.yield %extremum : i16
  } -> tensor<32x64xi16>

  %no_key = tensor.empty() : tensor<32xi16>
  %no_place = tensor.empty() : tensor<32xi32>
  %worst_key = linalg.fill ins(%worst : i16) outs(%no_key : tensor<32xi16>) -> tensor<32xi16>
  %first_chunk = linalg.fill ins(%zero : i32) outs(%no_place : tensor<32xi32>) -> tensor<32xi32>
  %winner, %chunk = linalg.generic {
      indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%extrema : tensor<32x64xi16>) outs(%worst_key, %first_chunk : tensor<32xi16>, tensor<32xi32>) {
  ^bb0(%a: i16, %best: i16, %kept: i32):
    %c = linalg.index 1 : index
    %here = arith.index_cast %c : index to i32
    %better = arith.cmpi sgt, %a, %best : i16
    %value = arith.select %better, %a, %best : i16
    %place = arith.select %better, %here, %kept : i32
    linalg.yield %value, %place : i16, i32
  } -> (tensor<32xi16>, tensor<32xi32>)

  %no_places = linalg.fill ins(%nowhere : i32) outs(%no_place : tensor<32xi32>) -> tensor<32xi32>
  %places = tensor.empty() : tensor<2048xi32>
  %offset = linalg.generic {
      indexing_maps = [affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (k)>, affine_map<(r, k) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%winner, %chunk, %places : tensor<32xi16>, tensor<32xi32>, tensor<2048xi32>) outs(%no_places : tensor<32xi32>) {
  ^bb0(%best: i16, %which: i32, %unused: i32, %first: i32):
    %r = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c = arith.index_cast %which : i32 to index
    %a = tensor.extract %chunks[%r, %c, %k] : tensor<32x64x2048xbf16>
    %bits = arith.bitcast %a : bf16 to i16
    %shift = arith.constant 15 : i16
    %magnitude = arith.constant 32767 : i16
    %sign = arith.shrsi %bits, %shift : i16
    %flip = arith.andi %sign, %magnitude : i16
    %key = arith.xori %bits, %flip : i16
    %found = arith.cmpi eq, %key, %best : i16
    %here = arith.index_cast %k : index to i32
    %place = arith.select %found, %here, %nowhere : i32
    %lowest = arith.minsi %place, %first : i32
    linalg.yield %lowest : i32
  } -> tensor<32xi32>

  %no_value = tensor.empty() : tensor<32xbf16>
  %no_index = tensor.empty() : tensor<32xi64>
  %best, %where = linalg.generic {
      indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>],
      iterator_types = ["parallel"]}
      ins(%winner, %chunk, %offset : tensor<32xi16>, tensor<32xi32>, tensor<32xi32>) outs(%no_value, %no_index : tensor<32xbf16>, tensor<32xi64>) {
  ^bb0(%key: i16, %which: i32, %k: i32, %old_value: bf16, %old_index: i64):
    %shift = arith.constant 15 : i16
    %magnitude = arith.constant 32767 : i16
    %sign = arith.shrsi %key, %shift : i16
    %flip = arith.andi %sign, %magnitude : i16
    %bits = arith.xori %key, %flip : i16
    %value = arith.bitcast %bits : i16 to bf16
    %length = arith.constant 2048 : i64
    %wide = arith.extsi %which : i32 to i64
    %near = arith.extsi %k : i32 to i64
    %start = arith.muli %wide, %length : i64
    %sum = arith.addi %start, %near : i64
    %place = arith.index_cast %sum : i64 to index
    %index = arith.index_cast %place : index to i64
    linalg.yield %value, %index : bf16, i64
  } -> (tensor<32xbf16>, tensor<32xi64>)
  return %best, %where : tensor<32xbf16>, tensor<32xi64>
}

// argmin 50257xf32 -> i64: two_pass ST=2048
// Two passes that a CPU can vectorise. Floats are compared as integers of the same order, so that a maximum is one
// instruction: the bits, with all but the sign flipped where the sign is set. First every chunk's extremum, over all cores;
// then the chunk that has the row's, and the first place in it that holds it. The last, shorter chunk goes by itself.
func.func @argmin(%input: tensor<50257xf32>) -> (tensor<f32>, tensor<i64>) {
  %worst = arith.constant 2147483647 : i32
  %nowhere = arith.constant 2048 : i32
  %matrix = tensor.expand_shape %input [[0, 1]] output_shape [1, 50257] : tensor<50257xf32> into tensor<1x50257xf32>
  %whole = tensor.extract_slice %matrix[0, 0] [1, 49152] [1, 1] : tensor<1x50257xf32> to tensor<1x49152xf32>
  %tail = tensor.extract_slice %matrix[0, 49152] [1, 1105] [1, 1] : tensor<1x50257xf32> to tensor<1x1105xf32>
  %chunks = tensor.expand_shape %whole [[0], [1, 2]] output_shape [1, 24, 2048] : tensor<1x49152xf32> into tensor<1x24x2048xf32>

  %no_keys = tensor.empty() : tensor<1x24xi32>
  %worst_keys = linalg.fill ins(%worst : i32) outs(%no_keys : tensor<1x24xi32>) -> tensor<1x24xi32>
  %extrema = linalg.generic {
      indexing_maps = [affine_map<(r, c, k) -> (r, c, k)>, affine_map<(r, c, k) -> (r, c)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%chunks : tensor<1x24x2048xf32>) outs(%worst_keys : tensor<1x24xi32>) {
  ^bb0(%a: f32, %best: i32):
    %bits = arith.bitcast %a : f32 to i32
    %shift = arith.constant 31 : i32
    %magnitude = arith.constant 2147483647 : i32
    %sign = arith.shrsi %bits, %shift : i32
    %flip = arith.andi %sign, %magnitude : i32
    %key = arith.xori %bits, %flip : i32
    %extremum = arith.minsi %key, %best : i32
    linalg.yield %extremum : i32
  } -> tensor<1x24xi32>

  %no_key = tensor.empty() : tensor<1xi32>
  %no_place = tensor.empty() : tensor<1xi32>
  %worst_key = linalg.fill ins(%worst : i32) outs(%no_key : tensor<1xi32>) -> tensor<1xi32>
  %tail_extremum = linalg.generic {
      indexing_maps = [affine_map<(r, k) -> (r, k)>, affine_map<(r, k) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%tail : tensor<1x1105xf32>) outs(%worst_key : tensor<1xi32>) {
  ^bb0(%a: f32, %best: i32):
    %bits = arith.bitcast %a : f32 to i32
    %shift = arith.constant 31 : i32
    %magnitude = arith.constant 2147483647 : i32
    %sign = arith.shrsi %bits, %shift : i32
    %flip = arith.andi %sign, %magnitude : i32
    %key = arith.xori %bits, %flip : i32
    %extremum = arith.minsi %key, %best : i32
    linalg.yield %extremum : i32
  } -> tensor<1xi32>

  // The tail stands first with the highest place: a chunk that is as good goes before it.
  %last = arith.constant 24 : i32
  %tail_chunk = linalg.fill ins(%last : i32) outs(%no_place : tensor<1xi32>) -> tensor<1xi32>
  %winner, %chunk = linalg.generic {
      indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%extrema : tensor<1x24xi32>) outs(%tail_extremum, %tail_chunk : tensor<1xi32>, tensor<1xi32>) {
  ^bb0(%a: i32, %best: i32, %kept: i32):
    %c = linalg.index 1 : index
    %here = arith.index_cast %c : index to i32
    %strictly = arith.cmpi slt, %a, %best : i32
    %equal = arith.cmpi eq, %a, %best : i32
    %before = arith.cmpi slt, %here, %kept : i32
    %tie = arith.andi %equal, %before : i1
    %better = arith.ori %strictly, %tie : i1
    %value = arith.select %better, %a, %best : i32
    %place = arith.select %better, %here, %kept : i32
    linalg.yield %value, %place : i32, i32
  } -> (tensor<1xi32>, tensor<1xi32>)

  %no_places = linalg.fill ins(%nowhere : i32) outs(%no_place : tensor<1xi32>) -> tensor<1xi32>
  %places = tensor.empty() : tensor<2048xi32>
  %offset = linalg.generic {
      indexing_maps = [affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (k)>, affine_map<(r, k) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%winner, %chunk, %places : tensor<1xi32>, tensor<1xi32>, tensor<2048xi32>) outs(%no_places : tensor<1xi32>) {
  ^bb0(%best: i32, %which: i32, %unused: i32, %first: i32):
    %r = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c = arith.index_cast %which : i32 to index
    %length = arith.constant 2048 : index
    %end = arith.constant 50256 : index
    %start = arith.muli %c, %length : index
    %sum = arith.addi %start, %k : index
    // Past the end the last element stands in: its own place is lower, so that it is never chosen for another.
    %inside = arith.minsi %sum, %end : index
    %a = tensor.extract %matrix[%r, %inside] : tensor<1x50257xf32>
    %bits = arith.bitcast %a : f32 to i32
    %shift = arith.constant 31 : i32
    %magnitude = arith.constant 2147483647 : i32
    %sign = arith.shrsi %bits, %shift : i32
    %flip = arith.andi %sign, %magnitude : i32
    %key = arith.xori %bits, %flip : i32
    %found = arith.cmpi eq, %key, %best : i32
    %here = arith.index_cast %k : index to i32
    %place = arith.select %found, %here, %nowhere : i32
    %lowest = arith.minsi %place, %first : i32
    linalg.yield %lowest : i32
  } -> tensor<1xi32>

  %no_value = tensor.empty() : tensor<1xf32>
  %no_index = tensor.empty() : tensor<1xi64>
  %best, %where = linalg.generic {
      indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>],
      iterator_types = ["parallel"]}
      ins(%winner, %chunk, %offset : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) outs(%no_value, %no_index : tensor<1xf32>, tensor<1xi64>) {
  ^bb0(%key: i32, %which: i32, %k: i32, %old_value: f32, %old_index: i64):
    %shift = arith.constant 31 : i32
    %magnitude = arith.constant 2147483647 : i32
    %sign = arith.shrsi %key, %shift : i32
    %flip = arith.andi %sign, %magnitude : i32
    %bits = arith.xori %key, %flip : i32
    %value = arith.bitcast %bits : i32 to f32
    %length = arith.constant 2048 : i64
    %wide = arith.extsi %which : i32 to i64
    %near = arith.extsi %k : i32 to i64
    %start = arith.muli %wide, %length : i64
    %sum = arith.addi %start, %near : i64
    %place = arith.index_cast %sum : i64 to index
    %index = arith.index_cast %place : index to i64
    linalg.yield %value, %index : f32, i64
  } -> (tensor<1xf32>, tensor<1xi64>)
  %values = tensor.collapse_shape %best [] : tensor<1xf32> into tensor<f32>
  %indices = tensor.collapse_shape %where [] : tensor<1xi64> into tensor<i64>
  return %values, %indices : tensor<f32>, tensor<i64>
}

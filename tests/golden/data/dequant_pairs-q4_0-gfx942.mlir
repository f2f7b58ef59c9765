// gemv 2x4096x4096 q4_0 nk -> f32: dequant_pairs SG=2,PR=2048,TH=16,RW=1,SR=1
// 4-bit weights looked up two at a time: a byte of weights picks a pair of f16 values from a table in the workgroup's
// memory, which holds a copy for each bank, so that no two lanes collide. A block's scale multiplies its lanes' sums.
// Loops: weight rows, vectors, blocks, lanes of a block, words of a lane, bytes of a word, codes of a byte.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 32, 2], [0, 1, 2, 3]], partial_reduction = [0, 0, 64, 2], subgroup_basis = [[1, 1, 2, 1], [0, 1, 2, 3]], thread = [0, 0, 1, 1], workgroup = [1, 2, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 64>>
#fill = #iree_gpu.lowering_config<{lane_basis = [[8, 8], [0, 1]], subgroup_basis = [[2, 1], [0, 1]], thread = [1, 4]}>
#dot = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 32, 2, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6]], subgroup_basis = [[1, 1, 2, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6]], thread = [0, 0, 1, 1, 2, 4, 2]}>
func.func @gemv(%weights: tensor<4096x128x32xi4>, %scales: tensor<4096x128xf16>, %x: tensor<2x4096xf16>) -> tensor<2x4096xf32> {
  %words = flow.tensor.bitcast %weights : tensor<4096x128x32xi4> -> tensor<4096x128x2x2xi32>
  %blocks = tensor.expand_shape %x [[0], [1, 2, 3, 4, 5]] output_shape [2, 128, 2, 2, 4, 2] : tensor<2x4096xf16> into tensor<2x128x2x2x4x2xf16>
  %some_pairs = arith.constant dense<[0, 15360, 16384, 16896, 17408, 17664, 17920, 18176, 51200, 50944, 50688, 50432, 50176, 49664, 49152, 48128, 1006632960, 1006648320, 1006649344, 1006649856, 1006650368, 1006650624, 1006650880, 1006651136, 1006684160, 1006683904, 1006683648, 1006683392, 1006683136, 1006682624, 1006682112, 1006681088, 1073741824, 1073757184, 1073758208, 1073758720, 1073759232, 1073759488, 1073759744, 1073760000, 1073793024, 1073792768, 1073792512, 1073792256, 1073792000, 1073791488, 1073790976, 1073789952, 1107296256, 1107311616, 1107312640, 1107313152, 1107313664, 1107313920, 1107314176, 1107314432, 1107347456, 1107347200, 1107346944, 1107346688, 1107346432, 1107345920, 1107345408, 1107344384, 1140850688, 1140866048, 1140867072, 1140867584, 1140868096, 1140868352, 1140868608, 1140868864, 1140901888, 1140901632, 1140901376, 1140901120, 1140900864, 1140900352, 1140899840, 1140898816, 1157627904, 1157643264, 1157644288, 1157644800, 1157645312, 1157645568, 1157645824, 1157646080, 1157679104, 1157678848, 1157678592, 1157678336, 1157678080, 1157677568, 1157677056, 1157676032, 1174405120, 1174420480, 1174421504, 1174422016, 1174422528, 1174422784, 1174423040, 1174423296, 1174456320, 1174456064, 1174455808, 1174455552, 1174455296, 1174454784, 1174454272, 1174453248, 1191182336, 1191197696, 1191198720, 1191199232, 1191199744, 1191200000, 1191200256, 1191200512, 1191233536, 1191233280, 1191233024, 1191232768, 1191232512, 1191232000, 1191231488, 1191230464, -939524096, -939508736, -939507712, -939507200, -939506688, -939506432, -939506176, -939505920, -939472896, -939473152, -939473408, -939473664, -939473920, -939474432, -939474944, -939475968, -956301312, -956285952, -956284928, -956284416, -956283904, -956283648, -956283392, -956283136, -956250112, -956250368, -956250624, -956250880, -956251136, -956251648, -956252160, -956253184, -973078528, -973063168, -973062144, -973061632, -973061120, -973060864, -973060608, -973060352, -973027328, -973027584, -973027840, -973028096, -973028352, -973028864, -973029376, -973030400, -989855744, -989840384, -989839360, -989838848, -989838336, -989838080, -989837824, -989837568, -989804544, -989804800, -989805056, -989805312, -989805568, -989806080, -989806592, -989807616, -1006632960, -1006617600, -1006616576, -1006616064, -1006615552, -1006615296, -1006615040, -1006614784, -1006581760, -1006582016, -1006582272, -1006582528, -1006582784, -1006583296, -1006583808, -1006584832, -1040187392, -1040172032, -1040171008, -1040170496, -1040169984, -1040169728, -1040169472, -1040169216, -1040136192, -1040136448, -1040136704, -1040136960, -1040137216, -1040137728, -1040138240, -1040139264, -1073741824, -1073726464, -1073725440, -1073724928, -1073724416, -1073724160, -1073723904, -1073723648, -1073690624, -1073690880, -1073691136, -1073691392, -1073691648, -1073692160, -1073692672, -1073693696, -1140850688, -1140835328, -1140834304, -1140833792, -1140833280, -1140833024, -1140832768, -1140832512, -1140799488, -1140799744, -1140800000, -1140800256, -1140800512, -1140801024, -1140801536, -1140802560]> : tensor<256xi32>
  %pairs = util.optimization_barrier %some_pairs : tensor<256xi32>
  %some_banks = arith.constant dense<[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124]> : tensor<32xi32>
  %banks = util.optimization_barrier %some_banks : tensor<32xi32>
  %result = flow.dispatch.region -> (tensor<2x4096xf32>) {
    %zero = arith.constant 0.0 : f32
    %last_copy = arith.constant 31 : index
    %lane = gpu.lane_id
    %copy = arith.andi %lane, %last_copy : index
    %bank = tensor.extract %banks[%copy] : tensor<32xi32>
    %no_copies = tensor.empty() : tensor<256x32xi32>
    %copies = linalg.generic {
        indexing_maps = [affine_map<(e, c) -> (e)>, affine_map<(e, c) -> (e, c)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%pairs : tensor<256xi32>) outs(%no_copies : tensor<256x32xi32>) attrs = {lowering_config = #fill} {
    ^bb0(%pair: i32, %unused: i32):
      linalg.yield %pair : i32
    } -> tensor<256x32xi32>
    %memory = bufferization.alloc_tensor() <{memory_space = #gpu.address_space<workgroup>}> : tensor<257x32xi32>
    %filled = tensor.insert_slice %copies into %memory[0, 0] [256, 32] [1, 1] : tensor<256x32xi32> into tensor<257x32xi32>
    %table = tensor.collapse_shape %filled [[0, 1]] : tensor<257x32xi32> into tensor<8224xi32>
    gpu.barrier
    %left = arith.constant dense<[7, 0, 0, 0]> : tensor<4xi32>
    %right = arith.constant dense<[0, 1, 9, 17]> : tensor<4xi32>
    %halves = arith.constant dense<[0, 16]> : tensor<2xi32>
    %no_pairs = tensor.empty() : tensor<4096x128x2x2x4xi32>
    %looked_up = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u) -> (n, b, l, v)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (n, b, l, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%words, %left, %right : tensor<4096x128x2x2xi32>, tensor<4xi32>, tensor<4xi32>) outs(%no_pairs : tensor<4096x128x2x2x4xi32>) {
    ^bb0(%word: i32, %up: i32, %down: i32, %unused: i32):
      %row = arith.constant 32640 : i32
      %four = arith.constant 2 : i32
      %high = arith.shli %word, %up : i32
      %low = arith.shrui %high, %down : i32
      %start = arith.andi %low, %row : i32
      %address = arith.ori %start, %bank : i32
      %element = arith.shrui %address, %four exact : i32
      %place = arith.index_castui %element : i32 to index
      %pair = tensor.extract %table[%place] : tensor<8224xi32>
      linalg.yield %pair : i32
    } -> tensor<4096x128x2x2x4xi32>
    %no_weights = tensor.empty() : tensor<4096x128x2x2x4x2xf32>
    %wide = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u, h) -> (n, b, l, v, u)>, affine_map<(n, b, l, v, u, h) -> (h)>, affine_map<(n, b, l, v, u, h) -> (n, b, l, v, u, h)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%looked_up, %halves : tensor<4096x128x2x2x4xi32>, tensor<2xi32>) outs(%no_weights : tensor<4096x128x2x2x4x2xf32>) {
    ^bb0(%pair: i32, %half: i32, %unused: f32):
      %near = arith.shrui %pair, %half : i32
      %bits = arith.trunci %near : i32 to i16
      %narrow = arith.bitcast %bits : i16 to f16
      %value = arith.extf %narrow : f16 to f32
      linalg.yield %value : f32
    } -> tensor<4096x128x2x2x4x2xf32>
    %no_parts = tensor.empty() : tensor<4096x2x128x2xf32>
    %start_parts = linalg.fill ins(%zero : f32) outs(%no_parts : tensor<4096x2x128x2xf32>) -> tensor<4096x2x128x2xf32>
    %parts = linalg.generic {
        indexing_maps = [affine_map<(n, m, b, l, v, u, h) -> (n, b, l, v, u, h)>, affine_map<(n, m, b, l, v, u, h) -> (m, b, l, v, u, h)>, affine_map<(n, m, b, l, v, u, h) -> (n, m, b, l)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%wide, %blocks : tensor<4096x128x2x2x4x2xf32>, tensor<2x128x2x2x4x2xf16>) outs(%start_parts : tensor<4096x2x128x2xf32>) attrs = {lowering_config = #dot} {
    ^bb0(%w: f32, %a: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %w, %wide_a : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<4096x2x128x2xf32>
    %nothing = tensor.empty() : tensor<2x4096xf32>
    %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<2x4096xf32>) -> tensor<2x4096xf32>
    %sums = linalg.generic {
        indexing_maps = [affine_map<(n, m, b, l) -> (n, m, b, l)>, affine_map<(n, m, b, l) -> (n, b)>, affine_map<(n, m, b, l) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%parts, %scales : tensor<4096x2x128x2xf32>, tensor<4096x128xf16>) outs(%start : tensor<2x4096xf32>) attrs = {compilation_info = #config1} {
    ^bb0(%part: f32, %scale: f16, %sum: f32):
      %wide_scale = arith.extf %scale : f16 to f32
      %product = arith.mulf %part, %wide_scale : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<2x4096xf32>
    flow.return %sums : tensor<2x4096xf32>
  }
  return %result : tensor<2x4096xf32>
}

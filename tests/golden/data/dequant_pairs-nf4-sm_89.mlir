// gemv 1x8192x28672 nf4 nk -> f32: dequant_pairs SG=4,PR=4096,TH=32,RW=4,SR=1
// 4-bit weights looked up two at a time: a byte of weights picks a pair of f16 values from a table in the workgroup's
// memory, which holds a copy for each bank, so that no two lanes collide. A block's scale multiplies its lanes' sums.
// Loops: weight rows, blocks, lanes of a block, words of a lane, bytes of a word, codes of a byte.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 16, 2], [0, 1, 2]], partial_reduction = [0, 64, 2], subgroup_basis = [[1, 4, 1], [0, 1, 2]], thread = [0, 1, 1], workgroup = [4, 0, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 32>>
#fill = #iree_gpu.lowering_config<{lane_basis = [[4, 8], [0, 1]], subgroup_basis = [[4, 1], [0, 1]], thread = [1, 4]}>
#dot = #iree_gpu.lowering_config<{lane_basis = [[1, 16, 2, 1, 1, 1], [0, 1, 2, 3, 4, 5]], subgroup_basis = [[1, 4, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]], thread = [0, 1, 1, 4, 4, 2]}>
func.func @gemv(%weights: tensor<8192x448x64xi4>, %scales: tensor<8192x448xf32>, %x: tensor<28672xf16>) -> tensor<8192xf32> {
  %words = flow.tensor.bitcast %weights : tensor<8192x448x64xi4> -> tensor<8192x448x2x4xi32>
  %blocks = tensor.expand_shape %x [[0, 1, 2, 3, 4]] output_shape [448, 2, 4, 4, 2] : tensor<28672xf16> into tensor<448x2x4x4x2xf16>
  %some_pairs = arith.constant dense<[-1140802560, -1140803182, -1140803533, -1140804014, -1140804467, -1140805142, -1140806188, -1140850688, -1140839144, -1140838106, -1140837408, -1140837016, -1140836595, -1140836224, -1140835895, -1140835328, -1181565952, -1181566574, -1181566925, -1181567406, -1181567859, -1181568534, -1181569580, -1181614080, -1181602536, -1181601498, -1181600800, -1181600408, -1181599987, -1181599616, -1181599287, -1181598720, -1204569088, -1204569710, -1204570061, -1204570542, -1204570995, -1204571670, -1204572716, -1204617216, -1204605672, -1204604634, -1204603936, -1204603544, -1204603123, -1204602752, -1204602423, -1204601856, -1236091904, -1236092526, -1236092877, -1236093358, -1236093811, -1236094486, -1236095532, -1236140032, -1236128488, -1236127450, -1236126752, -1236126360, -1236125939, -1236125568, -1236125239, -1236124672, -1265779712, -1265780334, -1265780685, -1265781166, -1265781619, -1265782294, -1265783340, -1265827840, -1265816296, -1265815258, -1265814560, -1265814168, -1265813747, -1265813376, -1265813047, -1265812480, -1310016512, -1310017134, -1310017485, -1310017966, -1310018419, -1310019094, -1310020140, -1310064640, -1310053096, -1310052058, -1310051360, -1310050968, -1310050547, -1310050176, -1310049847, -1310049280, -1378567168, -1378567790, -1378568141, -1378568622, -1378569075, -1378569750, -1378570796, -1378615296, -1378603752, -1378602714, -1378602016, -1378601624, -1378601203, -1378600832, -1378600503, -1378599936, 48128, 47506, 47155, 46674, 46221, 45546, 44500, 0, 11544, 12582, 13280, 13672, 14093, 14464, 14793, 15360, 756595712, 756595090, 756594739, 756594258, 756593805, 756593130, 756592084, 756547584, 756559128, 756560166, 756560864, 756561256, 756561677, 756562048, 756562377, 756562944, 824622080, 824621458, 824621107, 824620626, 824620173, 824619498, 824618452, 824573952, 824585496, 824586534, 824587232, 824587624, 824588045, 824588416, 824588745, 824589312, 870366208, 870365586, 870365235, 870364754, 870364301, 870363626, 870362580, 870318080, 870329624, 870330662, 870331360, 870331752, 870332173, 870332544, 870332873, 870333440, 896056320, 896055698, 896055347, 896054866, 896054413, 896053738, 896052692, 896008192, 896019736, 896020774, 896021472, 896021864, 896022285, 896022656, 896022985, 896023552, 923646976, 923646354, 923646003, 923645522, 923645069, 923644394, 923643348, 923598848, 923610392, 923611430, 923612128, 923612520, 923612941, 923613312, 923613641, 923614208, 947960832, 947960210, 947959859, 947959378, 947958925, 947958250, 947957204, 947912704, 947924248, 947925286, 947925984, 947926376, 947926797, 947927168, 947927497, 947928064, 969522176, 969521554, 969521203, 969520722, 969520269, 969519594, 969518548, 969474048, 969485592, 969486630, 969487328, 969487720, 969488141, 969488512, 969488841, 969489408, 1006681088, 1006680466, 1006680115, 1006679634, 1006679181, 1006678506, 1006677460, 1006632960, 1006644504, 1006645542, 1006646240, 1006646632, 1006647053, 1006647424, 1006647753, 1006648320]> : tensor<256xi32>
  %pairs = util.optimization_barrier %some_pairs : tensor<256xi32>
  %some_banks = arith.constant dense<[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124]> : tensor<32xi32>
  %banks = util.optimization_barrier %some_banks : tensor<32xi32>
  %result = flow.dispatch.region -> (tensor<8192xf32>) {
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
    %no_pairs = tensor.empty() : tensor<8192x448x2x4x4xi32>
    %looked_up = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u) -> (n, b, l, v)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (u)>, affine_map<(n, b, l, v, u) -> (n, b, l, v, u)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%words, %left, %right : tensor<8192x448x2x4xi32>, tensor<4xi32>, tensor<4xi32>) outs(%no_pairs : tensor<8192x448x2x4x4xi32>) {
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
    } -> tensor<8192x448x2x4x4xi32>
    %no_weights = tensor.empty() : tensor<8192x448x2x4x4x2xf32>
    %wide = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u, h) -> (n, b, l, v, u)>, affine_map<(n, b, l, v, u, h) -> (h)>, affine_map<(n, b, l, v, u, h) -> (n, b, l, v, u, h)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%looked_up, %halves : tensor<8192x448x2x4x4xi32>, tensor<2xi32>) outs(%no_weights : tensor<8192x448x2x4x4x2xf32>) {
    ^bb0(%pair: i32, %half: i32, %unused: f32):
      %near = arith.shrui %pair, %half : i32
      %bits = arith.trunci %near : i32 to i16
      %narrow = arith.bitcast %bits : i16 to f16
      %value = arith.extf %narrow : f16 to f32
      linalg.yield %value : f32
    } -> tensor<8192x448x2x4x4x2xf32>
    %no_parts = tensor.empty() : tensor<8192x448x2xf32>
    %start_parts = linalg.fill ins(%zero : f32) outs(%no_parts : tensor<8192x448x2xf32>) -> tensor<8192x448x2xf32>
    %parts = linalg.generic {
        indexing_maps = [affine_map<(n, b, l, v, u, h) -> (n, b, l, v, u, h)>, affine_map<(n, b, l, v, u, h) -> (b, l, v, u, h)>, affine_map<(n, b, l, v, u, h) -> (n, b, l)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%wide, %blocks : tensor<8192x448x2x4x4x2xf32>, tensor<448x2x4x4x2xf16>) outs(%start_parts : tensor<8192x448x2xf32>) attrs = {lowering_config = #dot} {
    ^bb0(%w: f32, %a: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %product = arith.mulf %w, %wide_a : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<8192x448x2xf32>
    %nothing = tensor.empty() : tensor<8192xf32>
    %start = linalg.fill ins(%zero : f32) outs(%nothing : tensor<8192xf32>) -> tensor<8192xf32>
    %sums = linalg.generic {
        indexing_maps = [affine_map<(n, b, l) -> (n, b, l)>, affine_map<(n, b, l) -> (n, b)>, affine_map<(n, b, l) -> (n)>],
        iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%parts, %scales : tensor<8192x448x2xf32>, tensor<8192x448xf32>) outs(%start : tensor<8192xf32>) attrs = {compilation_info = #config1} {
    ^bb0(%part: f32, %scale: f32, %sum: f32):
      %product = arith.mulf %part, %scale : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
    } -> tensor<8192xf32>
    flow.return %sums : tensor<8192xf32>
  }
  return %result : tensor<8192xf32>
}

// argmin 1x50257xf32 -> i64: inner_pad SG=2,PR=1024,ST=4096,TH=4,SG2=1,PR2=16,TH2=1
// An explicit split of a reduction that no tile divides: the last chunk and the winners are padded inside their dispatches, so
// that no element is copied.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[64], [0]], partial_reduction = [1024], subgroup_basis = [[2], [0]], thread = [4], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [128, 1, 1] subgroup_size = 64>>
#config2 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[16], [0]], partial_reduction = [16], subgroup_basis = [[1], [0]], thread = [1], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>>
func.func @argmin(%input: tensor<1x50257xf32>) -> (tensor<1xf32>, tensor<1xi64>) {
  %partial, %partial_index = flow.dispatch.workgroups(%input) : (tensor<1x50257xf32>) -> (tensor<1x13xf32>, tensor<1x13xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x50257xf32>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x13xf32>>,
       %out_index: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x13xi64>>) {
    %neutral = arith.constant 0x7F800000 : f32
    %zero = arith.constant 0 : i64
    %split = arith.constant 4096 : index
    %s = flow.dispatch.workgroup.id[0] : index
    %r = flow.dispatch.workgroup.id[1] : index
    %start = arith.muli %s, %split : index
    %total = arith.constant 50257 : index
    %left = arith.subi %total, %start : index
    %size = arith.minsi %left, %split : index
    %missing = arith.subi %split, %size : index
    %piece = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%r, %start], sizes = [1, %size], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x50257xf32>> -> tensor<?xf32>
    %chunk = tensor.pad %piece low[0] high[%missing] {
    ^bb0(%k: index):
      tensor.yield %neutral : f32
    } : tensor<?xf32> to tensor<4096xf32>
    %no_value = tensor.empty() : tensor<f32>
    %no_index = tensor.empty() : tensor<i64>
    %worst = linalg.fill ins(%neutral : f32) outs(%no_value : tensor<f32>) -> tensor<f32>
    %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
    %value, %i = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(0)
        ins(%chunk : tensor<4096xf32>) outs(%worst, %first : tensor<f32>, tensor<i64>) index_base(%start : index) {
    ^bb0(%a: f32, %b: f32):
      %better = arith.cmpf olt, %a, %b : f32
      iree_linalg_ext.yield %better : i1
    } -> tensor<f32>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %value, %out, offsets = [%r, %s], sizes = [1, 1], strides = [1, 1]
        : tensor<f32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x13xf32>>
    iree_tensor_ext.dispatch.tensor.store %i, %out_index, offsets = [%r, %s], sizes = [1, 1], strides = [1, 1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x13xi64>>
    flow.return
  } count() -> (index, index, index) {
    %splits = arith.constant 13 : index
    %rows = arith.constant 1 : index
    %one = arith.constant 1 : index
    flow.return %splits, %rows, %one : index, index, index
  }
  %best, %where = flow.dispatch.workgroups(%partial, %partial_index) : (tensor<1x13xf32>, tensor<1x13xi64>) -> (tensor<1xf32>, tensor<1xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x13xf32>>,
       %in_index: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x13xi64>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xf32>>,
       %out_index: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xi64>>) {
    %neutral = arith.constant 0x7F800000 : f32
    %zero = arith.constant 0 : i64
    %r = flow.dispatch.workgroup.id[0] : index
    %some = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%r, 0], sizes = [1, 13], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x13xf32>> -> tensor<13xf32>
    %some_index = iree_tensor_ext.dispatch.tensor.load %in_index, offsets = [%r, 0], sizes = [1, 13], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x13xi64>> -> tensor<13xi64>
    %winners = tensor.pad %some low[0] high[3] {
    ^bb0(%k: index):
      tensor.yield %neutral : f32
    } : tensor<13xf32> to tensor<16xf32>
    %winner_index = tensor.pad %some_index low[0] high[3] {
    ^bb0(%k: index):
      tensor.yield %zero : i64
    } : tensor<13xi64> to tensor<16xi64>
    %no_value = tensor.empty() : tensor<f32>
    %no_index = tensor.empty() : tensor<i64>
    %worst = linalg.fill ins(%neutral : f32) outs(%no_value : tensor<f32>) -> tensor<f32>
    %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
    %value, %i = iree_linalg_ext.arg_compare {compilation_info = #config2} dimension(0)
        ins(%winners, %winner_index : tensor<16xf32>, tensor<16xi64>) outs(%worst, %first : tensor<f32>, tensor<i64>) {
    ^bb0(%a: f32, %b: f32):
      %better = arith.cmpf olt, %a, %b : f32
      iree_linalg_ext.yield %better : i1
    } -> tensor<f32>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %value, %out, offsets = [%r], sizes = [1], strides = [1]
        : tensor<f32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xf32>>
    iree_tensor_ext.dispatch.tensor.store %i, %out_index, offsets = [%r], sizes = [1], strides = [1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xi64>>
    flow.return
  } count() -> (index, index, index) {
    %rows = arith.constant 1 : index
    %one = arith.constant 1 : index
    flow.return %rows, %one, %one : index, index, index
  }
  return %best, %where : tensor<1xf32>, tensor<1xi64>
}

// argmax 8x512x32768xf32 -> i64: rows SG=4,PR=1024,TH=4
// One workgroup a row around an op of rank 1, so that several subgroups may share a row: one dispatch.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[64], [0]], partial_reduction = [1024], subgroup_basis = [[4], [0]], thread = [4], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>>
func.func @argmax(%input: tensor<8x512x32768xf32>) -> (tensor<8x512xf32>, tensor<8x512xi64>) {
  %matrix = tensor.collapse_shape %input [[0, 1], [2]] : tensor<8x512x32768xf32> into tensor<4096x32768xf32>
  %best, %where = flow.dispatch.workgroups(%matrix) : (tensor<4096x32768xf32>) -> (tensor<4096xf32>, tensor<4096xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4096x32768xf32>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4096xf32>>,
       %out_index: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4096xi64>>) {
    %neutral = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i64
    %r = flow.dispatch.workgroup.id[0] : index
    %row = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%r, 0], sizes = [1, 32768], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4096x32768xf32>> -> tensor<32768xf32>
    %no_value = tensor.empty() : tensor<f32>
    %no_index = tensor.empty() : tensor<i64>
    %worst = linalg.fill ins(%neutral : f32) outs(%no_value : tensor<f32>) -> tensor<f32>
    %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
    %value, %i = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(0)
        ins(%row : tensor<32768xf32>) outs(%worst, %first : tensor<f32>, tensor<i64>) {
    ^bb0(%a: f32, %b: f32):
      %better = arith.cmpf ogt, %a, %b : f32
      iree_linalg_ext.yield %better : i1
    } -> tensor<f32>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %value, %out, offsets = [%r], sizes = [1], strides = [1]
        : tensor<f32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4096xf32>>
    iree_tensor_ext.dispatch.tensor.store %i, %out_index, offsets = [%r], sizes = [1], strides = [1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4096xi64>>
    flow.return
  } count() -> (index, index, index) {
    %rows = arith.constant 4096 : index
    %one = arith.constant 1 : index
    flow.return %rows, %one, %one : index, index, index
  }
  %values = tensor.expand_shape %best [[0, 1]] output_shape [8, 512] : tensor<4096xf32> into tensor<8x512xf32>
  %indices = tensor.expand_shape %where [[0, 1]] output_shape [8, 512] : tensor<4096xi64> into tensor<8x512xi64>
  return %values, %indices : tensor<8x512xf32>, tensor<8x512xi64>
}

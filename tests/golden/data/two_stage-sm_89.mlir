// argmax 131072xbf16 -> i64: two_stage SG=2,PR=512,ST=2048,TH=8,SG2=1,PR2=64,TH2=2
// An explicit split: the first dispatch finds the winner of every 2048 elements, one workgroup each; the second finds
// the winner of a row's 64 winners.
#config1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[32], [0]], partial_reduction = [512], subgroup_basis = [[2], [0]], thread = [8], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 32>>
#config2 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[32], [0]], partial_reduction = [64], subgroup_basis = [[1], [0]], thread = [2], workgroup = [0]}>, translation_info = <pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [32, 1, 1] subgroup_size = 32>>
func.func @argmax(%input: tensor<131072xbf16>) -> (tensor<bf16>, tensor<i64>) {
  %matrix = tensor.expand_shape %input [[0, 1]] output_shape [1, 131072] : tensor<131072xbf16> into tensor<1x131072xbf16>
  %partial, %partial_index = flow.dispatch.workgroups(%matrix) : (tensor<1x131072xbf16>) -> (tensor<1x64xbf16>, tensor<1x64xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x131072xbf16>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x64xbf16>>,
       %out_index: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x64xi64>>) {
    %neutral = arith.constant 0xFF80 : bf16
    %zero = arith.constant 0 : i64
    %split = arith.constant 2048 : index
    %s = flow.dispatch.workgroup.id[0] : index
    %r = flow.dispatch.workgroup.id[1] : index
    %start = arith.muli %s, %split : index
    %chunk = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%r, %start], sizes = [1, 2048], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x131072xbf16>> -> tensor<2048xbf16>
    %no_value = tensor.empty() : tensor<bf16>
    %no_index = tensor.empty() : tensor<i64>
    %worst = linalg.fill ins(%neutral : bf16) outs(%no_value : tensor<bf16>) -> tensor<bf16>
    %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
    %value, %i = iree_linalg_ext.arg_compare {compilation_info = #config1} dimension(0)
        ins(%chunk : tensor<2048xbf16>) outs(%worst, %first : tensor<bf16>, tensor<i64>) index_base(%start : index) {
    ^bb0(%a: bf16, %b: bf16):
      %better = arith.cmpf ogt, %a, %b : bf16
      iree_linalg_ext.yield %better : i1
    } -> tensor<bf16>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %value, %out, offsets = [%r, %s], sizes = [1, 1], strides = [1, 1]
        : tensor<bf16> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x64xbf16>>
    iree_tensor_ext.dispatch.tensor.store %i, %out_index, offsets = [%r, %s], sizes = [1, 1], strides = [1, 1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x64xi64>>
    flow.return
  } count() -> (index, index, index) {
    %splits = arith.constant 64 : index
    %rows = arith.constant 1 : index
    %one = arith.constant 1 : index
    flow.return %splits, %rows, %one : index, index, index
  }
  %best, %where = flow.dispatch.workgroups(%partial, %partial_index) : (tensor<1x64xbf16>, tensor<1x64xi64>) -> (tensor<1xbf16>, tensor<1xi64>) =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x64xbf16>>,
       %in_index: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x64xi64>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xbf16>>,
       %out_index: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xi64>>) {
    %neutral = arith.constant 0xFF80 : bf16
    %zero = arith.constant 0 : i64
    %r = flow.dispatch.workgroup.id[0] : index
    %winners = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%r, 0], sizes = [1, 64], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x64xbf16>> -> tensor<64xbf16>
    %winner_index = iree_tensor_ext.dispatch.tensor.load %in_index, offsets = [%r, 0], sizes = [1, 64], strides = [1, 1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<1x64xi64>> -> tensor<64xi64>
    %no_value = tensor.empty() : tensor<bf16>
    %no_index = tensor.empty() : tensor<i64>
    %worst = linalg.fill ins(%neutral : bf16) outs(%no_value : tensor<bf16>) -> tensor<bf16>
    %first = linalg.fill ins(%zero : i64) outs(%no_index : tensor<i64>) -> tensor<i64>
    %value, %i = iree_linalg_ext.arg_compare {compilation_info = #config2} dimension(0)
        ins(%winners, %winner_index : tensor<64xbf16>, tensor<64xi64>) outs(%worst, %first : tensor<bf16>, tensor<i64>) {
    ^bb0(%a: bf16, %b: bf16):
      %better = arith.cmpf ogt, %a, %b : bf16
      iree_linalg_ext.yield %better : i1
    } -> tensor<bf16>, tensor<i64>
    iree_tensor_ext.dispatch.tensor.store %value, %out, offsets = [%r], sizes = [1], strides = [1]
        : tensor<bf16> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xbf16>>
    iree_tensor_ext.dispatch.tensor.store %i, %out_index, offsets = [%r], sizes = [1], strides = [1]
        : tensor<i64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xi64>>
    flow.return
  } count() -> (index, index, index) {
    %rows = arith.constant 1 : index
    %one = arith.constant 1 : index
    flow.return %rows, %one, %one : index, index, index
  }
  %values = tensor.collapse_shape %best [] : tensor<1xbf16> into tensor<bf16>
  %indices = tensor.collapse_shape %where [] : tensor<1xi64> into tensor<i64>
  return %values, %indices : tensor<bf16>, tensor<i64>
}

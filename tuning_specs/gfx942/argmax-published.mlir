// unmeasured: a heuristic configuration, nobody has timed it
// made by: ireebench spec emit argmax --suite published --target gfx942
// Tuning spec for IREE 3.13: iree-compile MODEL.mlir ... --iree-codegen-tuning-spec-path=THIS_FILE
// gfx942 llama2-7b argmax 1x32768xf16 vd/native SG=1,PR=512,TH=8
// gfx942 llama2-7b-batch argmax 8x32768xf16 vd/native SG=1,PR=512,TH=8
// gfx942 llama3-8b argmax 1x131072xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 llama3-8b-batch argmax 32x131072xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 gpt2 argmax 1x65536xf32 vd/native SG=1,PR=256,TH=4
// gfx942 mistral-7b argmax 1x32768xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 gemma-7b argmax 1x262144xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 qwen2-7b argmax 1x262144xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 falcon-7b argmax 1x65536xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 bloom-7b argmax 1x262144xbf16 vd/native SG=1,PR=512,TH=8
// gfx942 bert-base argmax 8x512x32768xf32 vd/native SG=1,PR=256,TH=4
// gfx942 resnet50 argmax 32x1024xf32 vd/native SG=1,PR=256,TH=4
// gfx942 whisper-large argmax 1x65536xf16 vd/native SG=1,PR=512,TH=8
// gfx942 recsys-100k argmax 256x131072xf32 vd/native SG=1,PR=256,TH=4
// gfx942 recsys-1m argmax 64x1048576xf32 vd/native SG=1,PR=256,TH=4
#translation = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>
#compilation = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64], [0, 1]], partial_reduction = [0, 512], subgroup_basis = [[1, 1], [0, 1]], thread = [0, 8], workgroup = [1, 0]}>, translation_info = #translation>
#compilation1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64], [0, 1]], partial_reduction = [0, 256], subgroup_basis = [[1, 1], [0, 1]], thread = [0, 4], workgroup = [1, 0]}>, translation_info = #translation>
#compilation2 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 1, 64], [0, 1, 2]], partial_reduction = [0, 0, 256], subgroup_basis = [[1, 1, 1], [0, 1, 2]], thread = [0, 0, 4], workgroup = [1, 1, 0]}>, translation_info = #translation>
module attributes {iree_codegen.tuning_spec_with_default_entrypoint, transform.with_named_sequence} {
  transform.named_sequence @apply_op_config(%arg0: !transform.any_op {transform.readonly}, %arg1: !transform.any_param {transform.readonly}) {
    transform.annotate %arg0 "compilation_info" = %arg1 : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @match_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x32768xf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<8x32768xf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x131072xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<32x131072xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x65536xf32> : !transform.any_value
    %1 = transform.param.constant #compilation1 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_5(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x32768xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_6(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x65536xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_7(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x262144xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_8(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<8x512x32768xf32> : !transform.any_value
    %1 = transform.param.constant #compilation2 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_9(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<32x1024xf32> : !transform.any_value
    %1 = transform.param.constant #compilation1 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_10(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<1x65536xf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_11(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<256x131072xf32> : !transform.any_value
    %1 = transform.param.constant #compilation1 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_12(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<64x1048576xf32> : !transform.any_value
    %1 = transform.param.constant #compilation1 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%arg0: !transform.any_op {transform.consumed}) -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {
    %updated_root = transform.foreach_match in %arg0
        @match_0 -> @apply_op_config,
        @match_1 -> @apply_op_config,
        @match_2 -> @apply_op_config,
        @match_3 -> @apply_op_config,
        @match_4 -> @apply_op_config,
        @match_5 -> @apply_op_config,
        @match_6 -> @apply_op_config,
        @match_7 -> @apply_op_config,
        @match_8 -> @apply_op_config,
        @match_9 -> @apply_op_config,
        @match_10 -> @apply_op_config,
        @match_11 -> @apply_op_config,
        @match_12 -> @apply_op_config : (!transform.any_op) -> !transform.any_op
    transform.yield %updated_root : !transform.any_op
  }
}

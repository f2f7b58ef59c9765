// Tuning spec for IREE 3.13: iree-compile MODEL.mlir ... --iree-codegen-tuning-spec-path=THIS_FILE
// gfx942 golden argmax 32x131072xbf16 vd_split/split_attr SG=1,PR=512,ST=8192,TH=8,SG2=1,PR2=16,TH2=1,RW=4
//   needs --iree-dispatch-creation-enable-split-reduction '--iree-preprocessing-pass-pipeline=builtin.module(iree-dispatch-creation-set-split-reduction-sizes{split-reduction-target-size=8192})'
// gfx942 golden argmax 131072xbf16 vd/native SG=4,PR=2048,TH=8
#translation = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>
#translation1 = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>
#compilation = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 64], [0, 1]], partial_reduction = [0, 512], subgroup_basis = [[4, 1], [0, 1]], thread = [0, 8], workgroup = [4, 0]}>, translation_info = #translation>
#compilation1 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[1, 16], [0, 1]], partial_reduction = [0, 16], subgroup_basis = [[1, 1], [0, 1]], thread = [0, 1], workgroup = [1, 0]}>, translation_info = #translation1>
#compilation2 = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{lane_basis = [[64], [0]], partial_reduction = [2048], subgroup_basis = [[4], [0]], thread = [8], workgroup = [0]}>, translation_info = #translation>
module attributes {iree_codegen.tuning_spec_with_default_entrypoint, transform.with_named_sequence} {
  transform.named_sequence @apply_op_config(%arg0: !transform.any_op {transform.readonly}, %arg1: !transform.any_param {transform.readonly}) {
    transform.annotate %arg0 "compilation_info" = %arg1 : !transform.any_op, !transform.any_param
    transform.yield 
  }
  transform.named_sequence @match_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<32x8192xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<32x16xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation1 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @match_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %arg0 ["iree_linalg_ext.arg_compare"] : !transform.any_op
    %0 = transform.get_operand %arg0[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %0 = tensor<131072xbf16> : !transform.any_value
    %1 = transform.param.constant #compilation2 -> !transform.any_param
    transform.yield %arg0, %1 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%arg0: !transform.any_op {transform.consumed}) -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {
    %updated_root = transform.foreach_match in %arg0 
        @match_0 -> @apply_op_config, 
        @match_1 -> @apply_op_config, 
        @match_2 -> @apply_op_config : (!transform.any_op) -> !transform.any_op
    transform.yield %updated_root : !transform.any_op
  }
}

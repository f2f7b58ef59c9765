; To reproduce the .rocmasm from .optimized.ll, run:
; llc -mtriple=amdgpu9.42-amd-amdhsa -mcpu=gfx942 -mattr='-fma-mix-insts' -O3 <.optimized.ll> -o <out.rocmasm>

	.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl	argmax_dispatch_0_arg_compare_131072xbf16
	.p2align	8
	.type	argmax_dispatch_0_arg_compare_131072xbf16,@function
argmax_dispatch_0_arg_compare_131072xbf16:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_load_dwordx4 s[4:7], s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	s_branch .LBB0_0
	.p2align	8
.LBB0_0:
	v_lshrrev_b32_e32 v18, 6, v0
	v_and_b32_e32 v1, 63, v0
	v_lshlrev_b32_e32 v2, 9, v18
	s_mov_b64 s[20:21], s[2:3]
	v_lshl_or_b32 v20, v1, 3, v2
	v_lshlrev_b32_e32 v2, 4, v1
	s_mov_b64 s[0:1], s[6:7]
	s_mov_b32 s23, 0x27000
	s_mov_b32 s22, 0x40000
	s_and_b32 s21, s21, 0xffff
	s_mov_b32 s18, 0
	v_lshl_or_b32 v22, v18, 10, v2
	v_mov_b64_e32 v[16:17], 0
	v_mov_b64_e32 v[14:15], 0
	v_mov_b64_e32 v[12:13], 0
	v_mov_b64_e32 v[10:11], 0
	v_mov_b64_e32 v[8:9], 0
	v_mov_b64_e32 v[6:7], 0
	v_mov_b64_e32 v[4:5], 0
	v_mov_b64_e32 v[2:3], 0
	v_mov_b32_e32 v21, 0xff80ff80
	s_mov_b32 s19, 0x5040100
	v_mov_b32_e32 v24, 0xff80ff80
	v_mov_b32_e32 v23, 0xff80ff80
	v_mov_b32_e32 v19, 0xff80ff80
.LBB0_1:
	v_lshl_add_u32 v25, s18, 1, v22
	buffer_load_dwordx4 v[26:29], v25, s[20:23], 0 offen
	v_and_b32_e32 v30, 0xffff0000, v21
	v_lshlrev_b32_e32 v31, 16, v21
	v_and_b32_e32 v32, 0xffff0000, v24
	v_lshlrev_b32_e32 v33, 16, v24
	v_and_b32_e32 v34, 0xffff0000, v23
	v_lshlrev_b32_e32 v35, 16, v23
	v_and_b32_e32 v36, 0xffff0000, v19
	v_lshlrev_b32_e32 v37, 16, v19
	s_add_i32 s2, s18, 0x800
	v_or_b32_e32 v25, s18, v20
	v_lshrrev_b32_e32 v38, 16, v21
	v_lshrrev_b32_e32 v39, 16, v24
	v_lshrrev_b32_e32 v40, 16, v23
	v_lshrrev_b32_e32 v41, 16, v19
	s_cmp_lt_u32 s18, 0x1f800
	s_mov_b32 s18, s2
	v_or_b32_e32 v42, 7, v25
	v_or_b32_e32 v43, 6, v25
	v_or_b32_e32 v44, 5, v25
	v_or_b32_e32 v45, 4, v25
	v_or_b32_e32 v46, 3, v25
	v_or_b32_e32 v47, 2, v25
	v_or_b32_e32 v48, 1, v25
	s_waitcnt vmcnt(0)
	v_and_b32_e32 v49, 0xffff0000, v26
	v_lshlrev_b32_e32 v51, 16, v26
	v_and_b32_e32 v52, 0xffff0000, v27
	v_lshlrev_b32_e32 v54, 16, v27
	v_and_b32_e32 v55, 0xffff0000, v28
	v_lshlrev_b32_e32 v57, 16, v28
	v_and_b32_e32 v58, 0xffff0000, v29
	v_lshlrev_b32_e32 v60, 16, v29
	v_lshrrev_b32_e32 v50, 16, v26
	v_lshrrev_b32_e32 v53, 16, v27
	v_lshrrev_b32_e32 v56, 16, v28
	v_lshrrev_b32_e32 v59, 16, v29
	v_cmp_gt_f32_e32 vcc, v60, v37
	v_cmp_gt_f32_e64 s[2:3], v58, v36
	v_cmp_gt_f32_e64 s[6:7], v57, v35
	v_cmp_gt_f32_e64 s[8:9], v55, v34
	v_cmp_gt_f32_e64 s[10:11], v54, v33
	v_cmp_gt_f32_e64 s[12:13], v52, v32
	v_cmp_gt_f32_e64 s[14:15], v51, v31
	v_cmp_gt_f32_e64 s[16:17], v49, v30
	v_cndmask_b32_e32 v19, v19, v29, vcc
	v_cndmask_b32_e64 v29, v41, v59, s[2:3]
	v_cndmask_b32_e64 v23, v23, v28, s[6:7]
	v_cndmask_b32_e64 v28, v40, v56, s[8:9]
	v_cndmask_b32_e64 v24, v24, v27, s[10:11]
	v_cndmask_b32_e64 v27, v39, v53, s[12:13]
	v_cndmask_b32_e64 v21, v21, v26, s[14:15]
	v_cndmask_b32_e64 v26, v38, v50, s[16:17]
	v_perm_b32 v21, v26, v21, s19
	v_perm_b32 v24, v27, v24, s19
	v_perm_b32 v23, v28, v23, s19
	v_perm_b32 v19, v29, v19, s19
	v_cndmask_b32_e64 v17, v17, 0, s[14:15]
	v_cndmask_b32_e64 v16, v16, v25, s[14:15]
	v_cndmask_b32_e64 v15, v15, 0, s[16:17]
	v_cndmask_b32_e64 v14, v14, v48, s[16:17]
	v_cndmask_b32_e64 v13, v13, 0, s[10:11]
	v_cndmask_b32_e64 v12, v12, v47, s[10:11]
	v_cndmask_b32_e64 v11, v11, 0, s[12:13]
	v_cndmask_b32_e64 v10, v10, v46, s[12:13]
	v_cndmask_b32_e64 v9, v9, 0, s[6:7]
	v_cndmask_b32_e64 v8, v8, v45, s[6:7]
	v_cndmask_b32_e64 v7, v7, 0, s[8:9]
	v_cndmask_b32_e64 v6, v6, v44, s[8:9]
	v_cndmask_b32_e64 v5, v5, 0, vcc
	v_cndmask_b32_e32 v4, v4, v43, vcc
	v_cndmask_b32_e64 v3, v3, 0, s[2:3]
	v_cndmask_b32_e64 v2, v2, v42, s[2:3]
	s_cbranch_scc1 .LBB0_1
	v_lshlrev_b32_e32 v22, 16, v21
	s_mov_b32 s7, 0xff800000
	v_mov_b32_e32 v20, 0xffffff80
	v_cmp_lg_f32_e32 vcc, s7, v22
	v_lshrrev_b32_e32 v25, 16, v21
	s_movk_i32 s8, 0x7fff
	v_cndmask_b32_e32 v22, v20, v21, vcc
	v_and_b32_e32 v21, 0xffff0000, v21
	v_lshlrev_b32_e32 v26, 16, v22
	v_cndmask_b32_e32 v16, 0, v16, vcc
	v_cndmask_b32_e32 v17, 0, v17, vcc
	v_cmp_gt_f32_e32 vcc, v21, v26
	s_add_u32 s0, s0, 64
	s_addc_u32 s1, s1, 0
	v_cndmask_b32_e32 v21, v22, v25, vcc
	v_cndmask_b32_e32 v15, v17, v15, vcc
	v_cndmask_b32_e32 v14, v16, v14, vcc
	v_lshlrev_b32_e32 v16, 16, v21
	v_lshlrev_b32_e32 v17, 16, v24
	v_cmp_gt_f32_e32 vcc, v17, v16
	v_and_b32_e32 v17, 0xffff0000, v24
	s_mov_b32 s6, 2
	v_cndmask_b32_e32 v16, v21, v24, vcc
	v_cndmask_b32_e32 v13, v15, v13, vcc
	v_lshlrev_b32_e32 v15, 16, v16
	v_cndmask_b32_e32 v12, v14, v12, vcc
	v_lshrrev_b32_e32 v14, 16, v24
	v_cmp_gt_f32_e32 vcc, v17, v15
	s_barrier
	s_nop 0
	v_cndmask_b32_e32 v14, v16, v14, vcc
	v_cndmask_b32_e32 v11, v13, v11, vcc
	v_cndmask_b32_e32 v10, v12, v10, vcc
	v_lshlrev_b32_e32 v12, 16, v14
	v_lshlrev_b32_e32 v13, 16, v23
	v_cmp_gt_f32_e32 vcc, v13, v12
	v_and_b32_e32 v13, 0xffff0000, v23
	s_nop 0
	v_cndmask_b32_e32 v12, v14, v23, vcc
	v_cndmask_b32_e32 v9, v11, v9, vcc
	v_lshlrev_b32_e32 v11, 16, v12
	v_cndmask_b32_e32 v8, v10, v8, vcc
	v_lshrrev_b32_e32 v10, 16, v23
	v_cmp_gt_f32_e32 vcc, v13, v11
	s_nop 1
	v_cndmask_b32_e32 v10, v12, v10, vcc
	v_cndmask_b32_e32 v7, v9, v7, vcc
	v_cndmask_b32_e32 v6, v8, v6, vcc
	v_lshlrev_b32_e32 v8, 16, v10
	v_lshlrev_b32_e32 v9, 16, v19
	v_cmp_gt_f32_e32 vcc, v9, v8
	v_and_b32_e32 v9, 0xffff0000, v19
	s_nop 0
	v_cndmask_b32_e32 v8, v10, v19, vcc
	v_cndmask_b32_e32 v5, v7, v5, vcc
	v_lshlrev_b32_e32 v7, 16, v8
	v_cndmask_b32_e32 v4, v6, v4, vcc
	v_lshrrev_b32_e32 v6, 16, v19
	v_cmp_gt_f32_e32 vcc, v9, v7
	s_nop 1
	v_cndmask_b32_e32 v6, v8, v6, vcc
	v_cndmask_b32_e32 v2, v4, v2, vcc
	v_cndmask_b32_e32 v3, v5, v3, vcc
	v_mov_b32_dpp v4, v6 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v4, 16, v4
	v_lshlrev_b32_e32 v5, 16, v6
	v_max_f32_e32 v4, v5, v4
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_alignbit_b32 v6, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v6, v6 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_f32_e32 v4, v4, v6
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_alignbit_b32 v6, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v6, v6 row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_f32_e32 v4, v4, v6
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_alignbit_b32 v6, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v6, v6 row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_f32_e32 v4, v4, v6
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_alignbit_b32 v6, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v6, v6 row_bcast:15 row_mask:0xa bank_mask:0xf
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_f32_e32 v4, v4, v6
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_alignbit_b32 v6, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v6, v6 row_bcast:31 row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_f32_e32 v4, v6, v4
	v_bfe_u32 v6, v4, 16, 1
	v_add3_u32 v6, v6, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v6, v7, vcc
	v_lshrrev_b32_e32 v4, 16, v4
	s_nop 0
	v_readlane_b32 s9, v4, 63
	s_lshl_b32 s2, s9, 16
	v_cmp_eq_f32_e32 vcc, s2, v5
	s_ff1_i32_b64 s2, vcc
	s_min_u32 s2, s2, 64
	s_cmp_lt_u32 s2, 64
	v_mov_b32_e32 v4, s2
	s_cselect_b64 vcc, -1, 0
	v_cndmask_b32_e32 v4, v1, v4, vcc
	v_lshlrev_b32_e32 v4, 2, v4
	ds_bpermute_b32 v2, v4, v2
	ds_bpermute_b32 v3, v4, v3
	v_cmp_eq_u32_e32 vcc, 0, v1
	s_and_saveexec_b64 s[2:3], vcc
	s_cbranch_execz .LBB0_4
	v_lshlrev_b32_e32 v4, 3, v18
	v_mul_lo_u32 v5, v18, -6
	v_add_u32_e32 v5, v4, v5
	v_mov_b32_e32 v6, s9
	ds_write_b16 v5, v6 offset:48
	s_waitcnt lgkmcnt(1)
	ds_write_b64 v4, v[2:3]
.LBB0_4:
	s_or_b64 exec, exec, s[2:3]
	s_waitcnt lgkmcnt(1)
	v_and_b32_e32 v2, 3, v0
	s_waitcnt lgkmcnt(0)
	v_lshlrev_b32_e32 v3, 1, v2
	s_barrier
	ds_read_u16 v4, v3 offset:48
	v_mad_u32_u24 v2, v2, 6, v3
	ds_read_b64 v[2:3], v2
	s_waitcnt lgkmcnt(1)
	v_lshlrev_b32_e32 v5, 16, v4
	v_cmp_lg_f32_e32 vcc, s7, v5
	s_nop 1
	v_cndmask_b32_e32 v4, v20, v4, vcc
	v_lshlrev_b32_e32 v6, 16, v4
	s_waitcnt lgkmcnt(0)
	v_cndmask_b32_e32 v3, 0, v3, vcc
	v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v5, 16, v5
	v_max_f32_e32 v4, v6, v5
	v_bfe_u32 v5, v4, 16, 1
	v_cndmask_b32_e32 v2, 0, v2, vcc
	v_add3_u32 v5, v5, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v5, v7, vcc
	v_alignbit_b32 v5, s0, v4, 16
	v_and_b32_e32 v4, 0xffff0000, v4
	s_nop 0
	v_mov_b32_dpp v5, v5 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v5, 16, v5
	v_max_f32_e32 v4, v4, v5
	v_bfe_u32 v5, v4, 16, 1
	v_add3_u32 v5, v5, v4, s8
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e32 vcc, v4, v4
	s_nop 1
	v_cndmask_b32_e32 v4, v5, v7, vcc
	v_and_b32_e32 v5, 0xffff0000, v4
	v_cmp_eq_f32_e32 vcc, v6, v5
	s_ff1_i32_b64 s2, vcc
	s_min_u32 s2, s2, 64
	s_cmp_lt_u32 s2, 64
	v_mov_b32_e32 v5, s2
	s_cselect_b64 vcc, -1, 0
	v_cndmask_b32_e32 v1, v1, v5, vcc
	v_lshlrev_b32_e32 v1, 2, v1
	ds_bpermute_b32 v2, v1, v2
	ds_bpermute_b32 v3, v1, v3
	v_cmp_eq_u32_e32 vcc, 0, v0
	s_and_saveexec_b64 s[2:3], vcc
	s_cbranch_execz .LBB0_6
	s_mov_b32 s7, 0x27000
	s_and_b32 s5, s5, 0xffff
	s_and_b32 s1, s1, 0xffff
	s_mov_b32 s2, 8
	v_lshrrev_b32_e32 v0, 16, v4
	s_mov_b32 s3, s7
	buffer_store_short v0, off, s[4:7], 0
	s_waitcnt lgkmcnt(0)
	buffer_store_dwordx2 v[2:3], off, s[0:3], 0
.LBB0_6:
	s_endpgm
.Lfunc_end0:
	.size	argmax_dispatch_0_arg_compare_131072xbf16, .Lfunc_end0-argmax_dispatch_0_arg_compare_131072xbf16
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel argmax_dispatch_0_arg_compare_131072xbf16
		.amdhsa_group_segment_fixed_size 64
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_kernarg_preload_length 6
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 61
		.amdhsa_next_free_sgpr 24
		.amdhsa_accum_offset 64
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text

	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_vgpr, 61
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_agpr, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.numbered_sgpr, 24
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_named_barrier, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.private_seg_size, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.uses_vcc, 1
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.uses_flat_scratch, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_dyn_sized_stack, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_recursion, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_indirect_call, 0
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 0
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 0
	.set amdgpu.max_num_named_barrier, 0
	.text
	.section	".note.GNU-stack","",@progbits
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .actual_access:  read_only
        .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .actual_access:  write_only
        .address_space:  global
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .actual_access:  write_only
        .address_space:  global
        .offset:         16
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 64
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 256
    .name:           argmax_dispatch_0_arg_compare_131072xbf16
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count:     30
    .sgpr_spill_count: 0
    .symbol:         argmax_dispatch_0_arg_compare_131072xbf16.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     61
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgpu9.42-amd-amdhsa-unknown-gfx942
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata

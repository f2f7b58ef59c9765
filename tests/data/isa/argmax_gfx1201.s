; To reproduce the .rocmasm from .optimized.ll, run:
; llc -mtriple=amdgpu12.01-amd-amdhsa -mcpu=gfx1201 -mattr='+wavefrontsize32' -O3 <.optimized.ll> -o <out.rocmasm>

	.amdgcn_target "amdgpu12.01-amd-amdhsa-unknown-gfx1201"
	.amdhsa_code_object_version 5
	.text
	.globl	argmax_dispatch_0_arg_compare_131072xbf16
	.p2align	8
	.type	argmax_dispatch_0_arg_compare_131072xbf16,@function
argmax_dispatch_0_arg_compare_131072xbf16:
	s_clause 0x1
	s_load_b128 s[8:11], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x10
	v_lshrrev_b32_e32 v18, 5, v0
	v_dual_mov_b32 v16, 0 :: v_dual_and_b32 v17, 31, v0
	v_mov_b32_e32 v15, 0
	v_dual_mov_b32 v13, 0 :: v_dual_mov_b32 v12, 0
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_dual_mov_b32 v14, 0 :: v_dual_lshlrev_b32 v1, 8, v18
	v_dual_mov_b32 v11, 0 :: v_dual_lshlrev_b32 v2, 4, v17
	v_dual_mov_b32 v10, 0 :: v_dual_mov_b32 v9, 0
	v_mov_b32_e32 v8, 0
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_lshl_or_b32 v23, v17, 3, v1
	v_lshl_or_b32 v24, v18, 9, v2
	v_dual_mov_b32 v7, 0 :: v_dual_mov_b32 v6, 0
	v_dual_mov_b32 v5, 0 :: v_dual_mov_b32 v4, 0
	v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v2, 0
	v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v22, 0xff80ff80
	v_dual_mov_b32 v21, 0xff80ff80 :: v_dual_mov_b32 v20, 0xff80ff80
	v_mov_b32_e32 v19, 0xff80ff80
	s_mov_b32 s15, 0x31027000
	s_mov_b32 s14, 0x40000
	s_wait_kmcnt 0x0
	s_and_b32 s13, s9, 0xffff
	s_mov_b32 s7, 0
	s_mov_b32 s12, s8
.LBB0_1:
	s_wait_alu depctr_sa_sdst(0)
	v_lshl_add_u32 v25, s7, 1, v24
	v_or_b32_e32 v29, s7, v23
	v_lshlrev_b32_e32 v36, 16, v19
	v_and_b32_e32 v31, 0xffff0000, v22
	v_lshlrev_b32_e32 v32, 16, v21
	buffer_load_b128 v[25:28], v25, s[12:15], null offen
	v_and_b32_e32 v33, 0xffff0000, v21
	v_lshlrev_b32_e32 v34, 16, v20
	v_and_b32_e32 v35, 0xffff0000, v20
	v_and_b32_e32 v37, 0xffff0000, v19
	v_or_b32_e32 v39, 6, v29
	v_or_b32_e32 v38, 7, v29
	v_or_b32_e32 v40, 5, v29
	v_or_b32_e32 v41, 4, v29
	v_or_b32_e32 v42, 3, v29
	v_or_b32_e32 v43, 2, v29
	v_or_b32_e32 v44, 1, v29
	s_wait_loadcnt 0x0
	v_lshlrev_b32_e32 v48, 16, v28
	v_lshlrev_b32_e32 v45, 16, v25
	v_and_b32_e32 v46, 0xffff0000, v25
	v_lshlrev_b32_e32 v47, 16, v26
	v_and_b32_e32 v49, 0xffff0000, v28
	v_and_b32_e32 v50, 0xffff0000, v26
	v_lshlrev_b32_e32 v51, 16, v27
	v_and_b32_e32 v52, 0xffff0000, v27
	v_cmp_gt_f32_e32 vcc_lo, v48, v36
	v_lshlrev_b32_e32 v30, 16, v22
	v_cmp_gt_f32_e64 s0, v49, v37
	v_cmp_gt_f32_e64 s2, v46, v31
	v_cmp_gt_f32_e64 s3, v47, v32
	v_cmp_gt_f32_e64 s4, v50, v33
	v_cmp_gt_f32_e64 s5, v51, v34
	v_cmp_gt_f32_e64 s6, v52, v35
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v3, v3, v39, vcc_lo
	v_cmp_gt_f32_e64 s1, v45, v30
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e64 v14, v14, 0, s2
	v_cndmask_b32_e64 v12, v12, 0, s3
	v_cndmask_b32_e64 v10, v10, 0, s4
	v_cndmask_b32_e64 v8, v8, 0, s5
	v_cndmask_b32_e64 v16, v16, 0, s1
	v_cndmask_b32_e64 v6, v6, 0, s6
	v_cndmask_b32_e64 v4, v4, 0, vcc_lo
	v_cndmask_b32_e64 v2, v2, 0, s0
	v_cndmask_b16 v19.h, v19.h, v28.h, s0
	v_cndmask_b16 v19.l, v19.l, v28.l, vcc_lo
	v_cndmask_b16 v20.h, v20.h, v27.h, s6
	v_cndmask_b16 v20.l, v20.l, v27.l, s5
	v_cndmask_b16 v21.h, v21.h, v26.h, s4
	v_cndmask_b16 v21.l, v21.l, v26.l, s3
	v_cndmask_b16 v22.h, v22.h, v25.h, s2
	v_cndmask_b16 v22.l, v22.l, v25.l, s1
	v_cndmask_b32_e64 v15, v15, v29, s1
	v_cndmask_b32_e64 v13, v13, v44, s2
	v_cndmask_b32_e64 v11, v11, v43, s3
	v_cndmask_b32_e64 v9, v9, v42, s4
	v_cndmask_b32_e64 v7, v7, v41, s5
	v_cndmask_b32_e64 v5, v5, v40, s6
	v_cndmask_b32_e64 v1, v1, v38, s0
	s_add_co_i32 s0, s7, 0x800
	s_cmp_lt_u32 s7, 0x1f800
	s_wait_alu depctr_sa_sdst(0)
	s_mov_b32 s7, s0
	s_cbranch_scc1 .LBB0_1
	v_mov_b16_e32 v23.l, v22.l
	v_and_b32_e32 v25, 0xffff0000, v22
	s_barrier_signal -1
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v23, 16, v23
	v_cmp_lg_f32_e32 vcc_lo, 0xff800000, v23
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v23, 0, v15, vcc_lo
	v_cndmask_b16 v15.l, 0xff80, v22.l, vcc_lo
	v_cndmask_b32_e32 v16, 0, v16, vcc_lo
	s_barrier_wait -1
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b16_e32 v24.l, v15.l
	v_lshlrev_b32_e32 v24, 16, v24
	s_delay_alu instid0(VALU_DEP_1)
	v_cmp_gt_f32_e32 vcc_lo, v25, v24
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v16, v16, v14, vcc_lo
	v_cndmask_b16 v14.l, v15.l, v22.h, vcc_lo
	v_mov_b16_e32 v15.l, v21.l
	v_cndmask_b32_e32 v13, v23, v13, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mov_b16_e32 v22.l, v14.l
	v_lshlrev_b32_e32 v15, 16, v15
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v22, 16, v22
	v_cmp_gt_f32_e32 vcc_lo, v15, v22
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v13, v13, v11, vcc_lo
	v_cndmask_b16 v11.l, v14.l, v21.l, vcc_lo
	v_dual_cndmask_b32 v12, v16, v12 :: v_dual_and_b32 v15, 0xffff0000, v21
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b16_e32 v14.l, v11.l
	v_lshlrev_b32_e32 v14, 16, v14
	s_delay_alu instid0(VALU_DEP_1)
	v_cmp_gt_f32_e32 vcc_lo, v15, v14
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v12, v12, v10, vcc_lo
	v_cndmask_b16 v10.l, v11.l, v21.h, vcc_lo
	v_mov_b16_e32 v11.l, v20.l
	v_cndmask_b32_e32 v9, v13, v9, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mov_b16_e32 v14.l, v10.l
	v_lshlrev_b32_e32 v11, 16, v11
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v14, 16, v14
	v_cmp_gt_f32_e32 vcc_lo, v11, v14
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v9, v9, v7, vcc_lo
	v_cndmask_b16 v7.l, v10.l, v20.l, vcc_lo
	v_cndmask_b32_e32 v8, v12, v8, vcc_lo
	v_and_b32_e32 v11, 0xffff0000, v20
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b16_e32 v10.l, v7.l
	v_lshlrev_b32_e32 v10, 16, v10
	s_delay_alu instid0(VALU_DEP_1)
	v_cmp_gt_f32_e32 vcc_lo, v11, v10
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v8, v8, v6, vcc_lo
	v_cndmask_b16 v6.l, v7.l, v20.h, vcc_lo
	v_mov_b16_e32 v7.l, v19.l
	v_cndmask_b32_e32 v5, v9, v5, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mov_b16_e32 v10.l, v6.l
	v_lshlrev_b32_e32 v7, 16, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v10, 16, v10
	v_cmp_gt_f32_e32 vcc_lo, v7, v10
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v5, v5, v3, vcc_lo
	v_cndmask_b16 v3.l, v6.l, v19.l, vcc_lo
	v_dual_cndmask_b32 v4, v8, v4 :: v_dual_and_b32 v7, 0xffff0000, v19
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b16_e32 v6.l, v3.l
	v_lshlrev_b32_e32 v6, 16, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_2)
	v_cmp_gt_f32_e32 vcc_lo, v7, v6
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b16 v3.l, v3.l, v19.h, vcc_lo
	v_dual_cndmask_b32 v2, v4, v2 :: v_dual_cndmask_b32 v1, v5, v1
	v_mov_b32_dpp v4, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v3, 16, v3
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v4, 16, v4
	v_max_num_f32_e32 v4, v3, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_bfe_u32 v6, v4, 16, 1
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e64 s0, v4, v4
	v_add3_u32 v6, v6, v4, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v4, v6, v7, s0
	v_mov_b16_e32 v6.l, v4.h
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_and_b32_e32 v4, 0xffff0000, v4
	v_mov_b32_dpp v6, v6 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_num_f32_e32 v4, v4, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_bfe_u32 v6, v4, 16, 1
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e64 s0, v4, v4
	v_add3_u32 v6, v6, v4, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v4, v6, v7, s0
	v_mov_b16_e32 v6.l, v4.h
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_and_b32_e32 v4, 0xffff0000, v4
	v_mov_b32_dpp v6, v6 row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_num_f32_e32 v4, v4, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_bfe_u32 v6, v4, 16, 1
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e64 s0, v4, v4
	v_add3_u32 v6, v6, v4, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v4, v6, v7, s0
	v_mov_b16_e32 v6.l, v4.h
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_and_b32_e32 v4, 0xffff0000, v4
	v_mov_b32_dpp v6, v6 row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v6, 16, v6
	v_max_num_f32_e32 v4, v4, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_bfe_u32 v6, v4, 16, 1
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e64 s0, v4, v4
	v_add3_u32 v6, v6, v4, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v4, v6, v7, s0
	v_lshrrev_b32_e32 v6, 16, v4
	v_and_b32_e32 v4, 0xffff0000, v4
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_permlanex16_b32 v6, v6, -1, -1 op_sel:[1,0]
	v_lshlrev_b32_e32 v6, 16, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_num_f32_e32 v4, v4, v6
	v_bfe_u32 v6, v4, 16, 1
	v_or_b32_e32 v7, 0x400000, v4
	v_cmp_u_f32_e64 s0, v4, v4
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v6, v6, v4, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e64 v4, v6, v7, s0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshrrev_b32_e32 v4, 16, v4
	v_readlane_b32 s1, v4, 31
	s_lshl_b32 s0, s1, 16
	s_wait_alu depctr_sa_sdst(0)
	v_cmp_eq_f32_e64 s0, s0, v3
	s_ctz_i32_b32 s0, s0
	s_wait_alu depctr_sa_sdst(0)
	s_min_u32 s0, s0, 32
	s_wait_alu depctr_sa_sdst(0)
	s_cmp_lt_u32 s0, 32
	s_cselect_b32 s2, -1, 0
	s_wait_alu depctr_sa_sdst(0)
	v_cndmask_b32_e64 v3, v17, s0, s2
	s_mov_b32 s2, 2
	s_mov_b32 s0, exec_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_lshlrev_b32_e32 v3, 2, v3
	ds_bpermute_b32 v1, v3, v1
	ds_bpermute_b32 v2, v3, v2
	v_cmpx_eq_u32_e32 0, v17
	s_cbranch_execz .LBB0_4
	v_mul_lo_u32 v4, v18, 6
	v_lshlrev_b32_e32 v5, 1, v18
	v_mov_b16_e32 v3.l, s1
	s_delay_alu instid0(VALU_DEP_2)
	v_add_nc_u32_e32 v4, v5, v4
	ds_store_b16 v5, v3 offset:80
	s_wait_dscnt 0x1
	ds_store_b64 v4, v[1:2]
.LBB0_4:
	s_wait_alu depctr_sa_sdst(0)
	s_or_b32 exec_lo, exec_lo, s0
	s_wait_dscnt 0x0
	s_barrier_signal -1
	v_and_b32_e32 v2, 7, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v3, 1, v2
	v_mad_u32_u24 v2, v2, 6, v3
	s_barrier_wait -1
	ds_load_u16_d16 v1, v3 offset:80
	ds_load_b64 v[2:3], v2
	s_wait_dscnt 0x1
	v_mov_b16_e32 v4.l, v1.l
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v4, 16, v4
	v_cmp_lg_f32_e32 vcc_lo, 0xff800000, v4
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b16 v1.l, 0xff80, v1.l, vcc_lo
	s_wait_dscnt 0x0
	v_cndmask_b32_e32 v4, 0, v3, vcc_lo
	v_cndmask_b32_e32 v2, 0, v2, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mov_b32_dpp v3, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v1, 16, v1
	v_lshlrev_b32_e32 v3, 16, v3
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_num_f32_e32 v3, v1, v3
	v_bfe_u32 v5, v3, 16, 1
	v_or_b32_e32 v6, 0x400000, v3
	v_cmp_u_f32_e64 s0, v3, v3
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v5, v5, v3, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e64 v3, v5, v6, s0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mov_b16_e32 v5.l, v3.h
	v_and_b32_e32 v3, 0xffff0000, v3
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b32_dpp v5, v5 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v5, 16, v5
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_num_f32_e32 v3, v3, v5
	v_bfe_u32 v5, v3, 16, 1
	v_or_b32_e32 v6, 0x400000, v3
	v_cmp_u_f32_e64 s0, v3, v3
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v5, v5, v3, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e64 v3, v5, v6, s0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mov_b16_e32 v5.l, v3.h
	v_and_b32_e32 v3, 0xffff0000, v3
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mov_b32_dpp v5, v5 row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshlrev_b32_e32 v5, 16, v5
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_num_f32_e32 v3, v3, v5
	v_bfe_u32 v5, v3, 16, 1
	v_or_b32_e32 v6, 0x400000, v3
	v_cmp_u_f32_e64 s0, v3, v3
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v5, v5, v3, 0x7fff
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e64 v3, v5, v6, s0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_and_b32_e32 v5, 0xffff0000, v3
	v_cmp_eq_f32_e64 s0, v1, v5
	s_ctz_i32_b32 s0, s0
	s_wait_alu depctr_sa_sdst(0)
	s_min_u32 s0, s0, 32
	s_wait_alu depctr_sa_sdst(0)
	s_cmp_lt_u32 s0, 32
	s_cselect_b32 s1, -1, 0
	s_wait_alu depctr_sa_sdst(0)
	v_cndmask_b32_e64 v1, v17, s0, s1
	s_mov_b32 s0, exec_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_lshlrev_b32_e32 v5, 2, v1
	ds_bpermute_b32 v1, v5, v2
	ds_bpermute_b32 v2, v5, v4
	v_cmpx_eq_u32_e32 0, v0
	s_cbranch_execz .LBB0_6
	v_mov_b16_e32 v0.l, v3.h
	s_add_nc_u64 s[4:5], s[16:17], 64
	s_mov_b32 s3, 0x31027000
	s_and_b32 s1, s11, 0xffff
	s_mov_b32 s0, s10
	s_wait_alu depctr_sa_sdst(0)
	s_and_b32 s5, s5, 0xffff
	s_mov_b32 s6, 8
	s_mov_b32 s7, s3
	buffer_store_b16 v0, off, s[0:3], null
	s_wait_dscnt 0x0
	buffer_store_b64 v[1:2], off, s[4:7], null
.LBB0_6:
	s_endpgm
.Lfunc_end0:
	.size	argmax_dispatch_0_arg_compare_131072xbf16, .Lfunc_end0-argmax_dispatch_0_arg_compare_131072xbf16
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel argmax_dispatch_0_arg_compare_131072xbf16
		.amdhsa_group_segment_fixed_size 104
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 53
		.amdhsa_next_free_sgpr 18
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_inst_pref_size ((instprefsize(.Lfunc_end0-argmax_dispatch_0_arg_compare_131072xbf16)<<4)&4080)>>4
		.amdhsa_round_robin_scheduling 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text

	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_vgpr, 53
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_agpr, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.numbered_sgpr, 18
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.num_named_barrier, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.private_seg_size, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.uses_vcc, 1
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.uses_flat_scratch, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_dyn_sized_stack, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_recursion, 0
	.set .Largmax_dispatch_0_arg_compare_131072xbf16.has_indirect_call, 0
	.p2alignl 7, 3214868480
	.fill 96, 4, 3214868480
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
  - .args:
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
    .group_segment_fixed_size: 104
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 256
    .name:           argmax_dispatch_0_arg_compare_131072xbf16
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count:     20
    .sgpr_spill_count: 0
    .symbol:         argmax_dispatch_0_arg_compare_131072xbf16.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     53
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgpu12.01-amd-amdhsa-unknown-gfx1201
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata

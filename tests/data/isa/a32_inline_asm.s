; A decode GEMV in inline assembly: DPP with no _dpp suffix, s_nop in comments; its bf16 twin; an LDS matmul
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	gemv_half
	.type	gemv_half,@function
gemv_half:
	s_trap 2 ; preload header, s_load_dwordx4 is not used here
	.fill 63, 4, 0xbf800000 ; s_nop 0
	;;#ASMSTART
	global_load_dwordx4 v[0:3], v[56:57], off nt
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[4:7], v[56:57], off offset:64
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[8:11], v[56:57], off offset:128
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[12:15], v[56:57], off offset:192
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[16:19], v[56:57], off offset:256
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[20:23], v[56:57], off nt
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[24:27], v[56:57], off offset:384
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[28:31], v[56:57], off offset:448
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[32:35], v[56:57], off offset:512
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[36:39], v[56:57], off offset:576
	;;#ASMEND
	;;#ASMSTART
	s_waitcnt vmcnt(5)
	;;#ASMEND
	v_dot2c_f32_f16_e32 v40, v0, v20
	v_dot2c_f32_f16_e32 v41, v1, v21
	v_dot2c_f32_f16_e32 v42, v2, v22
	v_dot2c_f32_f16_e32 v43, v3, v23
	v_dot2c_f32_f16_e32 v40, v4, v24
	v_dot2c_f32_f16_e32 v41, v5, v25
	v_dot2c_f32_f16_e32 v42, v6, v26
	v_dot2c_f32_f16_e32 v43, v7, v27
	v_dot2c_f32_f16_e32 v40, v8, v28
	v_dot2c_f32_f16_e32 v41, v9, v29
	v_dot2c_f32_f16_e32 v42, v10, v30
	v_dot2c_f32_f16_e32 v43, v11, v31
	v_dot2c_f32_f16_e32 v40, v12, v32
	v_dot2c_f32_f16_e32 v41, v13, v33
	v_dot2c_f32_f16_e32 v42, v14, v34
	v_dot2c_f32_f16_e32 v43, v15, v35
	;;#ASMSTART
	s_waitcnt vmcnt(0)
	;;#ASMEND
	v_dot2c_f32_f16_e32 v40, v16, v36
	v_dot2c_f32_f16_e32 v41, v17, v37
	v_dot2c_f32_f16_e32 v42, v18, v38
	v_dot2c_f32_f16_e32 v43, v19, v39
	v_dot2c_f32_f16_e32 v40, v0, v20
	v_dot2c_f32_f16_e32 v41, v1, v21
	v_dot2c_f32_f16_e32 v42, v2, v22
	v_dot2c_f32_f16_e32 v43, v3, v23
	v_dot2c_f32_f16_e32 v40, v4, v24
	v_dot2c_f32_f16_e32 v41, v5, v25
	v_dot2c_f32_f16_e32 v42, v6, v26
	v_dot2c_f32_f16_e32 v43, v7, v27
	v_dot2c_f32_f16_e32 v40, v8, v28
	v_dot2c_f32_f16_e32 v41, v9, v29
	v_dot2c_f32_f16_e32 v42, v10, v30
	v_dot2c_f32_f16_e32 v43, v11, v31
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	global_store_short v[56:57], v40, off
	global_store_short v[56:57], v41, off
	global_store_short v[56:57], v42, off
	global_store_short v[56:57], v43, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel gemv_half
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 60
		.amdhsa_next_free_sgpr 23
		.amdhsa_accum_offset 60
	.end_amdhsa_kernel
	.text
	.globl	gemv_bf16
	.type	gemv_bf16,@function
gemv_bf16:
	s_trap 2 ; preload header, s_load_dwordx4 is not used here
	.fill 63, 4, 0xbf800000 ; s_nop 0
	;;#ASMSTART
	global_load_dwordx4 v[0:3], v[56:57], off nt
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[4:7], v[56:57], off offset:64
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[8:11], v[56:57], off offset:128
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[12:15], v[56:57], off offset:192
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[16:19], v[56:57], off offset:256
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[20:23], v[56:57], off nt
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[24:27], v[56:57], off offset:384
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[28:31], v[56:57], off offset:448
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[32:35], v[56:57], off offset:512
	;;#ASMEND
	;;#ASMSTART
	global_load_dwordx4 v[36:39], v[56:57], off offset:576
	;;#ASMEND
	;;#ASMSTART
	s_waitcnt vmcnt(5)
	;;#ASMEND
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_mul_f32 v[44:45], v[0:1], v[2:3]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	;;#ASMSTART
	s_waitcnt vmcnt(0)
	;;#ASMEND
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	v_pk_fma_f32 v[40:41], v[0:1], v[2:3], v[40:41]
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:8 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:4 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_shr:2 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 wave_shr:1 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_bcast:15 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v40, v40, v40 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v41, v41, v41 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v42, v42, v42 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	;;#ASMSTART
	s_nop 0
	v_add_f32 v43, v43, v43 row_bcast:31 bound_ctrl:0 
	;;#ASMEND
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	s_nop 1
	global_store_short v[56:57], v40, off
	global_store_short v[56:57], v41, off
	global_store_short v[56:57], v42, off
	global_store_short v[56:57], v43, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel gemv_bf16
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 76
		.amdhsa_next_free_sgpr 23
		.amdhsa_accum_offset 76
	.end_amdhsa_kernel
	.text
	.globl	matmul_lds
	.type	matmul_lds,@function
matmul_lds:
	global_load_dword v0, v[4:5], off
	global_load_dword v0, v[4:5], off
	s_waitcnt vmcnt(0)
	ds_write_b32 v1, v0
	ds_write_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read_b128 v[8:11], v2
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	ds_read2_b32 v[12:13], v3 offset1:32
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel matmul_lds
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 20
		.amdhsa_accum_offset 40
	.end_amdhsa_kernel
	.text

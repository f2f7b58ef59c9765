; Three VGPR counts that disagree (descriptor 129, metadata 104 with 64 AGPRs, comment 37) and no .amdgcn_target
	.text
	.globl	bmm
	.type	bmm,@function
bmm:
	global_load_dwordx4 v[0:3], v[36:37], off
	global_load_dwordx4 v[0:3], v[36:37], off
	global_load_dwordx4 v[0:3], v[36:37], off
	global_load_dwordx4 v[0:3], v[36:37], off
	s_waitcnt vmcnt(0)
	s_waitcnt vmcnt(0)
	ds_write2_b64 v30, v[0:1], v[2:3] offset1:1
	ds_write2_b64 v30, v[0:1], v[2:3] offset1:1
	ds_write2_b64 v30, v[0:1], v[2:3] offset1:1
	ds_write2_b64 v30, v[0:1], v[2:3] offset1:1
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_barrier
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	ds_read_b64 v[4:5], v31
	s_waitcnt lgkmcnt(1)
	ds_read2st64_b64 v[8:11], v31 offset1:1
	ds_read2st64_b64 v[8:11], v31 offset1:1
	ds_read2st64_b64 v[8:11], v31 offset1:1
	ds_read2st64_b64 v[8:11], v31 offset1:1
	s_waitcnt lgkmcnt(3)
	v_accvgpr_write_b32 a0, 0
	v_accvgpr_write_b32 a1, 0
	v_accvgpr_write_b32 a2, 0
	v_accvgpr_write_b32 a3, 0
	v_accvgpr_write_b32 a4, 0
	v_accvgpr_write_b32 a5, 0
	v_accvgpr_write_b32 a6, 0
	v_accvgpr_write_b32 a7, 0
	v_accvgpr_write_b32 a8, 0
	v_accvgpr_write_b32 a9, 0
	v_accvgpr_write_b32 a10, 0
	v_accvgpr_write_b32 a11, 0
	v_accvgpr_write_b32 a12, 0
	v_accvgpr_write_b32 a13, 0
	v_accvgpr_write_b32 a14, 0
	v_accvgpr_write_b32 a15, 0
	v_accvgpr_write_b32 a16, 0
	v_accvgpr_write_b32 a17, 0
	v_accvgpr_write_b32 a18, 0
	v_accvgpr_write_b32 a19, 0
	v_accvgpr_write_b32 a20, 0
	v_accvgpr_write_b32 a21, 0
	v_accvgpr_write_b32 a22, 0
	v_accvgpr_write_b32 a23, 0
	v_accvgpr_write_b32 a24, 0
	v_accvgpr_write_b32 a25, 0
	v_accvgpr_write_b32 a26, 0
	v_accvgpr_write_b32 a27, 0
	v_accvgpr_write_b32 a28, 0
	v_accvgpr_write_b32 a29, 0
	v_accvgpr_write_b32 a30, 0
	v_accvgpr_write_b32 a31, 0
	v_accvgpr_write_b32 a32, 0
	v_accvgpr_write_b32 a33, 0
	v_accvgpr_write_b32 a34, 0
	v_accvgpr_write_b32 a35, 0
	v_accvgpr_write_b32 a36, 0
	v_accvgpr_write_b32 a37, 0
	v_accvgpr_write_b32 a38, 0
	v_accvgpr_write_b32 a39, 0
	v_accvgpr_write_b32 a40, 0
	v_accvgpr_write_b32 a41, 0
	v_accvgpr_write_b32 a42, 0
	v_accvgpr_write_b32 a43, 0
	v_accvgpr_write_b32 a44, 0
	v_accvgpr_write_b32 a45, 0
	v_accvgpr_write_b32 a46, 0
	v_accvgpr_write_b32 a47, 0
	v_accvgpr_write_b32 a48, 0
	v_accvgpr_write_b32 a49, 0
	v_accvgpr_write_b32 a50, 0
	v_accvgpr_write_b32 a51, 0
	v_accvgpr_write_b32 a52, 0
	v_accvgpr_write_b32 a53, 0
	v_accvgpr_write_b32 a54, 0
	v_accvgpr_write_b32 a55, 0
	v_accvgpr_write_b32 a56, 0
	v_accvgpr_write_b32 a57, 0
	v_accvgpr_write_b32 a58, 0
	v_accvgpr_write_b32 a59, 0
	v_accvgpr_write_b32 a60, 0
	v_accvgpr_write_b32 a61, 0
	v_accvgpr_write_b32 a62, 0
	v_accvgpr_write_b32 a63, 0
	v_accvgpr_write_b32 a0, 0
	v_accvgpr_write_b32 a1, 0
	v_accvgpr_write_b32 a2, 0
	v_accvgpr_write_b32 a3, 0
	v_accvgpr_write_b32 a4, 0
	v_accvgpr_write_b32 a5, 0
	v_accvgpr_write_b32 a6, 0
	v_accvgpr_write_b32 a7, 0
	v_accvgpr_write_b32 a8, 0
	v_accvgpr_write_b32 a9, 0
	v_accvgpr_write_b32 a10, 0
	v_accvgpr_write_b32 a11, 0
	v_accvgpr_write_b32 a12, 0
	v_accvgpr_write_b32 a13, 0
	v_accvgpr_write_b32 a14, 0
	v_accvgpr_write_b32 a15, 0
	v_accvgpr_write_b32 a16, 0
	v_accvgpr_write_b32 a17, 0
	v_accvgpr_write_b32 a18, 0
	v_accvgpr_write_b32 a19, 0
	v_accvgpr_write_b32 a20, 0
	v_accvgpr_write_b32 a21, 0
	v_accvgpr_write_b32 a22, 0
	v_accvgpr_write_b32 a23, 0
	v_accvgpr_write_b32 a24, 0
	v_accvgpr_write_b32 a25, 0
	v_accvgpr_write_b32 a26, 0
	v_accvgpr_write_b32 a27, 0
	v_accvgpr_write_b32 a28, 0
	v_accvgpr_write_b32 a29, 0
	v_accvgpr_write_b32 a30, 0
	v_accvgpr_write_b32 a31, 0
	v_accvgpr_write_b32 a32, 0
	v_accvgpr_write_b32 a33, 0
	v_accvgpr_write_b32 a34, 0
	v_accvgpr_write_b32 a35, 0
	v_accvgpr_write_b32 a36, 0
	v_accvgpr_write_b32 a37, 0
	v_accvgpr_write_b32 a38, 0
	v_accvgpr_write_b32 a39, 0
	v_accvgpr_write_b32 a40, 0
	v_accvgpr_write_b32 a41, 0
	v_accvgpr_write_b32 a42, 0
	v_accvgpr_write_b32 a43, 0
	v_accvgpr_write_b32 a44, 0
	v_accvgpr_write_b32 a45, 0
	v_accvgpr_write_b32 a46, 0
	v_accvgpr_write_b32 a47, 0
	v_accvgpr_write_b32 a48, 0
	v_accvgpr_write_b32 a49, 0
	v_accvgpr_write_b32 a50, 0
	v_accvgpr_write_b32 a51, 0
	v_accvgpr_write_b32 a52, 0
	v_accvgpr_write_b32 a53, 0
	v_accvgpr_write_b32 a54, 0
	v_accvgpr_write_b32 a55, 0
	v_accvgpr_write_b32 a56, 0
	v_accvgpr_write_b32 a57, 0
	v_accvgpr_write_b32 a58, 0
	v_accvgpr_write_b32 a59, 0
	v_accvgpr_write_b32 a60, 0
	v_accvgpr_write_b32 a61, 0
	v_accvgpr_write_b32 a62, 0
	v_accvgpr_write_b32 a63, 0
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_mfma_f32_32x32x8_bf16_1k a[0:15], v[4:5], v[8:9], a[0:15]
	v_accvgpr_read_b32 v0, a0
	v_accvgpr_read_b32 v1, a1
	v_accvgpr_read_b32 v2, a2
	v_accvgpr_read_b32 v3, a3
	v_accvgpr_read_b32 v4, a4
	v_accvgpr_read_b32 v5, a5
	v_accvgpr_read_b32 v6, a6
	v_accvgpr_read_b32 v7, a7
	v_accvgpr_read_b32 v8, a8
	v_accvgpr_read_b32 v9, a9
	v_accvgpr_read_b32 v10, a10
	v_accvgpr_read_b32 v11, a11
	v_accvgpr_read_b32 v12, a12
	v_accvgpr_read_b32 v13, a13
	v_accvgpr_read_b32 v14, a14
	v_accvgpr_read_b32 v15, a15
	v_accvgpr_read_b32 v16, a16
	v_accvgpr_read_b32 v17, a17
	v_accvgpr_read_b32 v18, a18
	v_accvgpr_read_b32 v19, a19
	v_accvgpr_read_b32 v20, a20
	v_accvgpr_read_b32 v21, a21
	v_accvgpr_read_b32 v22, a22
	v_accvgpr_read_b32 v23, a23
	v_accvgpr_read_b32 v24, a24
	v_accvgpr_read_b32 v25, a25
	v_accvgpr_read_b32 v26, a26
	v_accvgpr_read_b32 v27, a27
	v_accvgpr_read_b32 v28, a28
	v_accvgpr_read_b32 v29, a29
	v_accvgpr_read_b32 v30, a30
	v_accvgpr_read_b32 v31, a31
	v_accvgpr_read_b32 v0, a32
	v_accvgpr_read_b32 v1, a33
	v_accvgpr_read_b32 v2, a34
	v_accvgpr_read_b32 v3, a35
	v_accvgpr_read_b32 v4, a36
	v_accvgpr_read_b32 v5, a37
	v_accvgpr_read_b32 v6, a38
	v_accvgpr_read_b32 v7, a39
	v_accvgpr_read_b32 v8, a40
	v_accvgpr_read_b32 v9, a41
	v_accvgpr_read_b32 v10, a42
	v_accvgpr_read_b32 v11, a43
	v_accvgpr_read_b32 v12, a44
	v_accvgpr_read_b32 v13, a45
	v_accvgpr_read_b32 v14, a46
	v_accvgpr_read_b32 v15, a47
	v_accvgpr_read_b32 v16, a48
	v_accvgpr_read_b32 v17, a49
	v_accvgpr_read_b32 v18, a50
	v_accvgpr_read_b32 v19, a51
	v_accvgpr_read_b32 v20, a52
	v_accvgpr_read_b32 v21, a53
	v_accvgpr_read_b32 v22, a54
	v_accvgpr_read_b32 v23, a55
	v_accvgpr_read_b32 v24, a56
	v_accvgpr_read_b32 v25, a57
	v_accvgpr_read_b32 v26, a58
	v_accvgpr_read_b32 v27, a59
	v_accvgpr_read_b32 v28, a60
	v_accvgpr_read_b32 v29, a61
	v_accvgpr_read_b32 v30, a62
	v_accvgpr_read_b32 v31, a63
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	global_store_short_d16_hi v[36:37], v0, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel bmm
		.amdhsa_group_segment_fixed_size 20480
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 129
		.amdhsa_next_free_sgpr 96
		.amdhsa_accum_offset 40
	.end_amdhsa_kernel
	.text
; NumVgprs: 37
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: bmm
    .vgpr_count: 104
    .agpr_count: 64
    .sgpr_count: 36
    .group_segment_fixed_size: 20480
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx942
...
	.end_amdgpu_metadata

; bf16 widened by hand (shift, mask), then f32 multiply-adds
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.text
	.type	k,@function
k:
.L1:
	global_load_dwordx4 v[8:11], v[12:13], off
	global_load_dwordx4 v[4:7], v[14:15], off
	s_waitcnt vmcnt(0)
	v_lshlrev_b32_e32 v2, 16, v8
	v_and_b32_e32 v3, 0xffff0000, v8
	v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1]
	
	s_add_u32 s0, s0, 1
	s_cmp_lt_u32 s0, s1
	s_cbranch_scc1 .L1
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 16
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_count: 16
    .agpr_count: 0
    .sgpr_count: 22
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx950
...
	.end_amdgpu_metadata

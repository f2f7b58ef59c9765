; a reduction across lanes by three LDS shuffles
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:
	ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,1)
	s_waitcnt lgkmcnt(0)
	v_max_f32_e32 v0, v0, v1
	ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,2)
	s_waitcnt lgkmcnt(0)
	v_max_f32_e32 v0, v0, v1
	ds_bpermute_b32 v1, v2, v0
	s_waitcnt lgkmcnt(0)
	v_max_f32_e32 v0, v0, v1
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
amdhsa.target: amdgcn-amd-amdhsa--gfx942
...
	.end_amdgpu_metadata

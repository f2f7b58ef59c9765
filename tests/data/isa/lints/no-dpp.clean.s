; the same by DPP, with no _dpp suffix, and one bpermute to fetch the index
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:
	v_max_f32 v0, v0, v0 quad_perm:[1,0,3,2]
	v_max_f32 v0, v0, v0 quad_perm:[2,3,0,1]
	v_max_f32 v0, v0, v0 row_half_mirror
	ds_bpermute_b32 v1, v2, v0
	ds_bpermute_b32 v3, v2, v4
	ds_bpermute_b32 v5, v2, v6
	s_waitcnt lgkmcnt(0)
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

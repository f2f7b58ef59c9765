; a poll, an acquire and a release on gfx942, each without sc1
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:
	buffer_wbl2 sc1
	s_waitcnt vmcnt(0)
	global_store_dword v[2:3], v4, off
.L1:
	global_load_dword v5, v[2:3], off
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e32 vcc, 0, v5
	s_cbranch_vccz .L1
	buffer_inv sc1
	buffer_inv sc0
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

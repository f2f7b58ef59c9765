; Spills are part of the scratch; LDS is used and none is declared
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	attn
	.type	attn,@function
attn:
	ds_read_b128 v[0:3], v4
	s_waitcnt lgkmcnt(0)
	scratch_store_dwordx4 off, v[0:3], off offset:16
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel attn
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 284
		.amdhsa_next_free_vgpr 256
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 256
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: attn
    .vgpr_count: 256
    .agpr_count: 0
    .sgpr_count: 22
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 284
    .vgpr_spill_count: 72
    .sgpr_spill_count: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx942
...
	.end_amdgpu_metadata

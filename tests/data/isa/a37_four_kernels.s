; Four kernels of a file whose names differ in one flag
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.text
	.globl	_Z5mmvqQ12ELb1ELb0
	.type	_Z5mmvqQ12ELb1ELb0,@function
_Z5mmvqQ12ELb1ELb0:
	ds_read_b32 v0, v1
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel _Z5mmvqQ12ELb1ELb0
		.amdhsa_group_segment_fixed_size 512
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 43
		.amdhsa_next_free_sgpr 44
		.amdhsa_accum_offset 44
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel
	.text
	.globl	_Z5mmvqQ12ELb0ELb0
	.type	_Z5mmvqQ12ELb0ELb0,@function
_Z5mmvqQ12ELb0ELb0:
	ds_read_b32 v0, v1
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel _Z5mmvqQ12ELb0ELb0
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 33
		.amdhsa_next_free_sgpr 27
		.amdhsa_accum_offset 36
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel
	.text
	.globl	_Z5mmvqQ14ELb1ELb0
	.type	_Z5mmvqQ14ELb1ELb0,@function
_Z5mmvqQ14ELb1ELb0:
	ds_read_b32 v0, v1
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel _Z5mmvqQ14ELb1ELb0
		.amdhsa_group_segment_fixed_size 512
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 39
		.amdhsa_next_free_sgpr 44
		.amdhsa_accum_offset 40
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel
	.text
	.globl	_Z5mmvqQ14ELb0ELb0
	.type	_Z5mmvqQ14ELb0ELb0,@function
_Z5mmvqQ14ELb0ELb0:
	ds_read_b32 v0, v1
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel _Z5mmvqQ14ELb0ELb0
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 31
		.amdhsa_next_free_sgpr 24
		.amdhsa_accum_offset 32
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: _Z5mmvqQ12ELb1ELb0
    .vgpr_count: 43
    .sgpr_count: 48
    .group_segment_fixed_size: 512
    .max_flat_workgroup_size: 128
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
  - .name: _Z5mmvqQ12ELb0ELb0
    .vgpr_count: 33
    .sgpr_count: 31
    .group_segment_fixed_size: 256
    .max_flat_workgroup_size: 128
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
  - .name: _Z5mmvqQ14ELb1ELb0
    .vgpr_count: 39
    .sgpr_count: 48
    .group_segment_fixed_size: 512
    .max_flat_workgroup_size: 128
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
  - .name: _Z5mmvqQ14ELb0ELb0
    .vgpr_count: 31
    .sgpr_count: 28
    .group_segment_fixed_size: 256
    .max_flat_workgroup_size: 128
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
...
	.end_amdgpu_metadata

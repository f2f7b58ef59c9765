; 1536 VGPRs in granules of 24 (wave32)
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"
	.text
	.globl	tile_38
	.type	tile_38,@function
tile_38:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_38
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 38
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_77
	.type	tile_77,@function
tile_77:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_77
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 77
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_108
	.type	tile_108,@function
tile_108:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_108
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 108
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_157
	.type	tile_157,@function
tile_157:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_157
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 356
		.amdhsa_next_free_vgpr 157
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_192
	.type	tile_192,@function
tile_192:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_192
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 1364
		.amdhsa_next_free_vgpr 192
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_96
	.type	tile_96,@function
tile_96:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_96
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 96
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.globl	tile_240
	.type	tile_240,@function
tile_240:
	v_mov_b32_e32 v0, 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel tile_240
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 240
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: tile_38
    .vgpr_count: 38
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_77
    .vgpr_count: 77
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_108
    .vgpr_count: 108
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_157
    .vgpr_count: 157
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 356
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_192
    .vgpr_count: 192
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 1364
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_96
    .vgpr_count: 96
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
  - .name: tile_240
    .vgpr_count: 240
    .sgpr_count: 18
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 32
amdhsa.target: amdgcn-amd-amdhsa--gfx1151
...
	.end_amdgpu_metadata

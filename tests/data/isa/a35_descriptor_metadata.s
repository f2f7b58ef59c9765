; Descriptor and metadata disagree; DPP with and without its suffix; metadata in YAML flow style
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.text
	.globl	rsqrt_row
	.type	rsqrt_row,@function
rsqrt_row:
	v_add_f32_dpp v0, v0, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v0, v0, v0 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v0, v0, v0 row_half_mirror row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v0, v0, v0 row_mirror row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v0, v0, v0 row_bcast:15 row_mask:0xa bank_mask:0xf
	v_add_f32_dpp v0, v0, v0 row_bcast:31 row_mask:0xf bank_mask:0xf
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel rsqrt_row
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
	.text
	.globl	qk_norm
	.type	qk_norm,@function
qk_norm:
	global_load_ushort v1, v[2:3], off
	global_load_ushort v1, v[2:3], off
	global_load_ushort v1, v[2:3], off
	global_load_ushort v1, v[2:3], off
	global_load_ushort v1, v[2:3], off
	global_load_ushort v1, v[2:3], off
	s_waitcnt vmcnt(0)
	s_waitcnt vmcnt(0)
	s_waitcnt lgkmcnt(0)
	s_waitcnt lgkmcnt(0)
	v_add_f32 v0, v0, v0 quad_perm:[1,0,3,2]
	v_add_f32 v0, v0, v0 quad_perm:[2,3,0,1]
	v_add_f32 v0, v0, v0 row_shr:4
	v_add_f32 v0, v0, v0 row_shr:8
	v_add_f32 v0, v0, v0 row_bcast:15 row_mask:0xa
	v_add_f32 v0, v0, v0 row_bcast:31 row_mask:0xc
	global_store_short v[2:3], v0, off
	global_store_short v[2:3], v0, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel qk_norm
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: "amdgcn-amd-amdhsa--gfx950"
amdhsa.kernels:
  - { .name: rsqrt_row, .vgpr_count: 4, .agpr_count: 0, .sgpr_count: 22, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .max_flat_workgroup_size: 64, .wavefront_size: 64, .args: [ { .offset: 0, .size: 8, .value_kind: global_buffer } ] }
  - { .name: qk_norm, .vgpr_count: 8, .agpr_count: 0, .sgpr_count: 22, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .max_flat_workgroup_size: 64, .wavefront_size: 64, .reqd_workgroup_size: [64, 1, 1], .args: [] }
...
	.end_amdgpu_metadata

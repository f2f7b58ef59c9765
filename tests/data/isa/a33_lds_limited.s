; A ladder of waits; occupancy limited by registers and LDS (v8), and by LDS alone (v6)
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	v8_half
	.type	v8_half,@function
v8_half:
	global_load_dwordx4 v[0:3], v[96:97], off
	global_load_dwordx4 v[4:7], v[96:97], off nt
	global_load_dwordx4 v[4:7], v[96:97], off nt
	global_load_dwordx4 v[4:7], v[96:97], off nt
	global_load_dwordx4 v[4:7], v[96:97], off nt
	ds_write_b128 v98, v[0:3]
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	ds_read_b128 v[8:11], v99
	s_waitcnt vmcnt(3)
	s_waitcnt lgkmcnt(12)
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	s_waitcnt vmcnt(2)
	s_waitcnt lgkmcnt(8)
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	s_waitcnt vmcnt(1)
	s_waitcnt lgkmcnt(4)
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	s_waitcnt vmcnt(0)
	s_waitcnt vmcnt(0)
	s_waitcnt lgkmcnt(0)
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	v_dot2c_f32_f16_e32 v90, v0, v8
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel v8_half
		.amdhsa_group_segment_fixed_size 65536
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 101
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 104
	.end_amdhsa_kernel
	.text
	.globl	v6_no_dot
	.type	v6_no_dot,@function
v6_no_dot:
	ds_read_b128 v[0:3], v4
	s_waitcnt lgkmcnt(0)
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel v6_no_dot
		.amdhsa_group_segment_fixed_size 65536
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 10
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 12
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: v8_half
    .vgpr_count: 101
    .sgpr_count: 22
    .group_segment_fixed_size: 65536
    .max_flat_workgroup_size: 1024
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
  - .name: v6_no_dot
    .vgpr_count: 10
    .sgpr_count: 22
    .group_segment_fixed_size: 65536
    .max_flat_workgroup_size: 1024
    .agpr_count: 0
    .private_segment_fixed_size: 0
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx942
...
	.end_amdgpu_metadata

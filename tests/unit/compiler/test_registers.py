"""Registers and memory of a kernel, from the metadata that compilers print."""

from __future__ import annotations

from ireebench.compiler.registers import Registers, read_ptx, read_rocmasm

ROCMASM = """\
	.section	.AMDGPU.csdata,"",@progbits
; NumVgprs: 37
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .actual_access:  read_only
        .name:           not_a_kernel
        .size:           8
    .group_segment_fixed_size: 128
    .max_flat_workgroup_size: 256
    .name:           first_dispatch_0
    .private_segment_fixed_size: 0
    .sgpr_count:     30
    .sgpr_spill_count: 0
    .symbol:         first_dispatch_0.kd
    .vgpr_count:     60
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     64
    .args:           []
    .group_segment_fixed_size: 0
    .name:           'second$async_dispatch_0'
    .private_segment_fixed_size: 1040
    .sgpr_count:     22
    .symbol:         'second$async_dispatch_0.kd'
    .vgpr_count:     512
    .vgpr_spill_count: 259
amdhsa.target:   amdgcn-amd-amdhsa-unknown-gfx942
amdhsa.version:
  - 1
  - 2
"""

PTX = """\
.version 7.8
.target sm_89
.extern .shared .align 16 .b8 __dynamic_shared_memory__[];
.visible .entry one_dispatch_0(
	.param .u64 .ptr one_dispatch_0_param_0
)
.maxntid 256
{
	.local .align 16 .b8 	__local_depot0[96];
	.reg .b64 	%SP;
	.shared .align 16 .b8 buffer[40];
}
.visible .entry two_dispatch_0(
)
{
	.reg .b32 	%r<4>;
}
.visible .entry three_dispatch_0(
)
{
	mov.b64 	%rd1, __dynamic_shared_memory__;
}
"""


def test_every_kernel_of_a_rocmasm_file_is_read() -> None:
    assert list(read_rocmasm(ROCMASM)) == [
        Registers("first_dispatch_0", 60, 0, 30, 128, 0, 0),
        Registers("second$async_dispatch_0", 512, 64, 22, 0, 1040, 259),
    ]


def test_an_assembly_without_metadata_has_no_kernels() -> None:
    assert list(read_rocmasm("\ts_endpgm\n")) == []


def test_a_figure_that_is_not_told_is_none_and_not_zero() -> None:
    text = "amdhsa.kernels:\n  - .args:  []\n    .name:  k\n    .vgpr_count:  8\namdhsa.target: x\n"
    assert list(read_rocmasm(text)) == [Registers("k", vgpr=8)]


def test_ptx_tells_memory_and_no_registers() -> None:
    assert list(read_ptx(PTX)) == [
        Registers("one_dispatch_0", lds_bytes=40, scratch_bytes=96),
        Registers("two_dispatch_0", lds_bytes=0, scratch_bytes=0),
        Registers("three_dispatch_0", lds_bytes=None, scratch_bytes=0),
    ]

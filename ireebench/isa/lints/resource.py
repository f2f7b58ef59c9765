"""Lints about registers, scratch and what the file says of itself."""

from __future__ import annotations

from collections.abc import Iterable

from ireebench.isa.analysis import KernelAnalysis
from ireebench.isa.classify import classify
from ireebench.isa.lints.base import LLVM_USAGE, Hit, Lint
from ireebench.isa.occupancy import Occupancy, waves_by_vgpr

_REGISTERS = ("vgpr", "sgpr")


def _scratch_in_loop(kernel: KernelAnalysis) -> Iterable[Hit]:
    for number in kernel.flow.innermost():
        found = [i for i in kernel.loops[number].instructions if classify(i.mnemonic).scratch]
        if found:
            spills = kernel.resources.vgpr_spills
            cause = f"{spills} VGPRs are spilled" if spills else "nothing is spilled: it is an array on the stack"
            yield Hit(found[0].line, f"{len(found)} scratch accesses in the loop; {cause}")


def _spills(kernel: KernelAnalysis) -> Iterable[Hit]:
    spills, scratch = kernel.resources.vgpr_spills, kernel.resources.scratch_bytes
    if spills:
        yield Hit(kernel.kernel.start_line, f"{spills} VGPRs are spilled; {scratch} bytes of scratch a lane")


def _scratch(kernel: KernelAnalysis) -> Iterable[Hit]:
    scratch = kernel.resources.scratch_bytes
    if scratch and not kernel.resources.vgpr_spills:
        yield Hit(kernel.kernel.start_line, f"{scratch} bytes of scratch a lane, and no register is spilled")


def _capped(kernel: KernelAnalysis) -> Iterable[Hit]:
    occupancy = kernel.occupancy
    if occupancy is None or not any(r in occupancy.limited_by for r in _REGISTERS):
        return
    if any(r in occupancy.limited_by for r in ("lds", "workgroup")):
        return  # fewer registers would gain nothing
    yield Hit(kernel.kernel.start_line, _cap_message(kernel, occupancy))


def _cap_message(kernel: KernelAnalysis, occupancy: Occupancy) -> str:
    resource = next(r for r in _REGISTERS if r in occupancy.limited_by)
    if resource == "sgpr":
        return f"{kernel.resources.allocated_sgpr} SGPRs allow {occupancy.waves} waves a SIMD"
    granule, total = occupancy.vgpr_granule, occupancy.vgpr_total
    fewer = total // (occupancy.waves + 1) // granule * granule
    gained = waves_by_vgpr(fewer, granule, total, occupancy.max_waves)
    return f"{kernel.resources.allocated_vgpr} VGPRs allow {occupancy.waves} waves a SIMD; {fewer} would allow {gained}"


def _mismatch(kernel: KernelAnalysis) -> Iterable[Hit]:
    for note in kernel.resources.notes:
        yield Hit(kernel.kernel.start_line, note)


RESOURCE_LINTS = (
    Lint(
        "scratch-in-loop",
        "Scratch memory is read or written inside the loop: spilled registers, or an array on the stack that is indexed"
        " at run time.",
        f"{LLVM_USAGE} (private_segment_fixed_size, vgpr_spill_count)",
        _scratch_in_loop,
    ),
    Lint("spills", "Vector registers are spilled to scratch.", f"{LLVM_USAGE} (vgpr_spill_count)", _spills),
    Lint(
        "scratch",
        "The kernel has scratch memory and spills nothing: a stack array.",
        f"{LLVM_USAGE} (private_segment_fixed_size)",
        _scratch,
    ),
    Lint(
        "register-capped",
        "Registers alone limit the waves on a SIMD.",
        "LLVM AMDGPUBaseInfo.cpp (getNumWavesPerEUWithNumVGPRs); AMD ISA guides, GPRs and LDS",
        _capped,
    ),
    Lint(
        "descriptor-mismatch",
        "The descriptor, which the hardware obeys, and the metadata, which tools read, disagree. LLVM itself raises the"
        " descriptor's registers to hold a kernel at the waves that amdgpu-waves-per-eu allows.",
        f"{LLVM_USAGE} (kernel descriptor; code object metadata)",
        _mismatch,
    ),
)

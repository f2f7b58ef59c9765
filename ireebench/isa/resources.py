"""What a kernel takes: registers, LDS, scratch, spills and workgroup size, from its descriptor and its metadata."""

from __future__ import annotations

from dataclasses import dataclass

from ireebench.isa.architecture import find_architecture, generation
from ireebench.isa.assembly import Kernel


@dataclass(frozen=True, slots=True)
class Resources:
    """A kernel's resources; None where the file does not say.

    `vgpr` are architectural VGPRs (without AGPRs), `sgpr` as the metadata counts them. `lds_bytes` is static LDS a
    workgroup, `scratch_bytes` a lane. `allocated_vgpr` and `allocated_sgpr` are what the hardware is told to give a
    wave before rounding: the descriptor's figures where there is one. `workgroup_size` is the largest allowed, threads.
    `dynamic_lds`: LDS is used and none is declared, so its size is given at launch. `notes` say what disagrees.
    """

    vgpr: int | None
    agpr: int | None
    sgpr: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    vgpr_spills: int | None
    sgpr_spills: int | None
    wavefront_size: int
    workgroup_size: int | None
    descriptor_vgpr: int | None
    metadata_vgpr: int | None
    allocated_vgpr: int | None
    allocated_sgpr: int | None
    wgp_mode: bool
    dynamic_lds: bool
    notes: tuple[str, ...]


def resources_of(kernel: Kernel, target: str) -> Resources:
    """Reads the resources of a kernel built for `target` ("gfx942").

    The descriptor is what the hardware obeys; the metadata is what the compiler's author reads. They differ in
    hand-written and post-processed files, and then `notes` say so.
    """
    descriptor, metadata = kernel.descriptor, kernel.metadata
    architecture = find_architecture(target)
    unified = architecture is not None and architecture.unified_agpr
    next_free = descriptor.integer("next_free_vgpr")
    lds = _first(metadata.group_segment_fixed_size, descriptor.integer("group_segment_fixed_size"))
    agpr = _agpr(kernel, unified)
    return Resources(
        vgpr=_vgpr(kernel, agpr, unified),
        agpr=agpr,
        sgpr=_first(metadata.sgpr_count, descriptor.integer("next_free_sgpr")),
        lds_bytes=lds,
        scratch_bytes=_first(metadata.private_segment_fixed_size, descriptor.integer("private_segment_fixed_size")),
        vgpr_spills=metadata.vgpr_spill_count,
        sgpr_spills=metadata.sgpr_spill_count,
        wavefront_size=_wavefront_size(kernel, target),
        workgroup_size=_workgroup_size(kernel),
        descriptor_vgpr=next_free,
        metadata_vgpr=metadata.vgpr_count,
        allocated_vgpr=_first(next_free, metadata.vgpr_count),
        allocated_sgpr=_allocated_sgpr(kernel, target),
        wgp_mode=generation(target) >= 10 and descriptor.integer("workgroup_processor_mode") != 0,
        dynamic_lds=lds == 0 and any(_touches_lds(i.mnemonic) for i in kernel.instructions),
        notes=_notes(kernel),
    )


def _first(*values: int | None) -> int | None:
    return next((v for v in values if v is not None), None)


def _agpr(kernel: Kernel, unified: bool) -> int | None:
    if kernel.metadata.agpr_count is not None:
        return kernel.metadata.agpr_count
    next_free = kernel.descriptor.integer("next_free_vgpr")
    offset = kernel.descriptor.integer("accum_offset")
    if unified and next_free is not None and offset is not None:
        return max(0, next_free - offset)
    return None


def _vgpr(kernel: Kernel, agpr: int | None, unified: bool) -> int | None:
    """Architectural VGPRs: on a unified file the metadata's count includes the AGPRs."""
    count = kernel.metadata.vgpr_count
    if count is not None:
        return count - agpr if unified and agpr else count
    next_free = kernel.descriptor.integer("next_free_vgpr")
    offset = kernel.descriptor.integer("accum_offset")
    return next_free if next_free is None or offset is None else min(next_free, offset)


def _wavefront_size(kernel: Kernel, target: str) -> int:
    if kernel.metadata.wavefront_size in (32, 64):
        return kernel.metadata.wavefront_size
    wave32 = kernel.descriptor.integer("wavefront_size32")
    if wave32 is not None:
        return 32 if wave32 else 64
    # The assembler's default: LLVM AMDGPU usage, "Target features", wavefrontsize64.
    return 32 if generation(target) >= 10 else 64


def _workgroup_size(kernel: Kernel) -> int | None:
    required = kernel.metadata.reqd_workgroup_size
    if required and len(required) == 3:
        return required[0] * required[1] * required[2]
    return kernel.metadata.max_flat_workgroup_size


def _allocated_sgpr(kernel: Kernel, target: str) -> int | None:
    """SGPRs of a wave with VCC, XNACK and flat scratch: LLVM `getNumExtraSGPRs`."""
    next_free = kernel.descriptor.integer("next_free_sgpr")
    if next_free is None:
        return kernel.metadata.sgpr_count
    reserved = {name: kernel.descriptor.integer(f"reserve_{name}") for name in ("vcc", "xnack_mask", "flat_scratch")}
    if generation(target) >= 10:
        return next_free + (2 if reserved["vcc"] != 0 else 0)
    architected_flat_scratch = target.startswith(("gfx94", "gfx95"))
    if architected_flat_scratch or reserved["flat_scratch"]:
        return next_free + 6
    return next_free + (4 if reserved["xnack_mask"] else 2 if reserved["vcc"] != 0 else 0)


def _touches_lds(mnemonic: str) -> bool:
    # Cross-lane ds_* instructions and ds_nop use the LDS hardware but no LDS memory.
    return mnemonic.startswith("ds_") and not mnemonic.startswith(("ds_bpermute", "ds_permute", "ds_swizzle", "ds_nop"))


def _notes(kernel: Kernel) -> tuple[str, ...]:
    next_free, count = kernel.descriptor.integer("next_free_vgpr"), kernel.metadata.vgpr_count
    notes = []
    if next_free is not None and count is not None and next_free != count:
        notes.append(f"descriptor asks for {next_free} VGPRs, metadata says {count}; occupancy follows the descriptor")
    for name in ("group_segment_fixed_size", "private_segment_fixed_size"):
        asked, said = kernel.descriptor.integer(name), getattr(kernel.metadata, name)
        if asked is not None and said is not None and asked != said:
            notes.append(f"descriptor has {name} {asked}, metadata {said}")
    return tuple(notes)

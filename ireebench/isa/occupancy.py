"""Waves per SIMD that a kernel's resources allow, and the resource that limits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ireebench.isa.architecture import Architecture, find_architecture
from ireebench.isa.resources import Resources

SIMDS_PER_CU = 4  # and of a WGP (two compute units with two SIMDs each): LLVM getEUsPerCU


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Waves that fit on one SIMD.

    `limits` is what each resource alone allows; a resource whose use is not known is absent. `limited_by` are the
    resources that allow no more than `waves`, or ("hardware",) when every wave slot can be filled. `upper_bound`: the
    LDS is given at launch and may allow fewer.
    """

    waves: int
    limits: Mapping[str, int]
    limited_by: tuple[str, ...]
    upper_bound: bool
    vgpr_granule: int
    vgpr_total: int
    max_waves: int

    @property
    def limit_text(self) -> str:
        """As tables print it: "vgpr, lds"."""
        return ", ".join(self.limited_by)


def occupancy_of(resources: Resources, target: str) -> Occupancy | None:
    """The occupancy on `target`; None when the processor is not in the table or the registers are unknown.

    Rules: LLVM `getNumWavesPerEUWithNumVGPRs`, `getOccupancyWithNumSGPRs` and `getOccupancyWithWorkGroupSizes`. As
    there, a workgroup's waves are spread over the SIMDs and the fullest SIMD counts.
    """
    architecture = find_architecture(target)
    if architecture is None or resources.allocated_vgpr is None:
        return None
    file = architecture.registers(resources.wavefront_size)
    limits = {
        "vgpr": waves_by_vgpr(resources.allocated_vgpr, file.granule, file.total, architecture.max_waves),
        **_sgpr_limit(resources, architecture),
        **_workgroup_limits(resources, architecture),
    }
    waves = max(1, min(limits.values()))
    limited_by = tuple(name for name, allowed in limits.items() if allowed <= waves)
    return Occupancy(
        waves=waves,
        limits=MappingProxyType(limits),
        limited_by=("hardware",) if waves == architecture.max_waves else limited_by,
        upper_bound=resources.dynamic_lds,
        vgpr_granule=file.granule,
        vgpr_total=file.total,
        max_waves=architecture.max_waves,
    )


def waves_by_vgpr(vgprs: int, granule: int, total: int, max_waves: int) -> int:
    """Waves that `total` registers allow when each takes `vgprs`, rounded up to the granule."""
    rounded = max(granule, round_up(vgprs, granule))
    return max(1, min(max_waves, total // rounded))


def round_up(value: int, granule: int) -> int:
    """The next multiple of `granule`."""
    return -(-value // granule) * granule


# gfx9 has 800 SGPRs a SIMD and gives them in groups of 16, at most 102 to a program: LLVM getOccupancyWithNumSGPRs.
_SGPR_STEPS = ((80, 10), (88, 9), (100, 8))
_SGPR_MOST = 7


def _sgpr_limit(resources: Resources, architecture: Architecture) -> dict[str, int]:
    if not architecture.sgpr_limited or resources.allocated_sgpr is None:
        return {}
    allowed = next((waves for most, waves in _SGPR_STEPS if resources.allocated_sgpr <= most), _SGPR_MOST)
    return {"sgpr": min(allowed, architecture.max_waves)}


def _workgroup_limits(resources: Resources, architecture: Architecture) -> dict[str, int]:
    """By workgroup size (whole workgroups in the wave slots, and barrier slots) and by LDS."""
    if resources.workgroup_size is None:
        return {}
    slots = architecture.max_waves * SIMDS_PER_CU
    if architecture.dual_cu and not resources.wgp_mode:
        slots //= 2
    waves = max(1, -(-resources.workgroup_size // resources.wavefront_size))
    barriers = 32 if resources.wgp_mode else 16
    groups = slots if waves == 1 else min(slots // waves, barriers)
    simds = slots // architecture.max_waves
    limits = {"workgroup": max(1, -(-groups * waves // simds))}
    if resources.lds_bytes:
        capacity = architecture.lds_bytes * (2 if resources.wgp_mode else 1)
        by_lds = max(1, capacity // round_up(resources.lds_bytes, architecture.lds_granule))
        limits["lds"] = min(architecture.max_waves, -(-by_lds * waves // simds))
    return limits

"""What compiling gave: an artifact and the evidence read from its dumps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class KernelEvidence:
    """One dispatch, as the compiler's dumps describe it. None: not told there (never 0 for unknown).

    Configuration is read from `configured_*.mlir`; registers, LDS (bytes a workgroup), scratch (bytes a lane) and
    spills from the assembly. `iterations` is reduction elements over `elements_per_workgroup`. `symbol` is the kernel's
    name as a profiler sees it.
    """

    symbol: str
    pipeline: str | None = None
    workgroup_size: tuple[int, int, int] | None = None
    workgroup_count: tuple[int, int, int] | None = None
    subgroup_size: int | None = None
    subgroups: int | None = None
    thread_loads: int | None = None
    partial_reduction: int | None = None
    elements_per_workgroup: int | None = None
    iterations: int | None = None
    input_shape: tuple[int, ...] | None = None
    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    vgpr_spills: int | None = None
    ukernel: str | None = None
    assembly: str | None = None  # file name inside the artifact's folder: "dump/....rocmasm"
    # From the ISA inspector, AMD targets alone: waves a SIMD and what limits them, bytes a lane of the loads that carry
    # most of the hot loop, DPP instructions, ids of lints.
    occupancy: int | None = None
    limited_by: str | None = None
    load_width_bytes: int | None = None
    dpp: int | None = None
    lints: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled candidate. `folder` holds module.mlir, module.vmfb and dump/; `applied` compares asked with dumped.

    `not_applied_reason` says what differs where `applied` is False. `compile_s` is wall seconds; 0.0 from the cache.
    """

    compile_key: str
    folder: Path
    vmfb: Path
    function: str
    kernels: tuple[KernelEvidence, ...]
    applied: bool | None
    not_applied_reason: str | None
    compile_s: float
    command: tuple[str, ...]

"""What limits the waves on a SIMD: register files, LDS and wave slots of each AMD processor, as a table.

Source of every figure: LLVM's `AMDGPUBaseInfo.cpp` (getVGPRAllocGranule, getTotalNumVGPRs, getMaxWavesPerEU,
getEUsPerCU, getLocalMemorySize, getMaxWorkGroupsPerCU) and `AMDGPU.td`, with the AMD ISA guide named in `source`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """VGPRs of one SIMD for one wave size: a wave's share is rounded up to `granule` out of `total` registers."""

    total: int
    granule: int


@dataclass(frozen=True, slots=True)
class Architecture:
    """Processors that share the rules.

    `wave64` and `wave32` are the register files seen by a wave of that size (None: no such waves). `lds_bytes` is per
    compute unit. `unified_agpr`: VGPRs and AGPRs come from one file. `sgpr_limited`: SGPRs can limit the waves.
    `dual_cu`: workgroups may run on a pair of compute units (WGP mode).
    """

    name: str
    processors: tuple[str, ...]
    max_waves: int
    wave64: RegisterFile
    wave32: RegisterFile | None
    lds_bytes: int
    lds_granule: int
    unified_agpr: bool
    sgpr_limited: bool
    dual_cu: bool
    source: str

    def registers(self, wavefront_size: int) -> RegisterFile:
        """The register file that a wave of this size sees."""
        return self.wave32 if wavefront_size == 32 and self.wave32 is not None else self.wave64


_KIB = 1024

ARCHITECTURES: tuple[Architecture, ...] = (
    Architecture(
        "GCN5",
        ("gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90c"),
        max_waves=10,
        wave64=RegisterFile(256, 4),
        wave32=None,
        lds_bytes=64 * _KIB,
        lds_granule=512,
        unified_agpr=False,
        sgpr_limited=True,
        dual_cu=False,
        source="AMD Vega 7nm ISA guide, GPRs and LDS",
    ),
    Architecture(
        "CDNA2/CDNA3",
        ("gfx90a", "gfx940", "gfx941", "gfx942"),
        max_waves=8,
        wave64=RegisterFile(512, 8),
        wave32=None,
        lds_bytes=64 * _KIB,
        lds_granule=512,
        unified_agpr=True,
        sgpr_limited=True,
        dual_cu=False,
        source="AMD CDNA2 and CDNA3 ISA guides, GPRs and LDS (unified VGPRs in groups of 8)",
    ),
    Architecture(
        "CDNA4",
        ("gfx950",),
        max_waves=8,
        wave64=RegisterFile(512, 8),
        wave32=None,
        lds_bytes=160 * _KIB,
        lds_granule=1280,
        unified_agpr=True,
        sgpr_limited=True,
        dual_cu=False,
        source="AMD CDNA4 ISA guide, GPRs and LDS; LLVM AMDGPU usage, GRANULATED_LDS_SIZE of gfx950",
    ),
    Architecture(
        "RDNA1",
        ("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
        max_waves=20,
        wave64=RegisterFile(512, 4),
        wave32=RegisterFile(1024, 8),
        lds_bytes=64 * _KIB,
        lds_granule=512,
        unified_agpr=False,
        sgpr_limited=False,
        dual_cu=True,
        source="AMD RDNA ISA guide, GPRs and LDS",
    ),
    Architecture(
        "RDNA2, RDNA3 with 1024 VGPRs",
        (
            *(f"gfx103{n}" for n in "0123456"),
            *("gfx1102", "gfx1103", "gfx1150", "gfx1152", "gfx1153"),
        ),
        max_waves=16,
        wave64=RegisterFile(512, 8),
        wave32=RegisterFile(1024, 16),
        lds_bytes=64 * _KIB,
        lds_granule=1024,
        unified_agpr=False,
        sgpr_limited=False,
        dual_cu=True,
        source="AMD RDNA2 ISA guide; LDS in 1 KiB: llvm/llvm-project#219495 and Mesa",
    ),
    Architecture(
        "RDNA3 and RDNA4 with 1536 VGPRs",
        ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"),
        max_waves=16,
        wave64=RegisterFile(768, 12),
        wave32=RegisterFile(1536, 24),
        lds_bytes=64 * _KIB,
        lds_granule=1024,
        unified_agpr=False,
        sgpr_limited=False,
        dual_cu=True,
        source="AMD RDNA3 and RDNA4 ISA guides; LLVM Feature1_5xVGPRs; LDS as RDNA2; gfx1151: ROCm/hip-ep#470",
    ),
)

_BY_PROCESSOR = {processor: a for a in ARCHITECTURES for processor in a.processors}


def find_architecture(processor: str) -> Architecture | None:
    """The rules of a processor ("gfx942"); None when they are not in the table."""
    return _BY_PROCESSOR.get(processor)


@functools.lru_cache(maxsize=64)
def generation(processor: str) -> int:
    """The major version: 9 for gfx90a and gfx942, 11 for gfx1100; 0 when the name is no `gfx...`."""
    digits = processor.removeprefix("gfx")
    if digits == processor or not digits[:1].isdigit():
        return 0
    return int(digits[:-2]) if digits[:-2].isdecimal() else 0

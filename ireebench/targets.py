"""Targets: what a kernel's configuration, a percentage and an occupancy have to know about the silicon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ireebench.errors import UnknownNameError

Backend = Literal["hip", "cuda", "cpu"]


@dataclass(frozen=True, slots=True)
class Target:
    """A device family that IREE compiles for.

    `name` is as the compiler spells it. `lds_bytes` is per workgroup. `spec_gb_per_s` is the vendor's figure (1e9
    bytes) and is only ever shown beside a measured ceiling. `cache_bytes` is the last-level cache: cold runs rotate
    over at least twice as much. `register_file_bytes` is the vector registers of one compute unit. None: not known or
    not meaningful.
    """

    name: str
    backend: Backend
    subgroup_sizes: tuple[int, ...]
    max_threads: int
    lds_bytes: int | None
    compute_units: int | None
    cache_bytes: int | None
    spec_gb_per_s: float | None
    source: str
    register_file_bytes: int | None = None

    @property
    def subgroup_size(self) -> int:
        """The subgroup size that configurations use unless told otherwise (the first of `subgroup_sizes`)."""
        return self.subgroup_sizes[0]


_KIB = 1024
_MIB = 1024 * 1024

TARGETS: dict[str, Target] = {
    t.name: t
    for t in (
        Target(
            "gfx942",
            "hip",
            (64,),
            1024,
            65_536,
            304,
            256 * _MIB,
            5_300.0,
            "AMD CDNA3 ISA guide; CDNA3 white paper; MI300X data sheet",
            512 * _KIB,  # 4 SIMDs x 512 registers x 64 lanes x 4 bytes, accumulation registers included
        ),
        Target(
            "gfx950",
            "hip",
            (64,),
            1024,
            163_840,
            256,
            256 * _MIB,
            8_000.0,
            "AMD CDNA4 ISA guide; CDNA4 white paper; MI355X data sheet",
            512 * _KIB,
        ),
        Target(
            "gfx90a",
            "hip",
            (64,),
            1024,
            65_536,
            110,
            8 * _MIB,
            1_638.4,
            "AMD CDNA2 ISA guide; MI250X data sheet, one of its two GCDs (MI250 and MI210: 104 compute units)",
            512 * _KIB,
        ),
        Target(
            "gfx906",
            "hip",
            (64,),
            1024,
            65_536,
            60,
            4 * _MIB,
            1_024.0,
            "AMD Vega 7nm ISA guide; MI50 data sheet",  # iree-compile 3.13: "Unknown ROCM target 'gfx906'"
            256 * _KIB,  # 4 SIMDs x 256 registers x 64 lanes x 4 bytes
        ),
        Target(
            "gfx1100",
            "hip",
            (32, 64),
            1024,
            65_536,
            96,
            96 * _MIB,
            960.0,
            "AMD RDNA3 ISA guide; RX 7900 XTX data sheet",
            384 * _KIB,  # 2 SIMDs x 1536 registers x 32 lanes x 4 bytes
        ),
        Target(
            "gfx1151",
            "hip",
            (32, 64),
            1024,
            65_536,
            40,
            32 * _MIB,
            256.0,
            "AMD RDNA3.5 ISA guide; Ryzen AI Max+ 395 data sheet (LPDDR5X-8000, 256 bits)",
            384 * _KIB,
        ),
        Target(
            "gfx1201",
            "hip",
            (32, 64),
            1024,
            65_536,
            64,
            64 * _MIB,
            640.0,
            "AMD RDNA4 ISA guide; RX 9070 XT data sheet",
            384 * _KIB,
        ),
        Target(
            "sm_80",
            "cuda",
            (32,),
            1024,
            166_912,
            108,
            40 * _MIB,
            1_555.0,
            "NVIDIA A100 40GB data sheet; CUDA guide, compute capabilities",
        ),
        Target(
            "sm_86", "cuda", (32,), 1024, 101_376, None, None, None, "CUDA C++ programming guide, compute capabilities"
        ),
        Target(
            "sm_89", "cuda", (32,), 1024, 101_376, None, None, None, "CUDA C++ programming guide, compute capabilities"
        ),
        Target("cpu", "cpu", (1,), 1, None, None, None, None, "the host, read at run time"),
    )
}

# `--target cuda` compiles for the newest PTX that IREE 3.13 writes; newer cards (sm_90 and up) compile it at load.
ALIASES: dict[str, str] = {"cuda": "sm_89", "hip": "gfx942", "rocm": "gfx942", "local": "cpu", "llvm-cpu": "cpu"}


def find_target(name: str) -> Target:
    """The target called `name` or one of its aliases; raises UnknownNameError with the nearest ones."""
    canonical = ALIASES.get(name, name)
    try:
        return TARGETS[canonical]
    except KeyError:
        raise UnknownNameError("target", name, [*TARGETS, *ALIASES]) from None

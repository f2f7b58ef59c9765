"""Instruction classes, as a table: the first pattern that matches a mnemonic gives its kind.

Names follow LLVM's AMDGPU instruction syntax and the AMD ISA guides (CDNA1 to 4, RDNA1 to 4).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum

from ireebench.isa.assembly import Instruction


class Kind(StrEnum):
    """What an instruction does, one kind each; DPP is a property beside it (see `dpp_pattern`)."""

    GLOBAL_LOAD = "global_load"
    BUFFER_LOAD = "buffer_load"
    FLAT_LOAD = "flat_load"
    SCRATCH_LOAD = "scratch_load"
    LDS_LOAD = "lds_load"
    SCALAR_LOAD = "scalar_load"
    GLOBAL_STORE = "global_store"
    BUFFER_STORE = "buffer_store"
    FLAT_STORE = "flat_store"
    SCRATCH_STORE = "scratch_store"
    LDS_STORE = "lds_store"
    SCALAR_STORE = "scalar_store"
    ATOMIC = "atomic"
    LDS_ATOMIC = "lds_atomic"
    MFMA = "mfma"
    DOT = "dot"
    PACKED = "packed"
    FMA = "fma"
    CONVERT = "convert"
    ACCVGPR = "accvgpr"
    BPERMUTE = "bpermute"
    SWIZZLE = "swizzle"
    PERMLANE = "permlane"
    READLANE = "readlane"
    BALLOT = "ballot"
    BARRIER = "barrier"
    BARRIER_SIGNAL = "barrier_signal"
    WAIT = "wait"
    BRANCH = "branch"
    END = "end"
    TRAP = "trap"
    CACHE = "cache"
    NOP = "nop"
    HINT = "hint"
    VALU = "valu"
    SALU = "salu"
    OTHER = "other"


_FLOAT = r"(?:f16|f32|f64|bf16|legacy|mix)"
_TABLE: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"v_(mfma|smfmac|wmma|swmmac)_", Kind.MFMA),
        (r"v_accvgpr_", Kind.ACCVGPR),
        (r"v_(dual_)?dot\d", Kind.DOT),
        (r"v_(cvt|pk_cvt|cvt_pk)", Kind.CONVERT),
        (r"v_pk_", Kind.PACKED),
        (rf"v_(dual_)?(fma|fmac|fmamk|fmaak|mac|mad|madmk|madak)(_mix|_mixlo|_mixhi|_dx9_zero)?_{_FLOAT}", Kind.FMA),
        (r"v_(permlane|mov_b32_permlane)", Kind.PERMLANE),
        (r"v_(readlane|readfirstlane|writelane)", Kind.READLANE),
        (r"v_mbcnt_", Kind.BALLOT),
        (r"v_(nop|pipeflush)", Kind.NOP),
        (r"v_", Kind.VALU),
        (r"ds_(b?permute)", Kind.BPERMUTE),
        (r"ds_swizzle", Kind.SWIZZLE),
        (r"ds_nop", Kind.NOP),
        (r"ds_(read|load)", Kind.LDS_LOAD),
        (r"ds_(write|store)(?!x)", Kind.LDS_STORE),
        (r"ds_", Kind.LDS_ATOMIC),
        (r"(buffer|global)_(inv|wb|gl[01]_inv|wbinv)", Kind.CACHE),
        (r"(global|buffer|flat)_atomic|buffer_\w*cmpswap", Kind.ATOMIC),
        (r"global_(store)", Kind.GLOBAL_STORE),
        (r"global_(load)", Kind.GLOBAL_LOAD),
        (r"t?buffer_store", Kind.BUFFER_STORE),
        (r"t?buffer_load", Kind.BUFFER_LOAD),
        (r"flat_store", Kind.FLAT_STORE),
        (r"flat_load", Kind.FLAT_LOAD),
        (r"scratch_store", Kind.SCRATCH_STORE),
        (r"scratch_load", Kind.SCRATCH_LOAD),
        (r"s_(buffer_|scratch_)?load", Kind.SCALAR_LOAD),
        (r"s_(buffer_|scratch_)?store", Kind.SCALAR_STORE),
        (r"s_(ff1|ctz|bcnt1|flbit|clz)_i32_", Kind.BALLOT),
        (r"s_barrier_signal|s_barrier_(init|join|leave)", Kind.BARRIER_SIGNAL),
        (r"s_barrier", Kind.BARRIER),
        (r"s_waitcnt_depctr|s_wait_alu|s_wait_event", Kind.HINT),
        (r"s_wait", Kind.WAIT),
        (r"s_(c?branch|call|setpc|swappc)", Kind.BRANCH),
        (r"s_endpgm", Kind.END),
        (r"s_(trap|rfe)", Kind.TRAP),
        (r"s_(dcache|icache|gl1)_", Kind.CACHE),
        (r"s_nop", Kind.NOP),
        (r"s_(delay_alu|clause|sleep|setprio|set_inst_prefetch|inst_prefetch|code_end|prefetch|ttrace)", Kind.HINT),
        (r"s_(atomic|buffer_atomic|atc_probe)", Kind.ATOMIC),
        (r"s_", Kind.SALU),
    )
)

_LOADS = frozenset((Kind.GLOBAL_LOAD, Kind.BUFFER_LOAD, Kind.FLAT_LOAD))
_STORES = frozenset((Kind.GLOBAL_STORE, Kind.BUFFER_STORE, Kind.FLAT_STORE))
_SCRATCH = frozenset((Kind.SCRATCH_LOAD, Kind.SCRATCH_STORE))
_CROSS_LANE = frozenset((Kind.BPERMUTE, Kind.SWIZZLE, Kind.PERMLANE, Kind.READLANE))
_VECTOR_ALU = frozenset((Kind.VALU, Kind.FMA, Kind.PACKED, Kind.DOT, Kind.MFMA, Kind.CONVERT, Kind.ACCVGPR))

# Bytes a lane (a wave, for scalar loads); the first suffix that is found counts.
_WIDTHS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), width)
    for pattern, width in (
        (r"(dwordx16|b512)", 64),
        (r"(dwordx8|b256)", 32),
        (r"(dwordx4|b128|xyzw)", 16),
        (r"(dwordx3|b96|xyz)", 12),
        (r"(dwordx2|[bfui]64|_x2|xy)", 8),
        (r"(dword|b32|f32|u32|i32)", 4),
        (r"(short|[usib]16|f16)", 2),
        (r"(byte|[usib]8)", 1),
    )
)


@dataclass(frozen=True, slots=True)
class InstructionClass:
    """The class of a mnemonic. `width_bytes` is what one lane (of a scalar load: the wave) moves, 0 where none moves.

    `to_lds`: a load that writes LDS and no register.
    """

    kind: Kind
    width_bytes: int = 0
    to_lds: bool = False
    vector_load: bool = False
    vector_store: bool = False
    scratch: bool = False
    cross_lane: bool = False
    vector_alu: bool = False


@functools.lru_cache(maxsize=4096)
def classify(mnemonic: str) -> InstructionClass:
    """The class of a mnemonic, with or without its encoding's suffix (_e32, _dpp ...)."""
    kind = next((kind for pattern, kind in _TABLE if pattern.match(mnemonic)), Kind.OTHER)
    moves = kind.endswith(("_load", "_store", "atomic"))
    return InstructionClass(
        kind=kind,
        width_bytes=_width(mnemonic) if moves else 0,
        to_lds="_load_lds_" in mnemonic or "_load_async_to_lds_" in mnemonic,
        vector_load=kind in _LOADS,
        vector_store=kind in _STORES,
        scratch=kind in _SCRATCH,
        cross_lane=kind in _CROSS_LANE,
        vector_alu=kind in _VECTOR_ALU,
    )


def _width(mnemonic: str) -> int:
    width = next((width for pattern, width in _WIDTHS if pattern.search(mnemonic)), 0)
    if width == 0 and "atomic" in mnemonic:
        width = 4  # buffer_atomic_add: 32 bits unless the name says otherwise
    # ds_read2_b32 moves two elements from two addresses.
    return (
        2 * width if re.match(r"ds_(read|write|load|store)_?2(st64|addr)?|ds_(load|store)_2addr", mnemonic) else width
    )


_ENCODING = re.compile(r"(_e32|_e64)?(_dpp8|_dpp|_sdwa)?\Z|_e64\Z")


@functools.lru_cache(maxsize=4096)
def opcode(mnemonic: str) -> str:
    """The mnemonic without the suffix of its encoding: "v_add_f32_e32" and "v_add_f32_dpp" are both "v_add_f32"."""
    return _ENCODING.sub("", mnemonic)


DPP_CONTROLS = frozenset(
    """quad_perm row_shl row_shr row_ror wave_shl wave_shr wave_rol wave_ror row_mirror row_half_mirror row_bcast
    row_newbcast row_share row_xmask dpp8""".split()  # noqa: SIM905 -- a list of words reads best as words
)


def dpp_pattern(instruction: Instruction) -> str | None:
    """The DPP pattern ("row_shr:8", "quad_perm:[1,0,3,2]", "row_mirror"); None for an instruction that has none.

    The modifiers decide: assemblers accept DPP with no `_dpp` suffix, and inline assembly is printed as written.
    """
    for key, value in instruction.modifiers:
        if key in DPP_CONTROLS:
            return key if value is None else f"{key}:{value}"
    return "unknown" if instruction.mnemonic.endswith(("_dpp", "_dpp8")) else None

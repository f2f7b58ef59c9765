"""Vector integer instructions: moves, logic, shifts, additions, multiplications, bit fields.

References: AMD CDNA3 ISA guide, "Vector ALU operations" and the pseudocode of VOP1, VOP2 and VOP3 instructions; RDNA3
ISA guide for the names with "_nc_". Shift amounts use their low 5 bits (6 for 64-bit).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate.bits import (
    align_bit,
    align_byte,
    bit_count,
    bit_field,
    constant_permute,
    find_first_set,
    find_high,
    find_high_signed,
    permute_bytes,
    reverse_bits,
    signed_bit_field,
    signed_wide,
    wide,
)
from ireebench.isa.emulate.operands import Kind
from ireebench.isa.emulate.rules import Decode, Function, Rule, Run, elementwise, result, source
from ireebench.isa.emulate.waves import Array, Waves

_5 = np.uint32(31)
_4 = np.uint16(15)
_6 = np.uint64(63)
_1 = np.uint32(1)
_RDNA3 = "RDNA3 ISA, VOP3"
VOP1, VOP2, VOP3 = "CDNA3 ISA, VOP1", "CDNA3 ISA, VOP2", "CDNA3 ISA, VOP3A"


def _perm(d: Decode) -> Run:
    a, b, select = (source(d, o, "u32") for o in d.operands[1:4])
    store = result(d, d.operands[0], "u32")
    cache: dict[int, Function | None] = {}

    def run(g: Waves) -> None:
        s = select(g)
        if s.shape[1] == 1 and (s == s[0, 0]).all():
            key = int(s[0, 0])
            if key not in cache:
                cache[key] = constant_permute(key)
            quick = cache[key]
            if quick is not None:
                store(g, quick(a(g), b(g)))
                return
        store(g, permute_bytes(a(g), b(g), s))

    return run


def _cndmask(d: Decode) -> Run:
    no, yes = (source(d, o, "u32") for o in d.operands[1:3])
    mask = source(d, d.operands[3], "mask")
    store = result(d, d.operands[0], "u32")
    i = d.vector(0)
    if (
        d.operands[1].kind is Kind.VGPR
        and d.operands[1].index == i
        and not d.operands[1].neg
        and not d.operands[1].absolute
    ):
        # dst = mask ? yes : dst: one masked copy.
        def update(g: Waves) -> None:
            m = mask(g)
            np.copyto(g.vu[i], yes(g), where=m if g.full else m & g.exec_mask)

        return update
    return lambda g: store(g, np.where(mask(g), yes(g), no(g)))


def _cndmask16(d: Decode) -> Run:
    no, yes = (source(d, o, "u16") for o in d.operands[1:3])
    mask = source(d, d.operands[3], "mask")
    store = result(d, d.operands[0], "u16")
    return lambda g: store(g, np.where(mask(g), yes(g), no(g)))


def _carry(fn: Callable[[Array, Array, Array], tuple[Array, Array]], carry_in: bool) -> Callable[[Decode], Run]:
    """Additions and subtractions that give (and take) a carry in a lane mask."""

    def build(d: Decode) -> Run:
        a, b = (source(d, o, "u32") for o in d.operands[2:4])
        store, slot = result(d, d.operands[0], "u32"), d.scalar(1)
        carry = source(d, d.operands[4], "mask") if carry_in else None
        zero = np.zeros((1, 1), np.bool_)

        def run(g: Waves) -> None:
            value, out = fn(a(g), b(g), carry(g) if carry else zero)
            store(g, value)
            g.write_mask(slot, np.broadcast_to(out, g.exec_mask.shape) & g.exec_mask)

        return run

    return build


def _add_carry(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    total = wide(a) + wide(b) + wide(c)
    return total.astype(np.uint32), total > 0xFFFFFFFF


def _sub_borrow(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    total = signed_wide(a) - signed_wide(b) - signed_wide(c)
    return total.astype(np.uint32), total < 0


def _swap(fn: Function) -> Function:
    return lambda a, b: fn(b, a)


def _mul_high(a: Array, b: Array) -> Array:
    return ((wide(a) * wide(b)) >> np.uint64(32)).astype(np.uint32)


def _mul_high_signed(a: Array, b: Array) -> Array:
    return ((signed_wide(a) * signed_wide(b)) >> np.int64(32)).astype(np.uint32)


def _signed24(a: Array) -> Array:
    return (a << np.uint32(8)).view(np.int32) >> 8


_M24 = np.uint32(0xFFFFFF)


def _mad64(signed: bool) -> Callable[[Decode], Run]:
    def build(d: Decode) -> Run:
        kind = "i32" if signed else "u32"
        a, b = (source(d, o, kind) for o in d.operands[2:4])
        c = source(d, d.operands[4], "u64")
        store = result(d, d.operands[0], "u64")
        wide = np.int64 if signed else np.uint64

        def run(g: Waves) -> None:
            product = (a(g).astype(wide) * b(g).astype(wide)).view(np.uint64)
            # The carry out is not modelled: no kernel of ours reads it, and its register is marked undefined.
            store(g, product + c(g))

        return run

    return build


def _mbcnt(high: bool) -> Callable[[Decode], Run]:
    def build(d: Decode) -> Run:
        mask, base = (source(d, o, "u32") for o in d.operands[1:3])
        store = result(d, d.operands[0], "u32")
        lanes = np.arange(d.mode.lanes, dtype=np.int64)
        below = np.clip(lanes - (32 if high else 0), 0, 32)
        keep = ((np.int64(1) << below) - 1).astype(np.uint32)[None, :]
        return lambda g: store(g, np.bitwise_count(mask(g) & keep).astype(np.uint32) + base(g))

    return build


def _bitop3(d: Decode) -> Run:
    table = d.number("bitop3")
    a, b, c = (source(d, o, "u32") for o in d.operands[1:4])
    store = result(d, d.operands[0], "u32")

    def run(g: Waves) -> None:
        x, y, z = a(g), b(g), c(g)
        out: Array = np.zeros((1, 1), np.uint32)
        for n in range(8):
            if table >> n & 1:
                out = out | ((x if n & 4 else ~x) & (y if n & 2 else ~y) & (z if n & 1 else ~z))
        store(g, out)

    return run


def _arith(a: Array) -> Array:
    return a.view(np.int32)


def _unary64(d: Decode) -> Run:
    a = source(d, d.operands[1], "u64")
    store = result(d, d.operands[0], "u64")
    return lambda g: store(g, a(g))


def _bits(fn: Function, types: str, section: str) -> Rule:
    return elementwise(fn, types, section, shadow="bits")


def _sum(fn: Function, types: str, section: str) -> Rule:
    """Sums and products: integer clamp saturates (v_add_u32 ... clamp), undefined bits travel upwards."""
    plain = elementwise(fn, types, section, shadow="carry")

    def build(d: Decode) -> Run:
        if not d.flag("clamp"):
            return plain.build(d)
        limits = _SATURATING.get(d.name)
        if limits is None:
            raise d.unsupported("clamp")
        kind, low, high = limits
        a, b = (source(d, o, kind) for o in d.operands[1:3])
        store = result(d, d.operands[0], kind)

        def run(g: Waves) -> None:
            total = fn(a(g).astype(np.int64), b(g).astype(np.int64))
            store(g, np.clip(total, low, high).astype(np.uint32 if kind == "u32" else np.int32))

        return run

    return Rule(section, "vector int", build, shadow="carry")


_U32_RANGE, _I32_RANGE = ("u32", 0, 2**32 - 1), ("i32", -(2**31), 2**31 - 1)
_SATURATING: Mapping[str, tuple[str, int, int]] = {
    "v_add_u32": _U32_RANGE, "v_sub_u32": _U32_RANGE, "v_subrev_u32": _U32_RANGE, "v_add_i32": _I32_RANGE,
    "v_sub_i32": _I32_RANGE,
}  # fmt: skip


def _lshl_add64(a: Array, b: Array, c: Array) -> Array:
    return np.asarray((a << (wide(b) & np.uint64(7))) + c)


_UU = "u32: u32 u32"
_UUU = "u32: u32 u32 u32"
_HH = "u16: u16 u16"
_II = "i32: i32 i32"
_JJ = "i16: i16 i16"

RULES: Mapping[str, Rule] = {
    "v_nop": Rule(VOP1, "vector int", lambda _: lambda g: None, outputs=0),
    "v_mov_b32": _bits(np.positive, "u32: u32", VOP1),
    "v_mov_b64": Rule(VOP1, "vector int", _unary64, shadow="bits"),
    "v_mov_b16": _bits(np.positive, "u16: u16", "RDNA3 ISA, VOP1"),
    "v_accvgpr_read_b32": _bits(np.positive, "u32: u32", "CDNA3 ISA, VOP3P"),
    "v_accvgpr_write_b32": _bits(np.positive, "u32: u32", "CDNA3 ISA, VOP3P"),
    "v_accvgpr_mov_b32": _bits(np.positive, "u32: u32", VOP1),
    "v_not_b32": _bits(np.invert, "u32: u32", VOP1),
    "v_not_b16": _bits(np.invert, "u16: u16", "RDNA3 ISA, VOP1"),
    "v_bfrev_b32": _bits(reverse_bits, "u32: u32", VOP1),
    "v_ffbh_u32": elementwise(find_high, "u32: u32", VOP1),
    "v_ffbh_i32": elementwise(find_high_signed, "u32: i32", VOP1),
    "v_ffbl_b32": elementwise(find_first_set, "u32: u32", VOP1),
    "v_bcnt_u32_b32": elementwise(bit_count, _UU, VOP3),
    "v_mbcnt_lo_u32_b32": Rule(VOP3, "vector int", _mbcnt(False)),
    "v_mbcnt_hi_u32_b32": Rule(VOP3, "vector int", _mbcnt(True)),
    "v_and_b32": _bits(np.bitwise_and, _UU, VOP2),
    "v_or_b32": _bits(np.bitwise_or, _UU, VOP2),
    "v_xor_b32": elementwise(np.bitwise_xor, _UU, VOP2),
    "v_xnor_b32": elementwise(lambda a, b: ~(a ^ b), _UU, VOP2),
    "v_and_b16": _bits(np.bitwise_and, _HH, _RDNA3),
    "v_or_b16": _bits(np.bitwise_or, _HH, _RDNA3),
    "v_xor_b16": elementwise(np.bitwise_xor, _HH, _RDNA3),
    "v_or3_b32": _bits(lambda a, b, c: a | b | c, _UUU, VOP3),
    "v_xor3_b32": elementwise(lambda a, b, c: a ^ b ^ c, _UUU, _RDNA3),
    "v_xad_u32": elementwise(lambda a, b, c: (a ^ b) + c, _UUU, VOP3),
    "v_and_or_b32": _bits(lambda a, b, c: (a & b) | c, _UUU, VOP3),
    "v_lshl_or_b32": _bits(lambda a, b, c: (a << (b & _5)) | c, _UUU, VOP3),
    "v_lshl_add_u32": elementwise(lambda a, b, c: (a << (b & _5)) + c, _UUU, VOP3),
    "v_add_lshl_u32": elementwise(lambda a, b, c: (a + b) << (c & _5), _UUU, VOP3),
    "v_lshl_add_u64": _sum(_lshl_add64, "u64: u64 u32 u64", VOP3),
    "v_bfi_b32": _bits(lambda a, b, c: (a & b) | (~a & c), _UUU, VOP3),
    "v_bfe_u32": _bits(bit_field, _UUU, VOP3),
    "v_bfe_i32": elementwise(signed_bit_field, _UUU, VOP3),
    "v_bfm_b32": elementwise(lambda a, b: ((_1 << (a & _5)) - _1) << (b & _5), _UU, VOP3),
    "v_perm_b32": Rule(VOP3, "vector int", _perm, shadow="bits"),
    "v_alignbit_b32": _bits(align_bit, _UUU, VOP3),
    "v_alignbyte_b32": _bits(align_byte, _UUU, VOP3),
    "v_bitop3_b32": Rule("CDNA4 ISA, VOP3A", "vector int", _bitop3),
    "v_lshlrev_b32": _bits(lambda a, b: b << (a & _5), _UU, VOP2),
    "v_lshrrev_b32": _bits(lambda a, b: b >> (a & _5), _UU, VOP2),
    "v_ashrrev_i32": _bits(lambda a, b: _arith(b) >> (a & _5).astype(np.int32), "i32: u32 u32", VOP2),
    "v_lshlrev_b16": _bits(lambda a, b: b << (a & _4), _HH, VOP2),
    "v_lshrrev_b16": _bits(lambda a, b: b >> (a & _4), _HH, VOP2),
    "v_ashrrev_i16": _bits(lambda a, b: b >> (a & np.int16(15)), _JJ, VOP2),
    "v_lshlrev_b64": _bits(lambda a, b: b << (wide(a) & _6), "u64: u32 u64", VOP3),
    "v_lshrrev_b64": _bits(lambda a, b: b >> (wide(a) & _6), "u64: u32 u64", VOP3),
    "v_ashrrev_i64": _bits(lambda a, b: b >> (signed_wide(a) & np.int64(63)), "i64: u32 i64", VOP3),
    "v_add_u32": _sum(np.add, _UU, VOP2),
    "v_sub_u32": _sum(np.subtract, _UU, VOP2),
    "v_subrev_u32": _sum(_swap(np.subtract), _UU, VOP2),
    "v_add_i32": _sum(np.add, _UU, VOP3),
    "v_sub_i32": _sum(np.subtract, _UU, VOP3),
    "v_add3_u32": _sum(lambda a, b, c: a + b + c, _UUU, VOP3),
    "v_add_u16": elementwise(np.add, _HH, VOP2),
    "v_sub_u16": elementwise(np.subtract, _HH, VOP2),
    "v_subrev_u16": elementwise(_swap(np.subtract), _HH, VOP2),
    "v_add_i16": elementwise(np.add, _HH, VOP3, keep_high=True),
    "v_sub_i16": elementwise(np.subtract, _HH, VOP3, keep_high=True),
    "v_add_co_u32": Rule(VOP2, "vector int", _carry(_add_carry, False), outputs=2),
    "v_sub_co_u32": Rule(VOP2, "vector int", _carry(_sub_borrow, False), outputs=2),
    "v_subrev_co_u32": Rule(VOP2, "vector int", _carry(lambda a, b, c: _sub_borrow(b, a, c), False), outputs=2),
    "v_addc_co_u32": Rule(VOP2, "vector int", _carry(_add_carry, True), outputs=2),
    "v_subb_co_u32": Rule(VOP2, "vector int", _carry(_sub_borrow, True), outputs=2),
    "v_subbrev_co_u32": Rule(VOP2, "vector int", _carry(lambda a, b, c: _sub_borrow(b, a, c), True), outputs=2),
    "v_mul_lo_u32": _sum(np.multiply, _UU, VOP3),
    "v_mul_hi_u32": elementwise(_mul_high, _UU, VOP3),
    "v_mul_hi_i32": elementwise(_mul_high_signed, "u32: i32 i32", VOP3),
    "v_mul_lo_u16": elementwise(np.multiply, _HH, VOP2),
    "v_mul_u32_u24": _sum(lambda a, b: (a & _M24) * (b & _M24), _UU, VOP2),
    "v_mul_i32_i24": elementwise(lambda a, b: _signed24(a) * _signed24(b), "i32: u32 u32", VOP2),
    "v_mul_hi_u32_u24": elementwise(lambda a, b: _mul_high(a & _M24, b & _M24), _UU, VOP2),
    "v_mad_u32_u24": _sum(lambda a, b, c: (a & _M24) * (b & _M24) + c, _UUU, VOP3),
    "v_mad_i32_i24": elementwise(lambda a, b, c: _signed24(a) * _signed24(b) + _arith(c), "i32: u32 u32 u32", VOP3),
    "v_mad_u16": elementwise(lambda a, b, c: a * b + c, "u16: u16 u16 u16", VOP3, keep_high=True),
    "v_mad_legacy_u16": elementwise(lambda a, b, c: a * b + c, "u16: u16 u16 u16", VOP3),
    "v_mad_u32_u16": elementwise(lambda a, b, c: a.astype(np.uint32) * b + c, "u32: u16 u16 u32", VOP3),
    "v_mad_u64_u32": Rule(VOP3, "vector int", _mad64(False), outputs=2, shadow="carry"),
    "v_mad_i64_i32": Rule(VOP3, "vector int", _mad64(True), outputs=2, shadow="carry"),
    "v_min_u32": elementwise(np.minimum, _UU, VOP2),
    "v_max_u32": elementwise(np.maximum, _UU, VOP2),
    "v_min_i32": elementwise(np.minimum, _II, VOP2),
    "v_max_i32": elementwise(np.maximum, _II, VOP2),
    "v_min_u16": elementwise(np.minimum, _HH, VOP2),
    "v_max_u16": elementwise(np.maximum, _HH, VOP2),
    "v_min_i16": elementwise(np.minimum, _JJ, VOP2),
    "v_max_i16": elementwise(np.maximum, _JJ, VOP2),
    "v_min3_u32": elementwise(lambda a, b, c: np.minimum(np.minimum(a, b), c), _UUU, VOP3),
    "v_max3_u32": elementwise(lambda a, b, c: np.maximum(np.maximum(a, b), c), _UUU, VOP3),
    "v_min3_i32": elementwise(lambda a, b, c: np.minimum(np.minimum(a, b), c), "i32: i32 i32 i32", VOP3),
    "v_max3_i32": elementwise(lambda a, b, c: np.maximum(np.maximum(a, b), c), "i32: i32 i32 i32", VOP3),
    "v_med3_i32": elementwise(
        lambda a, b, c: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)), "i32: i32 i32 i32", VOP3
    ),
    "v_med3_u32": elementwise(
        lambda a, b, c: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)), _UUU, VOP3
    ),
    **{
        f"v_maxmin_{k}": elementwise(lambda a, b, c: np.minimum(np.maximum(a, b), c), f"{k}: {k} {k} {k}", _RDNA3)
        for k in ("u32", "i32")
    },
    **{
        f"v_minmax_{k}": elementwise(lambda a, b, c: np.maximum(np.minimum(a, b), c), f"{k}: {k} {k} {k}", _RDNA3)
        for k in ("u32", "i32")
    },
    "v_sad_u32": elementwise(lambda a, b, c: np.where(a > b, a - b, b - a) + c, _UUU, VOP3),
    "v_cndmask_b32": Rule(VOP2, "vector int", _cndmask, shadow="bits"),
    "v_cndmask_b16": Rule(_RDNA3, "vector int", _cndmask16, shadow="bits"),
}

# RDNA names of the same operations (RDNA3 ISA guide, VOP1 to VOP3 instructions).
ALIASES: Mapping[str, str] = {
    "v_add_nc_u32": "v_add_u32", "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32",
    "v_add_nc_u16": "v_add_u16", "v_sub_nc_u16": "v_sub_u16", "v_add_nc_i32": "v_add_i32", "v_sub_nc_i32": "v_sub_i32",
    "v_add_nc_i16": "v_add_i16", "v_sub_nc_i16": "v_sub_i16",
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32", "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_cls_i32": "v_ffbh_i32", "v_ctz_i32_b32": "v_ffbl_b32",
}  # fmt: skip

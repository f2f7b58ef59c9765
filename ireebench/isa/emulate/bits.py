"""Integer operations on bits and bytes of 32-bit values, on whole arrays.

Reference: AMD CDNA3 ISA guide, pseudocode of VOP1, VOP2 and VOP3 instructions.
"""

from __future__ import annotations

import numpy as np

from ireebench.isa.emulate.rules import Function
from ireebench.isa.emulate.waves import Array

_5 = np.uint32(31)
_1 = np.uint32(1)


def wide(a: Array) -> Array:
    """As uint64."""
    return a.astype(np.uint64)


def signed_wide(a: Array) -> Array:
    """As int64."""
    return a.astype(np.int64)


def bit_field(a: Array, offset: Array, width: Array) -> Array:
    """V_BFE_U32: `width` bits of a from `offset`."""
    mask = ((np.uint64(1) << wide(width & _5)) - np.uint64(1)).astype(np.uint32)
    return np.asarray((a >> (offset & _5)) & mask)


def signed_bit_field(a: Array, offset: Array, width: Array) -> Array:
    """V_BFE_I32: as V_BFE_U32, sign-extended from the field's top bit."""
    size = width & _5
    field = signed_wide(bit_field(a, offset, width))
    top = np.int64(1) << signed_wide(np.where(size == 0, _1, size) - _1)
    value = np.where((field & top) != 0, field - (top << np.int64(1)), field)
    return np.where(size == 0, np.int64(0), value).astype(np.uint32)


def permute_bytes(a: Array, b: Array, select: Array) -> Array:
    """V_PERM_B32: each byte of `select` picks one of the 8 bytes of {a, b}, a sign, 0x00 or 0xff."""
    a, b, select = np.broadcast_arrays(a, b, select)
    both = (wide(a) << np.uint64(32)) | wide(b)
    out = np.zeros(a.shape, np.uint32)
    for i in range(4):
        s = (select >> np.uint32(8 * i)) & np.uint32(0xFF)
        byte = (both >> (wide(s & np.uint32(7)) * np.uint64(8))) & np.uint64(0xFF)
        if int(s.max()) > 7:
            # 8..11: the sign of bytes 1, 3, 5, 7, spread over a byte.
            sign_at = (np.clip(s, 8, 11) - np.uint32(8)) * np.uint32(16) + np.uint32(15)
            sign = ((both >> wide(sign_at)) & np.uint64(1)) * np.uint64(0xFF)
            byte = np.where(s < 8, byte, np.where(s < 12, sign, np.where(s == 12, np.uint64(0), np.uint64(0xFF))))
        out |= (byte.astype(np.uint32)) << np.uint32(8 * i)
    return out


def constant_permute(select: int) -> Function | None:
    """V_PERM_B32 with the common constant selectors, as shifts and masks: it is in every bf16 loop."""
    picks = [(select >> (8 * i)) & 0xFF for i in range(4)]
    if any(p > 7 for p in picks):
        return None

    def permute(a: Array, b: Array) -> Array:
        out: Array | None = None
        done = 0
        while done < 4:
            # A run of consecutive bytes of one source moves with one shift.
            first, n = picks[done], 1
            while done + n < 4 and picks[done + n] == first + n and (first + n) // 4 == first // 4:
                n += 1
            word = a if first >= 4 else b
            shift = 8 * (done - first % 4)
            moved = word << np.uint32(shift) if shift >= 0 else word >> np.uint32(-shift)
            part = moved & np.uint32((((1 << (8 * n)) - 1) << (8 * done)) & 0xFFFFFFFF)
            out = part if out is None else out | part
            done += n
        assert out is not None
        return out

    return permute


def bit_count(a: Array, b: Array) -> Array:
    """V_BCNT_U32_B32: the bits that are set in a, plus b."""
    return np.bitwise_count(a).astype(np.uint32) + b


def find_first_set(a: Array) -> Array:
    """V_FFBL_B32: the place of the lowest set bit; all ones for 0."""
    lowest = a & (~a + _1)
    return np.where(a == 0, np.uint32(0xFFFFFFFF), np.bitwise_count(lowest - _1).astype(np.uint32))


def find_high(a: Array) -> Array:
    """Zeros above the highest set bit; all ones for 0 (V_FFBH_U32)."""
    smeared = a | (a >> np.uint32(1))
    for n in (2, 4, 8, 16):
        smeared = smeared | (smeared >> np.uint32(n))
    return np.where(a == 0, np.uint32(0xFFFFFFFF), np.uint32(32) - np.bitwise_count(smeared).astype(np.uint32))


def find_high_signed(a: Array) -> Array:
    """V_FFBH_I32: bits equal to the sign, above the first that differs; all ones for 0 and -1."""
    folded = np.where(a < 0, ~a, a).astype(np.uint32)
    return np.where(folded == 0, np.uint32(0xFFFFFFFF), find_high(folded))


def reverse_bits(a: Array) -> Array:
    """V_BFREV_B32."""
    for n, m in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        mask, shift = np.uint32(m), np.uint32(n)
        a = ((a >> shift) & mask) | ((a & mask) << shift)
    return a


def align_bit(a: Array, b: Array, c: Array) -> Array:
    """V_ALIGNBIT_B32: 32 bits of {a, b} from bit c."""
    return (((wide(a) << np.uint64(32)) | wide(b)) >> wide(c & _5)).astype(np.uint32)


def align_byte(a: Array, b: Array, c: Array) -> Array:
    """V_ALIGNBYTE_B32: 32 bits of {a, b} from byte c."""
    return (((wide(a) << np.uint64(32)) | wide(b)) >> (wide(c & np.uint32(3)) * np.uint64(8))).astype(np.uint32)

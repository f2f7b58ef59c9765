"""IEEE arithmetic that NumPy lacks: fused multiply-add with one rounding, minimum and maximum, classes, conversions.

Each function works on whole arrays. References: IEEE 754-2019; AMD CDNA3 ISA guide (pseudocode of the instructions).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ireebench.isa.emulate.waves import Array

_ONE = np.uint64(1)


def _round_to_odd(total: Array, error: Array) -> Array:
    """The sum total + error in float64, rounded to odd: a later rounding to float32 is then a single one.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
    """
    bits = total.view(np.uint64)
    inexact = (error != 0) & np.isfinite(total) & np.isfinite(error) & ((bits & _ONE) == 0)
    if not inexact.any():
        return total
    away = (error > 0) == (total > 0)
    step = np.where(away, bits + _ONE, bits - _ONE)
    return np.where(inexact, step, bits).view(np.float64)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a * b + c on float32 with one rounding: the product is exact in float64, the sum is rounded to odd first."""
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, np.float64)
    product, addend = np.broadcast_arrays(product, addend)
    total = product + addend
    # TwoSum (Knuth): the exact error of the addition.
    part = total - product
    error = (product - (total - part)) + (addend - part)
    return _round_to_odd(np.ascontiguousarray(total), error).astype(np.float32)


def fma16(a: Array, b: Array, c: Array) -> Array:
    """a * b + c on float16 with one rounding: float64 holds product and sum exactly enough.

    The product has 22 bits and the sum spans at most 22 + 40 binades; what float64 drops is kept as an odd last bit.
    """
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, np.float64)
    product, addend = np.broadcast_arrays(product, addend)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    return _round_to_odd(np.ascontiguousarray(total), error).astype(np.float16)


def _signalling(a: Array) -> Array:
    """Which elements are signalling NaNs."""
    kind, mantissa = a.dtype, np.finfo(a.dtype).nmant
    bits = a.view(f"u{kind.itemsize}")
    quiet = bits.dtype.type(1 << (mantissa - 1))
    return np.asarray(np.isnan(a) & ((bits & quiet) == 0))


def _quiet(a: Array) -> Array:
    bits = a.view(f"u{a.dtype.itemsize}")
    return np.asarray((bits | bits.dtype.type(1 << (np.finfo(a.dtype).nmant - 1))).view(a.dtype))


def _extremum(a: Array, b: Array, first: Array, ieee: bool) -> Array:
    """The rules of V_MAX and V_MIN: `first` says where a wins between numbers."""
    a, b = np.broadcast_arrays(a, b)
    value = np.where(first, a, b)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    if nan_a.any() or nan_b.any():
        value = np.where(nan_b, a, value)
        value = np.where(nan_a, b, value)
        if ieee:
            a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
            value = np.where(_signalling(b), _quiet(b), value)
            value = np.where(_signalling(a), _quiet(a), value)
    return value


def maximum(a: Array, b: Array, ieee: bool = True) -> Array:
    """V_MAX_F32 / F16: NaN loses, +0 is above -0, signalling NaNs are quietened in IEEE mode."""
    return _extremum(a, b, (a > b) | ((a == b) & ~np.signbit(a)), ieee)


def minimum(a: Array, b: Array, ieee: bool = True) -> Array:
    """V_MIN_F32 / F16: NaN loses, -0 is below +0."""
    return _extremum(a, b, (a < b) | ((a == b) & np.signbit(a)), ieee)


def _propagating(a: Array, b: Array, value: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    value = np.where(np.isnan(b), _quiet(b), value)
    return np.where(np.isnan(a), _quiet(a), value)


def maximum_nan(a: Array, b: Array) -> Array:
    """V_MAXIMUM_F32: IEEE 754-2019 maximum, NaN wins."""
    return _propagating(a, b, maximum(a, b))


def minimum_nan(a: Array, b: Array) -> Array:
    """V_MINIMUM_F32: IEEE 754-2019 minimum, NaN wins."""
    return _propagating(a, b, minimum(a, b))


def median3(a: Array, b: Array, c: Array) -> Array:
    """V_MED3_F32: the middle one; with a NaN, the minimum of the three."""
    middle = maximum(minimum(a, b), minimum(maximum(a, b), c))
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(nan, minimum(minimum(a, b), c), middle)


def class_mask(a: Array, wanted: Array) -> Array:
    """V_CMP_CLASS: whether the class of each element is among the wanted bits (0 sNaN ... 9 +infinity)."""
    a = np.ascontiguousarray(a)
    info = np.finfo(a.dtype)
    negative, zero, tiny = np.signbit(a), a == 0, np.abs(a) < info.smallest_normal
    positive_bit = np.select([np.isinf(a), zero, tiny], [9, 6, 7], 8)
    negative_bit = np.select([np.isinf(a), zero, tiny], [2, 5, 4], 3)
    number = np.where(negative, negative_bit, positive_bit)
    number = np.where(np.isnan(a), np.where(_signalling(a), 0, 1), number)
    return np.asarray(((wanted >> number.astype(np.uint32)) & np.uint32(1)) != 0)


def to_int(a: Array, low: int, high: int, kind: type[np.generic]) -> Array:
    """Truncates towards zero and saturates; NaN gives 0 (V_CVT_I32_F32 and its kin)."""
    wide = np.trunc(np.asarray(a, np.float64))
    clipped = np.clip(np.where(np.isnan(wide), 0.0, wide), float(low), float(high))
    return clipped.astype(np.int64).astype(kind)


def toward_zero16(a: Array) -> Array:
    """float32 to float16, rounded towards zero (V_CVT_PKRTZ_F16_F32); overflow gives the largest finite number."""
    near = a.astype(np.float16)
    too_big = np.abs(near.astype(np.float32)) > np.abs(a)
    bits = near.view(np.uint16)
    return np.where(too_big & ~np.isnan(a), bits - np.uint16(1), bits).view(np.float16)


def bfloat16_bits(a: Array) -> Array:
    """float32 to bfloat16 bits, nearest even; NaN stays NaN (V_CVT_PK_BF16_F32)."""
    bits = np.ascontiguousarray(a).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(a), quiet, rounded).astype(np.uint16)


def ldexp(a: Array, power: Array) -> Array:
    """a * 2**power with one rounding, in a's own type."""
    exponent = np.clip(power.astype(np.int32), -2000, 2000)
    return np.ldexp(a.astype(np.float64), exponent).astype(a.dtype)


def exponent(a: Array) -> Array:
    """The biased exponent of float32 as int32."""
    bits: Any = np.ascontiguousarray(a).view(np.uint32)
    return np.asarray(((bits >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int32))

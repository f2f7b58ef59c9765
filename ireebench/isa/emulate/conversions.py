"""Conversions between number formats, rounded to nearest even as the descriptor's float mode says.

References: AMD CDNA3 ISA guide, VOP1 and VOP3A instructions; CDNA4 ISA guide for bf16. Float to integer truncates and
saturates, NaN gives 0. Packed results put the first source in the lower half.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ireebench.isa.emulate import floats
from ireebench.isa.emulate.rules import Function, Rule, elementwise
from ireebench.isa.emulate.waves import Array

VOP1, VOP3 = "CDNA3 ISA, VOP1", "CDNA3 ISA, VOP3A"
_I32, _U32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
_I16, _U16 = (-(2**15), 2**15 - 1), (0, 2**16 - 1)


def _convert(fn: Function, types: str, section: str = VOP1) -> Rule:
    return elementwise(fn, types, section, "conversion")


def _cast(kind: type[np.generic]) -> Function:
    return lambda a: a.astype(kind)


def _to_int(limits: tuple[int, int], kind: type[np.generic]) -> Function:
    return lambda a: floats.to_int(a, *limits, kind)


def _byte(n: int) -> Function:
    return lambda a: ((a >> np.uint32(8 * n)) & np.uint32(0xFF)).astype(np.float32)


def _pack(low: Array, high: Array) -> Array:
    """Two 16-bit arrays as one of uint32."""
    return low.view(np.uint16).astype(np.uint32) | (high.view(np.uint16).astype(np.uint32) << np.uint32(16))


def _normalised(low: float, high: float, scale: float, kind: type[np.generic]) -> Function:
    def one(a: Array) -> Array:
        value = np.rint(np.clip(a.astype(np.float64), low, high) * scale)
        return np.where(np.isnan(value), 0, value).astype(np.int64).astype(kind)

    return lambda a, b: _pack(one(a), one(b))


def _saturated(limits: tuple[int, int], kind: type[np.generic]) -> Function:
    return lambda a, b: _pack(np.clip(a, *limits).astype(kind), np.clip(b, *limits).astype(kind))


RULES: Mapping[str, Rule] = {
    "v_cvt_f32_i32": _convert(_cast(np.float32), "f32: i32"),
    "v_cvt_f32_u32": _convert(_cast(np.float32), "f32: u32"),
    "v_cvt_i32_f32": _convert(_to_int(_I32, np.int32), "i32: f32"),
    "v_cvt_u32_f32": _convert(_to_int(_U32, np.uint32), "u32: f32"),
    "v_cvt_rpi_i32_f32": _convert(lambda a: floats.to_int(np.floor(a + np.float32(0.5)), *_I32, np.int32), "i32: f32"),
    "v_cvt_flr_i32_f32": _convert(lambda a: floats.to_int(np.floor(a), *_I32, np.int32), "i32: f32"),
    "v_cvt_f16_f32": _convert(_cast(np.float16), "f16: f32"),
    "v_cvt_f32_f16": _convert(_cast(np.float32), "f32: f16"),
    "v_cvt_f16_u16": _convert(_cast(np.float16), "f16: u16"),
    "v_cvt_f16_i16": _convert(_cast(np.float16), "f16: i16"),
    "v_cvt_u16_f16": _convert(_to_int(_U16, np.uint16), "u16: f16"),
    "v_cvt_i16_f16": _convert(_to_int(_I16, np.int16), "i16: f16"),
    "v_cvt_i32_i16": _convert(_cast(np.int32), "i32: i16", "RDNA3 ISA, VOP1"),
    "v_cvt_u32_u16": _convert(_cast(np.uint32), "u32: u16", "RDNA3 ISA, VOP1"),
    "v_cvt_f64_f32": _convert(_cast(np.float64), "f64: f32"),
    "v_cvt_f32_f64": _convert(_cast(np.float32), "f32: f64"),
    "v_cvt_f64_i32": _convert(_cast(np.float64), "f64: i32"),
    "v_cvt_f64_u32": _convert(_cast(np.float64), "f64: u32"),
    "v_cvt_i32_f64": _convert(_to_int(_I32, np.int32), "i32: f64"),
    "v_cvt_u32_f64": _convert(_to_int(_U32, np.uint32), "u32: f64"),
    "v_cvt_f32_ubyte0": _convert(_byte(0), "f32: u32"),
    "v_cvt_f32_ubyte1": _convert(_byte(1), "f32: u32"),
    "v_cvt_f32_ubyte2": _convert(_byte(2), "f32: u32"),
    "v_cvt_f32_ubyte3": _convert(_byte(3), "f32: u32"),
    "v_cvt_f32_bf16": _convert(
        lambda a: (a.astype(np.uint32) << np.uint32(16)).view(np.float32), "f32: u16", "CDNA4 ISA, VOP1"
    ),
    "v_cvt_pkrtz_f16_f32": _convert(
        lambda a, b: _pack(floats.toward_zero16(a), floats.toward_zero16(b)), "u32: f32 f32", "CDNA3 ISA, VOP2"
    ),
    "v_cvt_pk_f16_f32": _convert(
        lambda a, b: _pack(a.astype(np.float16), b.astype(np.float16)), "u32: f32 f32", "CDNA4 ISA, VOP3A"
    ),
    "v_cvt_pk_bf16_f32": _convert(
        lambda a, b: _pack(floats.bfloat16_bits(a), floats.bfloat16_bits(b)), "u32: f32 f32", "CDNA4 ISA, VOP3A"
    ),
    "v_cvt_pknorm_i16_f32": _convert(_normalised(-1.0, 1.0, 32767.0, np.int16), "u32: f32 f32", VOP3),
    "v_cvt_pknorm_u16_f32": _convert(_normalised(0.0, 1.0, 65535.0, np.uint16), "u32: f32 f32", VOP3),
    "v_cvt_pk_u16_u32": _convert(_saturated(_U16, np.uint16), "u32: u32 u32", VOP3),
    "v_cvt_pk_i16_i32": _convert(_saturated(_I16, np.int16), "u32: i32 i32", VOP3),
    "v_pack_b32_f16": elementwise(_pack, "u32: u16 u16", VOP3, "conversion", shadow="bits"),
}

ALIASES: Mapping[str, str] = {
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32",
    "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32",
}

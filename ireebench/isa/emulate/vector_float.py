"""Vector float instructions in f16, f32 and f64.

References: AMD CDNA3 ISA guide, "Input modifiers", "Output modifiers", and the pseudocode of VOP1, VOP2 and VOP3
instructions. Approximate instructions (reciprocal, square root, exponential, logarithm, sine) are correctly rounded
here where the hardware is within 1 ulp: docs/emulator.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate import floats
from ireebench.isa.emulate.operands import VCC
from ireebench.isa.emulate.rules import Decode, Function, Rule, Run, elementwise, result, source
from ireebench.isa.emulate.waves import Array, Waves

VOP1, VOP2, VOP3 = "CDNA3 ISA, VOP1", "CDNA3 ISA, VOP2", "CDNA3 ISA, VOP3A"
RDNA3 = "RDNA3 ISA, VOP3"
F = "vector float"
Fn3 = Callable[[Array, Array, bool], Array]


def _float(fn: Function, types: str, section: str = VOP3, accumulate: bool = False) -> Rule:
    return elementwise(fn, types, section, F, accumulate=accumulate)


def _accurate(fn: Function) -> Function:
    """Computes in float64 and rounds once."""

    def rounded(a: Array) -> Array:
        value: Array = fn(a.astype(np.float64))
        return value.astype(a.dtype)

    return rounded


def _extremum(fn: Callable[[Array, Array, bool], Array], types: str) -> Rule:
    def build(d: Decode) -> Run:
        ieee = d.mode.ieee
        return elementwise(lambda a, b: fn(a, b, ieee), types, VOP2, F).build(d)

    return Rule(VOP2, F, build)


def _extremum3(fn: Callable[[Array, Array, bool], Array], types: str) -> Rule:
    def build(d: Decode) -> Run:
        ieee = d.mode.ieee
        return elementwise(lambda a, b, c: fn(fn(a, b, ieee), c, ieee), types, VOP3, F).build(d)

    return Rule(VOP3, F, build)


def _clamped(outer: Fn3, inner: Fn3, types: str) -> Rule:
    """V_MAXMIN, V_MINMAX: outer(inner(a, b), c)."""

    def build(d: Decode) -> Run:
        ieee = d.mode.ieee
        return elementwise(lambda a, b, c: outer(inner(a, b, ieee), c, ieee), types, RDNA3, F).build(d)

    return Rule(RDNA3, F, build)


def _fma(section: str, kind: str, accumulate: bool = False) -> Rule:
    fused = floats.fma32 if kind == "f32" else floats.fma16

    # V_FMA_F16 came with gfx9 and keeps the upper half of its register (LLVM: zeroesHigh16BitsOfDest).
    return elementwise(
        fused,
        f"{kind}: {kind} {kind} {kind}",
        section,
        F,
        accumulate=accumulate,
        keep_high=kind == "f16" and not accumulate,
    )


def _fract(a: Array) -> Array:
    below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    return np.asarray(np.minimum(a - np.floor(a), below_one))


def _frexp_mantissa(a: Array) -> Array:
    mantissa, _ = np.frexp(a)
    return np.where(np.isfinite(a), mantissa, a)


def _frexp_exponent(a: Array) -> Array:
    _, power = np.frexp(a)
    return np.where(np.isfinite(a), power, 0).astype(np.int32)


def _turn(fn: Function) -> Function:
    """V_SIN and V_COS take their argument in turns."""
    return lambda a: fn(a * (2 * np.pi))


def _div_fixup(a: Array, b: Array, c: Array) -> Array:
    """V_DIV_FIXUP: the quotient `a` of c / b, with the special cases of IEEE put right."""
    a, b, c = np.broadcast_arrays(a, b, c)
    kind = a.dtype.type
    negative = np.signbit(b) ^ np.signbit(c)
    nan, inf = kind(-np.nan), kind(np.inf)
    zero_b, zero_c, inf_b, inf_c = b == 0, c == 0, np.isinf(b), np.isinf(c)
    value = np.abs(a)
    value = np.where(inf_b | zero_c, kind(0), value)
    value = np.where(zero_b | inf_c, inf, value)
    value = np.where(negative, -value, value)
    value = np.where((zero_b & zero_c) | (inf_b & inf_c), nan, value)
    value = np.where(np.isnan(b), b, value)
    return np.where(np.isnan(c), c, value)


def _div_scale(d: Decode) -> Run:
    """V_DIV_SCALE_F32: scales the numerator or denominator of s2 / s1, and says in VCC that V_DIV_FMAS must undo it."""
    s0, s1, s2 = (source(d, o, "f32") for o in d.operands[2:5])
    store, slot = result(d, d.operands[0], "f32"), d.scalar(1)
    smallest = float(np.finfo(np.float32).smallest_normal)
    smallest64 = float(np.finfo(np.float64).smallest_normal)

    def run(g: Waves) -> None:
        a, b, c = np.broadcast_arrays(s0(g), s1(g), s2(g), g.exec_mask)[:3]
        up, down = floats.ldexp(a, np.array([[64]])), floats.ldexp(a, np.array([[-64]]))
        wide_b, wide_c = b.astype(np.float64), c.astype(np.float64)
        reciprocal, quotient = np.abs(1.0 / wide_b), np.abs(wide_c / wide_b)
        far = floats.exponent(c) - floats.exponent(b) >= 96
        tiny_b = (np.abs(b) < smallest) & (b != 0)
        tiny_r = (reciprocal < smallest64) & (reciprocal != 0)
        tiny_q = (quotient < smallest) & (quotient != 0)
        is_b, is_c = a == b, a == c
        zero = (b == 0) | (c == 0)
        small_c = floats.exponent(c) <= 23
        conditions = [zero, far & is_b, far, tiny_b, tiny_r & tiny_q & is_b, tiny_r & tiny_q, tiny_r, tiny_q & is_c]
        values = [np.full_like(a, np.nan), up, a, up, up, a, down, up]
        value = np.select([*conditions, tiny_q, small_c], [*values, a, up], a)
        flag = np.select(
            [zero, far, tiny_b, tiny_r & tiny_q, tiny_r, tiny_q], [False, True, False, True, False, True], False
        )
        store(g, value)
        g.write_mask(slot, flag & g.exec_mask)

    return run


def _div_fmas(d: Decode) -> Run:
    a, b, c = (source(d, o, "f32") for o in d.operands[1:4])
    store = result(d, d.operands[0], "f32")

    def run(g: Waves) -> None:
        value = floats.fma32(a(g), b(g), c(g))
        store(g, np.where(g.read_mask(VCC), value * np.float32(2.0**32), value))

    return run


def _mix(kind: str) -> Callable[[Decode], Run]:
    """V_FMA_MIX: each source is f32, or the chosen half as f16 (CDNA3 ISA guide, VOP3P instructions)."""

    def build(d: Decode) -> Run:
        import dataclasses

        halves, is16 = d.bits("op_sel", (0, 0, 0)), d.bits("op_sel_hi", (0, 0, 0))
        low, _ = d.bits("neg_lo", (0, 0, 0)), d.bits("neg_hi", (0, 0, 0))
        if any(low):
            raise d.unsupported("neg_lo")
        getters = [
            source(d, dataclasses.replace(o, half=bool(h)), "f16" if s else "f32")
            for o, h, s in zip(d.operands[1:4], halves, is16, strict=True)
        ]
        high = kind == "hi"
        out = dataclasses.replace(d.operands[0], half=high)
        store = result(d, out, "f32" if kind == "f32" else "f16", keep_high=True)

        def run(g: Waves) -> None:
            x, y, z = (get(g).astype(np.float32) for get in getters)
            value = floats.fma32(x, y, z)
            store(g, value if kind == "f32" else value.astype(np.float16))

        return run

    return build


def _legacy_mul(a: Array, b: Array) -> Array:
    return np.where((a == 0) | (b == 0), np.float32(0), a * b)


def _types(n: int, kind: str) -> str:
    return f"{kind}: " + " ".join([kind] * n)


def _common(kind: str) -> dict[str, Rule]:
    """Rules that f16 and f32 share."""
    one, two = _types(1, kind), _types(2, kind)
    power = "i32" if kind == "f32" else "i16"
    return {
        f"v_add_{kind}": _float(np.add, two, VOP2),
        f"v_sub_{kind}": _float(np.subtract, two, VOP2),
        f"v_subrev_{kind}": _float(lambda a, b: b - a, two, VOP2),
        f"v_mul_{kind}": _float(np.multiply, two, VOP2),
        f"v_max_{kind}": _extremum(floats.maximum, two),
        f"v_min_{kind}": _extremum(floats.minimum, two),
        f"v_max3_{kind}": _extremum3(floats.maximum, _types(3, kind)),
        f"v_min3_{kind}": _extremum3(floats.minimum, _types(3, kind)),
        f"v_maximum_{kind}": _float(floats.maximum_nan, two, "RDNA4 ISA, VOP3"),
        f"v_minimum_{kind}": _float(floats.minimum_nan, two, "RDNA4 ISA, VOP3"),
        f"v_maximum3_{kind}": _float(
            lambda a, b, c: floats.maximum_nan(floats.maximum_nan(a, b), c), _types(3, kind), "CDNA4 ISA, VOP3A"
        ),
        f"v_minimum3_{kind}": _float(
            lambda a, b, c: floats.minimum_nan(floats.minimum_nan(a, b), c), _types(3, kind), "CDNA4 ISA, VOP3A"
        ),
        f"v_maxmin_{kind}": _clamped(floats.minimum, floats.maximum, _types(3, kind)),
        f"v_minmax_{kind}": _clamped(floats.maximum, floats.minimum, _types(3, kind)),
        f"v_med3_{kind}": _float(floats.median3, _types(3, kind)),
        f"v_fma_{kind}": _fma(VOP3, kind),
        f"v_fmac_{kind}": _fma(VOP2, kind, accumulate=True),
        f"v_fmaak_{kind}": _fma(VOP2, kind),
        f"v_fmamk_{kind}": _fma(VOP2, kind),
        f"v_floor_{kind}": _float(np.floor, one, VOP1),
        f"v_ceil_{kind}": _float(np.ceil, one, VOP1),
        f"v_trunc_{kind}": _float(np.trunc, one, VOP1),
        f"v_rndne_{kind}": _float(np.rint, one, VOP1),
        f"v_fract_{kind}": _float(_fract, one, VOP1),
        f"v_rcp_{kind}": _float(_accurate(lambda a: 1.0 / a), one, VOP1),
        f"v_rsq_{kind}": _float(_accurate(lambda a: 1.0 / np.sqrt(a)), one, VOP1),
        f"v_sqrt_{kind}": _float(_accurate(np.sqrt), one, VOP1),
        f"v_exp_{kind}": _float(_accurate(np.exp2), one, VOP1),
        f"v_log_{kind}": _float(_accurate(np.log2), one, VOP1),
        f"v_sin_{kind}": _float(_accurate(_turn(np.sin)), one, VOP1),
        f"v_cos_{kind}": _float(_accurate(_turn(np.cos)), one, VOP1),
        f"v_ldexp_{kind}": _float(floats.ldexp, f"{kind}: {kind} {power}"),
        f"v_frexp_mant_{kind}": _float(_frexp_mantissa, one, VOP1),
        f"v_div_fixup_{kind}": _float(_div_fixup, _types(3, kind)),
    }


RULES: Mapping[str, Rule] = {
    **_common("f32"),
    **_common("f16"),
    "v_rcp_iflag_f32": _float(_accurate(lambda a: 1.0 / a), "f32: f32", VOP1),
    "v_mul_legacy_f32": _float(_legacy_mul, "f32: f32 f32", VOP2),
    "v_frexp_exp_i32_f32": _float(_frexp_exponent, "i32: f32", VOP1),
    "v_frexp_exp_i16_f16": _float(lambda a: _frexp_exponent(a).astype(np.int16), "i16: f16", VOP1),
    "v_div_scale_f32": Rule("CDNA3 ISA, VOP3B", F, _div_scale, outputs=2),
    "v_div_fmas_f32": Rule(VOP3, F, _div_fmas, implicit_reads=(VCC, VCC + 1)),
    "v_fma_mix_f32": Rule("CDNA3 ISA, VOP3P", F, _mix("f32")),
    "v_fma_mixlo_f16": Rule("CDNA3 ISA, VOP3P", F, _mix("lo"), reads_output=True),
    "v_fma_mixhi_f16": Rule("CDNA3 ISA, VOP3P", F, _mix("hi"), reads_output=True),
    "v_add_f64": _float(np.add, "f64: f64 f64"),
    "v_mul_f64": _float(np.multiply, "f64: f64 f64"),
    "v_max_f64": _extremum(floats.maximum, "f64: f64 f64"),
    "v_min_f64": _extremum(floats.minimum, "f64: f64 f64"),
    "v_rndne_f64": _float(np.rint, "f64: f64", VOP1),
    "v_floor_f64": _float(np.floor, "f64: f64", VOP1),
    "v_ceil_f64": _float(np.ceil, "f64: f64", VOP1),
    "v_trunc_f64": _float(np.trunc, "f64: f64", VOP1),
    "v_ldexp_f64": _float(floats.ldexp, "f64: f64 i32"),
}

ALIASES: Mapping[str, str] = {
    "v_max_num_f32": "v_max_f32", "v_min_num_f32": "v_min_f32", "v_max_num_f16": "v_max_f16",
    "v_min_num_f16": "v_min_f16", "v_max3_num_f32": "v_max3_f32", "v_min3_num_f32": "v_min3_f32",
    "v_med3_num_f32": "v_med3_f32",
}  # fmt: skip

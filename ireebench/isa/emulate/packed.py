"""Packed instructions (two 16-bit or two 32-bit values at once) and dot products.

References: AMD CDNA3 ISA guide, "Packed math" and VOP3P instructions. op_sel picks the half for the lower result,
op_sel_hi for the upper; neg_lo and neg_hi negate. The 32-bit forms (V_PK_FMA_F32) pick whole registers of a pair the
same way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate import floats
from ireebench.isa.emulate.operands import Kind, Operand
from ireebench.isa.emulate.rules import Decode, Function, Getter, Rule, Run, source
from ireebench.isa.emulate.waves import Array, Waves

SECTION = "CDNA3 ISA, VOP3P"


def _half(d: Decode, operand: Operand, dtype: str, high: bool, negate: bool) -> Getter:
    """One half of a packed 16-bit source. A constant is the same for both halves unless it has 32 bits."""
    if operand.kind in (Kind.CONST, Kind.FLOAT):
        wide = operand.kind is Kind.CONST and not -32768 <= operand.value <= 65535
        bits = int(operand.value) >> 16 if wide and high else operand.value
        operand = dataclasses.replace(operand, value=bits)
        if operand.kind is Kind.CONST and -16 <= operand.value <= 64 and high and dtype == "f16":
            # An inline integer is a 32-bit value whose upper half is its sign.
            operand = dataclasses.replace(operand, value=-1 if operand.value < 0 else 0)
    else:
        operand = dataclasses.replace(operand, half=high)
    if negate:
        operand = dataclasses.replace(operand, neg=not operand.neg)
    return source(d, operand, dtype)


def _pk16(fn: Function, dtype: str, n: int) -> Rule:
    def build(d: Decode) -> Run:
        ones, zeros = (1,) * n, (0,) * n
        low, high = d.bits("op_sel", zeros), d.bits("op_sel_hi", ones)
        neg_low, neg_high = d.bits("neg_lo", zeros), d.bits("neg_hi", zeros)
        clamp = d.flag("clamp")
        if clamp and dtype != "f16":
            raise d.unsupported("clamp of an integer")
        sources = d.operands[1 : n + 1]
        if len(d.operands) != n + 1:
            raise d.unsupported(f"{len(d.operands)} operands")
        lows = [_half(d, o, dtype, bool(low[i]), bool(neg_low[i])) for i, o in enumerate(sources)]
        highs = [_half(d, o, dtype, bool(high[i]), bool(neg_high[i])) for i, o in enumerate(sources)]
        i = d.vector(0)

        def half(g: Waves, getters: list[Getter]) -> Array:
            value = np.asarray(fn(*(get(g) for get in getters)))
            return np.clip(value, value.dtype.type(0), value.dtype.type(1)) if clamp else value

        def run(g: Waves) -> None:
            a = half(g, lows).view(np.uint16).astype(np.uint32)
            b = half(g, highs).view(np.uint16).astype(np.uint32)
            g.put(i, a | (b << np.uint32(16)))

        return run

    return Rule(SECTION, "packed", build)


def _word(d: Decode, operand: Operand, high: bool, negate: bool) -> Getter:
    """One register of a packed 32-bit source. The other one is not read: it may hold anything."""
    if operand.kind in (Kind.VGPR, Kind.SGPR):
        operand = dataclasses.replace(operand, index=operand.index + int(high), count=1)
        d.reads = (d.reads or frozenset()) | operand.registers
    if negate:
        operand = dataclasses.replace(operand, neg=not operand.neg)
    return source(d, operand, "f32")


def _pk32(fn: Function, n: int) -> Rule:
    def build(d: Decode) -> Run:
        ones, zeros = (1,) * n, (0,) * n
        low, high = d.bits("op_sel", zeros), d.bits("op_sel_hi", ones)
        neg_low, neg_high = d.bits("neg_lo", zeros), d.bits("neg_hi", zeros)
        sources = d.operands[1 : n + 1]
        lows = [_word(d, o, bool(low[i]), bool(neg_low[i])) for i, o in enumerate(sources)]
        highs = [_word(d, o, bool(high[i]), bool(neg_high[i])) for i, o in enumerate(sources)]
        i = d.vector(0)

        def run(g: Waves) -> None:
            # Both results before either is stored: the destination may be a source.
            a = fn(*(get(g) for get in lows))
            b = fn(*(get(g) for get in highs))
            g.put_float(i, a)
            g.put_float(i + 1, b)

        return run

    return Rule(SECTION, "packed", build)


def _pk_mov(d: Decode) -> Run:
    low, high = d.bits("op_sel", (0, 0)), d.bits("op_sel_hi", (1, 1))
    first = _word(d, d.operands[1], bool(low[0]), False)
    second = _word(d, d.operands[2], bool(high[1] if "op_sel_hi" in d.instruction.text else low[1]), False)
    i = d.vector(0)

    def run(g: Waves) -> None:
        a, b = first(g).view(np.uint32).copy(), second(g).view(np.uint32).copy()
        g.put(i, a)
        g.put(i + 1, b)

    return run


def _dot2(convert: Callable[[Array], Array], accumulate: bool, kind: str) -> Callable[[Decode], Run]:
    """V_DOT2: the accumulator plus two products, each added with one rounding, in the order of the pseudocode."""

    def build(d: Decode) -> Run:
        operands = [*d.operands, d.operands[0]] if accumulate else list(d.operands)
        low, high = d.bits("op_sel", (0, 0, 0)), d.bits("op_sel_hi", (1, 1, 1))
        neg_low, neg_high = d.bits("neg_lo", (0, 0, 0)), d.bits("neg_hi", (0, 0, 0))
        pairs = [
            tuple(_half(d, operands[n], kind, bool(h[n - 1]), bool(s[n - 1])) for n in (1, 2))
            for h, s in ((low, neg_low), (high, neg_high))
        ]
        if d.flag("clamp"):
            raise d.unsupported("clamp")
        c = source(d, operands[3], "f32")
        i = d.vector(0)

        def run(g: Waves) -> None:
            total = c(g)
            for a, b in pairs:
                total = floats.fma32(convert(a(g)), convert(b(g)), total)
            g.put_float(i, total)

        return run

    return build


def _bf16(a: Array) -> Array:
    return (a.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _dot4(signed: bool, accumulate: bool) -> Callable[[Decode], Run]:
    def build(d: Decode) -> Run:
        operands = [*d.operands, d.operands[0]] if accumulate else list(d.operands)
        for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi"):
            if d.modifiers.get(name) not in (None, "[0,0,0]", "[1,1,1]"):
                raise d.unsupported(name)
            d.modifiers.pop(name, None)
        if d.flag("clamp"):
            raise d.unsupported("clamp")
        a, b, c = (source(d, o, "u32") for o in operands[1:4])
        i = d.vector(0)

        def run(g: Waves) -> None:
            x, y, total = a(g), b(g), c(g)
            for n in range(4):
                p, q = x >> np.uint32(8 * n) & np.uint32(255), y >> np.uint32(8 * n) & np.uint32(255)
                if signed:
                    p, q = ((v.astype(np.uint8).view(np.int8)).astype(np.int32).view(np.uint32) for v in (p, q))
                total = total + p * q
            g.put(i, total)

        return run

    return build


def _min16(a: Array, b: Array) -> Array:
    return floats.minimum(a, b)


def _rule(build: Callable[[Decode], Run], accumulate: bool = False, section: str = SECTION, group: str = "dot") -> Rule:
    return Rule(section, group, build, reads_output=accumulate)


RULES: Mapping[str, Rule] = {
    "v_pk_add_f16": _pk16(np.add, "f16", 2),
    "v_pk_mul_f16": _pk16(np.multiply, "f16", 2),
    "v_pk_fma_f16": _pk16(floats.fma16, "f16", 3),
    "v_pk_max_f16": _pk16(floats.maximum, "f16", 2),
    "v_pk_min_f16": _pk16(_min16, "f16", 2),
    "v_pk_maximum3_f16": _pk16(lambda a, b, c: floats.maximum_nan(floats.maximum_nan(a, b), c), "f16", 3),
    "v_pk_minimum3_f16": _pk16(lambda a, b, c: floats.minimum_nan(floats.minimum_nan(a, b), c), "f16", 3),
    "v_pk_add_u16": _pk16(np.add, "u16", 2),
    "v_pk_add_i16": _pk16(np.add, "u16", 2),
    "v_pk_sub_u16": _pk16(np.subtract, "u16", 2),
    "v_pk_sub_i16": _pk16(np.subtract, "u16", 2),
    "v_pk_mul_lo_u16": _pk16(np.multiply, "u16", 2),
    "v_pk_mad_u16": _pk16(lambda a, b, c: a * b + c, "u16", 3),
    "v_pk_mad_i16": _pk16(lambda a, b, c: a * b + c, "u16", 3),
    "v_pk_max_u16": _pk16(np.maximum, "u16", 2),
    "v_pk_min_u16": _pk16(np.minimum, "u16", 2),
    "v_pk_max_i16": _pk16(np.maximum, "i16", 2),
    "v_pk_min_i16": _pk16(np.minimum, "i16", 2),
    "v_pk_lshlrev_b16": _pk16(lambda a, b: b << (a & np.uint16(15)), "u16", 2),
    "v_pk_lshrrev_b16": _pk16(lambda a, b: b >> (a & np.uint16(15)), "u16", 2),
    "v_pk_ashrrev_i16": _pk16(lambda a, b: b >> (a & np.int16(15)), "i16", 2),
    "v_pk_add_f32": _pk32(np.add, 2),
    "v_pk_mul_f32": _pk32(np.multiply, 2),
    "v_pk_fma_f32": _pk32(floats.fma32, 3),
    "v_pk_mov_b32": Rule(SECTION, "packed", _pk_mov, shadow="bits"),
    "v_dot2_f32_f16": _rule(_dot2(lambda a: a.astype(np.float32), False, "f16")),
    "v_dot2c_f32_f16": _rule(_dot2(lambda a: a.astype(np.float32), True, "f16"), True, "CDNA3 ISA, VOP2"),
    "v_dot2_f32_bf16": _rule(_dot2(_bf16, False, "u16"), section="CDNA4 ISA, VOP3P"),
    "v_dot2c_f32_bf16": _rule(_dot2(_bf16, True, "u16"), True, "CDNA4 ISA, VOP2"),
    "v_dot4_i32_i8": _rule(_dot4(True, False)),
    "v_dot4_u32_u8": _rule(_dot4(False, False)),
    "v_dot4c_i32_i8": _rule(_dot4(True, True), True, "CDNA3 ISA, VOP2"),
}

ALIASES: Mapping[str, str] = {
    "v_dot2acc_f32_f16": "v_dot2c_f32_f16",
}

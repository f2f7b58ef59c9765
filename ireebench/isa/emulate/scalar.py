"""Scalar ALU instructions: one value for each wave.

References: AMD CDNA3 ISA guide, "Scalar ALU operations" and the pseudocode of SOP2, SOPK and SOP1 instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate.operands import EXEC, NULL, SCC, Kind, Operand, constant_bits
from ireebench.isa.emulate.rules import Decode, Function, Rule, Run
from ireebench.isa.emulate.waves import Array, Waves

SOP1, SOP2, SOPK = "CDNA3 ISA, SOP1", "CDNA3 ISA, SOP2", "CDNA3 ISA, SOPK"
S = "scalar"
Scalars = Callable[[Waves], Array]


def scalar_source(d: Decode, operand: Operand, dtype: str) -> Scalars:
    """A function that fetches a scalar operand as [wave] of u32, i32, u64 or i64."""
    kind = np.dtype({"u32": np.uint32, "i32": np.int32, "u64": np.uint64, "i64": np.int64, "f32": np.float32}[dtype])
    i = operand.index
    match operand.kind:
        case Kind.CONST | Kind.FLOAT:
            bits = constant_bits(operand, dtype)
            value = np.full(1, bits, f"u{kind.itemsize}").view(kind)
            return lambda _: value
        case Kind.SGPR:
            if kind.itemsize == 4:
                return (lambda g: g.su[i]) if dtype == "u32" else (lambda g: g.su[i].view(kind))
            if i % 2 or operand.count < 2:
                raise d.unsupported(f"64-bit operand '{operand.text}'")
            return lambda g: g.su64[i // 2].view(kind)
        case Kind.SCC:
            return lambda g: g.scc.astype(kind)
        case _:
            raise d.unsupported(f"operand '{operand.text}'")


def scalar_result(d: Decode, operand: Operand, bits: int) -> Callable[[Waves, Array], None]:
    """A function that stores [wave] in scalar registers, and follows up a change of EXEC."""
    if operand.kind is not Kind.SGPR:
        raise d.unsupported(f"destination '{operand.text}'")
    i = operand.index
    if i == NULL:
        return lambda g, value: None
    to_exec = i in (EXEC, EXEC + 1)

    def store(g: Waves, value: Array) -> None:
        if bits == 64:
            g.su64[i // 2][...] = value
        else:
            g.su[i][...] = value
        if to_exec:
            g.exec_changed()

    return store


def _simple(fn: Function, types: str, scc: str = "keep", section: str = SOP2, accumulate: bool = False) -> Rule:
    """`types` is "result: sources". `scc` is keep, nonzero (of the result), or second (of two results)."""
    out, _, ins = types.partition(":")
    kinds = ins.split()

    def build(d: Decode) -> Run:
        operands = [d.operands[0], *d.operands] if accumulate else d.operands
        if len(operands) != len(kinds) + 1:
            raise d.unsupported(f"{len(operands)} operands")
        getters = [scalar_source(d, o, k) for o, k in zip(operands[1:], kinds, strict=True)]
        store = scalar_result(d, operands[0], 64 if "64" in out else 32)

        def run(g: Waves) -> None:
            value = fn(*(get(g) for get in getters))
            if scc == "second":
                value, flag = value
                store(g, value.view(f"u{value.dtype.itemsize}"))
                g.scc[...] = flag
                return
            value = value.view(f"u{value.dtype.itemsize}")
            if scc == "nonzero":
                g.scc[...] = value != 0
            store(g, value)

        return run

    writes = () if scc == "keep" else (SCC,)
    bitwise = fn in (np.bitwise_and, np.bitwise_or, np.positive)
    return Rule(section, S, build, implicit_writes=writes, reads_output=accumulate, shadow="bits" if bitwise else "any")


def _conditional_move(kind: str) -> Rule:
    def build(d: Decode) -> Run:
        a = scalar_source(d, d.operands[1], kind)
        old = scalar_source(d, d.operands[0], kind)
        store = scalar_result(d, d.operands[0], 64 if "64" in kind else 32)
        return lambda g: store(g, np.where(g.scc, a(g), old(g)))

    return Rule(SOP1, S, build, implicit_reads=(SCC,), reads_output=True)


def _select(kind: str) -> Rule:
    def build(d: Decode) -> Run:
        a, b = (scalar_source(d, o, kind) for o in d.operands[1:])
        store = scalar_result(d, d.operands[0], 64 if "64" in kind else 32)
        return lambda g: store(g, np.where(g.scc, a(g), b(g)))

    return Rule(SOP2, S, build, implicit_reads=(SCC,), shadow="bits")


def _save_exec(fn: Function, bits: int) -> Rule:
    """S_AND_SAVEEXEC and kin: the old EXEC is kept, the new one is fn(source, EXEC), SCC says if any lane is left."""
    kind = f"u{bits}"

    def build(d: Decode) -> Run:
        a = scalar_source(d, d.operands[1], kind)
        store = scalar_result(d, d.operands[0], bits)

        def run(g: Waves) -> None:
            old = (g.su64[EXEC // 2] if bits == 64 else g.su[EXEC]).copy()
            new = fn(a(g), old)
            store(g, old)
            if bits == 64:
                g.su64[EXEC // 2][...] = new
            else:
                g.su[EXEC][...] = new
            g.scc[...] = new != 0
            g.exec_changed()

        return run

    writes = (SCC, EXEC, EXEC + 1)
    return Rule(SOP1, S, build, implicit_writes=writes, implicit_reads=(EXEC, EXEC + 1), sinks=(1,))


def _carry_add(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    return total, total < a


def _carry_sub(a: Array, b: Array) -> tuple[Array, Array]:
    return a - b, b > a


def _with_carry(subtract: bool) -> Rule:
    def build(d: Decode) -> Run:
        a, b = (scalar_source(d, o, "u32") for o in d.operands[1:])
        store = scalar_result(d, d.operands[0], 32)

        def run(g: Waves) -> None:
            x, y = a(g).astype(np.int64), b(g).astype(np.int64)
            total = x - y - g.scc if subtract else x + y + g.scc
            store(g, total.astype(np.uint32))
            g.scc[...] = total < 0 if subtract else total > 0xFFFFFFFF

        return run

    return Rule(SOP2, S, build, implicit_reads=(SCC,), implicit_writes=(SCC,))


def _overflow(subtract: bool) -> Function:
    def fn(a: Array, b: Array) -> tuple[Array, Array]:
        wide = a.astype(np.int64) - b if subtract else a.astype(np.int64) + b
        return wide.astype(np.int32), (wide < -(2**31)) | (wide > 2**31 - 1)

    return fn


def _shift(fn: Function, bits: int) -> Function:
    def shifted(a: Array, b: Array) -> Array:
        return np.asarray(fn(a, (b & np.uint32(bits - 1)).astype(a.dtype)))

    return shifted


def _extract(bits: int) -> Function:
    """S_BFE: offset in bits 4:0 (5:0), width in bits 22:16 of the second source; signed for a signed first source."""

    def fn(a: Array, b: Array) -> Array:
        kind = a.dtype.type
        offset = b & np.uint32(bits - 1)
        width = np.minimum((b >> np.uint32(16)) & np.uint32(0x7F), np.uint32(bits) - offset)
        kept = np.maximum(width, np.uint32(1))
        up, down = np.uint32(bits) - offset - kept, np.uint32(bits) - kept
        field = (a << up.astype(a.dtype)) >> down.astype(a.dtype)
        return np.asarray(np.where(width == 0, kind(0), field))

    return fn


def _first_one(a: Array) -> Array:
    lowest = a & (~a + a.dtype.type(1))
    n = np.bitwise_count(lowest - a.dtype.type(1)).astype(np.uint32)
    return np.where(a == 0, np.uint32(0xFFFFFFFF), n)


def _leading_zeros(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    smeared = a
    n = 1
    while n < bits:
        smeared = smeared | (smeared >> a.dtype.type(n))
        n *= 2
    return np.where(a == 0, np.uint32(0xFFFFFFFF), np.uint32(bits) - np.bitwise_count(smeared).astype(np.uint32))


def _leading_signs(a: Array) -> Array:
    """S_FLBIT_I32: the bits at the top that equal the sign; all ones when all do."""
    return _leading_zeros(np.where(a < 0, ~a, a).view(f"u{a.dtype.itemsize}"))


def _reverse(a: Array) -> Array:
    out = np.zeros_like(a)
    bits = a.dtype.itemsize * 8
    for n in range(bits):
        out |= ((a >> a.dtype.type(n)) & a.dtype.type(1)) << a.dtype.type(bits - 1 - n)
    return out


def _count(a: Array) -> Array:
    return np.bitwise_count(a).astype(np.uint32)


def _mask(bits: int) -> Function:
    def fn(a: Array, b: Array) -> Array:
        kind = np.dtype(f"u{bits // 8}")
        one, limit = np.ones(1, kind), np.uint32(bits - 1)
        return np.asarray(((one << (a & limit).astype(kind)) - one) << (b & limit).astype(kind))

    return fn


def _set_bit(value: int, kind: str) -> Rule:
    def fn(old: Array, n: Array) -> Array:
        bit = old.dtype.type(1) << (n & np.uint32(old.dtype.itemsize * 8 - 1)).astype(old.dtype)
        return np.asarray(old | bit if value else old & ~bit)

    return _simple(fn, f"{kind}: {kind} u32", section=SOP1, accumulate=True)


def immediate(operand: Operand, signed: bool) -> Array:
    """The 16-bit immediate of an SOPK instruction as uint32, sign-extended where `signed`."""
    value = int(operand.value) & 0xFFFF
    if signed and value >= 0x8000:
        value -= 0x10000
    return np.full(1, value & 0xFFFFFFFF, np.uint32)


def _move_k(d: Decode) -> Run:
    value = np.uint32(int(d.operands[1].value) & 0xFFFF)
    extended = value if value < 0x8000 else value | np.uint32(0xFFFF0000)
    store = scalar_result(d, d.operands[0], 32)
    constant = np.full(1, extended, np.uint32)
    return lambda g: store(g, constant)


def _add_k(d: Decode) -> Run:
    i = d.scalar(0)
    k = immediate(d.operands[1], True).view(np.int32)

    def run(g: Waves) -> None:
        wide = g.su[i].view(np.int32).astype(np.int64) + k
        g.su[i][...] = wide.astype(np.uint32)
        g.scc[...] = (wide < -(2**31)) | (wide > 2**31 - 1)

    return run


def _mul_k(d: Decode) -> Run:
    i = d.scalar(0)
    k = immediate(d.operands[1], True)

    def run(g: Waves) -> None:
        g.su[i][...] = g.su[i] * k

    return run


def _chosen(fn: Function) -> Function:
    """S_MIN, S_MAX: SCC says that the first source was chosen."""
    return lambda a, b: (np.where(fn(a, b), a, b), fn(a, b))


def _high(kind: type[np.generic]) -> Function:
    def fn(a: Array, b: Array) -> Array:
        return np.asarray(((a.astype(kind) * b.astype(kind)) >> kind(32)).astype(np.uint32))

    return fn


def _shifted_add(n: int) -> Function:
    """S_LSHLn_ADD_U32."""

    def fn(a: Array, b: Array) -> tuple[Array, Array]:
        total = (a.astype(np.uint64) << np.uint64(n)) + b
        return total.astype(np.uint32), total > 0xFFFFFFFF

    return fn


def _two_halves(first: int, second: int) -> Function:
    """S_PACK: which half of each source goes to the lower and the upper half."""
    return lambda a, b: (
        ((a >> np.uint32(16 * first)) & np.uint32(0xFFFF)) | ((b >> np.uint32(16 * second)) << np.uint32(16))
    )


def _logic(bits: int) -> dict[str, Rule]:
    kind = f"u{bits}"
    two = f"{kind}: {kind} {kind}"
    table: dict[str, Function] = {
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "andn2": lambda a, b: a & ~b,
        "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
        "xnor": lambda a, b: ~(a ^ b),
    }  # fmt: skip
    rules = {f"s_{n}_b{bits}": _simple(fn, two, "nonzero") for n, fn in table.items()}
    saves = {n: fn for n, fn in table.items() if n not in ("nand", "nor")}
    rules |= {f"s_{n}_saveexec_b{bits}": _save_exec(fn, bits) for n, fn in saves.items()}
    rules[f"s_andn1_saveexec_b{bits}"] = _save_exec(lambda a, b: ~a & b, bits)
    rules[f"s_orn1_saveexec_b{bits}"] = _save_exec(lambda a, b: ~a | b, bits)
    return rules | {
        f"s_mov_b{bits}": _simple(np.positive, f"{kind}: {kind}", section=SOP1),
        f"s_not_b{bits}": _simple(np.invert, f"{kind}: {kind}", "nonzero", SOP1),
        f"s_wqm_b{bits}": _simple(_whole_quads, f"{kind}: {kind}", "nonzero", SOP1),
        f"s_brev_b{bits}": _simple(_reverse, f"{kind}: {kind}", section=SOP1),
        f"s_cmov_b{bits}": _conditional_move(kind),
        f"s_cselect_b{bits}": _select(kind),
        f"s_lshl_b{bits}": _simple(_shift(np.left_shift, bits), f"{kind}: {kind} u32", "nonzero"),
        f"s_lshr_b{bits}": _simple(_shift(np.right_shift, bits), f"{kind}: {kind} u32", "nonzero"),
        f"s_ashr_i{bits}": _simple(_shift(np.right_shift, bits), f"i{bits}: i{bits} u32", "nonzero"),
        f"s_bfe_u{bits}": _simple(_extract(bits), f"{kind}: {kind} u32", "nonzero"),
        f"s_bfe_i{bits}": _simple(_extract(bits), f"i{bits}: i{bits} u32", "nonzero"),
        f"s_bfm_b{bits}": _simple(_mask(bits), f"{kind}: u32 u32"),
        f"s_ff1_i32_b{bits}": _simple(_first_one, f"u32: {kind}", section=SOP1),
        f"s_flbit_i32_b{bits}": _simple(_leading_zeros, f"u32: {kind}", section=SOP1),
        f"s_bcnt1_i32_b{bits}": _simple(_count, f"u32: {kind}", "nonzero", SOP1),
        f"s_bcnt0_i32_b{bits}": _simple(lambda a: _count(~a), f"u32: {kind}", "nonzero", SOP1),
        f"s_bitset0_b{bits}": _set_bit(0, kind),
        f"s_bitset1_b{bits}": _set_bit(1, kind),
    }


def _whole_quads(a: Array) -> Array:
    kind = a.dtype.type
    quads = kind(0x1111111111111111 & ((1 << (8 * a.dtype.itemsize)) - 1))
    any_of_four = (a | (a >> kind(1)) | (a >> kind(2)) | (a >> kind(3))) & quads
    return np.asarray(any_of_four * kind(15))


RULES: Mapping[str, Rule] = {
    **_logic(32),
    **_logic(64),
    "s_nop": Rule("CDNA3 ISA, SOPP", S, lambda _: lambda g: None, outputs=0),
    "s_movk_i32": Rule(SOPK, S, _move_k),
    "s_addk_i32": Rule(SOPK, S, _add_k, reads_output=True, implicit_writes=(SCC,)),
    "s_mulk_i32": Rule(SOPK, S, _mul_k, reads_output=True),
    "s_add_u32": _simple(_carry_add, "u32: u32 u32", "second"),
    "s_sub_u32": _simple(_carry_sub, "u32: u32 u32", "second"),
    "s_add_i32": _simple(_overflow(False), "i32: i32 i32", "second"),
    "s_sub_i32": _simple(_overflow(True), "i32: i32 i32", "second"),
    "s_addc_u32": _with_carry(False),
    "s_subb_u32": _with_carry(True),
    "s_add_u64": _simple(np.add, "u64: u64 u64", section="RDNA4 ISA, SOP2"),
    "s_sub_u64": _simple(np.subtract, "u64: u64 u64", section="RDNA4 ISA, SOP2"),
    "s_mul_u64": _simple(np.multiply, "u64: u64 u64", section="RDNA4 ISA, SOP2"),
    "s_mul_i32": _simple(np.multiply, "u32: u32 u32"),
    "s_mul_hi_u32": _simple(_high(np.uint64), "u32: u32 u32"),
    "s_mul_hi_i32": _simple(_high(np.int64), "u32: i32 i32"),
    "s_flbit_i32": _simple(_leading_signs, "u32: i32", section=SOP1),
    "s_flbit_i32_i64": _simple(_leading_signs, "u32: i64", section=SOP1),
    "s_absdiff_i32": _simple(lambda a, b: np.abs(a.astype(np.int64) - b).astype(np.uint32), "u32: i32 i32", "nonzero"),
    "s_abs_i32": _simple(np.abs, "i32: i32", "nonzero", SOP1),
    "s_sext_i32_i8": _simple(lambda a: a.astype(np.uint8).view(np.int8).astype(np.int32), "i32: u32", section=SOP1),
    "s_sext_i32_i16": _simple(lambda a: a.astype(np.uint16).view(np.int16).astype(np.int32), "i32: u32", section=SOP1),
    "s_min_u32": _simple(_chosen(np.less), "u32: u32 u32", "second"),
    "s_max_u32": _simple(_chosen(np.greater), "u32: u32 u32", "second"),
    "s_min_i32": _simple(_chosen(np.less), "i32: i32 i32", "second"),
    "s_max_i32": _simple(_chosen(np.greater), "i32: i32 i32", "second"),
    **{f"s_lshl{n}_add_u32": _simple(_shifted_add(n), "u32: u32 u32", "second") for n in (1, 2, 3, 4)},
    "s_pack_ll_b32_b16": _simple(_two_halves(0, 0), "u32: u32 u32"),
    "s_pack_lh_b32_b16": _simple(_two_halves(0, 1), "u32: u32 u32"),
    "s_pack_hh_b32_b16": _simple(_two_halves(1, 1), "u32: u32 u32"),
    "s_pack_hl_b32_b16": _simple(_two_halves(1, 0), "u32: u32 u32", section="RDNA3 ISA, SOP2"),
}


ALIASES: Mapping[str, str] = {
    **{f"s_and_not1_b{b}": f"s_andn2_b{b}" for b in (32, 64)},
    **{f"s_or_not1_b{b}": f"s_orn2_b{b}" for b in (32, 64)},
    **{f"s_and_not1_saveexec_b{b}": f"s_andn2_saveexec_b{b}" for b in (32, 64)},
    **{f"s_and_not0_saveexec_b{b}": f"s_andn1_saveexec_b{b}" for b in (32, 64)},
    **{f"s_or_not1_saveexec_b{b}": f"s_orn2_saveexec_b{b}" for b in (32, 64)},
    **{f"s_ctz_i32_b{b}": f"s_ff1_i32_b{b}" for b in (32, 64)},
    **{f"s_clz_i32_u{b}": f"s_flbit_i32_b{b}" for b in (32, 64)},
    "s_cls_i32": "s_flbit_i32", "s_cls_i32_i64": "s_flbit_i32_i64",
    "s_add_co_u32": "s_add_u32", "s_sub_co_u32": "s_sub_u32", "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32", "s_add_co_i32": "s_add_i32", "s_sub_co_i32": "s_sub_i32",
    "s_addk_co_i32": "s_addk_i32", "s_add_nc_u64": "s_add_u64", "s_sub_nc_u64": "s_sub_u64",
}  # fmt: skip

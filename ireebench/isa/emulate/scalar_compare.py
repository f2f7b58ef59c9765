"""Scalar comparisons: they set SCC and nothing else.

Reference: AMD CDNA3 ISA guide, SOPC and SOPK instructions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ireebench.isa.emulate.operands import SCC
from ireebench.isa.emulate.rules import Decode, Function, Rule, Run
from ireebench.isa.emulate.scalar import SOPK, S, immediate, scalar_source
from ireebench.isa.emulate.waves import Waves

SOPC = "CDNA3 ISA, SOPC"


def _compare(fn: Function, kind: str, section: str = SOPC) -> Rule:
    def build(d: Decode) -> Run:
        a, b = (scalar_source(d, o, kind) for o in d.operands)

        def run(g: Waves) -> None:
            g.scc[...] = fn(a(g), b(g))

        return run

    return Rule(section, S, build, outputs=0, implicit_writes=(SCC,))


def _compare_k(fn: Function, signed: bool) -> Rule:
    def build(d: Decode) -> Run:
        kind = "i32" if signed else "u32"
        a = scalar_source(d, d.operands[0], kind)
        k = immediate(d.operands[1], signed).view(np.int32 if signed else np.uint32)

        def run(g: Waves) -> None:
            g.scc[...] = fn(a(g), k)

        return run

    return Rule(SOPK, S, build, outputs=0, implicit_writes=(SCC,))


_COMPARE: Mapping[str, Function] = {
    "eq": np.equal, "lg": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal,
}  # fmt: skip


def _bit_test(value: int, bits: int) -> Rule:
    def build(d: Decode) -> Run:
        a, n = scalar_source(d, d.operands[0], f"u{bits}"), scalar_source(d, d.operands[1], "u32")

        def run(g: Waves) -> None:
            x = a(g)
            bit = (x >> (n(g) & np.uint32(bits - 1)).astype(x.dtype)) & x.dtype.type(1)
            g.scc[...] = bit == value

        return run

    return Rule(SOPC, S, build, outputs=0, implicit_writes=(SCC,))


RULES: Mapping[str, Rule] = {
    **{f"s_cmp_{n}_i32": _compare(fn, "i32") for n, fn in _COMPARE.items()},
    **{f"s_cmp_{n}_u32": _compare(fn, "u32") for n, fn in _COMPARE.items()},
    **{f"s_cmpk_{n}_i32": _compare_k(fn, True) for n, fn in _COMPARE.items()},
    **{f"s_cmpk_{n}_u32": _compare_k(fn, False) for n, fn in _COMPARE.items()},
    **{f"s_bitcmp{v}_b{b}": _bit_test(v, b) for v in (0, 1) for b in (32, 64)},
    "s_cmp_eq_u64": _compare(np.equal, "u64"),
    "s_cmp_lg_u64": _compare(np.not_equal, "u64"),
}

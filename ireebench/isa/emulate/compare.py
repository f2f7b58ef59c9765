"""Vector comparisons: a lane mask in scalar registers, with 0 for inactive lanes.

References: AMD CDNA3 ISA guide, VOPC instructions. V_CMPX writes EXEC, and on gfx9 its named mask too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate import floats
from ireebench.isa.emulate.operands import EXEC, VCC
from ireebench.isa.emulate.rules import Decode, Function, Rule, Run, source
from ireebench.isa.emulate.waves import Array, Waves

SECTION = "CDNA3 ISA, VOPC"


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


_INT: Mapping[str, Function] = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ne": np.not_equal, "ge": np.greater_equal,
    "lg": np.not_equal, "t": lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), np.bool_),
    "f": lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape), np.bool_),
}  # fmt: skip
# "n..." are negations and so true for NaN; "lg" is less or greater, false for NaN.
_FLOAT: Mapping[str, Function] = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lg": lambda a, b: (a < b) | (a > b), "o": lambda a, b: ~_unordered(a, b), "u": _unordered,
    "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)), "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b), "neq": np.not_equal, "nlt": lambda a, b: ~(a < b),
}  # fmt: skip


def _compare(fn: Function, kinds: tuple[str, str], exec_too: bool) -> Callable[[Decode], Run]:
    def build(d: Decode) -> Run:
        import dataclasses

        chosen = d.bits("op_sel", (0, 0, 0))
        named = len(d.operands) == 3
        sources = d.operands[-2:]
        if any(chosen):
            sources = [dataclasses.replace(o, half=bool(h)) for o, h in zip(sources, chosen, strict=False)]
        a, b = (source(d, o, k) for o, k in zip(sources, kinds, strict=True))
        # On gfx10 and newer V_CMPX has EXEC alone for a destination, and the text may leave it out.
        slot = d.scalar(0) if named else (EXEC if exec_too else VCC)

        def run(g: Waves) -> None:
            mask = fn(a(g), b(g))
            if mask.shape != g.exec_mask.shape:
                mask = np.broadcast_to(mask, g.exec_mask.shape)
            if not g.full:
                mask = mask & g.exec_mask
            g.write_mask(slot, mask)
            if exec_too:
                g.write_mask(EXEC, mask)
                g.exec_changed()

        return run

    return build


def _table() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}

    def add(name: str, fn: Function, kinds: tuple[str, str]) -> None:
        rules[f"v_cmp_{name}"] = Rule(SECTION, "vector compare", _compare(fn, kinds, False))
        rules[f"v_cmpx_{name}"] = Rule(
            SECTION, "vector compare", _compare(fn, kinds, True), implicit_writes=(EXEC, EXEC + 1), sinks=(-1, -2)
        )

    for kind in ("u32", "i32", "u16", "i16", "u64", "i64"):
        for op, fn in _INT.items():
            add(f"{op}_{kind}", fn, (kind, kind))
    for kind in ("f16", "f32", "f64"):
        for op, fn in _FLOAT.items():
            add(f"{op}_{kind}", fn, (kind, kind))
        add(f"class_{kind}", floats.class_mask, (kind, "u32"))
    return rules


RULES: Mapping[str, Rule] = _table()

"""Waits: S_WAITCNT and its successors. They change nothing but what is known to have arrived.

References: AMD CDNA3 ISA guide, S_WAITCNT; RDNA3 ISA guide (VSCNT apart); RDNA4 ISA guide (S_WAIT_LOADCNT ...).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ireebench.isa.emulate.operands import Kind, parse_operand
from ireebench.isa.emulate.rules import Decode, Rule, Run
from ireebench.isa.emulate.waves import Waves

SOPP = "CDNA3 ISA, SOPP"
W = "wait"
_COUNTER = re.compile(r"(vmcnt|lgkmcnt|expcnt|vscnt)\((\d+)\)")


def _waitcnt(d: Decode) -> Run:
    waits: list[tuple[str, int]] = []
    for text in d.instruction.operands:
        if found := _COUNTER.fullmatch(text.replace(" ", "")):
            name, number = found.group(1), int(found.group(2))
            if name != "expcnt":
                waits.append((name.removesuffix("cnt"), number))
        else:
            waits += _encoded(d, int(text, 0))

    def run(g: Waves) -> None:
        for counter, allowed in waits:
            d.machine.wait(g, counter, allowed)

    return run


def _encoded(d: Decode, value: int) -> list[tuple[str, int]]:
    """S_WAITCNT with a number. gfx9: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8; gfx11: in 15:10 and 9:4."""
    if d.mode.generation == 9:
        return [("vm", (value & 15) | ((value >> 10) & 0x30)), ("lgkm", (value >> 8) & 15)]
    if d.mode.generation == 11:
        return [("vm", (value >> 10) & 63), ("lgkm", (value >> 4) & 63)]
    raise d.unsupported("encoded wait")


def _store_wait(d: Decode) -> Run:
    allowed = int(d.instruction.operands[-1], 0)
    if parse_operand(d.instruction.operands[0], d.line).kind is not Kind.SGPR:
        raise d.unsupported("operand")
    return lambda g: d.machine.wait(g, "vs", allowed)


# The counters of gfx12, by what our operations call them. Scalar loads have their own there; we keep one for both and
# release it only when either wait covers its own source.
_GFX12: Mapping[str, tuple[str, str]] = {
    "s_wait_loadcnt": ("vm", "vmem"),
    "s_wait_storecnt": ("vs", "vmem"),
    "s_wait_dscnt": ("lgkm", "lds"),
    "s_wait_kmcnt": ("lgkm", "smem"),
}


def _one_source(g: Waves, counter: str, source: str, allowed: int, d: Decode) -> None:
    others = [p for p in g.pending if not (p.counter == counter and p.source == source)]
    mine = [p for p in g.pending if p.counter == counter and p.source == source]
    g.pending = mine
    d.machine.wait(g, counter, allowed)
    # Order between sources does not matter: they have counters of their own.
    g.pending = g.pending + others
    for p in others:
        g.hot |= p.registers


def _split(names: tuple[str, ...]) -> Rule:
    def build(d: Decode) -> Run:
        value = int(d.instruction.operands[0], 0)
        # Combined waits hold the load or store count in bits 13:8 and the DS count in 5:0.
        numbers = [value] if len(names) == 1 else [(value >> 8) & 63, value & 63]

        def run(g: Waves) -> None:
            for name, allowed in zip(names, numbers, strict=True):
                counter, source = _GFX12[name]
                _one_source(g, counter, source, allowed, d)

        return run

    return Rule("RDNA4 ISA, SOPP", W, build, outputs=0)


def _nothing(_: Decode) -> Run:
    return lambda g: None


def _ignored() -> Rule:
    return Rule(SOPP, W, _nothing, outputs=0)


# Hints, cache maintenance and waits for counters that nothing of ours uses: no value depends on them.
_NO_EFFECT = (
    "s_waitcnt_depctr", "s_wait_alu", "s_wait_idle", "s_wait_expcnt", "s_wait_samplecnt", "s_wait_bvhcnt",
    "s_delay_alu", "s_sleep", "s_setprio", "s_sethalt", "s_clause", "s_set_inst_prefetch_distance",
    "s_inst_prefetch", "s_code_end", "s_icache_inv", "s_dcache_wb", "s_dcache_inv", "buffer_wbl2", "buffer_inv",
    "buffer_gl0_inv", "buffer_gl1_inv", "s_sendmsg", "s_ttracedata", "global_wb", "global_inv",
)  # fmt: skip


RULES: Mapping[str, Rule] = {
    "s_waitcnt": Rule(SOPP, W, _waitcnt, outputs=0),
    "s_waitcnt_vscnt": Rule("RDNA3 ISA, SOPK", W, _store_wait, outputs=0),
    **{name: _split((name,)) for name in _GFX12},
    "s_wait_loadcnt_dscnt": _split(("s_wait_loadcnt", "s_wait_dscnt")),
    "s_wait_storecnt_dscnt": _split(("s_wait_storecnt", "s_wait_dscnt")),
    **{name: _ignored() for name in _NO_EFFECT},
}

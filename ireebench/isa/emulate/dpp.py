"""DPP and SDWA: vector instructions whose first source comes from other lanes, or whose sources are parts of registers.

Both are done as a wrapper: sources are first moved into registers of our own, then the plain instruction runs on them.
References: AMD CDNA3 ISA guide, "Data parallel processing (DPP)" and "Sub-dword addressing (SDWA)"; RDNA3 ISA guide for
DPP8, row_share and row_xmask.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ireebench.isa.emulate.operands import Kind, Operand
from ireebench.isa.emulate.rules import Decode, Getter, Run, source
from ireebench.isa.emulate.waves import Array, Waves

Lanes = npt.NDArray[np.int64]

_SHIFTS = ("row_shl", "row_shr", "row_ror", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "row_bcast", "row_newbcast")
_SHIFTS_RDNA = ("row_share", "row_xmask")
PATTERNS = frozenset(("quad_perm", "row_mirror", "row_half_mirror", "dpp8", *_SHIFTS, *_SHIFTS_RDNA))


def is_dpp(modifiers: Mapping[str, str | None]) -> bool:
    """Whether an instruction has a DPP pattern, with or without a suffix in its name."""
    return not PATTERNS.isdisjoint(modifiers)


def source_lanes(d: Decode) -> Lanes:
    """For each lane, the lane that its first source comes from; -1 where there is none."""
    n = d.mode.lanes
    lane = np.arange(n, dtype=np.int64)
    row, place = lane & ~15, lane & 15
    m = d.modifiers
    if "quad_perm" in m:
        picks = np.array(d.bits("quad_perm", (0, 1, 2, 3)), np.int64)
        return np.asarray((lane & ~3) | picks[lane & 3])
    if "dpp8" in m:
        picks = np.array(d.bits("dpp8", tuple(range(8))), np.int64)
        return np.asarray((lane & ~7) | picks[lane & 7])
    if d.flag("row_mirror"):
        return row | (15 - place)
    if d.flag("row_half_mirror"):
        return (lane & ~7) | (7 - (lane & 7))
    name = next((s for s in (*_SHIFTS, *_SHIFTS_RDNA) if s in m), None)
    if name is None:
        raise d.unsupported("DPP pattern")
    return _shifted(n, name, d.number(name))


def _shifted(n: int, name: str, by: int) -> Lanes:
    """Patterns that take a number; `n` lanes."""
    lane = np.arange(n, dtype=np.int64)
    row, place = lane & ~15, lane & 15

    def within_row(p: Lanes) -> Lanes:
        return np.where((p >= 0) & (p < 16), row | (p & 15), -1)

    table: Mapping[str, Callable[[], Lanes]] = {
        "row_shl": lambda: within_row(place + by),
        "row_shr": lambda: within_row(place - by),
        "row_ror": lambda: row | ((place - by) & 15),
        "wave_shl": lambda: np.where(lane + 1 < n, lane + 1, -1),
        "wave_shr": lambda: lane - 1,
        "wave_rol": lambda: (lane + 1) % n,
        "wave_ror": lambda: (lane - 1) % n,
        # Lane 15 of each row to the next row; lane 31 to rows 2 and 3. The first rows have no source.
        "row_bcast": lambda: np.where(row > 0, row - 1, -1) if by == 15 else np.where(lane >= 32, 31, -1),
        "row_newbcast": lambda: row | by,
        "row_share": lambda: row | by,
        "row_xmask": lambda: row | (place ^ by),
    }
    return table[name]()


def dpp(d: Decode, build: Callable[[Decode], Run], source_at: int) -> Run:
    """Wraps a rule: lanes that row_mask, bank_mask or a missing source disables keep their old value.

    With bound_ctrl a missing source reads as 0. `source_at` is the operand that is permuted.
    """
    lanes = source_lanes(d)
    row_mask, bank_mask = d.number("row_mask", 15), d.number("bank_mask", 15)
    zero_fill, fetch_inactive = d.number("bound_ctrl", -1) >= 0, d.number("fi") == 1
    n = np.arange(d.mode.lanes)
    enabled = ((row_mask >> (n >> 4)) & 1 == 1) & ((bank_mask >> ((n >> 2) & 3)) & 1 == 1)
    exists, take = lanes >= 0, np.maximum(lanes, 0)
    operand = d.operands[source_at]
    if operand.kind is not Kind.VGPR:
        raise d.unsupported("DPP of a scalar")
    temporary = d.mode.temporary
    first, count = operand.index, operand.count
    d.operands[source_at] = dataclasses.replace(operand, index=temporary)
    inner = build(d)
    always = bool(exists.all())

    def run(g: Waves) -> None:
        saved, full = g.exec_mask, g.full
        valid = np.broadcast_to(exists, saved.shape) if full or fetch_inactive else saved[:, take] & exists
        everywhere = full and always
        for k in range(count):
            moved = g.vu[first + k][:, take]
            g.vu[temporary + k][...] = moved if everywhere else np.where(valid, moved, np.uint32(0))
        g.exec_mask = saved & enabled if zero_fill else saved & enabled & valid
        g.full = bool(g.exec_mask.all())
        try:
            inner(g)
        finally:
            g.exec_mask, g.full = saved, full

    return run


# --- SDWA ------------------------------------------------------------------------------------------------------------

_PARTS: Mapping[str, tuple[int, int]] = {
    "BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8), "WORD_0": (0, 16), "WORD_1": (16, 16),
    "DWORD": (0, 32),
}  # fmt: skip


def _selected(d: Decode, operand: Operand, part: str) -> Getter:
    shift, width = _PARTS[part]
    raw = source(d, dataclasses.replace(operand, neg=False, absolute=False, sext=False), "u32")
    mask = np.uint32((1 << width) - 1)

    def get(g: Waves) -> Array:
        value = (raw(g) >> np.uint32(shift)) & mask
        if operand.sext:
            top = np.uint32(1 << (width - 1))
            value = (value ^ top) - top
        return value

    return get


def sdwa(d: Decode, build: Callable[[Decode], Run], has_result: bool) -> Run:
    """Wraps a rule: sources are parts of registers, the result goes to a part of its register."""
    start = len(d.operands) - (2 if "src1_sel" in d.modifiers else 1)
    if (
        d.operands[-1].kind is Kind.SGPR
        and d.operands[-1].index == 106
        and d.name.startswith(("v_cndmask", "v_addc", "v_subb"))
    ):
        start -= 1
    selected: list[tuple[int, Getter]] = []
    for k in range(2 if "src1_sel" in d.modifiers else 1):
        part = str(d.modifiers.pop(f"src{k}_sel", None) or "DWORD")
        operand = d.operands[start + k]
        register = d.mode.temporary + k
        selected.append((register, _selected(d, operand, part)))
        d.operands[start + k] = Operand(
            Kind.VGPR, register, neg=operand.neg, absolute=operand.absolute, text=operand.text
        )
    if not has_result:
        d.modifiers.pop("dst_sel", None)
        inner = build(d)

        def compare(g: Waves) -> None:
            for register, get in selected:
                g.vu[register][...] = get(g)
            inner(g)

        return compare
    target = d.vector(0)
    shift, width = _PARTS[str(d.modifiers.pop("dst_sel", None) or "DWORD")]
    unused = str(d.modifiers.pop("dst_unused", None) or "UNUSED_PRESERVE")
    field = np.uint32(((1 << width) - 1) << shift)
    result = d.mode.temporary + 2
    reads_old = d.name.startswith(("v_mac", "v_fmac"))
    d.operands[0] = Operand(Kind.VGPR, result, text=d.operands[0].text)
    inner = build(d)

    def run(g: Waves) -> None:
        for register, get in selected:
            g.vu[register][...] = get(g)
        if reads_old:
            g.vu[result][...] = g.vu[target]
        inner(g)
        value = (g.vu[result] << np.uint32(shift)) & field
        if width < 32 and unused == "UNUSED_PRESERVE":
            value = value | (g.vu[target] & ~field)
        elif width < 32 and unused == "UNUSED_SEXT":
            top = np.uint32(1 << (shift + width - 1))
            above = np.uint32((0xFFFFFFFF << (shift + width)) & 0xFFFFFFFF)
            value = np.where((value & top) != 0, value | above, value)
        g.put(target, value)

    return run

"""Instructions that move data between lanes other than by DPP.

References: AMD CDNA3 ISA guide, VOP1 and VOP3 instructions (V_READLANE, V_WRITELANE), DS instructions (permute and
swizzle); RDNA3 ISA guide, VOP3 instructions (V_PERMLANE16); CDNA4 ISA guide, VOP1 instructions (V_PERMLANE32_SWAP).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate.rules import Decode, Rule, Run, source
from ireebench.isa.emulate.scalar import scalar_result, scalar_source
from ireebench.isa.emulate.waves import Array, Waves

C = "cross-lane"
_DS = "CDNA3 ISA, DS permute and swizzle"


def _read_first_lane(d: Decode) -> Run:
    i, store = d.vector(1), scalar_result(d, d.operands[0], 32)

    def run(g: Waves) -> None:
        # With no active lane the hardware reads lane 0: argmax of all False is 0 too.
        lane = g.exec_mask.argmax(axis=1)
        store(g, g.vu[i][np.arange(g.count), lane])

    return run


def _read_lane(d: Decode) -> Run:
    i, store = d.vector(1), scalar_result(d, d.operands[0], 32)
    lane = scalar_source(d, d.operands[2], "u32")
    limit = np.uint32(d.mode.lanes - 1)
    return lambda g: store(g, g.vu[i][np.arange(g.count), np.broadcast_to(lane(g) & limit, g.count)])


def _write_lane(d: Decode) -> Run:
    i = d.vector(0)
    value, lane = (scalar_source(d, o, "u32") for o in d.operands[1:3])
    limit = np.uint32(d.mode.lanes - 1)

    def run(g: Waves) -> None:
        g.vu[i][np.arange(g.count), np.broadcast_to(lane(g) & limit, g.count)] = value(g)

    return run


def _permute(backward: bool) -> Callable[[Decode], Run]:
    """DS_BPERMUTE (pull from the lane addressed) and DS_PERMUTE (push to it); addresses are bytes, 4 a lane."""

    def build(d: Decode) -> Run:
        target = d.vector(0)
        address, data = (source(d, o, "u32") for o in d.operands[1:3])
        offset, lanes = np.uint32(d.number("offset")), np.uint32(d.mode.lanes)
        d.after = d.machine.issue(d, "lgkm", "lds")

        def run(g: Waves) -> None:
            index = np.broadcast_to(((address(g) + offset) >> np.uint32(2)) % lanes, g.exec_mask.shape).astype(np.int64)
            value = np.broadcast_to(data(g), index.shape)
            rows = np.arange(g.count)[:, None]
            if backward:
                moved = np.take_along_axis(value, index, axis=1)
                if not g.full:
                    moved = np.where(g.exec_mask[rows, index], moved, np.uint32(0))
            else:
                moved = np.zeros_like(value)
                for lane in range(g.lanes):  # ascending: the highest source lane wins
                    here = g.exec_mask[:, lane]
                    moved[here, index[here, lane]] = value[here, lane]
            g.put(target, moved)

        return run

    return build


def _swizzle(d: Decode) -> Run:
    target = d.vector(0)
    data = source(d, d.operands[1], "u32")
    lanes = swizzle_lanes(d)
    d.after = d.machine.issue(d, "lgkm", "lds")

    def run(g: Waves) -> None:
        moved = np.broadcast_to(data(g), g.exec_mask.shape)[:, lanes]
        if not g.full:
            moved = np.where(g.exec_mask[:, lanes], moved, np.uint32(0))
        g.put(target, moved)

    return run


def swizzle_lanes(d: Decode) -> Array:
    """The source lane of each lane. Written as offset:swizzle(MODE, ...) or as the number that it encodes."""
    n = np.arange(d.mode.lanes, dtype=np.int64)
    text = d.modifiers.pop("offset", None) or "0"
    if text.startswith("swizzle"):
        mode, *rest = (p.strip().strip('"') for p in text.removeprefix("swizzle").strip("()").split(","))
        named = _SWIZZLES.get(mode)
        if named is None:
            raise d.unsupported(f"swizzle {mode}")
        return named(n, rest)
    offset = int(text, 0)
    if offset >= 0xC000:  # rotate and FFT modes
        raise d.unsupported(f"swizzle offset {offset}")
    if offset & 0x8000:
        picks = np.array([(offset >> (2 * k)) & 3 for k in range(4)], np.int64)
        return np.asarray((n & ~3) | picks[n & 3])
    return _masked(n, offset & 31, (offset >> 5) & 31, (offset >> 10) & 31)


def _masked(n: Array, keep: int, fill: int, flip: int) -> Array:
    """Within each 32 lanes: ((lane & keep) | fill) ^ flip."""
    return np.asarray((n & ~31) | ((((n & 31) & keep) | fill) ^ flip))


def _bitmask(n: Array, rest: list[str]) -> Array:
    """Five characters from the top bit: 0 and 1 set it, p keeps it, i inverts it."""

    def where(chosen: str) -> int:
        return int("".join("1" if c in chosen else "0" for c in rest[0]), 2)

    return _masked(n, where("pi"), where("1"), where("i"))


# LLVM AMDGPU modifier syntax, "swizzle": what each mode's numbers mean.
_SWIZZLES: Mapping[str, Callable[[Array, list[str]], Array]] = {
    "BITMASK_PERM": _bitmask,
    "QUAD_PERM": lambda n, rest: np.asarray((n & ~3) | np.array([int(p, 0) for p in rest], np.int64)[n & 3]),
    "SWAP": lambda n, rest: _masked(n, 31, 0, int(rest[0], 0)),
    "REVERSE": lambda n, rest: _masked(n, 31, 0, int(rest[0], 0) - 1),
    "BROADCAST": lambda n, rest: _masked(n, 31 & ~(int(rest[0], 0) - 1), int(rest[1], 0), 0),
}


def _swap(width: int) -> Callable[[Decode], Run]:
    """V_PERMLANE32_SWAP, V_PERMLANE16_SWAP: the upper half of the first register with the lower half of the second."""

    def build(d: Decode) -> Run:
        first, second = d.vector(0), d.vector(1)
        n = np.arange(d.mode.lanes)
        upper = np.nonzero(n & width)[0]
        lower = upper - width

        def run(g: Waves) -> None:
            a, b = g.vu[first], g.vu[second]
            high = a[:, upper].copy()
            a[:, upper] = b[:, lower]
            b[:, lower] = high

        return run

    return build


def _swap_registers(d: Decode) -> Run:
    first, second = d.vector(0), d.vector(1)

    def run(g: Waves) -> None:
        a, b = g.vu[first].copy(), g.vu[second].copy()
        g.put(first, b)
        g.put(second, a)

    return run


def _permlane16(across: bool) -> Callable[[Decode], Run]:
    """V_PERMLANE16: each lane of a row of 16 picks a lane of its row, or of the other row of the pair (X16)."""

    def build(d: Decode) -> Run:
        target = d.vector(0)
        data = source(d, d.operands[1], "u32")
        low, high = (scalar_source(d, o, "u32") for o in d.operands[2:4])
        select = d.bits("op_sel", (0, 0))
        fetch_inactive, zero_fill = bool(select[0]), bool(select[1])
        n = np.arange(d.mode.lanes, dtype=np.int64)
        row = (n & ~15) ^ (16 if across else 0)

        def run(g: Waves) -> None:
            both = low(g).astype(np.uint64) | (high(g).astype(np.uint64) << np.uint64(32))
            nibble = (both[:, None] >> (4 * (n & 15)).astype(np.uint64)[None, :]) & np.uint64(15)
            index = np.broadcast_to(row | nibble.astype(np.int64), g.exec_mask.shape)
            value = np.take_along_axis(np.broadcast_to(data(g), index.shape), index, axis=1)
            if g.full or fetch_inactive:
                g.put(target, value)
                return
            valid = np.take_along_axis(g.exec_mask, index, axis=1)
            write = g.exec_mask if zero_fill else g.exec_mask & valid
            np.copyto(g.vu[target], np.where(valid, value, np.uint32(0)), where=write)

        return run

    return build


def _permlane64(d: Decode) -> Run:
    target, data = d.vector(0), source(d, d.operands[1], "u32")
    lanes = np.arange(d.mode.lanes) ^ 32 if d.mode.lanes == 64 else np.arange(32)
    return lambda g: g.put(target, np.broadcast_to(data(g), g.exec_mask.shape)[:, lanes].copy())


RULES: Mapping[str, Rule] = {
    "v_readfirstlane_b32": Rule("CDNA3 ISA, VOP1", C, _read_first_lane, shadow="bits"),
    "v_readlane_b32": Rule("CDNA3 ISA, VOP3A", C, _read_lane, shadow="bits", sinks=(2,)),
    "v_writelane_b32": Rule("CDNA3 ISA, VOP3A", C, _write_lane, shadow="none", reads_output=True, sinks=(2,)),
    "v_swap_b32": Rule("CDNA3 ISA, VOP1", C, _swap_registers, outputs=2, reads_output=True),
    "ds_bpermute_b32": Rule(_DS, C, _permute(True), shadow="bits", sinks=(1,)),
    "ds_permute_b32": Rule(_DS, C, _permute(False), shadow="bits", sinks=(1,)),
    "ds_swizzle_b32": Rule(_DS, C, _swizzle, shadow="bits"),
    "v_permlane32_swap_b32": Rule("CDNA4 ISA, VOP1", C, _swap(32), outputs=2, reads_output=True),
    "v_permlane16_swap_b32": Rule("CDNA4 ISA, VOP1", C, _swap(16), outputs=2, reads_output=True),
    "v_permlane16_b32": Rule("RDNA3 ISA, VOP3", C, _permlane16(False), shadow="bits", reads_output=True),
    "v_permlanex16_b32": Rule("RDNA3 ISA, VOP3", C, _permlane16(True), shadow="bits", reads_output=True),
    "v_permlane64_b32": Rule("RDNA3 ISA, VOP1", C, _permlane64, shadow="bits"),
}

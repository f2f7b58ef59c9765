"""Vector memory instructions: buffer, global, flat and scratch; and scalar loads.

References: AMD CDNA3 ISA guide, "Vector memory operations" (buffer addressing, range checking), "Flat memory
instructions", "Scalar memory operations"; RDNA3 ISA guide for the names LOAD_B32 and the OOB_SELECT field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate import access
from ireebench.isa.emulate.arena import BASE_ADDRESS
from ireebench.isa.emulate.lds import put_narrow
from ireebench.isa.emulate.machine import Access, Machine, gather, scatter
from ireebench.isa.emulate.operands import NULL, Kind
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.rules import Decode, Rule, Run, source
from ireebench.isa.emulate.scalar import scalar_source
from ireebench.isa.emulate.waves import Array, Bools, Pending, Waves

MUBUF, FLAT, SMEM = "CDNA3 ISA, MUBUF", "CDNA3 ISA, FLAT", "CDNA3 ISA, SMEM"
Address = Callable[[Waves, int], tuple[Array, Bools]]


def _buffer_address(d: Decode, at: int, store: bool) -> Address:
    """Offsets in the arena of a raw buffer access, and the lanes that the range check lets through.

    Raw buffers (stride 0): a dword whose offset plus size exceeds NUM_RECORDS minus the scalar offset reads as 0 or is
    not stored.
    """
    m: Machine = d.machine
    offen, offset = d.flag("offen"), d.number("offset")
    if d.modifiers.keys() & {"idxen", "addr64", "lds", "tfe", "lwe"}:
        raise d.unsupported("structured or LDS buffer access")
    resource = d.scalar(at + 1)
    if resource % 2:
        raise d.unsupported("odd resource")
    vector = source(d, d.operands[at], "u32") if offen else None
    scalar = scalar_source(d, d.operands[at + 2], "u32")
    line = d.line

    def address(g: Waves, size: int) -> tuple[Array, Bools]:
        word0 = g.su64[resource // 2]
        base = (word0 & np.uint64(0xFFFF_FFFF_FFFF)).astype(np.int64)
        if ((g.su[resource + 1] >> np.uint32(16)) & np.uint32(0x3FFF)).any():
            raise d.unsupported("buffer with a stride")
        records = g.su[resource + 2].astype(np.int64)[:, None]
        soffset = np.broadcast_to(scalar(g), g.count).astype(np.int64)[:, None]
        local = (vector(g).astype(np.int64) if vector else np.zeros((1, 1), np.int64)) + offset
        # Register plus immediate wraps at 32 bits: compilers fold offsets that rely on it (Mesa's ACO, apply_imm).
        local = np.broadcast_to(local & 0xFFFF_FFFF, g.exec_mask.shape)
        partial = local + size + soffset > records
        if partial.any():
            outside = g.exec_mask & partial
            m.tally.clamped_lanes += int(np.count_nonzero(outside))
            if store and outside.any():
                place = int(local[tuple(np.argwhere(outside)[0])])
                limit = int(np.broadcast_to(records, local.shape)[tuple(np.argwhere(outside)[0])])
                message = f"store of {size} bytes at byte {place} of a resource of {limit} bytes, which drops it"
                m.report(g, Fault.OUT_OF_BOUNDS, line, outside, subject="resource", message=message)
        return base[:, None] - BASE_ADDRESS + soffset + local, g.exec_mask & ~partial

    return address


def _global_address(d: Decode, at: int, segment: str) -> Address:
    """Offsets in the arena of a global or flat access: 64-bit address, or scalar base plus 32-bit offset."""
    offset = d.number("offset")
    has_base = len(d.operands) > at + 1 and segment == "global"
    base_operand = d.operands[at + 1] if has_base else None
    saddr = base_operand is not None and base_operand.kind is Kind.SGPR and base_operand.index != NULL
    if saddr:
        assert base_operand is not None
        base, vector = scalar_source(d, base_operand, "u64"), source(d, d.operands[at], "u32")

        def scalar_based(g: Waves, size: int) -> tuple[Array, Bools]:
            del size
            start = base(g).astype(np.int64)[:, None] - BASE_ADDRESS + offset
            return np.broadcast_to(vector(g).astype(np.int64) + start, g.exec_mask.shape), g.exec_mask

        return scalar_based
    whole = source(d, d.operands[at], "u64")

    def address(g: Waves, size: int) -> tuple[Array, Bools]:
        del size
        return np.broadcast_to(whole(g).astype(np.int64) - BASE_ADDRESS + offset, g.exec_mask.shape), g.exec_mask

    return address


def _both(first: Run, second: Run) -> Run:
    def run(g: Waves) -> None:
        first(g)
        second(g)

    return run


def _load_rule(space: str, size: int, signed: bool = False, high: bool | None = None) -> Rule:
    def build(d: Decode) -> Run:
        m: Machine = d.machine
        target, line = d.vector(0), d.line
        address = _buffer_address(d, 1, False) if space == "buffer" else _global_address(d, 1, space)
        d.after = m.issue(d, "vm", "vmem")
        if space == "flat":  # it may be an LDS access, so it counts there too, and both waits are needed
            d.after = _both(d.after, m.issue(d, "lgkm", "flat"))
        partial_ok = space == "buffer" and size > 4

        def run(g: Waves) -> None:
            offset, lanes = address(g, size)
            index, ok = access.resolve(m, Access(g, line, offset, lanes, size, False))
            words = gather(m.arena.views, index, size)
            if not ok.all():
                words = [np.where(ok, w, np.uint32(0)) for w in words]
            if partial_ok:
                _partial(m, Access(g, line, offset, lanes, size, False), address, words)
            if size < 4:
                put_narrow(g, target, words[0], size=size, signed=signed, high=high)
                return
            for k, w in enumerate(words):
                g.put(target + k, w)

        return run

    group = f"{space} load"
    return Rule(
        MUBUF if space == "buffer" else FLAT,
        group,
        build,
        shadow="none",
        sinks=(1, 2, 3),
        reads_output=high is not None,
    )


def _partial(m: Machine, a: Access, address: Address, words: list[Array]) -> None:
    """A wide buffer load that crosses the end of its range still reads the dwords within it (checked one by one)."""
    offset, first = address(a.g, 4)
    straddle = first & ~a.ok
    if not straddle.any():
        return
    for k in range(len(words)):
        _, lanes = address(a.g, 4 * (k + 1))
        lanes = lanes & straddle
        if lanes.any():
            index, safe = access.resolve(m, Access(a.g, a.line, offset + 4 * k, lanes, 4, False))
            words[k] = np.where(safe, gather(m.arena.views, index, 4)[0], words[k])


def _store_rule(space: str, size: int, high: bool = False) -> Rule:
    words = max(1, size // 4)

    def build(d: Decode) -> Run:
        m: Machine = d.machine
        if space == "buffer":
            data, address = d.vector(0), _buffer_address(d, 1, True)
        else:
            data, address = d.vector(1), _store_address(d, space)
        line, mnemonic = d.line, d.instruction.mnemonic
        counter = "vm" if d.mode.generation == 9 else "vs"
        pending = Pending(counter, "vmem", frozenset(), line, mnemonic)

        def run(g: Waves) -> None:
            offset, lanes = address(g, size)
            index, ok = access.resolve(m, Access(g, line, offset, lanes, size, True))
            values = [g.vu[data + k][ok] for k in range(words)]
            if high:
                values = [values[0] >> np.uint32(16)]
            scatter(m.arena.views, index[ok], values, size)
            g.pending.append(pending)

        return run

    sinks = (0, 1, 2, 3)
    return Rule(MUBUF if space == "buffer" else FLAT, f"{space} store", build, outputs=0, shadow="none", sinks=sinks)


def _store_address(d: Decode, space: str) -> Address:
    """As `_global_address` for stores, whose text has the data between address and base."""
    kept = list(d.operands)
    d.operands = [d.operands[0], *d.operands[2:]]
    try:
        return _global_address(d, 0, space)
    finally:
        d.operands = kept


def _scratch(size: int, store: bool, signed: bool = False, high: bool | None = None) -> Rule:
    """SCRATCH_LOAD, SCRATCH_STORE: private memory of each lane, here an array of its own."""
    words = max(1, size // 4)
    verb = "store" if store else "load"

    def build(d: Decode) -> Run:
        m: Machine = d.machine
        offset, line = d.number("offset"), d.line
        at = 0 if store else 1
        data = d.vector(1 if store else 0)
        vaddr, saddr = d.operands[at], d.operands[-1]
        vector = source(d, vaddr, "u32") if vaddr.kind is Kind.VGPR else None
        scalar = scalar_source(d, saddr, "u32") if saddr.kind is Kind.SGPR else None
        counter = "vs" if store and d.mode.generation > 9 else "vm"
        d.after = m.issue(d, counter, "vmem", loads=not store)

        def run(g: Waves) -> None:
            local = np.full(g.exec_mask.shape, offset, np.int64)
            if vector:
                local = local + vector(g)
            if scalar:
                local = local + scalar(g).astype(np.int64)[:, None]
            ok = g.exec_mask & (local >= 0) & (local + size <= m.scratch_bytes)
            bad = g.exec_mask & ~ok
            if bad.any():
                text = f"scratch {verb} of {size} bytes past its {m.scratch_bytes} bytes a lane"
                m.report(g, Fault.OUT_OF_BOUNDS, line, bad, subject="scratch", message=text)
            m.tally.bytes[f"scratch {verb} b{8 * size}"] += int(np.count_nonzero(ok)) * size
            memory = g.scratch.view(np.uint8).reshape(-1)
            lane_bytes = g.scratch.shape[2] * 4
            start = np.arange(g.count * g.lanes).reshape(g.count, g.lanes) * lane_bytes
            views: dict[int, Array] = {1: memory, 2: memory.view(np.uint16), 4: memory.view(np.uint32)}
            index = start + np.where(ok, local, 0)
            if store:
                values = [g.vu[data + k][ok] >> np.uint32(16 if high else 0) for k in range(words)]
                scatter(views, index[ok], values, size)
                return
            loaded = gather(views, index, size)
            if size < 4:
                put_narrow(g, data, loaded[0], size=size, signed=signed, high=high)
                return
            for k, w in enumerate(loaded):
                g.put(data + k, w)

        return run

    return Rule(
        "CDNA3 ISA, FLAT (scratch)", f"scratch {verb}", build, outputs=0 if store else 1, shadow="none",
        sinks=(0,) if store else (1,), reads_output=high is not None and not store,
    )  # fmt: skip


def _scalar_load(words: int, from_buffer: bool) -> Rule:
    def build(d: Decode) -> Run:
        m: Machine = d.machine
        target, line = d.scalar(0), d.line
        if from_buffer:
            resource = d.scalar(1)
        else:
            base = scalar_source(d, d.operands[1], "u64")
        extra = d.number("offset") + (
            int(d.operands[2].value) if len(d.operands) > 2 and d.operands[2].kind is Kind.CONST else 0
        )
        scalar = (
            scalar_source(d, d.operands[2], "u32")
            if len(d.operands) > 2 and d.operands[2].kind is Kind.SGPR and d.operands[2].index != NULL
            else None
        )
        d.after = m.issue(d, "lgkm", "smem")

        def run(g: Waves) -> None:
            start = (g.su64[resource // 2] & np.uint64(0xFFFF_FFFF_FFFF)) if from_buffer else base(g)
            offset = start.astype(np.int64) - BASE_ADDRESS + extra
            if scalar:
                offset = offset + scalar(g)
            # Scalar loads ignore EXEC: lane 0 stands for the wave.
            index, ok = access.resolve(
                m, Access(g, line, offset[:, None], np.ones((g.count, 1), np.bool_), 4 * words, False)
            )
            for k, w in enumerate(gather(m.arena.views, index, 4 * words)):
                g.su[target + k][...] = np.where(ok, w, np.uint32(0))[:, 0]

        return run

    return Rule(SMEM, "scalar load", build, shadow="none", sinks=(1, 2))


_NARROW: Mapping[str, tuple[int, bool, bool | None]] = {
    "ubyte": (1, False, None), "sbyte": (1, True, None), "ushort": (2, False, None), "sshort": (2, True, None),
    "ubyte_d16": (1, False, False), "ubyte_d16_hi": (1, False, True), "sbyte_d16": (1, True, False),
    "sbyte_d16_hi": (1, True, True), "short_d16": (2, False, False), "short_d16_hi": (2, False, True),
}  # fmt: skip
_WIDE: Mapping[str, int] = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}
_STORES: Mapping[str, tuple[int, bool]] = {
    "byte": (1, False), "short": (2, False), "byte_d16_hi": (1, True), "short_d16_hi": (2, True),
}  # fmt: skip


def _table() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for space in ("buffer", "global", "flat"):
        for name, (size, signed, high) in _NARROW.items():
            rules[f"{space}_load_{name}"] = _load_rule(space, size, signed, high)
        for name, size in _WIDE.items():
            rules[f"{space}_load_{name}"] = _load_rule(space, size)
            rules[f"{space}_store_{name}"] = _store_rule(space, size)
        for name, (size, high_half) in _STORES.items():
            rules[f"{space}_store_{name}"] = _store_rule(space, size, high_half)
    for name, (size, signed, high) in _NARROW.items():
        rules[f"scratch_load_{name}"] = _scratch(size, False, signed, high)
    for name, (size, high_half) in _STORES.items():
        rules[f"scratch_store_{name}"] = _scratch(size, True, high=high_half)
    for name, size in _WIDE.items():
        rules[f"scratch_load_{name}"] = _scratch(size, False)
        rules[f"scratch_store_{name}"] = _scratch(size, True)
    for n in (1, 2, 3, 4, 8, 16):
        suffix = "dword" if n == 1 else f"dwordx{n}"
        rules[f"s_load_{suffix}"] = _scalar_load(n, False)
        rules[f"s_buffer_load_{suffix}"] = _scalar_load(n, True)
    return rules


RULES: Mapping[str, Rule] = _table()

_LOAD = re.compile(r"(s|s_buffer|buffer|global|flat|scratch)_(load|store)_(d16_hi_|d16_)?(b|u|i)(\d+)\Z")
_TYPES: Mapping[str, str] = {
    "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "b32": "dword", "b64": "dwordx2", "b96": "dwordx3",
    "b128": "dwordx4", "b256": "dwordx8", "b512": "dwordx16",
}  # fmt: skip


def alias(name: str) -> str:
    """The gfx9 name of an RDNA name: global_load_b128 is global_load_dwordx4, buffer_load_d16_b16 ..._short_d16."""
    found = _LOAD.match(name)
    if not found:
        return name
    space, verb, half, letter, bits = found.groups()
    if verb == "store" and bits in ("8", "16"):
        kind = {"8": "byte", "16": "short"}[bits] + ("_d16_hi" if half else "")
    elif half:
        kind = {"8": "ubyte" if letter == "u" else "sbyte", "16": "short"}[bits] + "_" + half.rstrip("_")
    else:
        kind = _TYPES.get(letter + bits, f"{letter}{bits}")
    return f"{space}_{verb}_{kind}"

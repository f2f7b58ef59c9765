"""LDS reads and writes, and the rules that a shared memory needs checked.

References: AMD CDNA3 ISA guide, chapter 11 (LDS) and 12.13 (DS pseudocode); RDNA3 ISA guide, chapter 12 for DS_LOAD and
DS_STORE. An access beyond the kernel's allocation reads 0 or is dropped, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from ireebench.isa.emulate.machine import LocalMemory, Machine, gather, scatter
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.rules import Decode, Rule, Run, source
from ireebench.isa.emulate.waves import Array, Bools, Pending, Waves

SECTION = "CDNA3 ISA 12.13 DS"


def resolve(m: Machine, g: Waves, line: int, address: Array, size: int, store: bool) -> tuple[Array, Bools]:
    """Indices into the batch's LDS [wave, lane] and which lanes may go ahead; reports what is wrong."""
    lds = m.lds
    local = np.broadcast_to(address, g.exec_mask.shape).astype(np.int64)
    inside = local + size <= lds.size
    ok = g.exec_mask & inside
    what = "write" if store else "read"
    if not inside.all():
        bad = g.exec_mask & ~inside
        if bad.any():
            first = int(local[tuple(np.argwhere(bad)[0])])
            m.report(
                g, Fault.OUT_OF_BOUNDS, line, bad, f"lds {what}",
                f"LDS {what} of {size} bytes at {first}, past its allocation of {lds.size} bytes",
            )  # fmt: skip
    unit = min(size, 4)
    if unit > 1 and ((local & (unit - 1)) != 0).any():
        bad = ok & ((local & (unit - 1)) != 0)
        if bad.any():
            first = int(local[tuple(np.argwhere(bad)[0])])
            m.report(
                g, Fault.MISALIGNED, line, bad, "lds", f"LDS {what} of {size} bytes at {first}, not {unit}-byte aligned"
            )
    index = np.where(ok, local, 0) + g.workgroup[:, None] * lds.stride
    if m.sanitize and ok.any():
        (_check_write if store else _check_read)(m, g, line, index, ok, size)
    m.tally.lds_conflicts += conflicts(local, ok, size)
    space = f"lds {'store' if store else 'load'} b{8 * size}"
    m.tally.bytes[space] += int(np.count_nonzero(ok)) * size
    return index, ok


def _first(bad: Bools, values: Array) -> int:
    return int(np.asarray(values)[tuple(np.argwhere(bad)[0])])


def _check_read(m: Machine, g: Waves, line: int, index: Array, ok: Bools, size: int) -> None:
    lds, me = m.lds, (g.wave + 1)[:, None].astype(np.int32)
    epoch = lds.epoch[g.workgroup][:, None].astype(np.int32)
    for k in range(size):
        at = index + k
        writer = lds.writer[at]
        bad = ok & (writer == 0)
        if bad.any():
            place = _first(bad, at)
            m.report(
                g, Fault.UNINITIALISED, line, bad, "lds",
                f"LDS read of byte {place % lds.stride}, which was never written{_neighbour(lds, place)}",
            )  # fmt: skip
        bad = ok & (writer != 0) & (writer != me) & (lds.write_epoch[at] >= epoch)
        if bad.any():
            _race(m, g, line, bad, at, "LDS read", "written", lds.writer, lds.write_line)
        # Who reads what: needed to catch a later write with no barrier between.
        here, who, when = at[ok], np.broadcast_to(me, ok.shape)[ok], np.broadcast_to(epoch, ok.shape)[ok]
        same = lds.read_epoch[here] == when
        others = same & (lds.reader[here] != 0) & (lds.reader[here] != who)
        lds.reader[here] = np.where(others, np.int32(-1), who)
        # Two waves of this very instruction that read one byte: the last assignment must not hide the first.
        lds.reader[here[lds.reader[here] != who]] = -1
        lds.read_epoch[here] = when
        lds.read_line[here] = line


def _neighbour(lds: LocalMemory, place: int) -> str:
    """What was written below: a read past the end of an array in the LDS is seen by it."""
    start = place - place % lds.stride
    below = np.nonzero(lds.writer[start:place])[0]
    if not below.size:
        return ""
    last = int(below[-1])
    return f" (past byte {last}, written by wave {int(lds.writer[start + last]) - 1} at line {int(lds.write_line[start + last])})"


def _check_write(m: Machine, g: Waves, line: int, index: Array, ok: Bools, size: int) -> None:
    lds, me = m.lds, (g.wave + 1)[:, None].astype(np.int32)
    epoch = lds.epoch[g.workgroup][:, None].astype(np.int32)
    for k in range(size):
        at = index + k
        writer, reader = lds.writer[at], lds.reader[at]
        bad = ok & (writer != 0) & (writer != me) & (lds.write_epoch[at] >= epoch)
        if bad.any():
            _race(m, g, line, bad, at, "LDS write", "written", lds.writer, lds.write_line)
        bad = ok & (reader != 0) & (reader != me) & (lds.read_epoch[at] >= epoch)
        if bad.any():
            _race(m, g, line, bad, at, "LDS write", "read", lds.reader, lds.read_line)
        here, who, when = at[ok], np.broadcast_to(me, ok.shape)[ok], np.broadcast_to(epoch, ok.shape)[ok]
        lds.writer[here], lds.write_epoch[here], lds.write_line[here] = who, when, line
        clash = np.zeros_like(ok)
        clash[ok] = lds.writer[here] != who
        if clash.any():
            _race(m, g, line, clash, at, "LDS write", "written", lds.writer, lds.write_line)


def _race(
    m: Machine, g: Waves, line: int, bad: Bools, at: Array, what: str, did: str, who: Array, lines: Array
) -> None:
    place = _first(bad, at)
    other = int(who[place]) - 1
    name = f"wave {other}" if other >= 0 else "several waves"
    m.report(
        g, Fault.RACE, line, bad, f"lds {did} {int(lines[place])}",
        f"{what} of byte {place % m.lds.stride}, {did} by {name} at line {int(lines[place])} with no barrier and wait between",
    )  # fmt: skip


def conflicts(local: Array, ok: Bools, size: int) -> int:
    """Extra passes of the waves' accesses: in each pass of 128 bytes a bank (4 bytes, 32 of them) serves one address.

    Lanes are taken in groups of 128 / size (32 at most), as CDNA3 ISA guide, 11.1 describes; lanes that read the same dword
    share it.
    """
    words = max(1, size // 4)
    group = max(1, 32 // words)
    extra = 0
    lanes = local.shape[1]
    for start in range(0, lanes, group):
        dwords = local[:, start : start + group, None] // 4 + np.arange(words)
        active = np.broadcast_to(ok[:, start : start + group, None], dwords.shape)
        if not active.any():
            continue
        for wave in range(local.shape[0]):
            distinct = np.unique(dwords[wave][active[wave]])
            if distinct.size > 1:
                extra += int(np.bincount(distinct % 32).max()) - 1
    return extra


def _place(d: Decode, two: bool, element: int, stride64: bool) -> tuple[int, int]:
    if not two:
        return d.number("offset"), 0
    unit = element * (64 if stride64 else 1)
    return d.number("offset0") * unit, d.number("offset1") * unit


def _load(size: int, signed: bool = False, high: bool | None = None, two: bool = False, st64: bool = False) -> Rule:
    def build(d: Decode) -> Run:
        m: Machine = d.machine
        d.flag("gds")
        target, address = d.vector(0), source(d, d.operands[1], "u32")
        first, second = _place(d, two, size, st64)
        line = d.line
        d.after = m.issue(d, "lgkm", "lds")

        def fetch(g: Waves, offset: int) -> list[Array]:
            index, ok = resolve(m, g, line, (address(g).astype(np.int64) + offset) & 0xFFFF_FFFF, size, False)
            words = gather(m.lds.views, index, size)
            return words if ok.all() else [np.where(ok, w, np.uint32(0)) for w in words]

        def run(g: Waves) -> None:
            words = fetch(g, first) + (fetch(g, second) if two else [])
            if size < 4:
                put_narrow(g, target, words[0], size, signed, high)
                return
            for k, w in enumerate(words):
                g.put(target + k, w)

        return run

    return Rule(SECTION, "lds load", build, shadow="none", sinks=(1,), reads_output=high is not None)


def put_narrow(g: Waves, target: int, value: Array, size: int, signed: bool, high: bool | None) -> None:
    """Stores a loaded byte or short: zero- or sign-extended, or into one half of the register (D16)."""
    if signed:
        top = np.uint32(1 << (8 * size - 1))
        value = (value ^ top) - top
    if high is None:
        g.put(target, value)
    else:
        np.copyto(g.v16[int(high)][target], value.astype(np.uint16), where=g.exec_mask)


def _store(size: int, high: bool = False, two: bool = False, st64: bool = False) -> Rule:
    words = max(1, size // 4)

    def build(d: Decode) -> Run:
        m: Machine = d.machine
        d.flag("gds")
        address = source(d, d.operands[0], "u32")
        data = [d.vector(1)] + ([d.vector(2)] if two else [])
        offsets = _place(d, two, size, st64)
        line, mnemonic = d.line, d.instruction.mnemonic

        def run(g: Waves) -> None:
            written: list[Array] = []
            for register, offset in zip(data, offsets, strict=False):
                index, ok = resolve(m, g, line, (address(g).astype(np.int64) + offset) & 0xFFFF_FFFF, size, True)
                here = index[ok]
                values = [g.vu[register + k][ok] for k in range(words)]
                if high:
                    values = [values[0] >> np.uint32(16)]
                scatter(m.lds.views, here, values, size)
                written.append((here[:, None] + np.arange(size)).reshape(-1))
            g.pending.append(
                Pending("lgkm", "lds", frozenset(), line, mnemonic, np.concatenate(written) if m.sanitize else None)
            )

        return run

    return Rule(SECTION, "lds store", build, outputs=0, shadow="none", sinks=(0, 1, 2))


def barrier(m: Machine, g: Waves) -> None:
    """A write that was not waited for becomes visible after the barrier, not before."""
    lds: LocalMemory = m.lds
    for p in g.pending:
        if p.written_lds is not None and p.written_lds.size:
            lds.write_epoch[p.written_lds] = lds.epoch[p.written_lds // lds.stride] + 1


def _atomic(fn: Callable[[Array, Array], Array], returns: bool) -> Rule:
    """DS_ADD and kin on 32 bits, lane after lane."""

    def build(d: Decode) -> Run:
        m: Machine = d.machine
        at = 1 if returns else 0
        address, data = source(d, d.operands[at], "u32"), source(d, d.operands[at + 1], "u32")
        offset, line = d.number("offset"), d.line
        target = d.vector(0) if returns else None
        d.after = m.issue(d, "lgkm", "lds", loads=returns)

        def run(g: Waves) -> None:
            local = (address(g).astype(np.int64) + offset) & 0xFFFF_FFFF
            sanitize, m.sanitize = m.sanitize, False  # atomics do not race with each other
            index, ok = resolve(m, g, line, local, 4, True)
            m.sanitize = sanitize
            words = m.lds.views[4]
            value = np.broadcast_to(data(g), ok.shape)
            old = np.zeros(ok.shape, np.uint32)
            for wave, lane in np.argwhere(ok):
                word = index[wave, lane] >> 2
                old[wave, lane] = words[word]
                words[word : word + 1] = fn(words[word : word + 1], value[wave, lane : lane + 1])
            m.lds.writer[(index[ok][:, None] + np.arange(4)).reshape(-1)] = 1
            if target is not None:
                g.put(target, old)

        return run

    return Rule(
        SECTION, "lds atomic", build, outputs=int(returns), shadow="none", sinks=(0, 1, 2) if not returns else (1, 2)
    )


_ATOMICS: Mapping[str, Callable[[Array, Array], Array]] = {
    "add_u32": np.add, "sub_u32": np.subtract, "min_u32": np.minimum, "max_u32": np.maximum, "and_b32": np.bitwise_and,
    "or_b32": np.bitwise_or, "xor_b32": np.bitwise_xor,
    "add_f32": lambda a, b: (a.view(np.float32) + b.view(np.float32)).view(np.uint32),
    "min_i32": lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "max_i32": lambda a, b: np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
}  # fmt: skip

RULES: Mapping[str, Rule] = {
    **{f"ds_read_b{8 * n}": _load(n) for n in (4, 8, 12, 16)},
    **{f"ds_write_b{8 * n}": _store(n) for n in (1, 2, 4, 8, 12, 16)},
    "ds_read_u8": _load(1),
    "ds_read_i8": _load(1, signed=True),
    "ds_read_u16": _load(2),
    "ds_read_i16": _load(2, signed=True),
    "ds_read_u8_d16": _load(1, high=False),
    "ds_read_u8_d16_hi": _load(1, high=True),
    "ds_read_i8_d16": _load(1, signed=True, high=False),
    "ds_read_i8_d16_hi": _load(1, signed=True, high=True),
    "ds_read_u16_d16": _load(2, high=False),
    "ds_read_u16_d16_hi": _load(2, high=True),
    "ds_read2_b32": _load(4, two=True),
    "ds_read2_b64": _load(8, two=True),
    "ds_read2st64_b32": _load(4, two=True, st64=True),
    "ds_read2st64_b64": _load(8, two=True, st64=True),
    "ds_write_b8_d16_hi": _store(1, high=True),
    "ds_write_b16_d16_hi": _store(2, high=True),
    "ds_write2_b32": _store(4, two=True),
    "ds_write2_b64": _store(8, two=True),
    "ds_write2st64_b32": _store(4, two=True, st64=True),
    "ds_write2st64_b64": _store(8, two=True, st64=True),
    **{f"ds_{n}": _atomic(fn, False) for n, fn in _ATOMICS.items()},
    **{f"ds_{n.replace('_', '_rtn_', 1)}": _atomic(fn, True) for n, fn in _ATOMICS.items()},
}


_RDNA = re.compile(r"ds_(load|store)(.*)")


def alias(name: str) -> str:
    """The gfx9 name of an RDNA name: ds_load_2addr_stride64_b32 is ds_read2st64_b32."""
    if found := _RDNA.match(name):
        verb = {"load": "read", "store": "write"}[found.group(1)]
        rest = found.group(2).replace("_2addr_stride64", "2st64").replace("_2addr", "2")
        return f"ds_{verb}{rest}"
    return name

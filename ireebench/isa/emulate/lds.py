"""LDS reads and writes, and the rules that a shared memory needs checked.

References: AMD CDNA3 ISA guide, "Local data share" and DS instructions; RDNA3 ISA guide for DS_LOAD and DS_STORE.
 An access beyond the kernel's allocation reads 0 or is dropped, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ireebench.isa.emulate.machine import Access, Ints, LocalMemory, Machine, gather, scatter
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.rules import Decode, Getter, Rule, Run, source
from ireebench.isa.emulate.waves import Array, Bools, Pending, Waves

SECTION = "CDNA3 ISA, DS"


def resolve(m: Machine, a: Access) -> tuple[Ints, Bools]:
    """Indices into the batch's LDS [wave, lane] and which lanes may go ahead; reports what is wrong."""
    lds = m.lds
    inside = a.offset + a.size <= lds.size
    bad = a.ok & ~inside
    if bad.any():
        message = f"LDS {a.verb} of {a.size} bytes at {a.first(bad)}, past its allocation of {lds.size} bytes"
        m.report(a.g, Fault.OUT_OF_BOUNDS, a.line, bad, subject=f"lds {a.verb}", message=message)
    ok = a.ok & inside
    unit = min(a.size, 4)
    bad = ok & ((a.offset & (unit - 1)) != 0)
    if bad.any():
        message = f"LDS {a.verb} of {a.size} bytes at {a.first(bad)}, not {unit}-byte aligned"
        m.report(a.g, Fault.MISALIGNED, a.line, bad, subject="lds", message=message)
    index = np.where(ok, a.offset, 0) + a.g.workgroup[:, None] * lds.stride
    if m.sanitize and ok.any():
        (_check_store if a.store else _check_load)(m, Access(a.g, a.line, index, ok, a.size, a.store))
    m.tally.lds_conflicts += conflicts(a.within(ok))
    m.tally.bytes[f"lds {a.verb} b{8 * a.size}"] += int(np.count_nonzero(ok)) * a.size
    return index, ok


@dataclass(frozen=True, slots=True)
class _Actors:
    """For each active lane of an access: the byte it touches, its wave plus one, and its workgroup's epoch."""

    at: Ints
    wave: npt.NDArray[np.int32]
    epoch: npt.NDArray[np.int32]


def _actors(m: Machine, a: Access, byte: int) -> _Actors:
    shape = a.ok.shape
    wave = np.broadcast_to((a.g.wave + 1)[:, None], shape)[a.ok].astype(np.int32)
    epoch = np.broadcast_to(m.lds.epoch[a.g.workgroup][:, None], shape)[a.ok].astype(np.int32)
    return _Actors(a.offset[a.ok] + byte, wave, epoch)


def _lanes(a: Access, chosen: npt.NDArray[np.bool_]) -> Bools:
    """Active lanes picked out of the compressed order, as [wave, lane]."""
    bad = np.zeros(a.ok.shape, np.bool_)
    bad[a.ok] = chosen
    return bad


def _check_load(m: Machine, a: Access) -> None:
    lds = m.lds
    for byte in range(a.size):
        x = _actors(m, a, byte)
        writer = lds.writer[x.at]
        if (writer == 0).any():
            place = int(x.at[writer == 0][0])
            message = f"LDS load of byte {place % lds.stride}, which was never written{_neighbour(lds, place)}"
            m.report(a.g, Fault.UNINITIALISED, a.line, _lanes(a, writer == 0), subject="lds", message=message)
        raced = (writer != 0) & (writer != x.wave) & (lds.write_epoch[x.at] >= x.epoch)
        _report_race(m, a, x, raced, written=True)
        # Who reads what: needed to catch a later write with no barrier between.
        others = (lds.read_epoch[x.at] == x.epoch) & (lds.reader[x.at] != 0) & (lds.reader[x.at] != x.wave)
        lds.reader[x.at] = np.where(others, np.int32(-1), x.wave)
        # Two waves of this very instruction that read one byte: the last assignment must not hide the first.
        lds.reader[x.at[lds.reader[x.at] != x.wave]] = -1
        lds.read_epoch[x.at] = x.epoch
        lds.read_line[x.at] = a.line


def _check_store(m: Machine, a: Access) -> None:
    lds = m.lds
    for byte in range(a.size):
        x = _actors(m, a, byte)
        writer, reader = lds.writer[x.at], lds.reader[x.at]
        raced = (writer != 0) & (writer != x.wave) & (lds.write_epoch[x.at] >= x.epoch)
        _report_race(m, a, x, raced, written=True)
        raced = (reader != 0) & (reader != x.wave) & (lds.read_epoch[x.at] >= x.epoch)
        _report_race(m, a, x, raced, written=False)
        lds.writer[x.at], lds.write_epoch[x.at], lds.write_line[x.at] = x.wave, x.epoch, a.line
        # Two waves of this very instruction on one byte.
        _report_race(m, a, x, lds.writer[x.at] != x.wave, written=True)


def _report_race(m: Machine, a: Access, x: _Actors, raced: npt.NDArray[np.bool_], *, written: bool) -> None:
    if not raced.any():
        return
    lds = m.lds
    who, lines = (lds.writer, lds.write_line) if written else (lds.reader, lds.read_line)
    place = int(x.at[raced][0])
    name = f"wave {int(who[place]) - 1}" if who[place] > 0 else "several waves"
    did = "written" if written else "read"
    message = (
        f"LDS {a.verb} of byte {place % lds.stride}, {did} by {name} at line {int(lines[place])}"
        " with no barrier and wait between"
    )
    subject = f"lds {did} {int(lines[place])}"
    m.report(a.g, Fault.RACE, a.line, _lanes(a, raced), subject=subject, message=message)


def _neighbour(lds: LocalMemory, place: int) -> str:
    """What was written below: a read past the end of an array in the LDS is seen by it."""
    start = place - place % lds.stride
    below = np.nonzero(lds.writer[start:place])[0]
    if not below.size:
        return ""
    last = start + int(below[-1])
    wave, line = int(lds.writer[last]) - 1, int(lds.write_line[last])
    return f" (past byte {last - start}, written by wave {wave} at line {line})"


def conflicts(a: Access) -> int:
    """Extra passes of the waves' accesses: in each pass of 128 bytes a bank (4 bytes, 32 of them) serves one address.

    Lanes are taken in groups of 128 / size, 32 at most: the LDS moves 128 bytes a pass (CDNA3 ISA guide, "Local data
    share"). Lanes that access the same dword share it.
    """
    words = max(1, a.size // 4)
    group = max(1, 32 // words)
    extra = 0
    waves, lanes = a.offset.shape
    for start in range(0, lanes, group):
        dwords = (a.offset[:, start : start + group, None] >> 2) + np.arange(words)
        active = np.broadcast_to(a.ok[:, start : start + group, None], dwords.shape)
        if not active.any():
            continue
        # Distinct dwords of each wave, then how many of them share a bank.
        number = np.broadcast_to(np.arange(waves)[:, None, None], dwords.shape)
        distinct = np.unique(np.stack((number[active], dwords[active])), axis=1)
        banks = np.zeros((waves, 32), np.int64)
        np.add.at(banks, (distinct[0], distinct[1] % 32), 1)
        extra += int(np.maximum(banks.max(axis=1) - 1, 0).sum())
    return extra


def _place(d: Decode, two: bool, element: int, stride64: bool) -> tuple[int, int]:
    if not two:
        return d.number("offset"), 0
    unit = element * (64 if stride64 else 1)
    return d.number("offset0") * unit, d.number("offset1") * unit


def _offset(g: Waves, address: Getter, offset: int) -> Ints:
    """Byte addresses in the workgroup's LDS; register plus immediate wraps at 32 bits."""
    return np.broadcast_to((address(g).astype(np.int64) + offset) & 0xFFFF_FFFF, g.exec_mask.shape)


def _load(size: int, signed: bool = False, high: bool | None = None, two: bool = False, st64: bool = False) -> Rule:
    def build(d: Decode) -> Run:
        m: Machine = d.machine
        d.flag("gds")
        target, address = d.vector(0), source(d, d.operands[1], "u32")
        first, second = _place(d, two, size, st64)
        line = d.line
        d.after = m.issue(d, "lgkm", "lds")

        def fetch(g: Waves, offset: int) -> list[Array]:
            index, ok = resolve(m, Access(g, line, _offset(g, address, offset), g.exec_mask, size, False))
            words = gather(m.lds.views, index, size)
            return words if ok.all() else [np.where(ok, w, np.uint32(0)) for w in words]

        def run(g: Waves) -> None:
            words = fetch(g, first) + (fetch(g, second) if two else [])
            if size < 4:
                put_narrow(g, target, words[0], size=size, signed=signed, high=high)
                return
            for k, w in enumerate(words):
                g.put(target + k, w)

        return run

    return Rule(SECTION, "lds load", build, shadow="none", sinks=(1,), reads_output=high is not None)


def put_narrow(g: Waves, target: int, value: Array, *, size: int, signed: bool, high: bool | None) -> None:
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
                index, ok = resolve(m, Access(g, line, _offset(g, address, offset), g.exec_mask, size, True))
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
            sanitize, m.sanitize = m.sanitize, False  # atomics do not race with each other
            index, ok = resolve(m, Access(g, line, _offset(g, address, offset), g.exec_mask, 4, True))
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

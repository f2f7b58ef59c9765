"""Global accesses of whole waves: bounds, alignment, initialisation, overlap between workgroups, and counts."""

from __future__ import annotations

import numpy as np

from ireebench.isa.emulate.arena import BASE_ADDRESS
from ireebench.isa.emulate.machine import Access, Ints, Machine, Window
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.waves import Bools

# MI300's L2 and Infinity Cache move 128-byte lines (CDNA3 white paper); counted so on every target.
LINE_BYTES = 128
_FAR = 1 << 40


def resolve(m: Machine, a: Access) -> tuple[Ints, Bools]:
    """Offsets in the arena that are safe to use, and the lanes that may go ahead. Reports what is wrong."""
    a = a.within(_going_on(m, a, a.ok))
    window = _one_window(m, a)
    if window is None and a.ok.any():
        a = a.within(_inside(m, a))
        window = _one_window(m, a)
    if not a.ok.any():
        return np.zeros(a.ok.shape, np.int64), a.ok
    if m.sanitize:
        a = a.within(_sanitize(m, a, window))
    elif a.store:
        _mark(m, a)
    active = a.offset[a.ok]
    m.tally.bytes[f"global {a.verb} b{8 * a.size}"] += int(active.size) * a.size
    m.tally.cache_lines += _lines(a)
    return np.where(a.ok, a.offset, int(active[0]) if active.size else 0), a.ok


def _going_on(m: Machine, a: Access, ok: Bools) -> Bools:
    return ok if m.dropped is None else ok & ~m.dropped[a.g.workgroup][:, None]


def _one_window(m: Machine, a: Access) -> Window | None:
    """The window that holds the accesses of all lanes: the usual case."""
    active = a.offset[a.ok]
    if not active.size:
        return None
    low, high = int(active.min()), int(active.max()) + a.size
    return next((w for w in m.windows if w.start <= low and high <= w.end), None)


def _inside(m: Machine, a: Access) -> Bools:
    """The lanes whose bytes lie in one window; reports the others."""
    inside = np.zeros(a.ok.shape, np.bool_)
    for w in m.windows:
        inside |= (a.offset >= w.start) & (a.offset + a.size <= w.end)
    bad = a.ok & ~inside
    if bad.any():
        place = a.first(bad)
        nearest = min(m.windows, key=lambda w: max(w.start - place, place - w.end + 1, 0))
        where = f"byte {place - nearest.start} of {nearest.name}, which has {nearest.end - nearest.start} bytes"
        if abs(place - nearest.start) > _FAR:
            where = f"address {hex(place + BASE_ADDRESS)}, in no buffer"
        message = f"{a.verb} of {a.size} bytes at {where}"
        m.report(a.g, Fault.OUT_OF_BOUNDS, a.line, bad, subject="global", message=message)
    return a.ok & inside


def _sanitize(m: Machine, a: Access, window: Window | None) -> Bools:
    """Checks what a store or load does to known bytes; returns the lanes that go on."""
    unit = min(a.size, 4)
    bad = a.ok & ((a.offset & (unit - 1)) != 0)
    if bad.any():
        message = f"{a.verb} of {a.size} bytes at an address that is not {unit}-byte aligned"
        m.report(a.g, Fault.MISALIGNED, a.line, bad, subject="global", message=message)
    for w in (window,) if window else m.windows:
        part = a if window else a.within(a.ok & (a.offset >= w.start) & (a.offset < w.end))
        if part.ok.any():
            (_check_store if a.store else _check_load)(m, part, w)
    return _going_on(m, a, a.ok)


def _mark(m: Machine, a: Access) -> None:
    """Records stored bytes when nothing else is checked."""
    active = a.offset[a.ok]
    for w in m.windows:
        if w.buffer.written is not None:
            here = active[(active >= w.start) & (active < w.end)]
            w.buffer.written[(here[:, None] - w.buffer.start + np.arange(a.size)).reshape(-1)] = True


def _lines(a: Access) -> int:
    """Distinct cache lines that each wave touches, summed."""
    first, last = a.offset // LINE_BYTES, (a.offset + a.size - 1) // LINE_BYTES
    straddles = not np.array_equal(first, last)
    lines = np.concatenate((first, last), axis=1) if straddles else first
    ok = np.concatenate((a.ok, a.ok), axis=1) if straddles else a.ok
    ordered = np.sort(np.where(ok, lines, -1), axis=1)
    fresh = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    return int(np.count_nonzero(fresh)) + int(np.count_nonzero(ordered[:, 0] >= 0))


def _check_load(m: Machine, a: Access, w: Window) -> None:
    b = w.buffer
    relative = a.offset - b.start
    if b.written is None or b.writer is None:
        lacking = a.ok & (relative + a.size > b.provided)
        _report_lacking(m, a, w, lacking, "holds no data there")
        return
    index = np.where(a.ok, relative, 0)[..., None] + np.arange(a.size)
    known = (b.written[index] | (index < b.provided)).all(axis=2)
    _report_lacking(m, a, w, a.ok & ~known, "was never stored there")
    writer = b.writer[index]
    me = (m.linear(a.g) + 1)[:, None, None]
    bad = a.ok & ((writer != 0) & (writer != me)).any(axis=2)
    if bad.any():
        message = _at(a, bad, w, "another workgroup stores in the same dispatch")
        m.report(a.g, Fault.RACE, a.line, bad, subject=w.name, message=message)


def _report_lacking(m: Machine, a: Access, w: Window, lacking: Bools, why: str) -> None:
    """A load of bytes that nobody gave: a fault, or the end of a workgroup when only some rows are run."""
    if not lacking.any():
        return
    if m.dropped is not None:
        m.drop(a.g, lacking)
    else:
        message = _at(a, lacking, w, why)
        m.report(a.g, Fault.UNINITIALISED, a.line, lacking, subject=w.name, message=message)


def _check_store(m: Machine, a: Access, w: Window) -> None:
    b, g = w.buffer, a.g
    if b.written is None or b.writer is None:
        message = f"store to {w.name}, which is only to be read"
        m.report(g, Fault.OUT_OF_BOUNDS, a.line, a.ok, subject=w.name, message=message)
        return
    index = (a.offset - b.start)[a.ok][:, None] + np.arange(a.size)
    me = np.broadcast_to((m.linear(g) + 1)[:, None], a.ok.shape)[a.ok][:, None].astype(np.int32)
    before = b.writer[index]
    clash = ((before != 0) & (before != me)).any(axis=1)
    b.writer[index] = me
    b.written[index] = True
    # Workgroups that are emulated together: whoever is not the last to store finds another's mark.
    clash |= (b.writer[index] != me).any(axis=1)
    if clash.any():
        bad = np.zeros(a.ok.shape, np.bool_)
        bad[a.ok] = clash
        message = _at(a, bad, w, "another workgroup stores too")
        m.report(g, Fault.OVERLAP, a.line, bad, subject=w.name, message=message)


def _at(a: Access, bad: Bools, w: Window, why: str) -> str:
    return f"{a.verb} of {a.size} bytes at byte {a.first(bad) - w.start} of {w.name}, which {why}"

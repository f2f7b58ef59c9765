"""Global accesses of whole waves: bounds, alignment, initialisation, overlap between workgroups, and counts."""

from __future__ import annotations

import numpy as np

from ireebench.isa.emulate.arena import BASE_ADDRESS, Buffer
from ireebench.isa.emulate.machine import Machine, Window
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.waves import Array, Bools, Waves

# MI300's L2 and Infinity Cache move 128-byte lines (CDNA3 white paper); counted so on every target.
LINE_BYTES = 128


def resolve(m: Machine, g: Waves, line: int, offset: Array, ok: Bools, size: int, store: bool) -> tuple[Array, Bools]:
    """Offsets in the arena that are safe to use, and the lanes that may go ahead. Reports what is wrong.

    `offset` is int64 [wave, lane] from the arena's start; `ok` the lanes that access memory at all.
    """
    offset = np.broadcast_to(offset, ok.shape)
    if m.dropped is not None:
        ok = ok & ~m.dropped[g.workgroup][:, None]
    active = offset[ok]
    if not active.size:
        return np.zeros(ok.shape, np.int64), ok
    low, high = int(active.min()), int(active.max()) + size
    window = next((w for w in m.windows if w.start <= low and high <= w.end), None)
    if window is None:
        ok = _within(m, g, line, offset, ok, size, store)
        active = offset[ok]
        if not active.size:
            return np.zeros(ok.shape, np.int64), ok
        low, high = int(active.min()), int(active.max()) + size
        window = next((w for w in m.windows if w.start <= low and high <= w.end), None)
    if m.sanitize:
        unit = min(size, 4)
        if unit > 1 and (active & (unit - 1)).any():
            bad = ok & ((offset & (unit - 1)) != 0)
            what = "store" if store else "load"
            m.report(
                g,
                Fault.MISALIGNED,
                line,
                bad,
                "global",
                f"{what} of {size} bytes at an address that is not {unit}-byte aligned",
            )
        groups = [window] if window else [w for w in m.windows if w.end > low and w.start < high]
        for w in groups:
            inside = ok if window else ok & (offset >= w.start) & (offset < w.end)
            if inside.any():
                (_check_store if store else _check_load)(m, g, line, offset, inside, size, w)
        if m.dropped is not None:
            ok = ok & ~m.dropped[g.workgroup][:, None]
    elif store:
        for w in [window] if window else m.windows:
            if w.buffer.written is not None:
                inside = active[(active >= w.start) & (active < w.end)]
                w.buffer.written[(inside[:, None] - w.buffer.start + np.arange(size)).reshape(-1)] = True
    space = f"global {'store' if store else 'load'} b{8 * size}"
    m.tally.bytes[space] += int(active.size) * size
    m.tally.cache_lines += _lines(offset, ok, size)
    return np.where(ok, offset, low), ok


def _lines(offset: Array, ok: Bools, size: int) -> int:
    """Distinct cache lines that each wave touches, summed."""
    first, last = offset // LINE_BYTES, (offset + size - 1) // LINE_BYTES
    both = np.concatenate((first, last), axis=1) if not np.array_equal(first, last) else first
    mask = np.concatenate((ok, ok), axis=1) if both is not first else ok
    ordered = np.sort(np.where(mask, both, -1), axis=1)
    fresh = ordered[:, 1:] != ordered[:, :-1]
    return int(np.count_nonzero(fresh & (ordered[:, 1:] >= 0))) + int(np.count_nonzero(ordered[:, 0] >= 0))


def _within(m: Machine, g: Waves, line: int, offset: Array, ok: Bools, size: int, store: bool) -> Bools:
    """The lanes whose bytes lie in one window; reports the others."""
    inside = np.zeros(ok.shape, np.bool_)
    for w in m.windows:
        inside |= (offset >= w.start) & (offset + size <= w.end)
    bad = ok & ~inside
    if bad.any():
        place = int(offset[tuple(np.argwhere(bad)[0])])
        nearest = min(m.windows, key=lambda w: max(w.start - place, place - w.end + 1, 0), default=None)
        what = "store" if store else "load"
        if nearest is None or abs(place - nearest.start) > (1 << 40):
            message = f"{what} of {size} bytes at address {hex(place + BASE_ADDRESS)}, in no buffer"
        else:
            extent = nearest.end - nearest.start
            message = (
                f"{what} of {size} bytes at byte {place - nearest.start} of {nearest.name}, which has {extent} bytes"
            )
        m.report(g, Fault.OUT_OF_BOUNDS, line, bad, "global", message)
    return ok & inside


def _check_load(m: Machine, g: Waves, line: int, offset: Array, ok: Bools, size: int, w: Window) -> None:
    b: Buffer = w.buffer
    relative = offset - b.start
    if b.provided >= b.size:
        if b.writer is None:
            return
    elif b.written is None:
        bad = ok & (relative + size > b.provided)
        if bad.any() and m.dropped is not None:
            m.drop(g, bad)
        elif bad.any():
            m.report(
                g, Fault.UNINITIALISED, line, bad, w.name, _at(relative, bad, size, w, "load", "holds no data there")
            )
        return
    assert b.written is not None
    assert b.writer is not None
    index = np.where(ok, relative, 0)[..., None] + np.arange(size)
    known = (b.written[index] | (index < b.provided)).all(axis=2)
    bad = ok & ~known
    if bad.any() and m.dropped is not None:
        ok = ok & m.drop(g, bad)
    elif bad.any():
        m.report(g, Fault.UNINITIALISED, line, bad, w.name, _at(relative, bad, size, w, "load", "was never stored"))
    writer = b.writer[index]
    me = (m.linear(g) + 1)[:, None, None]
    bad = ok & ((writer != 0) & (writer != me)).any(axis=2)
    if bad.any():
        text = _at(relative, bad, size, w, "load", "another workgroup stores in the same dispatch")
        m.report(g, Fault.RACE, line, bad, w.name, text)


def _check_store(m: Machine, g: Waves, line: int, offset: Array, ok: Bools, size: int, w: Window) -> None:
    b: Buffer = w.buffer
    relative = offset - b.start
    if b.written is None or b.writer is None:
        m.report(g, Fault.OUT_OF_BOUNDS, line, ok, w.name, f"store to {w.name}, which is only to be read")
        return
    index = relative[ok][:, None] + np.arange(size)
    me = np.broadcast_to((m.linear(g) + 1)[:, None], ok.shape)[ok][:, None].astype(np.int32)
    before = b.writer[index]
    clash = ((before != 0) & (before != me)).any(axis=1)
    b.writer[index] = me
    b.written[index] = True
    # Workgroups that are emulated together: whoever is not the last to store finds another's mark.
    clash |= (b.writer[index] != me).any(axis=1)
    if clash.any():
        bad = np.zeros(ok.shape, np.bool_)
        bad[ok] = clash
        text = _at(relative, bad, size, w, "store", "another workgroup stores too")
        m.report(g, Fault.OVERLAP, line, bad, w.name, text)


def _at(relative: Array, bad: Bools, size: int, w: Window, what: str, why: str) -> str:
    place = int(relative[tuple(np.argwhere(bad)[0])]) - (w.start - w.buffer.start)
    return f"{what} of {size} bytes at byte {place} of {w.name}, which {why}"

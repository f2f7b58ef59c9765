"""Registers that hold what was never written, or have not arrived yet.

Undefined bits travel with the values (as in Valgrind's Memcheck and LLVM's MemorySanitizer): compilers move and combine
undefined registers freely, and only a use that can be seen is a fault - an address, stored data, EXEC, a branch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ireebench.isa.assembly import Instruction
from ireebench.isa.emulate.machine import Machine, refresh_hot
from ireebench.isa.emulate.operands import SCC, SGPR_ID, VCC
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.rules import Step
from ireebench.isa.emulate.waves import Array, Bools, Waves

_ALL = np.uint32(0xFFFFFFFF)


def register_name(register: int) -> str:
    """v7, s12, a3, vcc, scc."""
    if register >= SGPR_ID:
        slot = register - SGPR_ID
        named = {VCC: "vcc_lo", VCC + 1: "vcc_hi", SCC: "scc", 124: "m0", 126: "exec_lo", 127: "exec_hi"}
        return named.get(slot, f"s{slot}")
    return f"v{register}" if register < 256 else f"a{register - 256}"


def checked(m: Machine, step: Step) -> Callable[[Waves], None]:
    """The step with its checks: one set operation unless it touches a register that needs a second look."""
    run, after, touched = step.run, step.after, step.touched
    if after is None:

        def plain(g: Waves) -> None:
            if touched.isdisjoint(g.hot):
                run(g)
            else:
                _slow(m, g, step)

        return plain

    def with_flight(g: Waves) -> None:
        if touched.isdisjoint(g.hot):
            run(g)
        else:
            _slow(m, g, step)
        after(g)

    return with_flight


def unchecked(step: Step) -> Callable[[Waves], None]:
    """The step alone."""
    run, after = step.run, step.after
    if after is None:
        return run

    def both(g: Waves) -> None:
        run(g)
        after(g)

    return both


def _slow(m: Machine, g: Waves, step: Step) -> None:
    _check_flight(m, g, step)
    sources = [r for r in step.reads if _is_poisoned(g, r)]
    bad_sinks = [r for r in step.sinks if _is_poisoned(g, r)]
    if bad_sinks:
        _report_use(m, g, step, bad_sinks)
    if step.shadow == "none" or not sources:
        step.run(g)
        if step.mnemonic.startswith("v_writelane"):
            _clean_written_lane(g, step)
        else:
            _clean(g, step.writes)
    else:
        _propagate(g, step, sources)
    refresh_hot(g)


def _is_poisoned(g: Waves, register: int) -> bool:
    return (register - SGPR_ID in g.poison_s) if register >= SGPR_ID else register in g.poison_v


def _check_flight(m: Machine, g: Waves, step: Step) -> None:
    """A register that an operation in flight will write must be neither read nor written."""
    for p in g.pending:
        # Two loads into one register (its halves, or again) arrive in order when they are of one kind.
        in_order = step.flight == (p.counter, p.source) and p.source != "smem"
        early = p.registers & (step.touched - step.writes if in_order else step.touched)
        if not early:
            continue
        register = min(early)
        verb = "used" if early & step.reads else "overwritten"
        counter = {"vm": "vmcnt", "vs": "vscnt", "lgkm": "lgkmcnt"}[p.counter]
        lanes = g.exec_mask if g.exec_mask.any() else np.ones_like(g.exec_mask)
        message = (
            f"{register_name(register)} is {verb} by {step.mnemonic} before a wait on {counter}"
            f" for {p.mnemonic} of line {p.line}"
        )
        m.report(g, Fault.MISSING_WAIT, step.line, lanes, subject=f"{p.line}", message=message)


def _lanes_of(g: Waves, register: int) -> Bools:
    """Active lanes whose value of a register has undefined bits."""
    if register < SGPR_ID:
        return np.asarray((g.poison_v[register] != 0) & g.exec_mask)
    bits = g.poison_s[register - SGPR_ID]
    return np.broadcast_to((bits != 0)[:, None], g.exec_mask.shape)


def _report_use(m: Machine, g: Waves, step: Step, registers: list[int]) -> None:
    for r in sorted(registers):
        if r >= SGPR_ID and step.group == "scalar" and step.writes & {SGPR_ID + 126}:
            # New EXEC bits matter only for lanes that the old EXEC leaves on.
            slot = r - SGPR_ID
            live = g.poison_s[slot] & g.s[:, 126 + (slot & 1)]
            bad = np.broadcast_to((live != 0)[:, None], g.exec_mask.shape)
        else:
            bad = _lanes_of(g, r)
        if bad.any():
            name = register_name(r)
            message = f"{step.mnemonic} uses {name}, which was never written"
            m.report(g, Fault.UNINITIALISED, step.line, bad, subject=name, message=message)


def branch_on(m: Machine, g: Waves, branch: Instruction, register: int) -> None:
    """Reports a branch whose condition is undefined."""
    if _is_poisoned(g, register) and (g.poison_s[register - SGPR_ID] != 0).any():
        bad = g.poison_s[register - SGPR_ID] != 0
        name = register_name(register)
        message = f"{branch.mnemonic} depends on {name}, which was never written"
        m.report(g, Fault.UNINITIALISED, branch.line, bad, subject=name, message=message)


def _clean(g: Waves, writes: frozenset[int]) -> None:
    """A defined result was stored: whole scalar registers, and the active lanes of vector registers."""
    for r in writes:
        if r >= SGPR_ID:
            g.poison_s.pop(r - SGPR_ID, None)
        elif r in g.poison_v:
            if g.full:
                del g.poison_v[r]
                continue
            rest = np.where(g.exec_mask, np.uint32(0), g.poison_v[r])
            if rest.any():
                g.poison_v[r] = rest
            else:
                del g.poison_v[r]


def _clean_written_lane(g: Waves, step: Step) -> None:
    """V_WRITELANE defines one lane; which one is not recorded in the step, so what it wrote is found by its effect."""
    for r in step.writes:
        if r in g.poison_v:
            # A lane is written whole: the conservative choice is to forget the poison of the register.
            del g.poison_v[r]


def _propagate(g: Waves, step: Step, sources: list[int]) -> None:
    """Runs a step that reads undefined bits, and marks what they reach."""
    if step.shadow == "bits":
        spread = _by_difference(g, step, sources)
    else:
        tainted = np.zeros_like(g.exec_mask)
        for r in sources:
            tainted = tainted | _lanes_of(g, r)
        carried = _carried(g, step) if step.shadow == "carry" else None
        step.run(g)
        spread = _everything(g, step, tainted)
        if carried is not None:
            for k, r in enumerate(sorted(w for w in step.writes if w < SGPR_ID)):
                spread[r] = (carried >> np.uint64(32 * k)).astype(np.uint32)
    for r, bits in spread.items():
        if r >= SGPR_ID:
            _set_scalar(g, r - SGPR_ID, bits)
            continue
        old = g.poison_v.get(r, np.zeros_like(g.vu[r]))
        new = np.where(g.exec_mask, bits, old)
        if new.any():
            g.poison_v[r] = new
        else:
            g.poison_v.pop(r, None)


def _carried(g: Waves, step: Step) -> Array:
    """Sums and products: an undefined bit reaches the bits of its own place and above, as uint64 [wave, lane]."""
    spread: Array = np.zeros(g.exec_mask.shape, np.uint64)
    for words in step.inputs:
        poison: Array = np.zeros((1, 1), np.uint64)
        for k, r in enumerate(words[:2]):
            if _is_poisoned(g, r):
                bits = g.poison_s[r - SGPR_ID][:, None] if r >= SGPR_ID else g.poison_v[r]
                poison = poison | (bits.astype(np.uint64) << np.uint64(32 * k))
        lowest = poison & (~poison + np.uint64(1))
        spread = spread | np.where(poison == 0, np.uint64(0), ~(lowest - np.uint64(1)))
    return spread


def _set_scalar(g: Waves, slot: int, bits: Array) -> None:
    if bits.any():
        g.poison_s[slot] = bits
    else:
        g.poison_s.pop(slot, None)


def _everything(g: Waves, step: Step, tainted: Bools) -> dict[int, Array]:
    """Any undefined bit of a lane makes the lane's whole result undefined."""
    spread: dict[int, Array] = {}
    packed = np.packbits(tainted, axis=1, bitorder="little").view(np.uint32)
    for r in step.writes:
        if r < SGPR_ID:
            spread[r] = np.where(tainted, _ALL, np.uint32(0))
        elif step.group in ("vector compare", "vector int", "vector float") and r != SGPR_ID + SCC:
            low = min(w for w in step.writes if SGPR_ID <= w < SGPR_ID + SCC)
            spread[r] = packed[:, min(r - low, packed.shape[1] - 1)].copy()
        else:
            spread[r] = np.where(tainted.any(axis=1), _ALL, np.uint32(0))
    return spread


def _by_difference(g: Waves, step: Step, sources: list[int]) -> dict[int, Array]:
    """Runs the step with all undefined bits 0 and with all 1: a bit of the result that differs depends on them.

    Exact for moves, shifts by defined amounts, and, or and selections: the rules that say `shadow="bits"`.
    """
    kept = {r: _get(g, r).copy() for r in {*sources, *step.writes}}
    outcomes: list[dict[int, Array]] = []
    for fill in (False, True):
        for r, value in kept.items():
            _put(g, r, value)
        for r in sources:
            poison = g.poison_s[r - SGPR_ID] if r >= SGPR_ID else g.poison_v[r]
            if r == SGPR_ID + SCC:
                _put(g, r, np.where(poison != 0, np.uint32(fill), kept[r]))
            else:
                _put(g, r, (kept[r] | poison) if fill else (kept[r] & ~poison))
        step.run(g)
        outcomes.append({r: _get(g, r).copy() for r in step.writes})
    for r, value in kept.items():
        _put(g, r, value)
    step.run(g)
    return {r: outcomes[0][r] ^ outcomes[1][r] for r in step.writes}


def _get(g: Waves, register: int) -> Array:
    if register == SGPR_ID + SCC:
        return g.scc.astype(np.uint32)
    return g.su[register - SGPR_ID] if register >= SGPR_ID else g.vu[register]


def _put(g: Waves, register: int, value: Array) -> None:
    if register == SGPR_ID + SCC:
        g.scc[...] = value != 0
    elif register >= SGPR_ID:
        g.su[register - SGPR_ID][...] = value
    else:
        g.vu[register][...] = value

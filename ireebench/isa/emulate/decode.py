"""From an instruction of the assembly to a `Step`: finds its rule, builds its function, lists its registers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ireebench.isa.assembly import Instruction
from ireebench.isa.emulate import (
    compare,
    conversions,
    crosslane,
    lds,
    memory,
    packed,
    scalar,
    scalar_compare,
    vector_float,
    vector_int,
    waits,
)
from ireebench.isa.emulate.dpp import dpp, is_dpp, sdwa
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.listing import Addresses
from ireebench.isa.emulate.machine import Machine
from ireebench.isa.emulate.operands import EXEC, SGPR_ID, VCC, Operand, parse_operand
from ireebench.isa.emulate.rules import HARMLESS, Decode, Rule, Run, Step, registers, slots
from ireebench.isa.emulate.waves import Waves

RULES: Mapping[str, Rule] = {
    **scalar.RULES,
    **scalar_compare.RULES,
    **vector_int.RULES,
    **vector_float.RULES,
    **compare.RULES,
    **conversions.RULES,
    **packed.RULES,
    **crosslane.RULES,
    **lds.RULES,
    **memory.RULES,
    **waits.RULES,
}
_ALIASES: Mapping[str, str] = {
    **scalar.ALIASES,
    **vector_int.ALIASES,
    **vector_float.ALIASES,
    **conversions.ALIASES,
    **packed.ALIASES,
}
_RENAMERS: tuple[Callable[[str], str], ...] = (lds.alias, memory.alias)
_SUFFIX = re.compile(r"(_e32|_e64|_sdwa|_dpp8|_dpp|_e64_dpp|_vi|_gfx\d+)+\Z")
_EXEC_IDS = slots((EXEC, EXEC + 1))


def canonical(mnemonic: str) -> str:
    """The name that the tables use: without encoding suffixes, and in gfx9's words where only the name changed."""
    name = _SUFFIX.sub("", mnemonic)
    name = _ALIASES.get(name, name)
    for rename in _RENAMERS:
        name = rename(name)
    return name


def decode(instruction: Instruction, machine: Machine, index: int) -> Step:
    """The step of instruction number `index` of the kernel.

    One that has no rule gives a step that raises Unsupported when it is reached.
    """
    try:
        if instruction.second is not None:
            return _dual(instruction, machine)
        return _single(_resolved(instruction, machine, index), machine)
    except Unsupported as e:
        return _unsupported(instruction, e)


def _resolved(instruction: Instruction, machine: Machine, index: int) -> Instruction:
    """The instruction with its address expressions as numbers; S_GETPC becomes the move of one."""
    if instruction.mnemonic == "s_getpc_b64":
        return replace(instruction, mnemonic="s_mov_b64", operands=(*instruction.operands, str(_next(index))))
    if machine.addresses is None or not any("@rel32@" in o or o.startswith("(") for o in instruction.operands):
        return instruction
    values = [machine.addresses.value(o, index) for o in instruction.operands]
    operands = tuple(o if v is None else str(v) for o, v in zip(instruction.operands, values, strict=True))
    return replace(instruction, operands=operands)


def _next(index: int) -> int:
    return Addresses.of_instruction(index + 1)


def _unsupported(instruction: Instruction, error: Unsupported) -> Step:
    def run(g: Waves) -> None:
        del g
        raise error

    nothing: frozenset[int] = frozenset()
    return Step(
        run, None, instruction.line, instruction.mnemonic, "unknown", nothing, nothing, nothing, "none", nothing
    )


def _single(instruction: Instruction, machine: Machine) -> Step:
    name = canonical(instruction.mnemonic)
    rule = RULES.get(name)
    if rule is None:
        raise Unsupported(instruction.mnemonic, instruction.line)
    operands = [] if rule.group == "wait" else [parse_operand(o, instruction.line) for o in instruction.operands]
    modifiers = {k: v for k, v in instruction.modifiers if k not in HARMLESS}
    d = Decode(instruction, name, operands, modifiers, machine.mode, machine)
    shown = list(operands)
    run = _build(d, rule, instruction.mnemonic)
    d.modifiers.pop("offset", None) if rule.group == "wait" else None
    if d.modifiers:
        raise d.unsupported(", ".join(sorted(d.modifiers)))
    return _step(instruction, rule, shown, run, d)


def _build(d: Decode, rule: Rule, mnemonic: str) -> Run:
    if is_dpp(d.modifiers):
        at = len(d.operands) - 2 if rule.outputs == 0 or d.name.startswith("v_cmp") else max(rule.outputs, 1)
        return dpp(d, rule.build, at)
    if mnemonic.endswith("_sdwa") or "src0_sel" in d.modifiers:
        return sdwa(d, rule.build, not d.name.startswith("v_cmp"))
    return rule.build(d)


def _step(instruction: Instruction, rule: Rule, operands: list[Operand], run: Run, d: Decode) -> Step:
    outputs, inputs = operands[: rule.outputs], operands[rule.outputs :]
    partial = is_dpp(dict(instruction.modifiers)) or instruction.mnemonic.endswith("_sdwa")
    writes = registers(outputs) | slots(_used(rule.implicit_writes, d.mode.lanes))
    reads = (registers(inputs) if d.reads is None else d.reads) | slots(_used(rule.implicit_reads, d.mode.lanes))
    if rule.reads_output or (partial and not _zero_fills(instruction)):
        reads |= registers(outputs)
    chosen = [operands[i] for i in rule.sinks if -len(operands) <= i < len(operands)]
    sinks = registers(chosen)
    if writes & _EXEC_IDS:
        sinks |= registers(inputs)
    return Step(
        run,
        d.after,
        instruction.line,
        instruction.mnemonic,
        rule.group,
        reads,
        writes,
        sinks & reads,
        rule.shadow,
        reads | writes,
        tuple(tuple(sorted(o.registers)) for o in (*inputs, *(outputs if rule.reads_output else ()))),
        d.flight,
    )


def _used(numbers: tuple[int, ...], lanes: int) -> tuple[int, ...]:
    """With 32 lanes the upper halves of VCC and EXEC are not touched."""
    return numbers if lanes == 64 else tuple(n for n in numbers if n not in (VCC + 1, EXEC + 1))


def _zero_fills(instruction: Instruction) -> bool:
    """A DPP move that writes every lane: its old value does not matter."""
    m = dict(instruction.modifiers)
    if instruction.mnemonic.endswith("_sdwa"):
        return m.get("dst_unused") != "UNUSED_PRESERVE" or m.get("dst_sel", "DWORD") == "DWORD"
    return "bound_ctrl" in m and m.get("row_mask", "0xf") == "0xf" and m.get("bank_mask", "0xf") == "0xf"


def _dual(instruction: Instruction, machine: Machine) -> Step:
    """A dual-issue pair (RDNA3 ISA guide, "VOPD"): both halves read their sources before either stores."""
    assert instruction.second is not None
    halves = []
    for half in (instruction, instruction.second):
        name = "v_" + half.mnemonic.removeprefix("v_dual_")
        operands = half.operands
        if canonical(name) == "v_cndmask_b32" and len(operands) == 3:
            operands = (*operands, "vcc_lo")
        halves.append(Instruction(instruction.line, name, operands, half.modifiers, half.text))
    first, second = (_single(h, machine) for h in halves)
    first_writes = sorted(first.writes)
    if any(r >= SGPR_ID for r in first_writes) or not first.writes & second.reads:
        run = _in_turn(first.run, second.run)
    else:
        run = _with_old(first.run, second.run, first_writes)
    return Step(
        run,
        None,
        instruction.line,
        instruction.mnemonic,
        first.group,
        first.reads | second.reads,
        first.writes | second.writes,
        frozenset(),
        "any",
        first.touched | second.touched,
    )


def _in_turn(first: Run, second: Run) -> Run:
    def run(g: Waves) -> None:
        first(g)
        second(g)

    return run


def _with_old(first: Run, second: Run, written: list[int]) -> Run:
    """The second half must see what the first overwrites: the first's results are put aside meanwhile."""

    def run(g: Waves) -> None:
        old = [g.vu[r].copy() for r in written]
        first(g)
        new = [g.vu[r].copy() for r in written]
        for r, value in zip(written, old, strict=True):
            g.vu[r][...] = value
        second(g)
        for r, value in zip(written, new, strict=True):
            g.vu[r][...] = value

    return run

"""Runs one dispatch: cuts the code into blocks and lets the waves walk through them.

All waves of a batch of workgroups walk together while they agree on where to go. Where a branch parts them, the group
at the lowest place in the code goes first, and groups that meet at the start of a block become one again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ireebench.isa.assembly import Instruction, Kernel
from ireebench.isa.emulate import lds
from ireebench.isa.emulate.decode import decode
from ireebench.isa.emulate.dpp import is_dpp
from ireebench.isa.emulate.errors import ExecutionLimit, Unsupported
from ireebench.isa.emulate.machine import Machine
from ireebench.isa.emulate.operands import EXEC, SCC, SGPR_ID, VCC, parse_operand
from ireebench.isa.emulate.sanitizer import branch_on, checked, unchecked
from ireebench.isa.emulate.waves import Bools, Waves, join

_BRANCHES = ("s_branch", "s_cbranch_", "s_endpgm", "s_barrier", "s_setpc", "s_swappc", "s_trap")
# Split barriers of gfx12: the signal is harmless as long as its wait follows, which compilers keep true.
_SIGNALS = ("s_barrier_signal",)


def _vcc_zero(g: Waves) -> Bools:
    words = g.s[:, VCC : VCC + g.lanes // 32]
    return np.asarray((words == 0).all(axis=1))


def _exec_zero(g: Waves) -> Bools:
    return np.asarray(~g.exec_mask.any(axis=1))


# Which waves take a conditional branch: CDNA3 ISA, SOPP.
CONDITIONS: Mapping[str, tuple[Callable[[Waves], Bools], int]] = {
    "s_cbranch_scc0": (lambda g: ~g.scc, SCC),
    "s_cbranch_scc1": (lambda g: g.scc.copy(), SCC),
    "s_cbranch_vccz": (_vcc_zero, VCC),
    "s_cbranch_vccnz": (lambda g: ~_vcc_zero(g), VCC),
    "s_cbranch_execz": (_exec_zero, EXEC),
    "s_cbranch_execnz": (lambda g: ~_exec_zero(g), EXEC),
}


@dataclass(eq=False)
class Block:
    """Instructions that are executed together, and the one that ends them (None: it runs on into the next block)."""

    runs: list[Callable[[Waves], None]]
    groups: list[str]
    last: Instruction | None
    target: int = -1
    dpp: int = 0  # how many of them have DPP
    waves: int = 0  # waves that went through: instruction counts come from it


@dataclass(eq=False)
class Code:
    """A kernel as blocks."""

    blocks: list[Block] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)  # block that starts at an instruction

    def instruction_counts(self) -> dict[str, int]:
        """Wave-instructions executed, by class."""
        counts: dict[str, int] = {}
        for b in self.blocks:
            for group in (*b.groups, *(("branch",) if b.last else ())):
                if b.waves:
                    counts[group] = counts.get(group, 0) + b.waves
        return counts

    def dpp_count(self) -> int:
        """Wave-instructions executed with DPP, whatever their class."""
        return sum(b.dpp * b.waves for b in self.blocks)


def compile_kernel(kernel: Kernel, machine: Machine) -> Code:
    """Decodes each instruction once."""
    instructions = kernel.instructions
    leaders = {0, *kernel.labels.values()}
    for i, ins in enumerate(instructions):
        if ins.mnemonic.startswith(_BRANCHES) and not ins.mnemonic.startswith(_SIGNALS):
            leaders.add(i + 1)
    starts = sorted(s for s in leaders if s < len(instructions))
    number = {s: n for n, s in enumerate(starts)}
    code = Code(numbers=number)
    for n, start in enumerate(starts):
        end = starts[n + 1] if n + 1 < len(starts) else len(instructions)
        block = Block([], [], None)
        for i, ins in enumerate(instructions[start:end], start):
            if ins.mnemonic.startswith(_SIGNALS):
                continue
            if ins.mnemonic.startswith(_BRANCHES):
                block.last = ins
                if ins.mnemonic.startswith(("s_branch", "s_cbranch")):
                    place = kernel.labels.get(ins.operands[0], -1)
                    block.target = number.get(place, -1)
                continue
            step = decode(ins, machine, i)
            block.runs.append(checked(machine, step) if machine.sanitize else unchecked(step))
            block.groups.append(step.group)
            block.dpp += is_dpp(dict(ins.modifiers))
        code.blocks.append(block)
    return code


@dataclass(eq=False)
class Scheduler:
    """The groups of one batch: those that can run, and those that wait at a barrier."""

    code: Code
    machine: Machine
    limit: int
    ready: list[Waves] = field(default_factory=list)
    waiting: list[Waves] = field(default_factory=list)
    executed: int = 0

    def run(self, waves: Waves, live: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        """Runs all waves to their end. `live` is the number of waves of each workgroup of the batch, counted down."""
        self.ready = [waves]
        while self.ready or self.waiting:
            if not self.ready:
                self._release(live)
                continue
            self.ready.sort(key=lambda g: g.block)
            g = self.ready.pop(0)
            self._advance(g, live)

    def _advance(self, g: Waves, live: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        """Runs one group until it parts, ends, waits, or reaches the place of another."""
        blocks = self.code.blocks
        while True:
            if self.ready:
                other = self.ready[0]
                if other.block == g.block and other.pending == g.pending:
                    self.ready[0] = join(other, g)
                    return
                if other.block < g.block:
                    self.ready.append(g)
                    return
            if g.block >= len(blocks):
                raise ExecutionLimit("the code runs past its end")
            block = blocks[g.block]
            self.executed += len(block.runs) + 1
            if self.executed > self.limit:
                raise ExecutionLimit(
                    f"more than {self.limit} instructions; raise the limit or look for an endless loop"
                )
            for run in block.runs:
                run(g)
            if self.machine.dropped is not None and self.machine.dropped[g.workgroup].any():
                g = self._without_dropped(g, live)
                if not g.count:
                    return
            block.waves += g.count
            if block.last is None:
                g.block += 1
                continue
            if not self._leave(g, block, block.last, live):
                return

    def _without_dropped(self, g: Waves, live: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Waves:
        """What is left of a group; the other groups lose their waves of the dropped workgroups too."""
        dropped = self.machine.dropped
        assert dropped is not None
        live[dropped] = 0

        def rest(group: Waves) -> Waves:
            keep = ~dropped[group.workgroup]
            return group if keep.all() else group.take(keep)

        self.ready = [r for r in map(rest, self.ready) if r.count]
        self.waiting = [r for r in map(rest, self.waiting) if r.count]
        return rest(g)

    def _leave(
        self, g: Waves, block: Block, last: Instruction, live: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> bool:
        """Follows the instruction that ends a block; False when the group is done, waits or has parted."""
        name = last.mnemonic
        if name == "s_branch":
            return self._jump(g, block, last)
        if name in CONDITIONS:
            return self._branch(g, block, last)
        if name.startswith("s_endpgm"):
            np.subtract.at(live, g.workgroup, 1)
        elif name == "s_setpc_b64":
            self._jump_far(g, last)
        elif name.startswith("s_barrier"):
            if self.machine.sanitize:
                lds.barrier(self.machine, g)
            g.block += 1
            self.waiting.append(g)
        else:
            raise Unsupported(name, last.line)
        return False

    def _branch(self, g: Waves, block: Block, last: Instruction) -> bool:
        """A conditional branch: waves that disagree part."""
        condition, slot = CONDITIONS[last.mnemonic]
        if self.machine.sanitize and slot != EXEC and SGPR_ID + slot in g.hot:
            branch_on(self.machine, g, last, SGPR_ID + slot)
        taken = condition(g)
        if taken.all():
            return self._jump(g, block, last)
        if not taken.any():
            g.block += 1
            return True
        away, stay = g.take(taken), g.take(~taken)
        self._jump(away, block, last)
        stay.block += 1
        self.ready += [away, stay]
        return False

    @staticmethod
    def _jump(g: Waves, block: Block, last: Instruction) -> bool:
        if block.target < 0:
            raise Unsupported(f"branch to {last.operands[0]}", last.line)
        g.block = block.target
        return True

    def _jump_far(self, g: Waves, last: Instruction) -> None:
        """S_SETPC: each wave goes to the address that it has computed."""
        addresses = self.machine.addresses
        slot = parse_operand(last.operands[0], last.line).index
        if addresses is None:
            raise Unsupported(last.mnemonic, last.line)
        targets = g.su64[slot // 2].copy()
        for target in np.unique(targets):
            block = self.code.numbers.get(addresses.instruction_at(int(target)))
            if block is None:
                raise Unsupported(f"jump to address {hex(int(target))}", last.line)
            here = targets == target
            part = g if here.all() else g.take(here)
            part.block = block
            self.ready.append(part)

    def _release(self, live: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        """Lets workgroups go on whose waves have all arrived (or ended)."""
        arrived = np.zeros_like(live)
        for g in self.waiting:
            np.add.at(arrived, g.workgroup, 1)
        complete = (arrived == live) & (arrived > 0)
        if not complete.any():
            raise ExecutionLimit("waves wait at a barrier that others never reach")
        self.machine.lds.epoch[complete] += 1
        still: list[Waves] = []
        for g in self.waiting:
            through = complete[g.workgroup]
            if through.all():
                self.ready.append(g)
            elif not through.any():
                still.append(g)
            else:
                self.ready.append(g.take(through))
                still.append(g.take(~through))
        self.waiting = still

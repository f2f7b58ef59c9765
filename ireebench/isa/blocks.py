"""Basic blocks, loops and their nesting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ireebench.isa.assembly import Instruction, Kernel
from ireebench.isa.classify import Kind, classify


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions `start` to `end` (exclusive) of the kernel; `successors` are block numbers, fall-through first."""

    start: int
    end: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop. `blocks` and `latches` are block numbers in ascending order; `depth` is 1 for an outermost loop.

    `parent` is the number of the enclosing loop in `Flow.loops`, None for an outermost one. `line` is the first line of
    the header.
    """

    header: int
    blocks: tuple[int, ...]
    latches: tuple[int, ...]
    depth: int
    parent: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A kernel's control flow. `dominators[b]` is the immediate dominator of block b (itself for the entry, -1 for
    a block that can't be reached)."""

    blocks: tuple[Block, ...]
    loops: tuple[Loop, ...]
    dominators: tuple[int, ...]

    def dominates(self, a: int, b: int) -> bool:
        """Whether every way to block b goes through block a."""
        while b != a:
            up = self.dominators[b]
            if up in (b, -1):
                return False
            b = up
        return True

    def innermost(self) -> tuple[int, ...]:
        """Numbers of the loops that contain no other loop."""
        parents = {loop.parent for loop in self.loops}
        return tuple(n for n in range(len(self.loops)) if n not in parents)


def flow_of(kernel: Kernel) -> Flow:
    """Splits a kernel into blocks and finds its natural loops (Cooper, Harvey and Kennedy, "A simple, fast dominance
    algorithm"). A branch to an address that is computed, or to a label that isn't in the kernel, ends a block with no
    successor there."""
    blocks = _split(kernel)
    predecessors: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for successor in block.successors:
            predecessors[successor].append(number)
    order = _reverse_postorder(blocks)
    dominators = _dominators(order, predecessors)
    flow = Flow(blocks, (), dominators)
    return Flow(blocks, _loops(kernel.instructions, flow, predecessors), dominators)


def loop_instructions(kernel: Kernel, flow: Flow, loop: Loop) -> tuple[Instruction, ...]:
    """The loop's instructions in the order of the text, inner loops included."""
    return tuple(i for b in loop.blocks for i in kernel.instructions[flow.blocks[b].start : flow.blocks[b].end])


def _split(kernel: Kernel) -> tuple[Block, ...]:
    instructions = kernel.instructions
    count = len(instructions)
    starts = {0, *(at for at in kernel.labels.values() if at < count)}
    ends: dict[int, str] = {}  # the index of an instruction that leaves its block, and its mnemonic
    for n, instruction in enumerate(instructions):
        if instruction.mnemonic.startswith("s_") and _leaves(instruction.mnemonic):
            ends[n] = instruction.mnemonic
            starts.add(n + 1)
    edges = [*sorted(s for s in starts if s < count), count]
    numbers = {start: number for number, start in enumerate(edges)}
    return tuple(
        Block(start, end, _successors(kernel, end, numbers, ends.get(end - 1))) for start, end in pairwise(edges)
    )


def _leaves(mnemonic: str) -> bool:
    return classify(mnemonic).kind in (Kind.BRANCH, Kind.END)


def _successors(kernel: Kernel, end: int, numbers: dict[int, int], leaving: str | None) -> tuple[int, ...]:
    count = len(kernel.instructions)
    follows = [numbers[end]] if end < count else []
    if leaving is None or leaving.startswith(("s_call", "s_swappc")):
        return tuple(follows)
    if leaving.startswith(("s_endpgm", "s_setpc")):
        return ()
    operands = kernel.instructions[end - 1].operands
    target = kernel.labels.get(operands[-1]) if operands else None
    jumps = [numbers[target]] if target is not None and target < count else []
    found = jumps if leaving == "s_branch" else [*follows, *jumps]
    return tuple(dict.fromkeys(found))


def _reverse_postorder(blocks: Sequence[Block]) -> list[int]:
    if not blocks:
        return []
    seen, postorder, stack = {0}, [], [(0, 0)]
    while stack:
        block, edge = stack.pop()
        if edge < len(blocks[block].successors):
            stack.append((block, edge + 1))
            successor = blocks[block].successors[edge]
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, 0))
        else:
            postorder.append(block)
    return postorder[::-1]


def _dominators(order: list[int], predecessors: list[list[int]]) -> tuple[int, ...]:
    position = {block: n for n, block in enumerate(order)}
    found = [-1] * len(predecessors)
    if order:
        found[order[0]] = order[0]
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            best = -1
            for p in predecessors[block]:
                if found[p] != -1:
                    best = p if best == -1 else _common(p, best, found, position)
            if best != found[block]:
                found[block] = best
                changed = True
    return tuple(found)


def _common(a: int, b: int, dominators: list[int], position: dict[int, int]) -> int:
    while a != b:
        while position[a] > position[b]:
            a = dominators[a]
        while position[b] > position[a]:
            b = dominators[b]
    return a


def _loops(instructions: Sequence[Instruction], flow: Flow, predecessors: list[list[int]]) -> tuple[Loop, ...]:
    latches: dict[int, list[int]] = {}
    for number, block in enumerate(flow.blocks):
        for successor in block.successors:
            if flow.dominators[number] != -1 and successor <= number and flow.dominates(successor, number):
                latches.setdefault(successor, []).append(number)
    bodies = {header: _body(header, ends, predecessors, flow) for header, ends in latches.items()}
    # Outer loops first: an inner loop's parent is the smallest body that contains its header.
    headers = sorted(bodies, key=lambda h: (-len(bodies[h]), h))
    loops: list[Loop] = []
    for header in headers:
        around = [n for n, loop in enumerate(loops) if header in bodies[loop.header] and loop.header != header]
        parent = min(around, key=lambda n: len(loops[n].blocks)) if around else None
        depth = 1 if parent is None else loops[parent].depth + 1
        line = instructions[flow.blocks[header].start].line
        loops.append(Loop(header, tuple(sorted(bodies[header])), tuple(latches[header]), depth, parent, line))
    return tuple(loops)


def _body(header: int, latches: Sequence[int], predecessors: list[list[int]], flow: Flow) -> frozenset[int]:
    body, work = {header}, [latch for latch in latches if latch != header]
    while work:
        block = work.pop()
        if block not in body:
            body.add(block)
            work.extend(p for p in predecessors[block] if flow.dominators[p] != -1)
    return frozenset(body)

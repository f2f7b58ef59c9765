"""The fewest vector memory operations that can be outstanding at each wait, over all paths."""

from __future__ import annotations

from ireebench.isa.architecture import generation
from ireebench.isa.assembly import Instruction, Kernel
from ireebench.isa.blocks import Block, Flow
from ireebench.isa.classify import Kind, classify
from ireebench.isa.waits import LOAD_COUNTERS, waits_of

_NOT_REACHED = 1 << 30


def fewest_outstanding(kernel: Kernel, flow: Flow, target: str) -> list[tuple[int, int, int]]:
    """For each wait on vector loads: (line, the limit it waits for, the fewest operations outstanding before it).

    A forward analysis that takes the minimum where paths meet; values only fall, so it ends.
    """
    if not any(classify(i.mnemonic).vector_load for i in kernel.instructions):
        return []
    entry = [_NOT_REACHED] * len(flow.blocks)
    entry[0] = 0
    work = [0]
    while work:
        number = work.pop()
        after, _ = _through(kernel, flow.blocks[number], entry[number], target)
        for successor in flow.blocks[number].successors:
            if after < entry[successor]:
                entry[successor] = after
                work.append(successor)
    return [
        wait
        for number, block in enumerate(flow.blocks)
        if entry[number] != _NOT_REACHED
        for wait in _through(kernel, block, entry[number], target)[1]
    ]


def _through(kernel: Kernel, block: Block, count: int, target: str) -> tuple[int, list[tuple[int, int, int]]]:
    waits = []
    for i in kernel.instructions[block.start : block.end]:
        if _raises_counter(i, target):
            count += 1
        elif classify(i.mnemonic).kind is Kind.WAIT:
            for counter, limit in waits_of(i, target).items():
                if counter in LOAD_COUNTERS:
                    waits.append((i.line, limit, count))
                    count = min(count, limit)
    return count, waits


def _raises_counter(i: Instruction, target: str) -> bool:
    found = classify(i.mnemonic)
    if found.vector_load or found.kind in (Kind.SCRATCH_LOAD, Kind.ATOMIC):
        return True
    return generation(target) < 10 and (found.vector_store or found.kind is Kind.SCRATCH_STORE)

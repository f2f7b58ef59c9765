"""The fewest vector memory operations that can be outstanding at each wait, over all paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ireebench.isa.architecture import generation
from ireebench.isa.assembly import Instruction, Kernel
from ireebench.isa.blocks import Flow
from ireebench.isa.classify import InstructionClass, Kind, classify
from ireebench.isa.waits import LOAD_COUNTERS, waits_of

_NOT_REACHED = 1 << 30


@dataclass(frozen=True, slots=True)
class OutstandingAtWait:
    """A wait for vector loads: the count it waits for, and the fewest operations outstanding before it."""

    line: int
    limit: int
    fewest: int


@dataclass(frozen=True, slots=True)
class _Event:
    """An operation that raises the counter (`limit` None), or a wait until `limit` are left."""

    line: int
    limit: int | None


def fewest_outstanding(kernel: Kernel, flow: Flow, target: str) -> tuple[OutstandingAtWait, ...]:
    """Every wait for vector loads that can be reached.

    A forward analysis that takes the minimum where paths meet; values only fall, so it ends.
    """
    stores_share = generation(target) < 10
    events = [_events(kernel.instructions[b.start : b.end], target, stores_share) for b in flow.blocks]
    if not any(e.limit is None for block in events for e in block):
        return ()
    entry = [_NOT_REACHED] * len(flow.blocks)
    entry[0] = 0
    work = [0]
    while work:
        number = work.pop()
        after, _ = _through(events[number], entry[number])
        for successor in flow.blocks[number].successors:
            if after < entry[successor]:
                entry[successor] = after
                work.append(successor)
    reached = [(block, count) for block, count in zip(events, entry, strict=True) if count != _NOT_REACHED]
    return tuple(wait for block, count in reached for wait in _through(block, count)[1])


def _events(instructions: Sequence[Instruction], target: str, stores_share: bool) -> tuple[_Event, ...]:
    events = []
    for i in instructions:
        found = classify(i.mnemonic)
        if found.kind is Kind.WAIT:
            limits = [limit for counter, limit in waits_of(i, target).items() if counter in LOAD_COUNTERS]
            events += [_Event(i.line, limit) for limit in limits]
        elif _loads(found) or (stores_share and _stores(found)):
            events.append(_Event(i.line, None))
    return tuple(events)


def _loads(found: InstructionClass) -> bool:
    return found.vector_load or found.kind in (Kind.SCRATCH_LOAD, Kind.ATOMIC)


def _stores(found: InstructionClass) -> bool:
    return found.vector_store or found.kind is Kind.SCRATCH_STORE


def _through(events: Sequence[_Event], count: int) -> tuple[int, list[OutstandingAtWait]]:
    waits = []
    for event in events:
        if event.limit is None:
            count += 1
        else:
            waits.append(OutstandingAtWait(event.line, event.limit, count))
            count = min(count, event.limit)
    return count, waits

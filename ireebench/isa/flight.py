"""Bytes in flight: what a wave has asked of memory when it first has to wait, by the wait counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ireebench.isa.architecture import generation
from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify
from ireebench.isa.waits import LOAD_COUNTERS, waits_of

_PASSES = 3  # enough for a loop that fetches one or two iterations ahead to settle


@dataclass(frozen=True, slots=True)
class LoadWait:
    """A wait for vector loads: what was outstanding when it came.

    `outstanding` lists the bytes a lane of each load, oldest first (0 for a store that shares the counter); `limit` is
    the count that the wait allows to remain.
    """

    line: int
    limit: int
    outstanding: tuple[int, ...]

    @property
    def bytes_per_lane(self) -> int:
        """Bytes a lane that are outstanding."""
        return sum(self.outstanding)

    @property
    def loads(self) -> int:
        """Loads that are outstanding."""
        return sum(1 for width in self.outstanding if width)

    @property
    def waits(self) -> bool:
        """Whether anything has to come back before the wave goes on."""
        return len(self.outstanding) > self.limit


def load_waits(instructions: Sequence[Instruction], target: str, *, loop: bool) -> tuple[LoadWait, ...]:
    """Every wait for vector loads, in order. A loop is gone through until it is in its steady state, and the waits of
    its last pass are given.

    Every branch is taken to fall through: an estimate where loads are conditional.
    """
    outstanding: deque[int] = deque()
    waits: list[LoadWait] = []
    for _ in range(_PASSES if loop else 1):
        waits = list(_one_pass(instructions, target, outstanding))
    return tuple(waits)


def bytes_in_flight(waits: Iterable[LoadWait]) -> int | None:
    """Bytes a lane outstanding at the first wait that really waits for a load; None when nothing is waited for."""
    return next((w.bytes_per_lane for w in waits if w.waits and w.bytes_per_lane), None)


def _one_pass(instructions: Sequence[Instruction], target: str, outstanding: deque[int]) -> Iterable[LoadWait]:
    stores_share = generation(target) < 10  # later generations count stores apart
    for instruction in instructions:
        found = classify(instruction.mnemonic)
        if found.vector_load or found.kind is Kind.SCRATCH_LOAD or found.kind is Kind.ATOMIC:
            outstanding.append(found.width_bytes)
        elif (found.vector_store or found.kind is Kind.SCRATCH_STORE) and stores_share:
            outstanding.append(0)
        elif found.kind is Kind.WAIT:
            for counter, limit in waits_of(instruction, target).items():
                if counter in LOAD_COUNTERS:
                    yield LoadWait(instruction.line, limit, tuple(outstanding))
                    while len(outstanding) > limit:
                        outstanding.popleft()

"""A kernel taken apart: resources, occupancy, loops, mix; what lints and tables are made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ireebench.isa.assembly import AssemblyFile, Instruction, Kernel
from ireebench.isa.blocks import Flow, Loop, flow_of, loop_instructions
from ireebench.isa.classify import classify
from ireebench.isa.flight import LoadWait, bytes_in_flight, load_waits
from ireebench.isa.loopstring import loop_string
from ireebench.isa.mix import difference, mix_of
from ireebench.isa.occupancy import Occupancy, occupancy_of
from ireebench.isa.resources import Resources, resources_of


@dataclass(frozen=True, slots=True)
class LoopAnalysis:
    """A loop with what is in it, inner loops included. `waits` are its waits for vector loads in the steady state."""

    loop: Loop
    instructions: tuple[Instruction, ...]
    mix: Counter[str]
    string: str
    waits: tuple[LoadWait, ...]

    @property
    def load_bytes(self) -> int:
        """Bytes a lane that vector and LDS loads move in one iteration."""
        found = (classify(i.mnemonic) for i in self.instructions)
        return sum(c.width_bytes for c in found if c.vector_load or c.kind == "lds_load")

    @property
    def bytes_in_flight(self) -> int | None:
        """Bytes a lane outstanding at the first wait for a load; None when the loop waits for none."""
        return bytes_in_flight(self.waits)


@dataclass(frozen=True, slots=True)
class KernelAnalysis:
    """A kernel for one target. `hot` is the number in `loops` of the loop where the time goes, None without loops."""

    kernel: Kernel
    target: str
    resources: Resources
    occupancy: Occupancy | None
    flow: Flow
    mix: Counter[str]
    loops: tuple[LoopAnalysis, ...]
    hot: int | None

    @property
    def hot_loop(self) -> LoopAnalysis | None:
        """The loop where the time goes."""
        return None if self.hot is None else self.loops[self.hot]

    @property
    def outside(self) -> Counter[str]:
        """The mix outside the hot loop."""
        return difference(self.mix, self.hot_loop.mix) if self.hot_loop else self.mix

    @property
    def hot_instructions(self) -> tuple[Instruction, ...]:
        """The hot loop's instructions, or the whole kernel when it has no loop."""
        return self.hot_loop.instructions if self.hot_loop else self.kernel.instructions


def analyse_file(assembly: AssemblyFile, target: str | None = None) -> tuple[KernelAnalysis, ...]:
    """Takes every kernel apart; `target` overrides the one that the file names."""
    return tuple(analyse(kernel, target or assembly.target) for kernel in assembly.kernels)


def analyse(kernel: Kernel, target: str) -> KernelAnalysis:
    """Takes one kernel apart for `target` ("gfx942")."""
    resources = resources_of(kernel, target)
    flow = flow_of(kernel)
    loops = tuple(_analyse_loop(kernel, flow, loop, target) for loop in flow.loops)
    return KernelAnalysis(
        kernel=kernel,
        target=target,
        resources=resources,
        occupancy=occupancy_of(resources, target),
        flow=flow,
        mix=mix_of(kernel.instructions, target),
        loops=loops,
        hot=_hot(flow, loops),
    )


def _analyse_loop(kernel: Kernel, flow: Flow, loop: Loop, target: str) -> LoopAnalysis:
    body = loop_instructions(kernel, flow, loop)
    return LoopAnalysis(
        loop, body, mix_of(body, target), loop_string(body, target), load_waits(body, target, loop=True)
    )


def _hot(flow: Flow, loops: tuple[LoopAnalysis, ...]) -> int | None:
    """The innermost loop that reads most: deepest first, then bytes an iteration, then length. A loop that reads
    nothing (a reduction between lanes, a wait for a flag) comes after any that does."""
    candidates = flow.innermost()
    if not candidates:
        return None

    def weight(number: int) -> tuple[bool, int, int, int]:
        found = loops[number]
        return (found.load_bytes > 0, found.loop.depth, found.load_bytes, len(found.instructions))

    return max(candidates, key=weight)

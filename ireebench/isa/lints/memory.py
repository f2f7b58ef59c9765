"""Lints about loads and waits."""

from __future__ import annotations

from collections.abc import Iterable

from ireebench.isa.analysis import KernelAnalysis, LoopAnalysis
from ireebench.isa.classify import classify
from ireebench.isa.lints.base import CDNA3_ISA, Hit, Lint
from ireebench.isa.lints.outstanding import fewest_outstanding

_WIDEST = 16
_FEW_LOADS = 2  # one of each operand of a dot product
_NARROW_SHARE = 0.25  # a scale beside a 16-byte load of weights is fine


def _full_wait(kernel: KernelAnalysis) -> Iterable[Hit]:
    hot = kernel.hot_loop
    if hot is None:
        return
    exposed = [w for w in hot.waits if w.limit == 0 and w.loads]
    # A ladder of waits ends with one load outstanding too; what counts is that there never were more.
    if exposed and max(w.loads for w in hot.waits) <= _FEW_LOADS:
        width, between = exposed[0].bytes_per_lane, _work_before(hot, exposed[0].line)
        loads = "its only load" if exposed[0].loads == 1 else f"all of its {exposed[0].loads} loads"
        yield Hit(
            exposed[0].line,
            f"every iteration waits for {loads} ({width} bytes a lane,"
            f" {width * kernel.resources.wavefront_size} a wave) with {between} vector instructions to hide the wait",
        )


def _work_before(hot: LoopAnalysis, line: int) -> int:
    """Vector instructions between the last load before the wait and the wait, in the text."""
    count = 0
    for i in hot.instructions:
        if i.line >= line:
            break
        found = classify(i.mnemonic)
        count = 0 if found.vector_load else count + found.vector_alu
    return count


def _narrow(kernel: KernelAnalysis) -> Iterable[Hit]:
    hot = kernel.hot_loop
    if hot is None:
        return
    loads = [(i, classify(i.mnemonic).width_bytes) for i in hot.instructions if classify(i.mnemonic).vector_load]
    total = sum(width for _, width in loads)
    narrow = [(i, width) for i, width in loads if 0 < width < _WIDEST]
    share = sum(width for _, width in narrow) / total if total else 0.0
    if narrow and share >= _NARROW_SHARE:
        widths = ", ".join(str(w) for w in sorted({w for _, w in narrow}))
        yield Hit(
            narrow[0][0].line,
            f"{len(narrow)} of {len(loads)} loads in the loop are {widths} bytes wide ({share:.0%} of the bytes);"
            " 16-byte loads need elements that are contiguous and aligned",
        )


def _sunk(kernel: KernelAnalysis) -> Iterable[Hit]:
    flow = kernel.flow
    for number in flow.innermost():
        loop = flow.loops[number]
        for block in loop.blocks:
            if all(flow.dominates(block, latch) for latch in loop.latches):
                continue
            start, end = flow.blocks[block].start, flow.blocks[block].end
            loads = [i for i in kernel.kernel.instructions[start:end] if classify(i.mnemonic).vector_load]
            if loads:
                yield Hit(
                    loads[0].line,
                    f"{len(loads)} loads stand in a branch of the loop at line {loop.line}: they can't be issued before"
                    " the branch is decided",
                )


def _idle_wait(kernel: KernelAnalysis) -> Iterable[Hit]:
    for wait in fewest_outstanding(kernel.kernel, kernel.flow, kernel.target):
        if 0 < wait.limit >= wait.fewest:
            yield Hit(
                wait.line,
                f"on some path only {wait.fewest} vector memory operations are outstanding here, so waiting until"
                f" {wait.limit} are left waits for nothing: check that the data has come",
            )


MEMORY_LINTS = (
    Lint(
        "full-wait",
        "A full wait (vmcnt(0)) inside the loop with one load in flight, or one of each operand: no other load overlaps"
        " it. Several accumulators let the compiler issue loads as a batch and wait for them one by one.",
        f"{CDNA3_ISA}, data dependency resolution",
        _full_wait,
    ),
    Lint(
        "narrow-load",
        "Loads narrower than 16 bytes carry a good part of the loop's bytes: more instructions and requests for the"
        " same data.",
        f"{CDNA3_ISA}, vector memory operations; nod-ai/amd-shark-ai, AMDGPU kernel optimization guide",
        _narrow,
    ),
    Lint(
        "sunk-load",
        "Loads stand in a branch inside the loop: they wait for the branch and can't be grouped with the others.",
        "https://github.com/llvm/llvm-project/issues/216220 (MachineSink moves code into a successor block)",
        _sunk,
    ),
    Lint(
        "idle-wait",
        "A wait that some path reaches with too few operations outstanding: there it waits for nothing. Fine when that"
        " path needs none of the data; a bug in hand-written code when it does.",
        f"{CDNA3_ISA}, data dependency resolution",
        _idle_wait,
    ),
)

"""Lints about arithmetic: where reductions happen, and which instructions carry them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from ireebench.isa.analysis import KernelAnalysis
from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify, dpp_pattern, opcode
from ireebench.isa.lints.base import CDNA3_ISA, Hit, Lint
from ireebench.isa.registers import reads, registers, writes

_ACCUMULATORS_WORTH_IT = 4  # below that, the sum after the loop costs about as much as inside
# Integer additions are addresses.
_ACCUMULATING = re.compile(r"v_(dual_)?(pk_)?((add|max|min|fma|fmac|mac|maximum|minimum)_\w*f|max_\w*[iu]|cndmask|dot)")
_MERGING = re.compile(r"v_(dual_)?(pk_)?(add|max|min|maximum|minimum|max3|min3|cmp)_?")


def _vector(found: Iterable[str]) -> set[str]:
    return {r for r in found if r[0] == "v" and r != "vcc"}


def _hoisted(kernel: KernelAnalysis) -> Iterable[Hit]:
    hot = kernel.hot_loop
    if hot is None:
        return
    accumulators = _accumulators(hot.instructions)
    merges = _merges(_after(kernel, hot.instructions[-1].line), accumulators)
    if len(accumulators) >= _ACCUMULATORS_WORTH_IT and len(merges) >= _ACCUMULATORS_WORTH_IT - 1:
        dots = " and lets dot instructions form" if hot.mix[Kind.FMA] or hot.mix[Kind.PACKED] else ""
        yield Hit(
            merges[0].line,
            f"{len(accumulators)} registers accumulate element by element through the loop and are combined only after"
            f" it ({len(merges)} instructions); combining inside frees registers{dots}",
        )


def _accumulators(loop: Sequence[Instruction]) -> set[str]:
    """Vector registers that an iteration takes from the one before and adds to (or selects, or takes the maximum)."""
    taken: set[str] = set()
    written: set[str] = set()
    accumulated: set[str] = set()
    for i in loop:
        taken |= _vector(reads(i)) - written
        destinations = _vector(writes(i))
        written |= destinations
        if _ACCUMULATING.match(i.mnemonic):
            accumulated |= destinations
    return taken & accumulated


def _after(kernel: KernelAnalysis, line: int) -> list[Instruction]:
    return [i for i in kernel.kernel.instructions if i.line > line]


def _merges(instructions: Sequence[Instruction], accumulators: set[str]) -> list[Instruction]:
    """Instructions that combine two accumulators, up to the first exchange between lanes."""
    derived = set(accumulators)
    found = []
    for i in instructions:
        if dpp_pattern(i) or classify(i.mnemonic).cross_lane:
            break
        sources = _vector(reads(i)) & derived
        if len(sources) >= 2 and _MERGING.match(i.mnemonic):
            found.append(i)
        if sources:
            derived |= _vector(writes(i))
    return found


_SHUFFLES_WORTH_IT = 3


def _no_dpp(kernel: KernelAnalysis) -> Iterable[Hit]:
    bpermute, swizzle, permlane = (kernel.mix[k] for k in (Kind.BPERMUTE, Kind.SWIZZLE, Kind.PERMLANE))
    if kernel.mix["dpp"] == 0 and bpermute + swizzle + permlane >= _SHUFFLES_WORTH_IT:
        shuffles = (Kind.BPERMUTE, Kind.SWIZZLE, Kind.PERMLANE)
        line = next(i.line for i in kernel.kernel.instructions if classify(i.mnemonic).kind in shuffles)
        yield Hit(
            line,
            f"lanes exchange values by {bpermute} ds_bpermute, {swizzle} ds_swizzle and {permlane} permlane"
            " instructions and no DPP",
        )


# Where a dot product of pairs with an f32 sum exists: LLVM features dot10-insts (f16) and dot12-insts (bf16).
_DOT_F16 = ("gfx906", "gfx908", "gfx90a", "gfx94", "gfx95", "gfx1011", "gfx1012", "gfx103", "gfx11", "gfx12")
_DOT_BF16 = ("gfx95", "gfx11", "gfx12")


def _convert_multiply_add(kernel: KernelAnalysis) -> Iterable[Hit]:
    mix = kernel.hot_loop.mix if kernel.hot_loop else kernel.mix
    if mix[Kind.DOT] or mix[Kind.MFMA]:
        return
    for name, targets, converts in (
        ("v_dot2_f32_f16", _DOT_F16, _converts_f16),
        ("v_dot2_f32_bf16", _DOT_BF16, _widens_bf16),
    ):
        if kernel.target.startswith(targets):
            yield from _lowered_dot(kernel.hot_instructions, name, converts)


def _lowered_dot(
    instructions: Sequence[Instruction], name: str, converts: Callable[[Instruction], bool]
) -> Iterable[Hit]:
    conversions = [i for i in instructions if converts(i)]
    converted = frozenset[str]().union(*map(writes, conversions))
    multiplies = [i for i in instructions if _multiply_adds(i) and reads(i) & converted]
    if len(conversions) >= 2 and multiplies:
        yield Hit(
            conversions[0].line,
            f"{len(conversions)} conversions feed {len(multiplies)} f32 multiply-adds; {name} takes the elements as"
            " they are",
        )


def _converts_f16(i: Instruction) -> bool:
    return opcode(i.mnemonic).startswith(("v_cvt_f32_f16", "v_cvt_pk_f32_f16"))


def _widens_bf16(i: Instruction) -> bool:
    """bf16 to f32 by hand: a shift by 16, or the upper half masked."""
    name = opcode(i.mnemonic)
    return (name == "v_lshlrev_b32" and i.operands[1:2] == ("16",)) or (
        name == "v_and_b32" and "0xffff0000" in i.operands[1:]
    )


def _multiply_adds(i: Instruction) -> bool:
    name = opcode(i.mnemonic)
    return name.endswith("_f32") and (classify(i.mnemonic).kind is Kind.FMA or name.startswith("v_pk_fma"))


def _broken_chain(kernel: KernelAnalysis) -> Iterable[Hit]:
    if kernel.mix[Kind.DOT] < 2:
        return
    for block in kernel.flow.blocks:
        chains: dict[str, tuple[str, Instruction | None]] = {}  # accumulator -> (dot opcode, what came between)
        for i in kernel.kernel.instructions[block.start : block.end]:
            accumulators = _dot_accumulators(i)
            name = opcode(i.mnemonic)
            for register in accumulators:
                dot, between = chains.get(register, ("", None))
                if between is not None and dot:
                    yield Hit(
                        between.line,
                        f"{opcode(between.mnemonic)} touches {register} between two dots that accumulate in it: the"
                        " accumulator can't be forwarded, and gfx94x waits 3 states",
                    )
                chains[register] = (name, None)
            if not chains:
                continue
            for register in (reads(i) | writes(i)) - accumulators:
                if register in chains and chains[register][1] is None:
                    chains[register] = (chains[register][0], i)


def _dot_accumulators(i: Instruction) -> frozenset[str]:
    """The registers that a dot adds to: its destination where it is a source too."""
    if classify(i.mnemonic).kind is not Kind.DOT or not i.operands:
        return frozenset()
    destination = registers(i.operands[0])
    three_address = len(i.operands) > 3
    return destination & registers(i.operands[3]) if three_address else destination


COMPUTE_LINTS = (
    Lint(
        "hoisted-reduction",
        "The reduction is hoisted out of the loop: each lane keeps one accumulator per loaded element and combines them"
        " after the loop. It costs registers, and a dot instruction can't be formed; a benchmark of the reduction would"
        " time the loop without it.",
        "https://github.com/iree-org/iree/issues/21513",
        _hoisted,
    ),
    Lint(
        "no-dpp",
        "A reduction across lanes uses LDS shuffles (ds_bpermute, ds_swizzle) where DPP moves data inside the vector"
        " unit: each shuffle costs LDS latency and a wait.",
        f"{CDNA3_ISA}, data parallel primitives; https://gpuopen.com/learn/amd-gcn-assembly-cross-lane-operations/",
        _no_dpp,
    ),
    Lint(
        "convert-multiply-add",
        "A dot product of narrow elements is lowered to conversions and f32 multiply-adds: two or more instructions for"
        " what a dot instruction does in one.",
        f"{CDNA3_ISA}, V_DOT2_F32_F16; https://github.com/iree-org/iree/pull/21855 (what IREE emits)",
        _convert_multiply_add,
    ),
    Lint(
        "broken-dot-chain",
        "Another instruction touches a dot's accumulator between two dots: back-to-back dots of one opcode forward the"
        " accumulator, anything else waits for it.",
        f"{CDNA3_ISA}, dependency resolution of MFMA and DL operations; LLVM GCNHazardRecognizer (3 wait states)",
        _broken_chain,
    ),
)

"""A loop as one line, a letter an instruction class, runs folded: "G4 v d6 a12 | ^"."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify, dpp_pattern
from ireebench.isa.waits import LOAD_COUNTERS, STORE_COUNTERS, waits_of

LETTERS: dict[Kind, str] = {
    **dict.fromkeys((Kind.GLOBAL_LOAD, Kind.BUFFER_LOAD, Kind.FLAT_LOAD), "G"),
    **dict.fromkeys((Kind.GLOBAL_STORE, Kind.BUFFER_STORE, Kind.FLAT_STORE), "S"),
    **dict.fromkeys((Kind.ATOMIC, Kind.LDS_ATOMIC), "A"),
    **dict.fromkeys((Kind.SCRATCH_LOAD, Kind.SCRATCH_STORE), "!"),
    Kind.LDS_STORE: "W",
    Kind.LDS_LOAD: "r",
    Kind.SCALAR_LOAD: "s",
    Kind.MFMA: "m",
    **dict.fromkeys((Kind.DOT, Kind.FMA), "d"),
    Kind.PACKED: "p",
    Kind.CONVERT: "c",
    **dict.fromkeys((Kind.BPERMUTE, Kind.SWIZZLE, Kind.PERMLANE, Kind.READLANE), "x"),
    Kind.BALLOT: "b",
    Kind.BARRIER: "|",
    Kind.BRANCH: "^",
    **dict.fromkeys((Kind.VALU, Kind.ACCVGPR), "a"),
}
# Scalar arithmetic, hints and nops are left out: they hide what two loops differ in.
LEGEND = (
    "G load, S store, A atomic, ! scratch, s scalar load, W LDS write, r LDS read, v wait for memory, l other wait, "
    "m MFMA, d dot or fma, p packed, c convert, x cross-lane, b ballot, a other vector, | barrier, ^ branch"
)


def loop_string(instructions: Iterable[Instruction], target: str) -> str:
    """The line for a loop's instructions in the order of the text."""
    letters = (letter for i in instructions for letter in _letters(i, target))
    runs = ((letter, sum(1 for _ in group)) for letter, group in groupby(letters))
    return " ".join(letter if count == 1 else f"{letter}{count}" for letter, count in runs)


def _letters(instruction: Instruction, target: str) -> str:
    kind = classify(instruction.mnemonic).kind
    if kind is Kind.WAIT:
        return "v" if waits_of(instruction, target).keys() & {*LOAD_COUNTERS, *STORE_COUNTERS} else "l"
    first = "x" if instruction.modifiers and dpp_pattern(instruction) else LETTERS.get(kind, "")
    return first + (_letters(instruction.second, target) if instruction.second else "")

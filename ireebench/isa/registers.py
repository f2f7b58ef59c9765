"""Which registers an instruction reads and writes, from its operands."""

from __future__ import annotations

import functools
import re

from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify, opcode

_RANGE = re.compile(r"([vas]|ttmp)\[(\d+):(\d+)\]")
_SINGLE = re.compile(r"([vas]|ttmp)(\d+)(?:\.[lh])?\b")
_NAMED = re.compile(r"\b(vcc|exec|m0|scc)(?:_lo|_hi)?\b")
_MOST = 1024  # a range that is longer is malformed

# Operands that are all read: there is no destination.
_NO_DESTINATION = frozenset(
    (
        Kind.GLOBAL_STORE,
        Kind.BUFFER_STORE,
        Kind.FLAT_STORE,
        Kind.SCRATCH_STORE,
        Kind.LDS_STORE,
        Kind.SCALAR_STORE,
        Kind.BRANCH,
        Kind.WAIT,
        Kind.HINT,
        Kind.NOP,
        Kind.BARRIER,
        Kind.BARRIER_SIGNAL,
        Kind.CACHE,
        Kind.END,
        Kind.TRAP,
    )
)
# Two-address forms: the destination is also the accumulator.
_ACCUMULATES = re.compile(r"v_(dual_)?(fmac|mac|pk_fmac|dot\d\w*c_|dual_dot\d\w*acc|dot2acc)|v_smfmac|v_swmmac")


@functools.lru_cache(maxsize=8192)
def registers(operand: str) -> frozenset[str]:
    """The registers that an operand names: "v[2:3]" gives {"v2", "v3"}, "-|v1|" gives {"v1"}, "0x7f" none."""
    match = _RANGE.search(operand)
    if match:
        kind, first, last = match.group(1), int(match.group(2)), int(match.group(3))
        if last - first > _MOST:
            return frozenset()
        return frozenset(f"{kind}{n}" for n in range(first, last + 1))
    if match := _SINGLE.search(operand):
        return frozenset((match.group(1) + match.group(2),))
    if match := _NAMED.search(operand):
        return frozenset((match.group(1),))
    return frozenset()


def writes(instruction: Instruction) -> frozenset[str]:
    """Registers that the instruction writes (both halves of a dual-issue pair)."""
    found: frozenset[str] = frozenset()
    if _has_destination(instruction):
        found = registers(instruction.operands[0])
    return found | writes(instruction.second) if instruction.second else found


def reads(instruction: Instruction) -> frozenset[str]:
    """Registers that the instruction reads, its accumulator among them."""
    has_destination = _has_destination(instruction)
    sources = instruction.operands[1:] if has_destination else instruction.operands
    found = frozenset[str]().union(*map(registers, sources))
    if has_destination and _ACCUMULATES.match(opcode(instruction.mnemonic)):
        found |= registers(instruction.operands[0])
    return found | reads(instruction.second) if instruction.second else found


def _has_destination(instruction: Instruction) -> bool:
    if not instruction.operands:
        return False
    mnemonic = instruction.mnemonic
    kind = classify(mnemonic).kind
    if kind in _NO_DESTINATION or mnemonic.startswith(("s_cmp", "s_bitcmp", "exp")):
        return False
    if kind in (Kind.ATOMIC, Kind.LDS_ATOMIC):
        # An atomic has a destination only when it returns the old value.
        return "_rtn" in mnemonic or instruction.has("sc0", "glc", "th")
    return not classify(mnemonic).to_lds

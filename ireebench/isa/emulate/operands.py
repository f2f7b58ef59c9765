"""Operands as data: registers, constants and their float modifiers.

References: LLVM AMDGPU operand syntax; AMD CDNA3 ISA guide, "Scalar ALU operands" and "Vector ALU operands".
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import Enum

from ireebench.isa.emulate.errors import Unsupported

# Slots of the scalar register file, as encoded: CDNA3 ISA guide, table "SSRC operands".
VCC, TTMP, M0, NULL, EXEC = 106, 108, 124, 125, 126
SCC = 128  # not a register of its own in the encoding: the number is ours and only names it in sets of registers
SCALAR_SLOTS = 128
AGPR_BASE = 256  # accumulation registers follow the vector registers in our file


class Kind(Enum):
    """What an operand names."""

    VGPR = "vector register"
    SGPR = "scalar register"
    CONST = "constant"
    FLOAT = "float constant"
    SCC = "scc"
    VCCZ = "vccz"
    EXECZ = "execz"
    OFF = "off"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand.

    `index` is the first register (accumulation registers from AGPR_BASE), `count` the number of 32-bit registers,
    `value` a constant's bits or, for FLOAT, the number itself. `half`: the upper half of a 16-bit register (true16).
    """

    kind: Kind
    index: int = 0
    count: int = 1
    value: float = 0
    neg: bool = False
    absolute: bool = False
    sext: bool = False
    half: bool = False
    text: str = ""

    @property
    def registers(self) -> frozenset[int]:
        """Ids of its registers: vector n is n, scalar n is SGPR_ID + n."""
        match self.kind:
            case Kind.VGPR:
                return frozenset(range(self.index, self.index + self.count))
            case Kind.SGPR:
                return frozenset(range(SGPR_ID + self.index, SGPR_ID + self.index + self.count))
            case Kind.SCC:
                return frozenset((SGPR_ID + SCC,))
            case Kind.VCCZ:
                return frozenset((SGPR_ID + VCC, SGPR_ID + VCC + 1))
            case _:
                return frozenset()


SGPR_ID = 1000  # ids of scalar registers in sets of registers start here

_SPECIAL: dict[str, tuple[int, int]] = {
    "vcc": (VCC, 2),
    "vcc_lo": (VCC, 1),
    "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2),
    "exec_lo": (EXEC, 1),
    "exec_hi": (EXEC + 1, 1),
    "m0": (M0, 1),
    "null": (NULL, 1),
}
_PLAIN: dict[str, Kind] = {"off": Kind.OFF, "scc": Kind.SCC, "vccz": Kind.VCCZ, "execz": Kind.EXECZ}
_REGISTER = re.compile(r"(v|s|a|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])(\.l|\.h)?\Z")
_INTEGER = re.compile(r"-?(0x[0-9a-f]+|\d+)\Z", re.IGNORECASE)
_FLOAT = re.compile(r"-?\d+\.\d*(e[-+]?\d+)?\Z", re.IGNORECASE)
_MODIFIED = re.compile(r"(?:(abs|neg|sext)\((.*)\)|\|(.*)\|)\Z")
_LIT = re.compile(r"lit(?:64)?\((.*)\)\Z")
_BASES = {"v": (Kind.VGPR, 0), "a": (Kind.VGPR, AGPR_BASE), "s": (Kind.SGPR, 0), "ttmp": (Kind.SGPR, TTMP)}


def parse_operand(text: str, line: int = 0) -> Operand:
    """Reads one operand as the assembler writes it; raises Unsupported for what it does not know."""
    body, signs = _strip_modifiers(text.strip())
    neg, absolute, sext = "neg" in signs, "abs" in signs, "sext" in signs
    if literal := _LIT.match(body):
        body = literal.group(1)
    if found := _REGISTER.match(body):
        kind, base = _BASES[found.group(1)]
        first = int(found.group(2) or found.group(3))
        last = int(found.group(4) or first)
        return Operand(kind, base + first, last - first + 1, 0, neg, absolute, sext, found.group(5) == ".h", text)
    if body in _SPECIAL:
        index, count = _SPECIAL[body]
        return Operand(Kind.SGPR, index, count, 0, neg, absolute, sext, text=text)
    if body in _PLAIN:
        return Operand(_PLAIN[body], text=text)
    if _INTEGER.match(body):
        return Operand(Kind.CONST, value=int(body, 0), neg=neg, absolute=absolute, sext=sext, text=text)
    if _FLOAT.match(body):
        return Operand(Kind.FLOAT, value=float(body), neg=neg, absolute=absolute, sext=sext, text=text)
    if body.startswith(".L") or body.startswith("BB"):
        return Operand(Kind.LABEL, text=body)
    raise Unsupported(f"operand '{text}'", line)


def _strip_modifiers(body: str) -> tuple[str, frozenset[str]]:
    """Takes input modifiers off: -|v1|, neg(v1), abs(v1), sext(v1)."""
    signs: set[str] = set()
    while True:
        if body.startswith("-") and not (_INTEGER.match(body) or _FLOAT.match(body)):
            signs.add("neg")
            body = body[1:].strip()
        elif found := _MODIFIED.match(body):
            signs.add(found.group(1) or "abs")
            body = found.group(2) or found.group(3)
        else:
            return body, frozenset(signs)


def constant_bits(operand: Operand, dtype: str) -> int:
    """The bits of a constant as an instruction of this type reads it.

    An inline float takes the type's own format (CDNA3 ISA guide, "Vector ALU operands"); 0.15915494 (1/(2*pi)) is exact
    in none, and rounds like the rest. A 64-bit float's literal holds its upper half; an integer is sign-extended.
    """
    bits = 64 if dtype in ("f64", "i64", "u64") else 32
    if operand.kind is Kind.FLOAT:
        form = {"f16": "<e", "f64": "<d"}.get(dtype, "<f")
        return int.from_bytes(struct.pack(form, operand.value), "little")
    value = int(operand.value)
    if dtype == "f64" and not -16 <= value <= 64:
        return (value & 0xFFFFFFFF) << 32
    return value & ((1 << bits) - 1)

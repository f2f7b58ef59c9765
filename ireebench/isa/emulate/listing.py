"""A file of assembly as the emulator needs it: kernels, constant data, and addresses of code.

Code and constants have no real addresses here. Instructions are numbered, and a number stands for an address where code
computes one: S_GETPC with an offset to a label (a far branch) or to a constant (a table in .rodata).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ireebench.isa.assembly import AssemblyFile, Kernel
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.parse import parse_assembly

CODE_ADDRESS = 0x7B00_0000_0000
_STEP = 4  # bytes from one instruction to the next, in our numbering

_SECTION = re.compile(r"\s*\.(?:section\s+([^,\s]+)|(text|data|bss)\b)")
_SYMBOL = re.compile(r'([\w.$]+|"[^"]*"):\s*\Z')
_DATA = re.compile(r"\s*\.(byte|short|long|quad|zero|2byte|4byte|8byte|space)\s+(.*)")
_FORMS: Mapping[str, str] = {
    "byte": "<B", "short": "<H", "2byte": "<H", "long": "<I", "4byte": "<I", "quad": "<Q", "8byte": "<Q",
}  # fmt: skip
_RELATIVE = re.compile(r"([\w.$]+)@rel32@(lo|hi)([+-]\d+)\Z")
_DIFFERENCE = re.compile(r"\(([\w.$]+)-([\w.$]+)\)(&4294967295|>>32)\Z")


@dataclass(frozen=True, slots=True)
class Listing:
    """An assembly file and the constants of its .rodata sections, by symbol."""

    file: AssemblyFile
    constants: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A kernel, the target it was compiled for ("gfx942"), and the constants of its file."""

    kernel: Kernel
    target: str
    constants: Mapping[str, bytes]


def read_listing(text: str) -> Listing:
    """Parses a file of assembly, constants included."""
    return Listing(parse_assembly(text), _constants(text))


def _constants(text: str) -> dict[str, bytes]:
    found: dict[str, bytearray] = {}
    inside, current = False, None
    for raw in text.split("\n"):
        line = raw.partition(";")[0]
        if section := _SECTION.match(line):
            inside, current = (section.group(1) or "").startswith(".rodata"), None
        elif inside and (symbol := _SYMBOL.match(line)):
            current = found.setdefault(symbol.group(1).strip('"'), bytearray())
        elif inside and current is not None and (data := _DATA.match(line)):
            kind, values = data.groups()
            if kind in ("zero", "space"):
                current += bytes(int(values.split(",")[0], 0))
            else:
                form = _FORMS[kind]
                limit = (1 << (8 * struct.calcsize(form))) - 1
                for value in values.split(","):
                    try:
                        current += struct.pack(form, int(value, 0) & limit)
                    except ValueError:  # an expression of symbols: not constant data
                        current = None
                        break
    return {name: bytes(data) for name, data in found.items() if data}


@dataclass(frozen=True, slots=True)
class Addresses:
    """What code computes addresses from. `constants` gives the device address of each constant."""

    kernel: Kernel
    constants: Mapping[str, int]

    @staticmethod
    def of_instruction(index: int) -> int:
        """The address that stands for instruction number `index`."""
        return CODE_ADDRESS + _STEP * index

    def instruction_at(self, address: int) -> int:
        """The instruction of an address; raises Unsupported for one that is none."""
        index, rest = divmod(address - CODE_ADDRESS, _STEP)
        if rest or not 0 <= index < len(self.kernel.instructions):
            raise Unsupported(f"jump to address {hex(address)}")
        return index

    def value(self, text: str, index: int) -> int | None:
        """The 32 bits of an address expression in instruction number `index`; None for any other operand.

        `symbol@rel32@lo+4` is relative to the last S_GETPC: the assembler's addends make up for the distance.
        """
        if found := _RELATIVE.match(text):
            symbol, part, _ = found.groups()
            if symbol not in self.constants:
                raise Unsupported(f"symbol '{symbol}'", self.kernel.instructions[index].line)
            difference = self.constants[symbol] - self._program_counter(index)
            return (difference if part == "lo" else difference >> 32) & 0xFFFFFFFF
        if found := _DIFFERENCE.match(text):
            to, start, part = found.groups()
            labels = self.kernel.labels
            if to not in labels or start not in labels:
                raise Unsupported(f"operand '{text}'", self.kernel.instructions[index].line)
            difference = _STEP * (labels[to] - labels[start])
            return (difference if part.startswith("&") else difference >> 32) & 0xFFFFFFFF
        return None

    def _program_counter(self, index: int) -> int:
        for i in range(index, -1, -1):
            if self.kernel.instructions[i].mnemonic == "s_getpc_b64":
                return self.of_instruction(i + 1)
        raise Unsupported("a relative address with no s_getpc_b64 before it", self.kernel.instructions[index].line)

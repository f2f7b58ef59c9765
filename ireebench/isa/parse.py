"""Reads AMDGCN assembly: IREE's `.rocmasm` and clang's `.s` for gfx9 to gfx12. Never raises on bad text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType

from ireebench.isa.assembly import AssemblyFile, Instruction, Kernel, KernelDescriptor, KernelMetadata, Modifier, Value
from ireebench.isa.expressions import evaluate
from ireebench.isa.metadata import Metadata, parse_metadata

# Prefixes of the encodings: LLVM AMDGPU instruction syntax, "Mnemonic".
PREFIXES = ("s_", "v_", "ds_", "buffer_", "global_", "flat_", "scratch_", "image_", "tbuffer_", "lds_", "exp")
FLAGS = frozenset(
    """sc0 sc1 nt glc slc dlc scc nv offen idxen addr64 lds tfe lwe clamp gds done vm unorm da r128 a16 d16 high
    row_mirror row_half_mirror""".split()  # noqa: SIM905 -- a list of words reads best as words
)
# Opcodes whose operands are separated by spaces, `&` or `|`, not only by commas.
_LIST_OPERANDS = ("s_wait", "s_delay_alu")

_MNEMONIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_LABEL = re.compile(r"""\s*([A-Za-z_.$@?][\w.$@?]*|"[^"]*"|\d+)\s*:(?!:)""")
_ASSIGNMENT = re.compile(r"[\w.$]+\s*=[^=]")
_COMMENT = re.compile(r""""[^"\n]*"|;[^\n]*|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_NEEDS_CARE = re.compile(r"[\s(]|:\[|,[a-z]+:")  # a modifier, a function or an odd blank: not plain operands
_TOP_LEVEL = re.compile(r"(?:[^,\[(]+|\[[^\]]*\]?|\([^)]*\)?)+")
_TOKEN = re.compile(r"(?:[^\s\[(]+|\[[^\]]*\]?|\([^)]*\)?)+")
_LIST_ITEM = re.compile(r"[\w.]+\([^)]*\)|[^\s,&|]+")
_KEY_VALUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*:")
_FUNCTION = re.compile(r"""^\s*\.type\s+("[^"]*"|[^\s,]+)\s*,\s*[@%#]function""", re.MULTILINE)
_KERNEL = re.compile(r"""^\s*\.amdhsa_kernel\s+(\S+)""", re.MULTILINE)
_TARGET = re.compile(r"""^\s*\.amdgcn_target\s+"([^"]*)\"""", re.MULTILINE)
_PROCESSOR = re.compile(r"gfx[0-9a-f]+(?:-[0-9]+)?(?:-generic)?")


def parse_assembly(text: str) -> AssemblyFile:
    """Reads a file of assembly; lines that make no sense are counted, never fatal.

    A kernel is a function that has a descriptor or a metadata entry; a file with neither gives every function.
    """
    metadata = _metadata(text)
    reader = _Reader(_function_names(text, metadata))
    reader.read(text)
    kernels = reader.kernels(metadata)
    return AssemblyFile(_target(text, metadata), kernels, reader.unknown_lines, metadata.error)


def parse_instruction(text: str, line: int = 1) -> Instruction | None:
    """Reads one instruction with no comment and no label; None when it is none."""
    if "::" in text:
        first, _, rest = text.partition("::")
        a, b = _single(first.strip(), line), _single(rest.strip(), line)
        return Instruction(line, a.mnemonic, a.operands, a.modifiers, text, b) if a and b else None
    return _single(text, line)


def _single(text: str, line: int) -> Instruction | None:
    parts = text.split(None, 1)
    if not parts:
        return None
    mnemonic = parts[0].lower()
    if not mnemonic.startswith(PREFIXES) or not _MNEMONIC.match(mnemonic):
        return None
    if len(parts) == 1:
        return Instruction(line, mnemonic, (), (), text)
    operands, modifiers = _operands(mnemonic, parts[1])
    return Instruction(line, mnemonic, operands, modifiers, text)


def _operands(mnemonic: str, rest: str) -> tuple[tuple[str, ...], tuple[Modifier, ...]]:
    if mnemonic.startswith(_LIST_OPERANDS):
        return tuple(_LIST_ITEM.findall(rest)), ()
    compact = rest.replace(", ", ",")
    if "," in compact and not _NEEDS_CARE.search(compact):
        return tuple(compact.split(",")), ()
    # A comma inside brackets belongs to a modifier (quad_perm:[1,0,3,2]) or a function (hwreg(a, b)).
    nested = ":[" in rest or ": " in rest or "(" in rest
    parts = _TOP_LEVEL.findall(re.sub(r":\s+", ":", rest)) if nested else rest.split(",")
    operands: list[str] = []
    modifiers: list[Modifier] = []
    last = len(parts) - 1
    for i, part in enumerate(parts):
        word = part.strip()
        if i != last and " " not in word and "\t" not in word and (":" not in word or "[" in word):
            operands.append(word)
        else:
            _split_part(word, i == last, operands, modifiers)
    return tuple(operands), tuple(modifiers)


def _split_part(part: str, is_last: bool, operands: list[str], modifiers: list[Modifier]) -> None:
    """Sorts the words of one comma-separated part into operands and modifiers."""
    for n, token in enumerate(_TOKEN.findall(part)):
        if token in FLAGS:
            modifiers.append((token, None))
        elif _KEY_VALUE.match(token):
            key, _, value = token.partition(":")
            modifiers.append((key, value.replace(" ", "")))
        elif n == 0 or not operands:
            operands.append(token)
        elif not token[0].isalpha():  # an expression with spaces: "sym + 4"
            operands[-1] += token
        elif is_last:
            modifiers.append((token, None))
        else:  # "exp mrt0 v0, ..."
            operands.append(token)


def _metadata(text: str) -> Metadata:
    # Two finds and no pattern: a file that opens metadata a thousand times and never closes it stays linear.
    start = text.find(".amdgpu_metadata")
    end = text.find(".end_amdgpu_metadata", start)
    if start < 0 or end < 0:
        return Metadata()
    return parse_metadata(text[start + len(".amdgpu_metadata") : text.rfind("\n", start, end) + 1])


def _function_names(text: str, metadata: Metadata) -> frozenset[str]:
    names = {n.strip('"') for n in _FUNCTION.findall(text)} | {n.strip('"') for n in _KERNEL.findall(text)}
    return frozenset(names | set(metadata.kernels))


def _target(text: str, metadata: Metadata) -> str:
    directive = _TARGET.search(text)
    for triple in (directive.group(1) if directive else "", metadata.target):
        found = _PROCESSOR.findall(triple)
        if found:
            return str(found[-1])
    return ""


@dataclass(slots=True)
class _Function:
    name: str
    start_line: int
    end_line: int = 0
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Reader:
    """Goes through the lines once; `names` are the labels that start a function."""

    names: frozenset[str]
    functions: dict[str, _Function] = field(default_factory=dict)
    descriptors: dict[str, dict[str, str]] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    unknown_lines: int = 0
    current: _Function | None = None
    _descriptor: dict[str, str] | None = None
    _skip_until: str | None = None

    def read(self, text: str) -> None:
        last = text.rfind("*/") + 2
        if "/*" in text and last > 2:
            # What follows the last end of a comment has none to look for.
            text = _COMMENT.sub(_blank_comment, text[:last]) + text[last:]
        number = 0
        for raw in text.split("\n"):
            number += 1
            line = raw.partition(";")[0].strip()
            if not line:
                continue
            if "//" in line:
                line = line.partition("//")[0].rstrip()
                if not line:
                    continue
            if self._skip_until is not None:
                if line.split(None, 1)[0] == self._skip_until:
                    self._skip_until = None
                continue
            if line[0] == "." and ":" not in line:
                self._directive(line)
            else:
                self._statement(line, number)
        if self.current:
            self.current.end_line = self.current.end_line or number

    def _statement(self, line: str, number: int) -> None:
        if ":" in line:
            at = 0
            while label := _LABEL.match(line, at):
                self._label(label.group(1).strip('"'), number)
                at = label.end()
            line = line[at:].lstrip()
            if not line:
                return
            if line[0] == ".":
                self._directive(line)
                return
        instruction = parse_instruction(line, number)
        if instruction is not None:
            if self.current is None:
                # Code with no function around it, as a disassembly or a fragment has.
                self.current = self.functions.setdefault("", _Function("", number))
            self.current.instructions.append(instruction)
            self.current.end_line = number
        elif line[0] != "#" and not _ASSIGNMENT.match(line):
            self.unknown_lines += 1

    def _label(self, name: str, number: int) -> None:
        fragment = not self.names and self.current is None
        if fragment or (name in self.names and name not in self.functions):
            self.current = self.functions[name] = _Function(name, number, number)
        elif self.current is not None:
            self.current.labels[name] = len(self.current.instructions)

    def _directive(self, line: str) -> None:
        name, _, rest = line.partition(" ") if "\t" not in line else line.replace("\t", " ").partition(" ")
        rest = rest.strip()
        if self._descriptor is not None and name.startswith(".amdhsa_"):
            self._descriptor[name[len(".amdhsa_") :]] = rest
            return
        match name:
            case ".amdhsa_kernel":
                self._descriptor = self.descriptors.setdefault(rest.strip('"'), {})
            case ".end_amdhsa_kernel":
                self._descriptor = None
            case ".amdgpu_metadata":
                self._skip_until = ".end_amdgpu_metadata"
            case ".macro":
                self._skip_until = ".endm"
            case ".set":
                key, _, value = rest.partition(",")
                self.symbols[key.strip()] = value.strip()

    def kernels(self, metadata: Metadata) -> tuple[Kernel, ...]:
        described = [f for f in self.functions.values() if f.name in self.descriptors or f.name in metadata.kernels]
        return tuple(
            Kernel(
                f.name,
                tuple(f.instructions),
                MappingProxyType(f.labels),
                self._described(f.name),
                metadata.kernels.get(f.name, KernelMetadata()),
                f.start_line,
                f.end_line,
            )
            for f in (described or self.functions.values())
            if f.instructions
        )

    def _described(self, name: str) -> KernelDescriptor:
        raw = self.descriptors.get(name, {})
        return KernelDescriptor(MappingProxyType({k: self._value(v) for k, v in raw.items()}))

    def _value(self, text: str) -> Value:
        value = evaluate(text, self.symbols)
        return text if value is None else value


def _blank_comment(match: re.Match[str]) -> str:
    """Keeps strings and the number of lines."""
    found = match.group(0)
    return found if found[0] == '"' else "\n" * found.count("\n") or " "

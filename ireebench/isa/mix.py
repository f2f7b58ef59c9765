"""The instruction mix: how many of each class, by width, pattern and wait.

Keys are `class` or `class.detail`; the classes are those of `classify.Kind`:
`global_load.16` counts 16-byte loads, `load.nt` loads with that cache bit, `dpp` and `dpp.row_shr:8` DPP instructions,
`wait.vmcnt(0)` waits, `dual_issue` pairs. An instruction with DPP counts under its own class as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify, dpp_pattern, opcode
from ireebench.isa.waits import waits_of

_CACHE_BITS = ("nt", "sc0", "sc1", "glc", "slc", "dlc", "th", "scope")


def mix_of(instructions: Iterable[Instruction], target: str) -> Counter[str]:
    """Counts the instructions by class."""
    mix: Counter[str] = Counter()
    for instruction in instructions:
        mix["instructions"] += 1
        _count(instruction, target, mix)
        if instruction.second is not None:
            mix["dual_issue"] += 1
            _count(instruction.second, target, mix)
    return mix


def opcodes_of(instructions: Iterable[Instruction]) -> Counter[str]:
    """Counts the instructions by opcode, without the suffix of the encoding; both halves of a pair count."""
    found = Counter(opcode(i.mnemonic) for i in instructions)
    found.update(opcode(i.second.mnemonic) for i in instructions if i.second is not None)
    return found


def difference(whole: Mapping[str, int], part: Mapping[str, int]) -> Counter[str]:
    """What is in `whole` and not in `part`: the mix outside a loop."""
    return Counter({key: count - part.get(key, 0) for key, count in whole.items() if count > part.get(key, 0)})


def _count(instruction: Instruction, target: str, mix: Counter[str]) -> None:
    found = classify(instruction.mnemonic)
    kind = found.kind
    mix[kind.value] += 1
    if found.width_bytes:
        mix[f"{kind.value}.{found.width_bytes}"] += 1
        _count_cache_bits(instruction, "load" if "load" in kind.value else "store", mix)
    elif kind is Kind.WAIT:
        for counter, value in waits_of(instruction, target).items():
            mix[f"wait.{counter}({value})"] += 1
    if instruction.modifiers and (pattern := dpp_pattern(instruction)):
        mix["dpp"] += 1
        mix[f"dpp.{pattern}"] += 1


def _count_cache_bits(instruction: Instruction, direction: str, mix: Counter[str]) -> None:
    for key, value in instruction.modifiers:
        if key in _CACHE_BITS:
            mix[f"{direction}.{key}" if value is None else f"{direction}.{value.lower()}"] += 1

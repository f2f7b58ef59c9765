"""Wait counters: which counter a wait names and how low it must fall, on every generation.

`s_waitcnt vmcnt(2)` goes on when at most two vector memory operations are outstanding. Reference: AMD ISA guides,
"Data dependency resolution"; field layout of the raw immediate: LLVM `AMDGPUBaseInfo.cpp` (decodeVmcnt and others).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ireebench.isa.architecture import generation
from ireebench.isa.assembly import Instruction

_COUNTER = re.compile(r"(\w+)\((0x[0-9a-fA-F]+|\d+)\)")
# gfx12: one instruction a counter, and two that name a pair in bits 13:8 and 5:0.
_SINGLE = {
    "s_wait_loadcnt": "loadcnt",
    "s_wait_storecnt": "storecnt",
    "s_wait_samplecnt": "samplecnt",
    "s_wait_bvhcnt": "bvhcnt",
    "s_wait_expcnt": "expcnt",
    "s_wait_dscnt": "dscnt",
    "s_wait_kmcnt": "kmcnt",
    "s_wait_asynccnt": "asynccnt",
    "s_wait_tensorcnt": "tensorcnt",
    "s_waitcnt_vscnt": "vscnt",
    "s_waitcnt_vmcnt": "vmcnt",
    "s_waitcnt_lgkmcnt": "lgkmcnt",
    "s_waitcnt_expcnt": "expcnt",
}
_PAIRS = {"s_wait_loadcnt_dscnt": ("loadcnt", "dscnt"), "s_wait_storecnt_dscnt": ("storecnt", "dscnt")}
_IDLE = {"loadcnt": 0, "storecnt": 0, "dscnt": 0, "kmcnt": 0}

# Which counter a vector load and a vector store raise.
LOAD_COUNTERS = ("vmcnt", "loadcnt")
STORE_COUNTERS = ("vscnt", "storecnt")
LDS_COUNTERS = ("lgkmcnt", "dscnt")


def waits_of(instruction: Instruction, target: str) -> Mapping[str, int]:
    """The counters that a wait instruction names and their limits: {"vmcnt": 0}; empty for anything else."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic == "s_waitcnt":
        named = {m.group(1): int(m.group(2), 0) for o in operands if (m := _COUNTER.fullmatch(o))}
        return named or _decode(_number(operands), target)
    value = _number(operands)
    if value is None:
        return _IDLE if mnemonic == "s_wait_idle" else {}
    if counter := _SINGLE.get(mnemonic):
        return {counter: value}
    if pair := _PAIRS.get(mnemonic):
        return {pair[0]: value >> 8 & 63, pair[1]: value & 63}
    return {}


def _number(operands: tuple[str, ...]) -> int | None:
    try:
        return int(operands[-1], 0) if operands else None
    except ValueError:
        return None


def _decode(immediate: int | None, target: str) -> dict[str, int]:
    """A raw immediate; a counter at its highest value is not waited for."""
    if immediate is None:
        return {}
    major = generation(target)
    if major >= 11:
        fields = {
            "vmcnt": (immediate >> 10 & 63, 63),
            "lgkmcnt": (immediate >> 4 & 63, 63),
            "expcnt": (immediate & 7, 7),
        }
    else:
        vmcnt = immediate & 15 | (immediate >> 14 & 3) << 4
        lgkm_mask = 63 if major == 10 else 15
        fields = {
            "vmcnt": (vmcnt, 63),
            "lgkmcnt": (immediate >> 8 & lgkm_mask, lgkm_mask),
            "expcnt": (immediate >> 4 & 7, 7),
        }
    return {name: value for name, (value, highest) in fields.items() if value != highest}

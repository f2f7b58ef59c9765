"""Registers and memory of each kernel, from the assembly's own metadata: a small reader of .rocmasm and .ptx.

The full reader of AMDGCN assembly is `ireebench.isa`; the compiler needs only what decides whether a kernel spills.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Registers:
    """What a kernel uses, as its assembly states it. None: not told there.

    `vgpr` is AMD's `.vgpr_count`, which on gfx90a and later includes the accumulation registers (`agpr`).
    `lds_bytes` is a workgroup's LDS (AMD) or shared memory (NVIDIA), `scratch_bytes` a lane's scratch or local memory.
    """

    symbol: str
    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    vgpr_spills: int | None = None


# AMDGPU code object metadata V4/V5, map of a kernel: LLVM, "User Guide for AMDGPU Backend".
_AMD = {
    "vgpr": ".vgpr_count",
    "agpr": ".agpr_count",
    "sgpr": ".sgpr_count",
    "lds_bytes": ".group_segment_fixed_size",
    "scratch_bytes": ".private_segment_fixed_size",
    "vgpr_spills": ".vgpr_spill_count",
}


def read_rocmasm(text: str) -> Iterator[Registers]:
    """Every kernel of an AMDGCN assembly file, from its `amdhsa.kernels` metadata."""
    metadata = re.search(r"^amdhsa\.kernels:\n(.*?)^amdhsa\.", text, re.MULTILINE | re.DOTALL)
    for kernel in re.split(r"^  - ", metadata[1], flags=re.MULTILINE)[1:] if metadata else ():
        # Arguments have names of their own, indented deeper.
        fields = dict(re.findall(r"^(?:    )?(\.\w+):\s+(\S+)$", kernel, re.MULTILINE))
        if ".name" in fields:
            figures = {name: int(fields[key]) for name, key in _AMD.items() if key in fields}
            yield Registers(fields[".name"].strip("'\""), **figures)


def read_ptx(text: str) -> Iterator[Registers]:
    """Every kernel of a PTX file. PTX has virtual registers: how many a kernel needs is not told."""
    shared = sum(int(n) for n in re.findall(r"^\.shared .*?\.b8\s+\w+\[(\d+)\];", text, re.MULTILINE))
    starts = list(re.finditer(r"^\.visible \.entry ([\w$]+)\(", text, re.MULTILINE))
    for start, end in zip(starts, [*(s.start() for s in starts[1:]), len(text)], strict=True):
        body = text[start.end() : end]
        local = sum(int(n) for n in re.findall(r"\.local .*?\.b8\s+\w+\[(\d+)\];", body))
        inner = sum(int(n) for n in re.findall(r"\.shared .*?\.b8\s+\w+\[(\d+)\];", body))
        # Told is only what is declared with a size: IREE's dynamic shared memory gets one at launch, and a declaration
        # at file level with several kernels does not say whose it is.
        untold = "__dynamic_shared_memory__" in body or (shared and len(starts) > 1)
        yield Registers(start[1], lds_bytes=None if untold else shared + inner, scratch_bytes=local)


READERS = {".rocmasm": read_rocmasm, ".ptx": read_ptx}

"""What a lint is: a name, a meaning, a reference and a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ireebench.isa.analysis import KernelAnalysis


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a lint applies: the line in the file and what is there."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Lint:
    """A pattern worth a look. It's a hint with a reason, not proof: only a measurement says what it costs."""

    id: str
    meaning: str
    reference: str
    check: Callable[[KernelAnalysis], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A lint that applies to a kernel."""

    id: str
    line: int
    message: str


LLVM_USAGE = "https://llvm.org/docs/AMDGPUUsage.html"
CDNA3_ISA = "AMD Instinct MI300 (CDNA3) ISA guide, August 2025"

"""Lints: patterns in a kernel's assembly that are worth a look, as a table."""

from __future__ import annotations

from ireebench.isa.analysis import KernelAnalysis
from ireebench.isa.lints.base import Finding, Lint
from ireebench.isa.lints.compute import COMPUTE_LINTS
from ireebench.isa.lints.lds import LDS_LINTS
from ireebench.isa.lints.memory import MEMORY_LINTS
from ireebench.isa.lints.resource import RESOURCE_LINTS
from ireebench.isa.lints.scope import SCOPE_LINTS

LINTS: dict[str, Lint] = {
    lint.id: lint for lint in (*COMPUTE_LINTS, *MEMORY_LINTS, *LDS_LINTS, *RESOURCE_LINTS, *SCOPE_LINTS)
}


def lint_kernel(kernel: KernelAnalysis) -> tuple[Finding, ...]:
    """Every finding in a kernel, in the order of the table and then of the lines."""
    return tuple(
        Finding(lint.id, hit.line, hit.message)
        for lint in LINTS.values()
        for hit in sorted(lint.check(kernel), key=lambda h: h.line)
    )

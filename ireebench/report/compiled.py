"""A compile as rows and JSON: pure functions of evidence and failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ireebench.compiler.artifact import KernelEvidence
from ireebench.compiler.driver import Compiled
from ireebench.compiler.evidence import read_evidence
from ireebench.compiler.flags import VMFB, shell_line
from ireebench.compiler.spec_check import SpecReport
from ireebench.outcome import Failure
from ireebench.report.table import Cell, Table
from ireebench.targets import Target

_COLUMNS: tuple[tuple[str, str], ...] = (
    ("dispatch", "symbol"),
    ("pipeline", "pipeline"),
    ("workgroup", "workgroup_size"),
    ("subgroup size", "subgroup_size"),
    ("subgroups", "subgroups"),
    ("thread loads", "thread_loads"),
    ("partial reduction", "partial_reduction"),
    ("elements/workgroup", "elements_per_workgroup"),
    ("iterations", "iterations"),
    ("VGPR", "vgpr"),
    ("SGPR", "sgpr"),
    ("LDS bytes", "lds_bytes"),
    ("scratch bytes", "scratch_bytes"),
    ("VGPR spills", "vgpr_spills"),
    ("micro-kernel", "ukernel"),
)


def _cell(value: Any) -> Cell:
    return "x".join(map(str, value)) if isinstance(value, tuple) else value


def kernel_table(kernels: Sequence[KernelEvidence], title: str | None = None) -> Table:
    """One row a dispatch; a figure that no dispatch tells has no column."""
    told = [(name, field) for name, field in _COLUMNS if any(getattr(k, field) is not None for k in kernels)]
    rows = [[_cell(getattr(k, field)) for _, field in told] for k in kernels]
    return Table.of([name for name, _ in told], rows, title)


def failure_table(failure: Failure, title: str | None = None) -> Table:
    """What went wrong, a row for each thing there is to say."""
    said = (("reason", failure.reason), ("known", failure.known), ("reproducer", failure.reproducer))
    return Table.of(("status", failure.status.value), [row for row in said if row[1]], title)


def kernel_json(kernel: KernelEvidence) -> dict[str, Any]:
    """A dispatch's evidence with JSON types; unknown figures are null."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(kernel).items()}


@dataclass(frozen=True, slots=True)
class FileReport:
    """How compiling a file of the user's went."""

    file: Path
    target: Target
    flags: tuple[str, ...]
    compiled: Compiled

    @property
    def status(self) -> str:
        """ "ok", or the failure's status."""
        return self.compiled.failure.status.value if self.compiled.failure else "ok"

    def tables(self) -> list[Table]:
        """The failure, if any, and a row for each dispatch that the compiler came to."""
        kernels, failure = read_evidence(self.compiled.folder), self.compiled.failure
        took = f"{self.compiled.exit.wall_s:.2f} s{'' if self.compiled.fresh else ' (from the cache)'}"
        count = f"{len(kernels)} dispatch{'' if len(kernels) == 1 else 'es'}"
        title = f"{self.file} for {self.target.name}: {self.status}, {took}, {count}"
        if failure is None:
            return [kernel_table(kernels, title)]
        return [failure_table(failure, title), *([kernel_table(kernels)] if kernels else [])]

    def document(self) -> dict[str, Any]:
        """The same for JSON."""
        failure, ended = self.compiled.failure, self.compiled.exit
        return {
            "file": str(self.file),
            "target": self.target.name,
            "status": self.status,
            "reason": failure.reason if failure else None,
            "known": failure.known if failure else None,
            "reproducer": failure.reproducer if failure else None,
            "compile_s": ended.wall_s,
            "max_rss_bytes": ended.max_rss_bytes,
            "cached": not self.compiled.fresh,
            "folder": str(self.compiled.folder),
            "vmfb": None if failure else str(self.compiled.folder / VMFB),
            "command": shell_line(str(self.file), self.flags),
            "kernels": [kernel_json(k) for k in read_evidence(self.compiled.folder)],
        }


def spec_tables(report: SpecReport, title: str) -> list[Table]:
    """A row an op; then what is wrong with the spec itself, if anything is."""
    rows = [
        (
            op.function,
            op.op,
            f"{'x'.join('?' if n is None else str(n) for n in op.shape)}x{op.element_type}",
            op.applied,
            op.reason,
        )
        for op in report.ops
    ]
    tables = [Table.of(("function", "op", "shape", "applied", "reason"), rows, title)]
    if report.broken:
        tables.append(Table.of(("rule of the spec that is broken",), [(rule,) for rule in report.broken]))
    if report.unused:
        tables.append(Table.of(("entry that no op got",), [(entry,) for entry in report.unused]))
    return tables


def spec_document(report: SpecReport, compiled: Compiled, spec: Path, file: Path, target: Target) -> dict[str, Any]:
    """The same for JSON."""
    failure = compiled.failure
    return {
        "spec": str(spec),
        "file": str(file),
        "target": target.name,
        "status": failure.status.value if failure else "ok",
        "reason": failure.reason if failure else None,
        "ops": [
            {
                "function": op.function,
                "op": op.op,
                "shape": list(op.shape),
                "dtype": op.element_type,
                "applied": op.applied,
                "reason": op.reason,
            }
            for op in report.ops
        ],
        "broken_rules": list(report.broken),
        "unused_entries": list(report.unused),
    }

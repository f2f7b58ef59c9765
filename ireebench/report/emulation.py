"""Tables and documents of emulated kernels: results and faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ireebench.isa.emulate.report import Report
from ireebench.outcome import Failure
from ireebench.report.executed import counts_document
from ireebench.report.table import Cell, Table
from ireebench.sweep.emulated import Emulated


def summary(results: Sequence[Emulated]) -> Table:
    """A row a candidate."""
    titles = ("problem", "op", "shape", "dtype", "variant", "config", "rows", "result", "first index", "faults", "why")
    return Table.of(titles, [_row(r) for r in results])


def _row(r: Emulated) -> tuple[Cell, ...]:
    p, c = r.candidate.problem, r.candidate
    head: tuple[Cell, ...] = (
        p.id,
        p.op,
        p.shape_text,
        p.dtype,
        f"{c.variant.name}/{c.form.name}",
        str(c.config),
        r.rows,
    )
    if isinstance(r.outcome, Failure):
        return (*head, str(r.outcome.status), None, None, r.outcome.reason)
    assert r.check is not None
    word = "right" if r.check.ok else "wrong"
    return (*head, word, r.check.first_index, len(r.outcome.reports), r.check.reason)


def fault_table(reports: Sequence[Report]) -> Table:
    """A row a fault: where it showed first, and in how many lanes."""
    titles = ("fault", "kernel", "line", "lane", "wave", "workgroup", "lanes", "message")
    rows = [
        (str(r.fault), r.kernel, r.line, r.lane, r.wave, ",".join(map(str, r.workgroup)), r.times, r.message)
        for r in reports
    ]
    return Table.of(titles, rows, "faults")


def document(results: Sequence[Emulated]) -> dict[str, Any]:
    """For JSON."""
    return {"emulations": [_document(r) for r in results]}


def _document(r: Emulated) -> dict[str, Any]:
    p, c = r.candidate.problem, r.candidate
    return {
        "problem": p.id,
        "op": p.op,
        "shape": list(p.shape),
        "dtype": p.dtype,
        "target": c.target.name,
        "variant": c.variant.name,
        "form": c.form.name,
        "config": c.config.as_dict(),
        "rows": r.rows,
        "status": str(r.outcome.status) if isinstance(r.outcome, Failure) else "ok" if r.good else "wrong_result",
        "reason": r.outcome.reason if isinstance(r.outcome, Failure) else r.check.reason if r.check else None,
        "check": None if r.check is None else {"ok": r.check.ok, "first_index": r.check.first_index, "by": r.check.by},
        "faults": [] if isinstance(r.outcome, Failure) else faults_document(r.outcome.reports),
        "executed": [] if isinstance(r.outcome, Failure) else counts_document(r.outcome.counts),
    }


def faults_document(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """Faults for JSON."""
    return [{**asdict(r), "fault": str(r.fault), "workgroup": list(r.workgroup)} for r in reports]

"""What counter runs and thread traces of a sweep's best candidates gave. Never a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ireebench.report.table import Cell, Table
from ireebench.sweep.profile import Profiled


def profiled_table(found: Sequence[Profiled]) -> Table:
    """A row a candidate, kernel and counter; for a thread trace where its files are."""
    heads = ("problem", "candidate", "kernel", "counter", "dispatches", "mean", "files", "reason")
    body: list[tuple[Cell, ...]] = []
    for p in found:
        head = (p.candidate.problem.id, _name(p))
        body += [(*head, c.kernel, c.counter, c.calls, c.mean, str(p.folder), None) for c in p.counters]
        if not p.counters:
            body.append((*head, None, None, None, None, None if p.reason else str(p.folder), p.reason))
    return Table.of(
        heads, body, "Counters and thread traces of the best (mean of a dispatch); these runs give no times"
    )


def profiled_document(found: Sequence[Profiled]) -> list[dict[str, Any]]:
    """The same for JSON, an object a run."""
    return [
        {
            "problem": p.candidate.problem.id,
            "candidate": _name(p),
            "kind": p.kind,
            "folder": str(p.folder),
            "counters": [
                {"kernel": c.kernel, "agent": c.agent or None, "counter": c.counter, "calls": c.calls, "mean": c.mean}
                for c in p.counters
            ],
            "reason": p.reason,
        }
        for p in found
    ]


def _name(p: Profiled) -> str:
    return f"{p.candidate.variant.name}/{p.candidate.form.name} {p.candidate.config}"

"""The conformance table: what each implementation did with ties, zeros, infinities and NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from ireebench.measure.conformance import ConformanceRow
from ireebench.report.table import Table

Rows = Sequence[tuple[str, ConformanceRow]]


def conformance_table(rows: Rows, title: str) -> Table:
    """A row an implementation and case."""
    body = [(name, r.case, r.verdict, r.ties, r.nan, r.reason) for name, r in rows]
    return Table.of(("implementation", "case", "verdict", "ties", "NaN", "reason"), body, title)


def conformance_document(rows: Rows, by: Literal["device", "emulator"]) -> dict[str, Any]:
    """The same for JSON; `by` is what executed the code."""
    return {"by": by, "rows": [{"implementation": name, **asdict(r)} for name, r in rows]}

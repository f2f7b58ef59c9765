"""Counts of what the emulator executed, as tables and documents. Never a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ireebench.isa.emulate.report import Counts
from ireebench.report.table import Cell, Table
from ireebench.store.trial import Trial

# Classes of wave-instructions that work on the lanes' own registers.
_VECTOR = ("vector", "conversion", "packed", "dot", "cross-lane")
_HEADS = (
    "waves", "instructions", "vector", "DPP", "cross-lane", "scalar", "waits", "loaded bytes", "stored bytes",
    "cache lines", "LDS bytes", "LDS conflicts", "loads in flight", "clamped lanes",
)  # fmt: skip


def count_table(counts: Sequence[Counts]) -> Table:
    """A row a dispatch: what it executed."""
    body = [(c.kernel, c.workgroups, *_cells(c)) for c in counts]
    return Table.of(("kernel", "workgroups", *_HEADS), body, "executed")


def trial_count_table(trials: Iterable[Trial], title: str) -> Table | None:
    """A row a dispatch of each trial that was emulated; None where none was."""
    body: list[tuple[Cell, ...]] = [
        (t.variant, t.form, str(t.config), n, *_cells(c)) for t in trials for n, c in enumerate(t.counts)
    ]
    return Table.of(("variant", "form", "config", "dispatch", *_HEADS), body, title) if body else None


def _cells(c: Counts) -> tuple[Cell, ...]:
    return (
        c.waves, c.total, _total(c, *_VECTOR), c.dpp, _total(c, "cross-lane"), _total(c, "scalar"), _total(c, "wait"),
        _moved(c, "global load"), _moved(c, "global store"), c.cache_lines, _moved(c, "lds"), c.lds_conflicts,
        c.loads_in_flight, c.clamped_lanes,
    )  # fmt: skip


def _total(c: Counts, *classes: str) -> int:
    return sum(n for name, n in c.instructions.items() if name.startswith(classes))


def _moved(c: Counts, start: str) -> int:
    return sum(n for name, n in c.bytes.items() if name.startswith(start))


def counts_document(counts: Sequence[Counts]) -> list[dict[str, Any]]:
    """Counts for JSON, one object a dispatch."""
    return [{**asdict(c), "total": c.total} for c in counts]

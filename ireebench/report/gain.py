"""Capability gain: the share of a feature's instruction-level speedup that is left at a higher level.

G = S_level / S_instruction. A feature that doubles one instruction sequence (S_instruction 2.0) and makes a layer 1.5
times faster keeps G = 0.75 of itself there; below 0.5 it costs more than it brings at that level, above 1 something
else gained with it.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.errors import BadFileError, UsageError
from ireebench.report.table import Cell, Column, Table

COLUMNS = ("level", "speedup", "low", "high")


@dataclass(frozen=True, slots=True)
class Speedup:
    """A measured or published speedup at one level; `low` and `high` are its range where one is known."""

    level: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Gain:
    """A level's gain, with the range that the speedup's range gives. `within_noise`: the speedup itself may be 1."""

    level: str
    speedup: Speedup
    value: float
    low: float | None
    high: float | None
    within_noise: bool


def gain(instruction: float, speedup: Speedup, noise: float = 0.0) -> Gain:
    """The gain of one level; `noise` is the relative floor inside which a speedup is no speedup.

    Raises UsageError for speedups that are not positive.
    """
    for name, value in (("instruction-level speedup", instruction), (f"speedup of '{speedup.level}'", speedup.value)):
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"the {name} must be positive, not {value}")

    def share(value: float | None) -> float | None:
        return None if value is None else value / instruction

    inside = abs(speedup.value - 1.0) <= noise
    return Gain(speedup.level, speedup, speedup.value / instruction, share(speedup.low), share(speedup.high), inside)


def pooled(level: str, ratios: Sequence[float]) -> Speedup:
    """The median of a level's speedups with their quartiles as the range; raises UsageError of none."""
    if not ratios:
        raise UsageError(f"level '{level}' has no speedup")
    q1, median, q3 = (float(x) for x in np.percentile(np.asarray(ratios), [25, 50, 75]))
    return Speedup(level, median, q1, q3)


def read_speedups(text: str, name: str) -> tuple[Speedup, ...]:
    """Speedups from CSV with the columns level, speedup and, optionally, low and high; BadFileError names the line."""
    try:
        return _read_speedups(csv.DictReader(io.StringIO(text)), name)
    except csv.Error as e:
        raise BadFileError(f"{name}: not CSV: {e}") from e


def _read_speedups(reader: csv.DictReader[str], name: str) -> tuple[Speedup, ...]:
    missing = {"level", "speedup"} - set(reader.fieldnames or ())
    unknown = set(reader.fieldnames or ()) - set(COLUMNS)
    if missing or unknown:
        wrong = f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown {', '.join(sorted(unknown))}"
        raise BadFileError(
            f"{name}: the header {wrong}; columns are {', '.join(COLUMNS)} (low and high may be left out)"
        )
    found = []
    for number, row in enumerate(reader, start=2):
        try:
            low, high = (float(row[c]) if row.get(c) else None for c in ("low", "high"))
            found.append(Speedup(row["level"], float(row["speedup"]), low, high))
        except (TypeError, ValueError) as e:
            raise BadFileError(f"{name}, line {number}: not a speedup: {e}") from e
    if not found:
        raise BadFileError(f"{name}: no speedup in it")
    return tuple(found)


def gain_table(instruction: float, gains: Iterable[Gain], noise: float) -> Table:
    """Speedups and gains by level, with their ranges."""
    numbers = ("speedup", "low", "high", "gain", "gain low", "gain high")
    columns = (Column("level"), *(Column(n, 3) for n in numbers), Column("note"))
    body: list[tuple[Cell, ...]] = []
    for g in gains:
        s = g.speedup
        note = "speedup within noise" if g.within_noise else None
        body.append((g.level, s.value, s.low, s.high, g.value, g.low, g.high, note))
    title = f"Capability gain over an instruction-level speedup of {instruction:g}, noise floor {100 * noise:.1f}%"
    return Table(columns, tuple(body), title)

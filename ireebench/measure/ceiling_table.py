"""A measured ceiling: rows, what lies between them, kernels that beat it, and the file that keeps it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ireebench.measure import ceiling_doubt
from ireebench.measure.ceiling_device import Reader
from ireebench.measure.job import CachePolicy
from ireebench.measure.user_folders import data_folder

SCHEMA_VERSION = 1
KernelKey = tuple[str, int, CachePolicy]
_NAMED = 6  # problems that a line names
_KERNEL = ("problem", "size_bytes", "cache", "median_ns", "by")


@dataclass(frozen=True, slots=True)
class CeilingRow:
    """The best reader found for one size and policy. Times in ns of its final samples; GB are 1e9 bytes."""

    size_bytes: int
    cache: CachePolicy
    reader: Reader
    median_ns: float
    q1_ns: float
    q3_ns: float
    samples: int
    copies: int
    tried: int

    @property
    def gb_per_s(self) -> float:
        """Bytes read over the median time."""
        return self.size_bytes / self.median_ns


@dataclass(frozen=True, slots=True)
class Checked:
    """The fastest checked kernel of a problem under one cache policy: `median_ns` for `size_bytes` that must move.

    `by` is a baseline's name, or "candidate".
    """

    problem: str
    size_bytes: int
    cache: CachePolicy
    median_ns: float
    by: str

    @property
    def key(self) -> KernelKey:
        """What it is the fastest kernel of."""
        return self.problem, self.size_bytes, self.cache


@dataclass(frozen=True, slots=True)
class Excess:
    """A checked kernel that beat the ceiling by the share `first`. `again`: its size was then measured again.

    What is left of it is `CeilingTable.left`.
    """

    kernel: Checked
    first: float
    again: bool


@dataclass(frozen=True, slots=True)
class CeilingTable:
    """A device's ceiling. `floor_ns` is the median of an empty kernel, None where there is none (CPU).

    `excesses` are the checked kernels that beat it when they were compared with it, one a problem and policy.
    """

    device: str
    timer: str
    cache_bytes: int | None
    floor_ns: float | None
    rows: tuple[CeilingRow, ...]
    excesses: tuple[Excess, ...] = ()

    def best_ns(self, size_bytes: int, policy: CachePolicy) -> float | None:
        """The shortest time in which `size_bytes` can be read; None where nothing was measured for the policy.

        Between measured sizes time grows linearly with size. A larger buffer is never read faster than a smaller one:
        where it was measured so, the larger one's time counts for both. Below the smallest size the line goes through
        the empty kernel's time at 0 bytes (through 0 where there is none); above the largest its rate holds.

        The line is exact while latency and a constant rate make the time. Where the rate falls with size, around the
        end of a cache, time bends upwards and the line lies above it: the ceiling is too low there by up to what the
        two rows differ. So large problems' own sizes are measured too, and what a checked kernel beats is measured
        again at its size (`ceiling_again`).
        """
        rows = sorted((r for r in self.rows if r.cache == policy), key=lambda r: r.size_bytes)
        if not rows or size_bytes <= 0:
            return None
        sizes = [0.0, *(float(r.size_bytes) for r in rows)]
        times = np.minimum.accumulate([r.median_ns for r in reversed(rows)])[::-1]
        if size_bytes >= rows[-1].size_bytes:
            return float(times[-1]) * size_bytes / rows[-1].size_bytes
        floor = min(self.floor_ns or 0.0, float(times[0]))
        return float(np.interp(size_bytes, sizes, [floor, *times]))

    def best_for(self, size_bytes: int, policy: CachePolicy) -> float | None:
        """The ceiling in GB/s for a kernel that must move `size_bytes`; the rule is `best_ns`'s."""
        best = self.best_ns(size_bytes, policy)
        return None if best is None else size_bytes / best

    def excess(self, size_bytes: int, policy: CachePolicy, median_ns: float) -> float:
        """By which share a kernel that moved `size_bytes` in `median_ns` beats the ceiling; 0 where it does not.

        A ceiling that is beaten is too low: `ceiling_again` measures that size again and reports the excess.
        """
        best = self.best_ns(size_bytes, policy)
        return 0.0 if best is None else max(0.0, best / median_ns - 1.0)

    def left(self, excess: Excess) -> float:
        """By which share that kernel still beats the ceiling."""
        return self.excess(excess.kernel.size_bytes, excess.kernel.cache, excess.kernel.median_ns)

    def merge(self, other: CeilingTable) -> CeilingTable:
        """Both tables of one device and timer; of two rows for a size and policy the faster. Raises ValueError.

        Rows that are too slow beside their neighbours of the other table are dropped. Of two kernels that beat the
        ceiling of a problem and policy the faster is kept.
        """
        if (self.device, self.timer) != (other.device, other.timer):
            raise ValueError(f"ceilings of {self.device} by {self.timer} and {other.device} by {other.timer}")
        best: dict[tuple[str, int], CeilingRow] = {}
        for row in (*self.rows, *other.rows):
            key = (row.cache, row.size_bytes)
            if key not in best or row.median_ns < best[key].median_ns:
                best[key] = row
        floors = [f for f in (self.floor_ns, other.floor_ns) if f is not None]
        rows = tuple(best[k] for k in sorted(best))
        excesses = fastest_excesses((*self.excesses, *other.excesses))
        both = CeilingTable(self.device, self.timer, self.cache_bytes, min(floors, default=None), rows, excesses)
        return both.trusted()

    def doubtful(self) -> list[CeilingRow]:
        """The rows that are slower than their neighbours show to be possible (`ceiling_doubt`), large ones first."""
        found = [rows[i] for rows in self._by_policy() for i in ceiling_doubt.doubtful(_points(rows))]
        return sorted(found, key=lambda r: r.size_bytes < ceiling_doubt.LARGE_BYTES)

    def trusted(self) -> CeilingTable:
        """The table without the rows that are too slow to be a ceiling; the rule is `ceiling_doubt`'s."""
        sound = {
            (rows[0].cache, size)
            for rows in self._by_policy()
            for size, _ in ceiling_doubt.kept(_points(rows), steps=rows[0].cache == "hot")
        }
        return replace(self, rows=tuple(r for r in self.rows if (r.cache, r.size_bytes) in sound))

    def _by_policy(self) -> list[list[CeilingRow]]:
        """The rows of each policy that has any, sizes rising."""
        rows = sorted(self.rows, key=lambda r: r.size_bytes)
        return [[r for r in rows if r.cache == policy] for policy in dict.fromkeys(r.cache for r in rows)]

    def to_json(self) -> dict[str, Any]:
        """A document that `from_json` reads; rows carry `gb_per_s`, excesses their `percent`, for other programs."""
        rows = [{**asdict(r), "gb_per_s": r.gb_per_s} for r in self.rows]
        head = {"device": self.device, "timer": self.timer, "cache_bytes": self.cache_bytes, "floor_ns": self.floor_ns}
        beaten = [
            {
                **asdict(e.kernel),
                "first_percent": 100 * e.first,
                "percent": 100 * self.left(e),
                "measured_again": e.again,
            }
            for e in self.excesses
        ]
        return {"schema_version": SCHEMA_VERSION, **head, "rows": rows, "excesses": beaten}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> CeilingTable:
        """The inverse of `to_json`; raises ValueError when it is no ceiling of this version."""
        try:
            if document["schema_version"] != SCHEMA_VERSION:
                raise ValueError(f"schema_version {document['schema_version']}, not {SCHEMA_VERSION}")
            rows = []
            for raw in document["rows"]:
                fields = {k: v for k, v in raw.items() if k != "gb_per_s"}
                rows.append(CeilingRow(**{**fields, "reader": Reader(**fields["reader"])}))
            head = {k: document[k] for k in ("device", "timer", "cache_bytes", "floor_ns")}
            beaten = tuple(
                Excess(Checked(**{n: raw[n] for n in _KERNEL}), raw["first_percent"] / 100, bool(raw["measured_again"]))
                for raw in document.get("excesses", ())
            )
            return cls(**head, rows=tuple(rows), excesses=beaten)
        except (KeyError, TypeError) as e:
            raise ValueError(f"not a ceiling table: {e}") from e


def _points(rows: Iterable[CeilingRow]) -> list[tuple[int, float]]:
    return [(r.size_bytes, r.median_ns) for r in rows]


def fastest_excesses(excesses: Iterable[Excess]) -> tuple[Excess, ...]:
    """One a problem (and its bytes) and policy: of several that of the fastest kernel, and of equal ones the last."""
    best: dict[KernelKey, Excess] = {}
    for e in excesses:
        if e.kernel.key not in best or e.kernel.median_ns <= best[e.kernel.key].kernel.median_ns:
            best[e.kernel.key] = e
    return tuple(best.values())


def excess_lines(table: CeilingTable) -> tuple[str, ...]:
    """In words, for each cache policy: which checked kernels are still faster than the ceiling, and by how much."""
    return tuple(line for lines in excess_by_policy(table).values() for line in lines)


def excess_by_policy(table: CeilingTable) -> dict[CachePolicy, tuple[str, ...]]:
    """`excess_lines`, those of each cache policy apart; a policy without any has none."""
    policies: tuple[CachePolicy, ...] = ("hot", "cold")
    found: dict[CachePolicy, tuple[str, ...]] = {}
    for policy in policies:
        lines = []
        for again, how in ((True, "after it was measured again"), (False, "and was not measured again")):
            left: dict[str, float] = {}
            for e in table.excesses:
                if (e.kernel.cache, e.again) == (policy, again):
                    left[e.kernel.problem] = max(table.left(e), left.get(e.kernel.problem, 0.0))
            beaten = sorted(((share, problem) for problem, share in left.items() if share > 0), reverse=True)
            if beaten:
                named = [f"{problem} by {_percent(share)}" for share, problem in beaten[:_NAMED]]
                more = [f"{len(beaten) - _NAMED} more"] if len(beaten) > _NAMED else []
                lines.append(f"ceiling ({policy}): exceeded by a checked kernel, {how}: {', '.join([*named, *more])}")
        found[policy] = tuple(lines)
    return found


def ceiling_file(device_name: str) -> Path:
    """Where the ceiling of a device of this name is kept: in the user's data folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", device_name.lower()).strip("-") or "device"
    return data_folder() / "ceiling" / f"{slug}.json"


def save(table: CeilingTable, path: Path) -> None:
    """Writes a table whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(table.to_json(), indent=1))
    scratch.replace(path)


def load(path: Path) -> CeilingTable | None:
    """The table in a file; None where there is no file. Raises ValueError that names the file."""
    try:
        return CeilingTable.from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise ValueError(f"{path}: {e}") from e


def _percent(share: float) -> str:
    """Two digits where they say something: "0.45%", "4.1%", "101%"."""
    percent = 100 * share
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"

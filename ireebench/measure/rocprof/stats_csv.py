"""Statistics that a profiler has already made: totals with no single dispatches.

rocprofv3's kernel_stats.csv and domain_stats.csv, v1's results.stats.csv, and rocprof-compute's top kernels, whose
times are means over counter passes and so have fractions of a nanosecond.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ireebench.measure.rocprof.dispatches import is_helper, kernel_name
from ireebench.measure.rocprof.errors import unknown_columns
from ireebench.measure.rocprof.kernel_trace_csv import key

# Names that domain_stats.csv uses: host API domains, not kernels.
DOMAINS = ("HIP_API", "HSA_API", "HIP_COMPILER_API", "MARKER_API", "RCCL_API", "MEMORY_COPY", "MEMORY_ALLOCATION")

_NEEDED = {"name": "Name", "calls": "Calls", "totaldurationns": "TotalDurationNs"}
_ALIASES = {  # what other tools call these columns: rocprof-compute's "Kernel_Name", "Count", "Sum(ns)"
    "kernelname": "name",
    "kernel": "name",
    "count": "calls",
    "sumns": "totaldurationns",
    "totalns": "totaldurationns",
}


def is_stats(columns: Iterable[str]) -> bool:
    """Whether these columns are of statistics."""
    return set(_NEEDED) <= {_ALIASES.get(k, k) for k in map(key, columns)}


@dataclass(frozen=True, slots=True)
class Totals:
    """One line: ns over all calls; None where the file does not say."""

    name: str
    calls: int
    total_ns: float
    mean_ns: float
    median_ns: float | None
    min_ns: float | None
    max_ns: float | None

    @property
    def helper(self) -> bool:
        """Whether the runtime launched it."""
        return is_helper(self.name)

    @property
    def domain(self) -> bool:
        """Whether it is an API domain's host time, not a kernel."""
        return self.name in DOMAINS


def read_stats(path: Path, columns: tuple[str, ...]) -> tuple[tuple[Totals, ...], int]:
    """Totals and malformed lines. The mean is total over calls, whatever the file rounds it to.

    Raises TraceError when a needed column is missing, OSError.
    """
    keys = [_ALIASES.get(k, k) for k in map(key, columns)]
    missing = [name for k, name in _NEEDED.items() if k not in keys]
    if missing:
        raise unknown_columns(path, columns, missing)
    found, malformed = [], 0
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as f:
        lines = csv.reader(f)
        next(lines, None)
        for line in lines:
            cell = dict(zip(keys, line, strict=False))
            calls, total = number(cell.get("calls")), number(cell.get("totaldurationns"))
            if len(line) != len(keys) or not calls or total is None:
                malformed += bool(any(line))
                continue
            found.append(
                Totals(
                    name=kernel_name(cell["name"]),
                    calls=int(calls),
                    total_ns=total,
                    mean_ns=total / calls,
                    median_ns=number(cell.get("medianns")),
                    min_ns=number(cell.get("minns")),
                    max_ns=number(cell.get("maxns")),
                )
            )
    return tuple(found), malformed


def number(text: str | None) -> float | None:
    """A finite number in any notation ("0.00000000e+00"), else None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None

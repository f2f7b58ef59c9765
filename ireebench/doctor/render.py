"""Findings for a person: grouped by area, each remedy below its line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ireebench.doctor.finding import Finding, State


def to_lines(findings: Sequence[Finding]) -> str:
    """Text for a terminal. What is missing or needs attention carries its remedy."""
    lines: list[str] = []
    width = max((len(f.name) for f in findings), default=0)
    for area, group in groupby(findings, key=lambda f: f.area):
        lines.append(area)
        for f in group:
            lines.append(f"  {f.state.value:8} {f.name:{width}}  {f.detail}".rstrip())
            if f.remedy:
                lines.append(f"  {'':8} {'':{width}}  -> {f.remedy}")
        lines.append("")
    counts = {s: sum(f.state is s for f in findings) for s in State}
    lines.append(", ".join(f"{n} {s.value}" for s, n in counts.items() if n) or "nothing to say")
    return "\n".join(lines)

"""Upstream problems as data: which failures they explain, for which compilers, and the way round."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """One upstream problem. `first` and `last` are the compilers known to have it, both included ("3.13").

    `symptom` is searched in what the compiler printed and in the failure's reason; `configured`, where given, must
    also be found in the dumped configurations: the same message has several causes.
    """

    id: str
    first: Version
    last: Version
    statuses: frozenset[str]
    symptom: re.Pattern[str]
    configured: re.Pattern[str] | None
    flags: re.Pattern[str] | None
    summary: str
    reference: str
    way_round: str

    def explains(self, version: Version, status: str, output: str, configured: str, flags: str) -> bool:
        """Whether it explains a failure of this compiler."""
        return (
            self.first <= version[: len(self.first)]
            and version[: len(self.last)] <= self.last
            and status in self.statuses
            and bool(self.symptom.search(output))
            and (self.configured is None or bool(self.configured.search(configured)))
            and (self.flags is None or bool(self.flags.search(flags)))
        )

    def __str__(self) -> str:
        reference = f" ({self.reference})" if self.reference else ""
        return f"{self.summary}{reference}; {self.way_round}"


def parse_version(text: str) -> Version:
    """The numbers of the first version in `text`: "IREE compiler version 3.13.0rc2026" gives (3, 13, 0)."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(n) for n in match.groups() if n is not None) if match else ()


@functools.cache
def known_issues() -> tuple[KnownIssue, ...]:
    """The table that ships with ireebench (`known_issues.toml`)."""
    with Path(__file__).with_name("known_issues.toml").open("rb") as f:
        records = tomllib.load(f)["issue"]
    return tuple(
        KnownIssue(
            id=r["id"],
            first=parse_version(r["first"]),
            last=parse_version(r["last"]),
            statuses=frozenset(r["status"]),
            symptom=re.compile(r["symptom"]),
            configured=re.compile(r["configured"]) if "configured" in r else None,
            flags=re.compile(r["flags"]) if "flags" in r else None,
            summary=r["summary"],
            reference=r.get("reference", ""),
            way_round=r["way_round"],
        )
        for r in records
    )


def explain(version: str, status: str, output: str, configured: str, flags: str) -> str | None:
    """The first known issue that explains a failure, as one line; None where none does."""
    numbers = parse_version(version)
    found = (i for i in known_issues() if i.explains(numbers, status, output, configured, flags))
    return next((str(i) for i in found), None)

"""Values of a trial as SQLite columns, and back. JSON for small structures, a compressed blob for samples."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ireebench.compiler.artifact import KernelEvidence
from ireebench.isa.emulate.report import Counts
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.store.trial import KernelSummary


def digest(text: str) -> str:
    """A content address: the first 128 bits of SHA-256, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack_text(text: str) -> bytes:
    """Compressed text."""
    return zlib.compress(text.encode(), 6)


def unpack_text(body: bytes) -> str:
    """The reverse of `pack_text`."""
    return zlib.decompress(body).decode()


def _compact(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not None}


def to_json(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def problem_text(problem: Problem) -> str:
    """A problem as canonical JSON."""
    return to_json(asdict(problem))


def problem_from(text: str) -> Problem:
    """The reverse of `problem_text`."""
    data = json.loads(text)
    return Problem(**{**data, "shape": tuple(data["shape"])})


def evidence_text(kernels: Iterable[KernelEvidence]) -> str:
    """Kernels' evidence as JSON; unknown figures are left out."""
    return to_json([_compact(asdict(k)) for k in kernels])


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}


def evidence_from(text: str | None) -> tuple[KernelEvidence, ...]:
    """The reverse of `evidence_text`."""
    return tuple(KernelEvidence(**_tuples(k)) for k in json.loads(text)) if text else ()


def counts_text(counts: Iterable[Counts]) -> str:
    """What the emulator executed as JSON."""
    return to_json([asdict(c) for c in counts])


def counts_from(text: str | None) -> tuple[Counts, ...]:
    """The reverse of `counts_text`."""
    return tuple(Counts(**c) for c in json.loads(text)) if text else ()


def check_text(check: CheckResult | None) -> str | None:
    """A check as JSON; None where nothing was checked."""
    return None if check is None else to_json(_compact(asdict(check)))


def check_from(text: str | None) -> CheckResult | None:
    """The reverse of `check_text`."""
    return None if text is None else CheckResult(**json.loads(text))


def kernels_text(kernels: Iterable[KernelSummary]) -> str:
    """Kernel summaries as JSON."""
    return to_json([_compact(asdict(k)) for k in kernels])


def kernels_from(text: str) -> tuple[KernelSummary, ...]:
    """The reverse of `kernels_text`."""
    return () if text == "[]" else tuple(KernelSummary(**k) for k in json.loads(text))

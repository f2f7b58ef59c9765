"""The outcome of checking a kernel's outputs against the reference."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A checked output. `first_index`: every tie went to the lowest index (argmax, argmin).

    gemv: `relative_error` is norm(difference) / norm(reference), `max_ulp` the largest distance in the output's type.
    `by` is "device" or "emulator".
    """

    ok: bool
    reason: str | None = None
    first_index: bool | None = None
    relative_error: float | None = None
    max_ulp: float | None = None
    by: str = "device"

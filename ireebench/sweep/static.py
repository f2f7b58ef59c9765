"""What the assembly says of a compiled candidate before anything runs: evidence, and the user's own filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ireebench.compiler.artifact import Artifact, KernelEvidence
from ireebench.isa.summary import FIGURES, KernelSummary, refusal, summarise
from ireebench.isa.where import Where, parse_where
from ireebench.outcome import Status
from ireebench.store.trial import Trial
from ireebench.targets import Target


def parse_filter(text: str) -> Where:
    """A filter on the inspector's figures: "vgpr_spills == 0 and occupancy >= 4". UsageError says what is off."""
    return parse_where(text, FIGURES)


def inspect(artifact: Artifact, target: Target) -> tuple[KernelSummary, ...]:
    """The inspector's row of each kernel of an artifact for an AMD target, in dispatch order; () for other targets."""
    if target.backend != "hip":
        return ()
    found: dict[str, KernelSummary] = {}
    for name in dict.fromkeys(k.assembly for k in artifact.kernels if k.assembly):
        text = (artifact.folder / name).read_text(errors="replace")
        found |= {s.name: s for s in summarise(text, target.name)}
    return tuple(found[k.symbol] for k in artifact.kernels if k.symbol in found)


def with_figures(kernels: Sequence[KernelEvidence], rows: Sequence[KernelSummary]) -> tuple[KernelEvidence, ...]:
    """Evidence with the inspector's figures beside the compiler's own."""
    by_name = {r.name: r for r in rows}
    return tuple(_with(k, by_name[k.symbol]) if k.symbol in by_name else k for k in kernels)


def _with(kernel: KernelEvidence, row: KernelSummary) -> KernelEvidence:
    return replace(
        kernel,
        occupancy=row.occupancy,
        limited_by=row.limited_by,
        load_width_bytes=row.load_width_bytes,
        dpp=row.dpp,
        lints=row.lints,
    )


def filtered(trial: Trial, rows: tuple[KernelSummary, ...], condition: Where | None) -> Trial:
    """The trial as it is, or rejected by the user's filter; a candidate with no assembly to look at passes none."""
    if condition is None or trial.status is not Status.OK:
        return trial
    reason = refusal(condition, rows) if rows else "no AMD assembly to filter on"
    return trial if reason is None else replace(trial, status=Status.REJECTED, reason=f"--where: {reason}")

"""Baselines that are a single figure and no samples: what was published, and what vendors' benchmark programs say.

They are shown beside what is measured and are never ranked with it: a mean of somebody else's loop, or of another
machine, is no median of ours.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from ireebench.errors import MissingToolError
from ireebench.measure.baselines import published, tools
from ireebench.measure.device import Kind, alone, kind_of
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem

PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A source of figures. `where` is its `ToolBaseline` as "module:NAME"; None for what was published."""

    name: str
    devices: tuple[Kind, ...]
    summary: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it is called, its mean time of a call in ns, and what is to be known of it.

    `failure` says why there is none; `source` is "published" or the program's name.
    """

    label: str
    source: str
    ns: float | None = None
    note: str | None = None
    failure: Failure | None = None


_HERE = "ireebench.measure.baselines"
FIGURES: dict[str, FigureRow] = {
    f.name: f
    for f in (
        FigureRow(PUBLISHED, ("hip",), "the figures of the published report"),
        FigureRow("ckprofiler", ("hip",), "Composable Kernel, its best instance", f"{_HERE}.ckprofiler:BASELINE"),
        FigureRow("rocblas", ("hip",), "rocBLAS, by rocblas-bench", f"{_HERE}.rocm_bench:ROCBLAS"),
        FigureRow("hipblaslt", ("hip",), "hipBLASLt, by hipblaslt-bench", f"{_HERE}.rocm_bench:HIPBLASLT"),
        FigureRow("miopen", ("hip",), "MIOpen, by MIOpenDriver", f"{_HERE}.miopen:BASELINE"),
    )
}


def chosen(wanted: Sequence[str]) -> tuple[str, ...]:
    """The sources among the names of baselines that a user gave; "auto" has none: some of them take minutes."""
    return tuple(dict.fromkeys(n for n in wanted if n in FIGURES))


def figures_of(name: str, problem: Problem, kind: Kind, device: str | None) -> tuple[Figure, ...]:
    """What a source says of a problem, on a kind of device. No program runs where `device` is None."""
    row = FIGURES[name]
    if kind not in row.devices:
        failure = Failure(Status.REJECTED, f"{name} is about {' and '.join(row.devices)}, not {kind}", Stage.PLANNED)
        return (Figure(name, name, failure=failure),)
    return _published(problem) if row.where is None else (_of_tool(row, problem, device),)


def _published(problem: Problem) -> tuple[Figure, ...]:
    found = published.figures_for(problem)
    if not found:
        reason = "nothing was published for this problem; --suite published has those that were"
        return (Figure(PUBLISHED, PUBLISHED, failure=Failure(Status.REJECTED, reason, Stage.PLANNED)),)
    return tuple(
        Figure(
            f.label if f.problem == problem.id else f"{f.label} ({f.problem})",
            PUBLISHED,
            f.us * 1e3,
            "; ".join(filter(None, (f.implausible, f.remark, f"{published.NOTE}, on {f.target}"))),
        )
        for f in found
    )


def _of_tool(row: FigureRow, problem: Problem, device: str | None) -> Figure:
    assert row.where is not None
    module, _, attribute = row.where.partition(":")
    tool: tools.ToolBaseline = getattr(importlib.import_module(module), attribute)
    if device is None:
        return Figure(row.name, tool.tool, failure=Failure(Status.UNAVAILABLE, f"{tool.tool} needs a device"))
    try:
        found = tools.run(tool, problem, alone(device) if kind_of(device) == "hip" else os.environ)
    except MissingToolError as e:
        found = Failure(Status.UNAVAILABLE, str(e))
    if isinstance(found, Failure):
        return Figure(row.name, tool.tool, failure=found)
    instances = f"the best of {found.instances}" if found.instances else None
    verified = {True: "verified by the tool", False: None, None: "not verified"}[found.verified]
    note = "; ".join(filter(None, (f"mean by {tool.tool}", instances, found.instance, verified)))
    return Figure(row.name, tool.tool, found.mean_ns, note)

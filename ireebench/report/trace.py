"""Renders a trace's summary: tables for a person, a document for a program. Pure functions."""

from __future__ import annotations

from typing import Any

from ireebench.measure.rocprof.counters_csv import Counter
from ireebench.measure.rocprof.dispatches import Launch
from ireebench.measure.rocprof.sequences import InvocationSummary
from ireebench.measure.rocprof.summary import KernelSummary, Summary
from ireebench.report.table import Cell, Column, Table

_US = 3  # digits after the point: a nanosecond


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _dim(value: tuple[int, int, int] | None) -> str | None:
    """(256, 1, 1) as "256", (16, 16, 1) as "16x16"."""
    if value is None:
        return None
    x, y, z = value
    return "x".join(map(str, (x, y, z) if z > 1 else (x, y) if y > 1 else (x,)))


def _single(k: KernelSummary, field: str) -> Any:
    """A launch's figure where all of the kernel's launches agree on it, else None."""
    values = {getattr(launch, field) for launch, _ in k.launches}
    return values.pop() if len(values) == 1 else None


def _shown(k: KernelSummary, field: str) -> Cell:
    values = list(dict.fromkeys(getattr(launch, field) for launch, _ in k.launches))
    if len(values) > 1:
        return f"{len(values)} values"
    value = values[0] if values else None
    return _dim(value) if isinstance(value, tuple) else value


_HEADS = (
    Column("kernel"),
    Column("agent"),
    Column("calls"),
    Column("median us", _US),
    Column("q1 us", _US),
    Column("q3 us", _US),
    Column("mean us", _US),
    Column("min us", _US),
    Column("max us", _US),
    Column("total us", _US),
    Column("VGPRs"),
    Column("LDS bytes"),
    Column("workgroup"),
    Column("grid workgroups"),
)


def _line(k: KernelSummary) -> tuple[Cell, ...]:
    times = (k.median_ns, k.q1_ns, k.q3_ns, k.mean_ns, k.min_ns, k.max_ns, k.total_ns)
    shape = (_shown(k, f) for f in ("vgpr", "lds_bytes", "workgroup", "grid_workgroups"))
    return (k.name, k.agent, k.calls, *(_us(t) for t in times), *shape)


def tables(summary: Summary, invocations: tuple[InvocationSummary, ...], counters: tuple[Counter, ...]) -> list[Table]:
    """The kernels; then, where there are any: helpers, invocations, counters, what was left out."""
    shown = [Table(_HEADS, tuple(map(_line, summary.kernels)))]
    if summary.helpers:
        title = "Helpers of the runtime (fills, copies): in no figure above"
        shown.append(Table(_HEADS, tuple(map(_line, summary.helpers)), title))
    if invocations:
        shown.append(_invocation_table(invocations))
    if counters:
        rows = tuple((c.kernel, c.agent or None, c.counter, c.calls, c.mean) for c in counters)
        heads = tuple(map(Column, ("kernel", "agent", "counter", "calls", "mean")))
        shown.append(Table(heads, rows, "Counters (mean of a dispatch); their run gives no times"))
    if summary.dropped:
        shown.append(Table.of(("rows left out", "count"), summary.dropped))
    return shown


def _invocation_table(invocations: tuple[InvocationSummary, ...]) -> Table:
    heads = (
        Column("invocation"),
        Column("agent"),
        Column("queue"),
        Column("calls"),
        *(Column(t, _US) for t in ("median us", "q1 us", "q3 us", "span us", "gap us")),
        Column("incomplete"),
    )
    rows = tuple(
        (
            " + ".join(i.sequence),
            i.agent,
            i.queue,
            i.calls,
            *(_us(t) for t in (i.median_ns, i.q1_ns, i.q3_ns, i.span_ns, i.gap_ns)),
            i.incomplete,
        )
        for i in invocations
    )
    return Table(heads, rows, "Invocations (kernel time is the sum of their dispatches)")


def document(
    summary: Summary, invocations: tuple[InvocationSummary, ...], counters: tuple[Counter, ...], notes: tuple[str, ...]
) -> dict[str, Any]:
    """For JSON. A figure that launches disagree on is null, with each launch under `launches`; unknown is null."""
    return {
        "kernels": [_kernel(k) for k in summary.kernels],
        "helpers": [_kernel(k) for k in summary.helpers],
        "invocations": [
            {
                "sequence": list(i.sequence),
                "agent": i.agent,
                "process": i.process,
                "queue": i.queue,
                "calls": i.calls,
                "median_ns": i.median_ns,
                "q1_ns": i.q1_ns,
                "q3_ns": i.q3_ns,
                "span_ns": i.span_ns,
                "gap_ns": i.gap_ns,
                "incomplete": i.incomplete,
            }
            for i in invocations
        ],
        "counters": [
            {"kernel": c.kernel, "agent": c.agent or None, "counter": c.counter, "calls": c.calls, "mean": c.mean}
            for c in counters
        ],
        "dropped": dict(summary.dropped),
        "notes": list(notes),
    }


def _kernel(k: KernelSummary) -> dict[str, Any]:
    return {
        "name": k.name,
        "agent": k.agent,
        "calls": k.calls,
        "median_ns": k.median_ns,
        "q1_ns": k.q1_ns,
        "q3_ns": k.q3_ns,
        "mean_ns": k.mean_ns,
        "min_ns": k.min_ns,
        "max_ns": k.max_ns,
        "total_ns": k.total_ns,
        "vgpr": _single(k, "vgpr"),
        "agpr": _single(k, "agpr"),
        "sgpr": _single(k, "sgpr"),
        "lds_bytes": _single(k, "lds_bytes"),
        "scratch_bytes": _single(k, "scratch_bytes"),
        "workgroup": _single(k, "workgroup"),
        "grid_workgroups": _single(k, "grid_workgroups"),
        "launches": [_launch(launch, n) for launch, n in k.launches] if len(k.launches) > 1 else [],
    }


def _launch(launch: Launch, calls: int) -> dict[str, Any]:
    return {
        "calls": calls,
        "workgroup": launch.workgroup,
        "grid_workgroups": launch.grid_workgroups,
        "vgpr": launch.vgpr,
        "lds_bytes": launch.lds_bytes,
    }

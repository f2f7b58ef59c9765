"""Trials with their derived figures: bandwidth, percentage of the ceiling, plausibility. The rows of every report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ireebench.measure.baselines import table
from ireebench.measure.job import CachePolicy
from ireebench.report.executed import counts_document
from ireebench.store.trial import Timing, Trial

# (bytes moved, cache policy) -> GB/s that a streaming read reaches there; None where it was not measured.
CeilingLookup = Callable[[int, CachePolicy], float | None]

# A percent above the ceiling before a figure is called implausible: two medians never agree exactly.
CEILING_SLACK = 0.02


def no_ceiling(_bytes: int, _cache: CachePolicy) -> float | None:
    """The lookup where no ceiling was measured."""
    return None


@dataclass(frozen=True, slots=True)
class Row:
    """One trial under one cache policy. `timing` is None for what was not timed.

    `bytes_moved` is what one call must move, None where that is not known: a baseline may read other bytes than the
    problem's. `gb_per_s` is that (1e9 a GB) over the sum of kernels. `plausible` is False where that exceeds the
    measured ceiling by more than 2%, None where no ceiling is known.
    """

    trial: Trial
    cache: CachePolicy | None
    timing: Timing | None
    bytes_moved: int | None
    gb_per_s: float | None
    percent_of_ceiling: float | None
    plausible: bool | None


_bytes_moved = lru_cache(maxsize=64)(table.bytes_moved)


def rows_of(trial: Trial, ceiling: CeilingLookup = no_ceiling) -> tuple[Row, ...]:
    """A row per cache policy that was timed, hot first; one row with no timing for the rest."""
    return _rows(trial, _bytes_moved(trial.baseline, trial.problem), ceiling)


def _rows(trial: Trial, moved: int | None, ceiling: CeilingLookup) -> tuple[Row, ...]:
    rows = []
    runs = trial.runs
    policies: tuple[CachePolicy, ...] = (runs[0].cache,) if len(runs) == 1 else ("hot", "cold") if runs else ()
    for cache in policies:
        timing = trial.timing(cache)
        if timing is None:
            continue
        rate = moved / timing.median_ns if moved is not None and timing.median_ns > 0 else None
        limit = None if moved is None else ceiling(moved, cache)
        share = None if rate is None or limit is None else 100.0 * rate / limit
        plausible = None if share is None else share <= 100.0 * (1 + CEILING_SLACK)
        rows.append(Row(trial, cache, timing, moved, rate, share, plausible))
    return tuple(rows) or (Row(trial, None, None, moved, None, None, None),)


def all_rows(trials: Iterable[Trial], ceiling: CeilingLookup = no_ceiling) -> tuple[Row, ...]:
    """The rows of many trials, in order."""
    # A store's trials share their problems, so identity stands for equality here, without hashing 100,000 of them; the
    # rows keep the trials, and so the problems, alive.
    known: dict[tuple[int, str | None], int | None] = {}
    rows: list[Row] = []
    for trial in trials:
        key = (id(trial.problem), trial.baseline)
        if key not in known:
            known[key] = table.bytes_moved(trial.baseline, trial.problem)
        rows += _rows(trial, known[key], ceiling)
    return tuple(rows)


def _evidence(trial: Trial) -> dict[str, Any] | None:
    if not trial.kernels:
        return None
    first = trial.kernels[0]
    timed = next((r.kernels[0] for r in trial.runs if r.kernels), None)
    return {
        "pipeline": first.pipeline,
        "workgroup_size": list(first.workgroup_size) if first.workgroup_size else None,
        "subgroup_size": first.subgroup_size,
        "subgroups": first.subgroups,
        "thread_loads": first.thread_loads,
        "partial_reduction": first.partial_reduction,
        "elements_per_workgroup": first.elements_per_workgroup,
        "iterations": first.iterations,
        "vgpr": first.vgpr,
        "agpr": first.agpr,
        "sgpr": first.sgpr,
        "lds_bytes": first.lds_bytes,
        "scratch_bytes": first.scratch_bytes,
        "vgpr_spills": first.vgpr_spills,
        "registers": timed.registers if timed else None,
        "local_bytes": timed.local_bytes if timed else None,
        "shared_bytes": timed.shared_bytes if timed else None,
        "ukernel": first.ukernel,
        "kernels": [{k: v for k, v in asdict(e).items() if v is not None} for e in trial.kernels],
    }


def _kernels(trial: Trial, cache: CachePolicy | None) -> list[dict[str, Any]]:
    run = next((r for r in reversed(trial.runs) if r.cache == cache), None)
    return [{"name": k.name, "median_ns": k.median_ns} for k in run.kernels] if run else []


def row_document(row: Row) -> dict[str, Any]:
    """A row as the stable JSON that other programs read (docs/json.md): unknown figures are null."""
    t, p, timing = row.trial, row.trial.problem, row.timing
    check = t.check
    return {
        "problem": p.id,
        "op": p.op,
        "shape": list(p.shape),
        "shape_kind": p.shape_kind,
        "dtype": p.dtype,
        "index_dtype": p.index_dtype,
        "out_dtype": p.out_dtype,
        "target": t.target,
        "variant": t.variant,
        "baseline": t.baseline,
        "form": t.form,
        "ship": t.ship.value,
        "config": t.config.as_dict() if t.variant else None,
        "status": t.status.value,
        "stage": t.stage.value,
        "reason": t.reason,
        "known": t.known,
        "applied": t.applied,
        "check": {"ok": check.ok, "first_index": check.first_index, "by": check.by} if check else None,
        "timer": timing.timer if timing else t.timer if t.figure_ns is not None else None,
        "cache": row.cache,
        "processes": timing.processes if timing else None,
        "samples": timing.samples if timing else None,
        "median_ns": timing.median_ns if timing else None,
        "q1_ns": timing.q1_ns if timing else None,
        "q3_ns": timing.q3_ns if timing else None,
        "span_ns": timing.span_ns if timing else None,
        "gap_ns": timing.gap_ns if timing else None,
        "figure_ns": t.figure_ns,
        "kernels": _kernels(t, row.cache),
        "bytes_moved": row.bytes_moved,
        "gb_per_s": row.gb_per_s,
        "percent_of_ceiling": row.percent_of_ceiling,
        "plausible": row.plausible,
        "evidence": _evidence(t),
        "counts": counts_document(t.counts) if t.counts else None,
        "compile_key": t.compile_key,
        "measure_key": t.measure_key,
        "key": t.key,
    }

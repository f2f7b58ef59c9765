"""Evidence from a store: one set an environment, never joined across devices, drivers, versions or protocols."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ireebench.errors import StoreError
from ireebench.measure.ceiling_table import CeilingTable, excess_by_policy
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import Samples
from ireebench.problems.problem import Problem
from ireebench.report.evidence import Evidence
from ireebench.report.rows import CeilingLookup, no_ceiling
from ireebench.store.database import Store


def ceiling_of(store: Store, environment: int) -> tuple[CeilingLookup, Mapping[CachePolicy, tuple[str, ...]]]:
    """The lookup of an environment's measured ceiling, and in lines a policy what checked kernels exceed it by.

    Where none is stored the lookup knows nothing.
    """
    body = store.ceiling(environment)
    if body is None:
        return no_ceiling, {}
    table = CeilingTable.from_json(json.loads(body))
    return table.best_for, excess_by_policy(table)


def load_evidence(
    store: Store, op: str | None = None, *, sources: bool = False, problems: Sequence[Problem] | None = None
) -> tuple[Evidence, ...]:
    """An Evidence an environment, those with timings first; raises StoreError when the store holds no such trial.

    `sources`: trials come with their MLIR, spec and command. `problems` keeps the trials of these alone.
    """
    trials = store.trials(op=op, sources=sources)
    if problems is not None:
        kept = {(p.id, p.op, p.shape) for p in problems}
        trials = tuple(t for t in trials if (t.problem.id, t.problem.op, t.problem.shape) in kept)
    if not trials:
        what = f"no {op} trial" if op else "no trial"
        if problems is not None:
            what += f" of {', '.join(p.id for p in problems[:3])}{' ...' if len(problems) > 3 else ''}"
        raise StoreError(f"{store.path}: {what} in this store")
    environments, noise = store.environments(), store.noise()

    def samples(key: str, cache: CachePolicy, by: str) -> Sequence[Samples]:
        runs = store.samples(key, cache)
        runs = tuple(r for r in runs if r.process > 0) or runs
        return [r.kernel_ns if by == "kernel" else r.span_ns for r in runs]

    found = []
    for row in dict.fromkeys(t.environment for t in trials):
        mine = tuple(t for t in trials if t.environment == row)
        floors = {(p, cache): values for (p, env, cache), values in noise.items() if env == row}
        place = environments.get(row) if row is not None else None
        ceiling, beaten = (no_ceiling, {}) if row is None else ceiling_of(store, row)
        found.append(Evidence(mine, floors, samples, place, ceiling, beaten))
    return tuple(sorted(found, key=lambda e: not e.caches))

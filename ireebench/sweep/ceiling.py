"""The ceiling beside a sweep's trials: brought from the device's own file, measured again where a kernel beat it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ireebench.measure import ceiling_table
from ireebench.measure.baselines.table import bytes_moved
from ireebench.measure.ceiling import readable, timer_name
from ireebench.measure.ceiling_again import fastest, measure_again, measured_on, problem_sizes
from ireebench.measure.ceiling_table import CeilingTable, Checked
from ireebench.measure.device import describe
from ireebench.outcome import Status
from ireebench.store.database import Store
from ireebench.store.trial import Trial
from ireebench.sweep.loop import Share
from ireebench.sweep.request import Measuring


def stored_ceiling(store: Store, environment: int) -> CeilingTable | None:
    """The ceiling that a store holds for an environment, or None. Raises ValueError for a damaged one."""
    body = store.ceiling(environment)
    return None if body is None else CeilingTable.from_json(json.loads(body))


def put_ceiling(store: Store, environment: int, table: CeilingTable) -> None:
    """Stores a ceiling; of one that was measured before with the same timer the faster rows stay.

    Rows that are too slow beside their neighbours are dropped (`CeilingTable.trusted`).
    """
    before = stored_ceiling(store, environment)
    if before is not None and (before.device, before.timer) == (table.device, table.timer):
        table = before.merge(table)
    table = table.trusted()
    store.put_ceiling(environment, json.dumps(table.to_json()))


def checked_kernels(trials: Iterable[Trial]) -> tuple[Checked, ...]:
    """The fastest checked kernel of each problem and cache policy."""
    found: dict[bool, list[Checked]] = {True: [], False: []}
    for trial in trials:
        moved = bytes_moved(trial.baseline, trial.problem)
        if trial.status is not Status.OK or moved is None:
            continue
        for cache in dict.fromkeys(run.cache for run in trial.runs):
            timing = trial.timing(cache)
            if timing is not None:
                by = trial.baseline or "candidate"
                found[timing.final].append(Checked(trial.problem.id, moved, cache, timing.median_ns, by))
    return fastest(found[True], found[False])


def keep_ceiling(
    store: Store, shares: Sequence[Share], measuring: Measuring, trials: Sequence[Trial], say: Callable[[str], None]
) -> None:
    """Puts the ceiling that `ireebench ceiling` measured on this device beside the trials; says how to get one.

    Where a checked kernel beats it, and at sizes of large problems that it lacks, it is measured again, on the device
    that ran the kernel, for 20 s at most, and kept for all devices of this model. Figures by another timer than the
    ceiling's are not held against it.
    """
    path = ceiling_table.ceiling_file(describe(measuring.device).name)
    try:
        table = ceiling_table.load(path)
    except ValueError as e:
        say(f"warning: {e}; ireebench ceiling --device {measuring.device} replaces it")
        return
    if table is None:
        say(f"no ceiling for percentages yet: ireebench ceiling --device {measuring.device}")
        return
    wanted = timer_name(measuring.timer, measuring.device)
    if table.timer == wanted:
        before = table
        for share in shares:
            table = _again(table, share, [t for t in trials if t.problem in share.problems], say)
        if table != before:
            ceiling_table.save(table, path)
    else:
        say(
            f"the ceiling was measured by timer {table.timer}, this sweep by {measuring.timer}: for one by the same, "
            f"ireebench ceiling --device {measuring.device} --timer {wanted}"
        )
    for share in shares:
        ids = {p.id for p in share.problems}
        kept = tuple(e for e in table.excesses if e.kernel.problem in ids)
        put_ceiling(store, share.environment, replace(table, excesses=kept))


def _again(table: CeilingTable, share: Share, trials: Sequence[Trial], say: Callable[[str], None]) -> CeilingTable:
    assert share.device is not None
    sizes = readable(problem_sizes(share.problems, {r.size_bytes for r in table.rows}), share.device)
    return measure_again(table, checked_kernels(trials), measured_on(share.device, table.timer), say, sizes=sizes)

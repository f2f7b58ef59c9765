"""What a sweep prints: a ranked table a problem, failures by reason, coverage, and the last line in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.report.executed import trial_count_table
from ireebench.report.ranking import Standing, median_ns, speedup
from ireebench.report.rows import Row
from ireebench.report.table import Cell, Column, Table
from ireebench.store.trial import NOT_EMULATED, Timing, Trial


def us(ns: float | None) -> float | None:
    """Nanoseconds to microseconds."""
    return None if ns is None else ns / 1000.0


def title_of(problem: Problem) -> str:
    """A heading: "llama3-8b argmax 1x131072 bf16 (padded)"."""
    kind = "" if problem.shape_kind == "custom" else f" ({problem.shape_kind})"
    return f"{problem.id} {problem.op} {problem.shape_text} {problem.dtype}{kind}"


@dataclass(frozen=True, slots=True)
class _Versus:
    """Columns of speedups: each header with the row that it divides by."""

    heads: tuple[str, ...]
    rows: tuple[Row | None, ...]


def _versus(standing: Standing) -> _Versus:
    heads, rows = ["vs default"], [standing.default]
    for b in standing.baselines:
        heads.append(f"vs {b.trial.baseline}")
        rows.append(b)
    return _Versus(tuple(heads), tuple(rows))


def _shown(standing: Standing, top: int) -> list[Row]:
    """The `top` fastest candidates, the best that ships, the default, then the baselines."""
    extra = [r for r in (standing.best_shipping, standing.default) if r is not None]
    chosen = [*standing.candidates[:top], *(r for r in extra if r not in standing.candidates[:top])]
    return [*dict.fromkeys(chosen), *standing.baselines]


def ranked_table(standing: Standing, top: int = 10) -> Table:
    """Candidates by their median, with what they are worth against the default and each baseline.

    Times are us of one invocation (sum of kernels; span beside it where a timer tells them apart); speedups are
    baseline / candidate. "runs" counts the final processes behind a figure; "search": it is of the search alone.
    """
    versus = _versus(standing)
    shown = _shown(standing, top)
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (Column("variant"), lambda r: r.trial.variant or f"[{r.trial.baseline}]"),
        (Column("form"), lambda r: r.trial.form),
        (Column("config"), lambda r: str(r.trial.config) if r.trial.variant else None),
        (Column("check"), _check_cell),
        (Column("ships"), lambda r: r.trial.ship.value if r.trial.variant else None),
        (Column("median us"), lambda r: us(_timing(r).median_ns)),
        (Column("IQR us"), lambda r: us(_timing(r).q3_ns - _timing(r).q1_ns)),
        (Column("runs"), lambda r: str(_timing(r).processes) if _timing(r).final else "search"),
        (Column("GB/s", 1), lambda r: r.gb_per_s),
    ]
    if any(run.kernels for r in shown for run in r.trial.runs):
        columns.insert(7, (Column("span us"), lambda r: us(_timing(r).span_ns)))
    if any(r.percent_of_ceiling is not None for r in shown):
        columns.append((Column("% ceiling", 1), lambda r: r.percent_of_ceiling))
    for head, other in zip(versus.heads, versus.rows, strict=True):
        columns.append((Column(head), partial(speedup, other)))
    if any(r.trial.applied is not None for r in shown):
        columns.append((Column("applied"), lambda r: r.trial.applied))
    rows = tuple(tuple(cell(r) for _, cell in columns) for r in shown)
    heading = f"{title_of(standing.problem)}, {standing.cache}, noise floor {100 * standing.noise:.1f}%"
    return Table(tuple(c for c, _ in columns), rows, heading)


def _timing(row: Row) -> Timing:
    assert row.timing is not None
    return row.timing


def _check_cell(row: Row) -> Cell:
    check = row.trial.check
    return None if check is None else "ok" if check.ok else "wrong"


def static_table(problem: Problem, rows: Iterable[Row], top: int = 10) -> Table:
    """Compiled candidates of a problem that nothing timed: what the dumps say of them, in the order of the plan."""
    heads: tuple[str, ...] = (
        "variant",
        "form",
        "config",
        "ships",
        "workgroup",
        "subgroups",
        "thread loads",
        "partial reduction",
    )
    heads += ("elements/workgroup", "iterations", "VGPRs", "SGPRs", "LDS bytes", "spills", "waves/SIMD", "load bytes")
    heads += ("lints", "applied", "check")
    body: list[tuple[Cell, ...]] = []
    for t in _compiled(problem, rows, top):
        k = t.kernels[0]
        size = "x".join(map(str, k.workgroup_size)) if k.workgroup_size else None
        config = (k.subgroups, k.thread_loads, k.partial_reduction, k.elements_per_workgroup, k.iterations)
        registers = (k.vgpr, k.sgpr, k.lds_bytes, k.vgpr_spills, k.occupancy, k.load_width_bytes)
        lints = None if k.lints is None else ", ".join(k.lints) or "none"
        check = None if t.check is None else f"{'ok' if t.check.ok else 'wrong'} by {t.check.by}"
        body.append(
            (t.variant, t.form, str(t.config), t.ship.value, size, *config, *registers, lints, t.applied, check)
        )
    return Table.of(heads, body, f"{title_of(problem)}: compiled, not timed")


def executed_table(problem: Problem, rows: Iterable[Row], top: int = 10) -> Table | None:
    """What the emulator executed of the candidates in `static_table`; None where it executed none."""
    title = f"{title_of(problem)}: executed by the emulator, for the rows that it checked (counts, not times)"
    return trial_count_table(_compiled(problem, rows, top), title)


def _compiled(problem: Problem, rows: Iterable[Row], top: int) -> list[Trial]:
    """The compiled candidates of a problem, at most `top` of each variant."""
    seen: Counter[str | None] = Counter()
    kept = []
    for t in (r.trial for r in rows):
        if t.problem == problem and t.status is Status.OK and t.kernels:
            seen[t.variant] += 1
            if seen[t.variant] <= top:
                kept.append(t)
    return kept


def failure_table(rows: Iterable[Row]) -> Table | None:
    """What did not work, by reason: the first line says how many, an example, and the known upstream issue."""
    groups: dict[tuple[str, str, str | None], list[Row]] = {}
    for r in rows:
        t = r.trial
        if t.status is not Status.OK:
            groups.setdefault((t.status.value, t.reason or "no reason recorded", t.known), []).append(r)
    if not groups:
        return None
    body: list[tuple[Cell, ...]] = [
        (status, len(found), f"{found[0].trial.problem.id} {found[0].trial.label}", reason, known)
        for (status, reason, known), found in sorted(groups.items(), key=lambda g: -len(g[1]))
    ]
    return Table.of(("status", "trials", "for example", "reason", "known issue"), body, "What did not work")


def coverage_table(rows: Sequence[Row]) -> Table:
    """Problems by variants: how many candidates are ok of how many tried; "-" where there is nothing to try."""
    problems = list(dict.fromkeys(r.trial.problem for r in rows))
    variants = list(dict.fromkeys(r.trial.variant for r in rows if r.trial.variant))
    tried: Counter[tuple[Problem, str]] = Counter()
    good: Counter[tuple[Problem, str]] = Counter()
    for t in {r.trial.key: r.trial for r in rows}.values():
        if t.variant is not None:
            tried[t.problem, t.variant] += 1
            good[t.problem, t.variant] += t.status is Status.OK
    body: list[tuple[Cell, ...]] = []
    for p in problems:
        cells = [f"{good[p, v]}/{tried[p, v]}" if tried[p, v] else None for v in variants]
        body.append((p.id, p.op, p.shape_text, p.dtype, *cells))
    return Table.of(("problem", "op", "shape", "dtype", *variants), body, "Candidates that compiled, of those tried")


def _name(row: Row) -> str:
    return row.trial.label


def _against(ratio: float, noise: float, label: str) -> str:
    """ "1.43x as fast as cub_device", "4.73x slower than numpy", "within noise of stock IREE"."""
    if abs(ratio - 1) <= noise:
        return f"within noise of {label}"
    return f"{ratio:.2f}x as fast as {label}" if ratio > 1 else f"{1 / ratio:.2f}x slower than {label}"


def summary_line(standing: Standing) -> str:
    """What won on a problem, by how much, and the best that ships, in one sentence."""
    head = f"{standing.problem.id} ({standing.cache}):"
    best = standing.best
    if best is None:
        return f"{head} no candidate was checked and timed."
    text = f"{head} {_name(best)} is fastest at {median_ns(best) / 1000:.2f} us"
    against = []
    for other, name in ((standing.default, "stock IREE"), (standing.best_baseline, None)):
        ratio = speedup(other, best)
        if other is None or ratio is None or other is best:
            continue
        label = name or str(other.trial.baseline)
        against.append(_against(ratio, standing.noise, label))
    text += f", {' and '.join(against)}" if against else ""
    ships = standing.best_shipping
    if ships is best:
        return f"{text}; it ships as it is ({best.trial.ship.value})."
    if ships is None:
        return f"{text}; nothing that was timed ships without rewriting IR."
    return (
        f"{text}; the best that ships is {_name(ships)} at {median_ns(ships) / 1000:.2f} us "
        f"({ships.trial.ship.value}), {median_ns(ships) / median_ns(best):.2f}x its time."
    )


def compiled_line(rows: Sequence[Row]) -> str:
    """The last line of a compile-only sweep."""
    trials = {r.trial.key: r.trial for r in rows if r.trial.variant}.values()
    tried = [t for t in trials if t.status is not Status.REJECTED]
    good = [t for t in tried if t.status is Status.OK and t.stage is not Stage.PLANNED]
    problems = {t.problem for t in trials}
    covered = {t.problem for t in good}
    return (
        f"{len(good)} of {len(tried)} candidates compiled and applied; "
        f"{len(covered)} of {len(problems)} problems have at least one."
    )


def emulated_lines(rows: Sequence[Row]) -> list[str]:
    """How many candidates the emulator executed, and why not the rest; none where it was not asked to."""
    trials = {r.trial.key: r.trial for r in rows}.values()
    checks = [t.check for t in trials if t.check is not None and t.check.by == "emulator"]
    missed = Counter(t.reason for t in trials if t.reason is not None and t.reason.startswith(NOT_EMULATED))
    if not checks and not missed:
        return []
    total = len(checks) + missed.total()
    first = f"{len(checks)} of {total} compiled candidates executed by the emulator, {sum(c.ok for c in checks)} right."
    return [first, *(f"{n} {reason}" for reason, n in missed.most_common())]

"""A routing rule for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ireebench.report.route_rule import Rule, RuleRow
from ireebench.report.route_shapes import FEATURES, NOT_TRIED, Choice, Measured, Shape, Wanted
from ireebench.report.routing import Goal, HeldOut, HoldOut, Learnt, Losses, Told, hold_out, learn, summaries
from ireebench.report.table import Cell, Column, Table


@dataclass(frozen=True, slots=True)
class Routing:
    """One rule with all that is told of it."""

    measured: Measured
    learnt: Learnt
    held: HeldOut | None
    losses: tuple[Losses, ...]
    goal: Goal
    plan: HoldOut | None

    @property
    def rule(self) -> Rule:
        """The table."""
        return self.learnt.rule


def route(measured: Measured, goal: Goal, plan: HoldOut | None) -> Routing:
    """Learns on all shapes, and on parts of them where a plan says how to hold out."""
    learnt = learn(measured.shapes, goal)
    held = None if plan is None else hold_out(measured.shapes, goal, plan)
    return Routing(measured, learnt, held, summaries(measured.shapes, learnt.rule, held, goal), goal, plan)


def notes(r: Routing) -> list[str]:
    """What a reader must know before using the rule, a sentence each."""
    found = []
    shapes, rows, within = r.measured.shapes, len(r.rule.rows), _percent_text(r.goal.within)
    if not r.learnt.kept:
        found.append(_not_kept(r))
    if not r.rule.proven:
        found.append(f"a table of fewer than {rows} rows may exist: not all were searched")
    if rows > 2 and 2 * rows >= len(shapes):
        found.append(f"{rows} rows for {len(shapes)} shapes: this lists the shapes rather than rules them")
    noisy = sum(s.noise > r.goal.within for s in shapes)
    if noisy:
        found.append(
            f"the noise of {noisy} of {len(shapes)} shapes is above {within}: there a larger loss counts as none"
        )
    if r.measured.environments > 1:
        found.append(f"{r.measured.environments} environments are in one rule; each loss compares times of one of them")
    if r.plan is not None and r.held is None:
        found.append("a single size: nothing can be held out, so nothing is known of other shapes")
    told = r.held.told if r.held else ()
    untried = sum(t.status == NOT_TRIED for t in told)
    if untried:
        found.append(
            f"{untried} of {len(told)} shapes held out were routed to a choice that was not tried there: "
            "a sweep file with 'configs' times the same ones everywhere"
        )
    return found + _left_out(r)


def _left_out(r: Routing) -> list[str]:
    """A sentence a reason, with the first few problems."""
    reasons: dict[str, list[str]] = {}
    for x in r.measured.left_out:
        reasons.setdefault(x.reason, []).append(f"{x.problem.id} ({x.problem.shape_text} {x.problem.dtype})")
    return [f"left out, {reason}: {_some(names)}" for reason, names in reasons.items()]


def _not_kept(r: Routing) -> str:
    """Which table there is not, and the shapes that prevent it, the worst first."""
    within, most, rows = _percent_text(r.goal.within), r.goal.rows, len(r.rule.rows)
    if most is None:
        head = f"no table of measured choices is within {within} on all shapes"
    else:
        head = f"no table of at most {most} row{'s' if most > 1 else ''} was found within {within} on all shapes"
    if most is not None and rows > most:
        names = _some([s.name for s in r.learnt.prevents])
        return f"{head}, but one of {rows}: the choices that serve most were not measured on {names}"
    losses = sorted(((s.losses[r.rule.choose(s)], s) for s in r.learnt.prevents), key=lambda x: -x[0])
    return f"{head}: {_some([_loses(r, s, loss) for loss, s in losses])}"


def _loses(r: Routing, shape: Shape, loss: float) -> str:
    twins = min(shape.losses.values()) > r.goal.limit(shape)
    why = " (measured more than once, with bests that no feature tells apart)" if twins else ""
    return f"{shape.name} loses {_percent_text(loss)}{why}"


def _some(names: Sequence[str]) -> str:
    """The first three, and how many more."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _percent_text(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def tables(r: Routing) -> list[Table]:
    """The rule, its losses beside what it replaces, and each shape with its held-out result."""
    return [_rule_table(r), _loss_table(r), _shape_table(r)]


def _where(m: Measured) -> str:
    p = m.place
    compiler = () if p.compiler_version is None else (f"IREE {p.compiler_version}",)
    return ", ".join((p.device, *compiler, p.target, m.cache, f"timer {p.timer}"))


def _rule_table(r: Routing) -> Table:
    body = [
        (i + 1, row.when, row.choice.variant, row.choice.form, str(row.choice.config), _ships(r, row), n, worst, mean)
        for i, (row, n, worst, mean) in enumerate(_row_figures(r))
    ]
    heads = ("row", "when", "variant", "form", "config", "ships by", "shapes", "worst loss %", "geomean loss %")
    proven = "" if r.rule.proven else ", not proven smallest"
    title = f"Routing rule on {_where(r.measured)}: the first row that fits decides{proven}"
    return Table.of(heads, body, title)


def _row_figures(r: Routing) -> list[tuple[RuleRow, int, float | None, float | None]]:
    """(row, shapes that it decides, worst loss, geomean loss), losses in percent."""
    found = []
    for i, row in enumerate(r.rule.rows):
        mine = [s for s in r.measured.shapes if r.rule.row_of(s.features) == i]
        losses = [s.losses[row.choice] for s in mine if row.choice in s.losses]
        mean = math.exp(math.fsum(map(math.log1p, losses)) / len(losses)) - 1 if losses else None
        found.append((row, len(mine), _percent(max(losses, default=None)), _percent(mean)))
    return found


def _ships(r: Routing, row: RuleRow) -> str:
    """How a user gets the row's choice on the shapes that it decides."""
    mine = (s for s in r.measured.shapes if r.rule.choose(s) == row.choice)
    return ", ".join(dict.fromkeys(s.ships[row.choice].value for s in mine if row.choice in s.ships))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _loss_table(r: Routing) -> Table:
    body = [
        (x.what, x.shapes, x.within, x.good, x.unmeasured, _percent(x.worst), _percent(x.geomean)) for x in r.losses
    ]
    within = f"within {_percent_text(r.goal.within)}"
    heads = ("what", "shapes", within, "or noise", "not measured", "worst loss %", "geomean loss %")
    return Table.of(heads, body, "Loss against each shape's own best")


def _shape_table(r: Routing) -> Table:
    held = {id(t.shape): t for t in r.held.told} if r.held else {}
    body = [_shape_line(r, s, held.get(id(s))) for s in r.measured.shapes]
    heads = ("problem", "shape", "dtype", "best us", "best", "row", "loss %", "limit %")
    tail = ("held out: choice", "loss %", "within") if r.held else ()
    return Table(tuple(Column(h) for h in (*heads, *tail)), tuple(body), _held_title(r))


def _held_title(r: Routing) -> str:
    return f"Shapes{'' if r.held is None else f'; held out: {_how(r)}'}"


def _how(r: Routing) -> str:
    assert r.plan is not None
    assert r.held is not None
    if r.plan.share is not None:
        return f"{len(r.held.told)} of {len(r.measured.shapes)} shapes once, seed {r.plan.seed}"
    return f"each shape once, in {len(r.held.folds)} folds, seed {r.plan.seed}"


def _shape_line(r: Routing, s: Shape, told: Told | None) -> tuple[Cell, ...]:
    p, row = s.problem, r.rule.row_of(s.features)
    loss = _percent(s.losses.get(r.rule.rows[row].choice))
    line = (", ".join(s.ids), p.shape_text, p.dtype, s.best_ns / 1000, s.best.label, row + 1, loss)
    limit = (*line, _percent(r.goal.limit(s)))
    if r.held is None:
        return limit
    return (*limit, *((None,) * 3 if told is None else (told.choice.label, _percent(told.loss), _word(told))))


def _word(told: Told) -> str:
    if told.loss is None:
        return f"not measured: {told.status}"
    return "yes" if told.within else "no"


def document(found: Sequence[Routing], wanted: Wanted) -> dict[str, Any]:
    """For programs: the whole table, the features it asks for, every shape, and the held-out result."""
    return {
        "op": wanted.op,
        "by": wanted.by,
        "ships_only": wanted.ships,
        "features": {f.name: f.meaning for f in FEATURES[wanted.op]},
        "rules": [_entry(r) for r in found],
    }


def _entry(r: Routing) -> dict[str, Any]:
    m = r.measured
    return {
        **asdict(m.place),
        "environments": m.environments,
        "cache": m.cache,
        "within_percent": 100 * r.goal.within,
        "most_rows": r.goal.rows,
        "kept": r.learnt.kept,
        "prevents": [i for s in r.learnt.prevents for i in s.ids],
        "proven_smallest": r.rule.proven,
        "fewest_choices": r.learnt.fewest,
        "rows": [
            {
                **_row(row),
                "ship": _ships(r, row) or None,
                "shapes": n,
                "worst_loss_percent": worst,
                "geomean_loss_percent": g,
            }
            for row, n, worst, g in _row_figures(r)
        ],
        "losses": [
            {
                "what": x.what,
                "shapes": x.shapes,
                "within": x.within,
                "within_or_noise": x.good,
                "unmeasured": x.unmeasured,
                "worst_loss_percent": _percent(x.worst),
                "geomean_loss_percent": _percent(x.geomean),
            }
            for x in r.losses
        ],
        "shapes": [_shape(r, s) for s in m.shapes],
        "held_out": _held(r),
        "left_out": [{"problem": x.problem.id, "shape": list(x.problem.shape), "reason": x.reason} for x in m.left_out],
        "notes": notes(r),
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {"variant": choice.variant, "form": choice.form, "config": choice.config.as_dict()}


def _row(row: RuleRow) -> dict[str, Any]:
    return {"when": row.when, "tests": [t.document() for t in row.tests], **_choice(row.choice)}


def _shape(r: Routing, s: Shape) -> dict[str, Any]:
    row = r.rule.row_of(s.features)
    return {
        "problems": list(s.ids),
        "shape": list(s.problem.shape),
        "dtype": s.problem.dtype,
        "features": dict(s.features),
        "best": _choice(s.best),
        "best_ns": s.best_ns,
        "noise_percent": 100 * s.noise,
        "row": row,
        "loss_percent": _percent(s.losses.get(r.rule.rows[row].choice)),
    }


def _held(r: Routing) -> dict[str, Any] | None:
    if r.held is None or r.plan is None:
        return None
    return {
        "share": r.plan.share,
        "folds": len(r.held.folds),
        "seed": r.plan.seed,
        "share_within": sum(t.within for t in r.held.told) / len(r.held.told),
        "rules": [{"proven_smallest": f.rule.proven, "rows": [_row(row) for row in f.rule.rows]} for f in r.held.folds],
        "shapes": [
            {
                "problems": list(t.shape.ids),
                "shape": list(t.shape.problem.shape),
                "dtype": t.shape.problem.dtype,
                "fold": t.fold,
                "row": t.row,
                **_choice(t.choice),
                "status": t.status,
                "loss_percent": _percent(t.loss),
                "within": t.within,
            }
            for t in r.held.told
        ],
    }

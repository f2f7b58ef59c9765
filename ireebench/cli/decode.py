"""`ireebench decode`: tokens a second."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import UsageError
from ireebench.report import decode as calculator
from ireebench.report.decode import Measured, TokenGemv
from ireebench.report.decode_tables import Answer
from ireebench.report.table import Column, Table

EXAMPLES = options.examples(
    "ireebench decode --model llama3-8b --from trials.db",
    "ireebench decode --model llama3-8b --weights nf4 --ceiling 4822 --db trials.db",
    "ireebench decode --measured 2.1 --efficiency 49 --at 91,100",
)


@click.command(epilog=EXAMPLES)
@click.option("--model", metavar="NAME", help="A model of the gemv catalogue, such as llama3-8b.")
@click.option("--weights", help="Format of all weights: f16, bf16, q4_0, nf4; default: as the model ships.")
@click.option("--fused/--separate", default=True, show_default=True, help="Fused qkv and gate-up, or each apart.")
@click.option(
    "--ceiling", type=float, metavar="GB/S", help="Streaming-read bandwidth, 1e9 bytes a second (default: DB's)."
)
@click.option("--target", metavar="NAME", help="The target of stored trials; its spec-sheet bandwidth is shown too.")
@click.option(
    "--db", "--from", "db", type=click.Path(path_type=Path), metavar="FILE", help="Stored trials with measured GEMVs."
)
@click.option("--cache", type=click.Choice(["cold", "hot"]), default="cold", show_default=True, help="Which times.")
@click.option("--measured", type=float, metavar="TOK/S", help="A measured rate to project.")
@click.option("--efficiency", type=float, metavar="PERCENT", help="The share of the ceiling it was measured at.")
@click.option("--at", metavar="PERCENT[,PERCENT...]", help="The shares to project it to.")
@options.output
def command(  # one parameter an option
    model: str | None,
    weights: str | None,
    fused: bool,
    ceiling: float | None,
    target: str | None,
    db: Path | None,
    cache: Literal["cold", "hot"],
    measured: float | None,
    efficiency: float | None,
    at: str | None,
    output: Output,
) -> None:
    """Tokens a second that reading the weights allows, and that measured GEMVs allow.

    With --measured, projects a measured rate to other efficiencies instead.
    """
    if measured is not None or efficiency is not None or at is not None:
        _project(measured, efficiency, at, output)
        return
    if model is None:
        raise UsageError("name a model: --model llama3-8b; or project a rate: --measured 2.1 --efficiency 49 --at 91")
    if ceiling is not None and not 0 < ceiling < math.inf:
        raise UsageError(f"--ceiling is {ceiling:g} GB/s; it is above 0")
    gemvs = calculator.token_gemvs(calculator.find_model(model), weights, fused)
    times, stored_ceiling = ({}, None) if db is None else _stored(db, gemvs, target, cache)
    bandwidths = _bandwidths(ceiling, stored_ceiling, target)
    answer = Answer(gemvs, tuple(bandwidths), times, db is not None)
    output.emit([answer.gemv_table(), answer.limit_table()], answer.document())


def _project(measured: float | None, efficiency: float | None, at: str | None, output: Output) -> None:
    if measured is None or efficiency is None or at is None:
        raise UsageError("a projection needs all of --measured 2.1 --efficiency 49 --at 91,100")
    try:
        targets = [float(a) for a in at.split(",")]
    except ValueError:
        raise UsageError(f"--at '{at}': percentages joined by commas, such as 91,100") from None
    rows = [(a, calculator.project(measured, efficiency, a)) for a in targets]
    table = Table(
        (Column("efficiency %", 1), Column("tokens/s", 2)),
        tuple(rows),
        f"{measured:g} tokens/s measured at {efficiency:g}% of the ceiling",
    )
    document = {
        "measured_tokens_per_second": measured,
        "efficiency_percent": efficiency,
        "projections": [{"efficiency_percent": a, "tokens_per_second": rate} for a, rate in rows],
    }
    output.emit(table, document)


def _bandwidths(given: float | None, stored: float | None, target: str | None) -> list[tuple[str, float]]:
    """(where it comes from, GB/s): a ceiling, the user's before the store's, and the spec sheet's, never mixed."""
    found = [("ceiling as given", given)] if given is not None else []
    if given is None and stored is not None:
        found.append(("measured ceiling", stored))
    if target is not None:
        from ireebench.targets import find_target

        known = find_target(target)
        if known.spec_gb_per_s is not None:
            found.append((f"{known.name} spec sheet", known.spec_gb_per_s))
    return found


def _stored(
    db: Path, gemvs: tuple[TokenGemv, ...], target: str | None, cache: Literal["cold", "hot"]
) -> tuple[dict[str, Measured], float | None]:
    """The best checked IREE candidate of each GEMV, and the ceiling (GB/s) that the store holds for their device.

    Says what is there where the store has none of them. Raises UsageError when trials of several devices would mix.
    """
    from ireebench.store.database import Store
    from ireebench.sweep.ceiling import stored_ceiling
    from ireebench.targets import find_target

    name = None if target is None else find_target(target).name
    with Store.open(db) as store:
        stored = store.trials(op="gemv")
        ops = [] if stored else sorted({t.problem.op for t in store.trials()})
        found = calculator.timed([t for t in stored if name in (None, t.target)], gemvs, cache)
        environments = store.environments()
        used = {t.environment for t in found if t.environment is not None}
        tables = [table for place in used if (table := stored_ceiling(store, place)) is not None]
    places = {
        (t.target, environments[t.environment].device if t.environment in environments else "unknown device")
        for t in found
    }
    if len(places) > 1:
        listed = "; ".join(sorted(f"{t} on {d}" for t, d in places))
        raise UsageError(f"{db}: trials of several devices ({listed}); choose with --target or use one store a device")
    if not found:
        first = gemvs[0].problem
        there = f"its trials are of {', '.join(ops)}" if ops else calculator.there_instead(stored, gemvs)
        on = f" on {name}" if name else ""
        click.echo(f"note: {db}: no {first.dtype} GEMV of {first.model} was timed {cache}{on}; {there}", err=True)
    return calculator.best_times(found, gemvs, cache), calculator.memory_rate(tables, cache)

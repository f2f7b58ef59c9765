"""`ireebench replay`: a search strategy on recorded trials."""

from __future__ import annotations

from pathlib import Path

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import StoreError, UsageError
from ireebench.problems.problem import OPS

EXAMPLES = options.examples(
    "ireebench replay h200.db --strategy coarse_to_fine",
    "ireebench replay h200.db --strategy optuna --budget 35% --seeds 3",
    "ireebench replay h200.db --strategy random --budget 50 --format json",
)


@click.command(epilog=EXAMPLES)
@click.argument("db", type=click.Path(path_type=Path))
@click.option("--strategy", default="coarse_to_fine", show_default=True, help="Or exhaustive, random, optuna.")
@click.option("--budget", default="100%", show_default=True, help="Candidates of a problem: a share or a number.")
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Searches of each problem.")
@click.option("--op", type=click.Choice(OPS), help="Only the problems of this op.")
@click.option("--cache", type=click.Choice(["hot", "cold"]), default="hot", show_default=True, help="Cache policy.")
@options.output
def command(db: Path, strategy: str, budget: str, seeds: int, op: str | None, cache: str, output: Output) -> None:
    """Run a search strategy on the trials in DB: how many candidates it measures to come near the best.

    Nothing is compiled or measured: costs are those of the recorded search, in which all candidates were timed alike.
    """
    from ireebench.report.replay import replay, replay_document, replay_line, replay_table
    from ireebench.space.strategies.table import find_strategy
    from ireebench.store.database import Store
    from ireebench.sweep.landscape import landscapes

    run, most = find_strategy(strategy), _budget(budget)
    with Store.open(db) as store:
        found = landscapes(store.trials(op=op), "hot" if cache == "hot" else "cold")
    if not found:
        raise StoreError(f"{db}: no candidate was timed here{f' for {op}' if op else ''} ({cache}); nothing to replay")
    replays = [replay(landscape, run, most, seeds) for landscape in found]
    output.emit(replay_table(strategy, replays), replay_document(strategy, replays))
    if output.format == "table" and output.path is None:
        click.echo("\n" + replay_line(strategy, replays))


def _budget(text: str) -> float | int:
    """ "35%" is a share, "50" a number of candidates."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number)
        if text.strip().endswith("%") and 0 < value <= 100:
            return value / 100
        if value >= 1 and value == int(value) and not text.strip().endswith("%"):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"--budget '{text}': write a share such as 35% or a whole number of candidates such as 50")

"""`ireebench gain`: the share of an instruction-level speedup that a higher level keeps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import BadFileError, UsageError

if TYPE_CHECKING:
    from ireebench.report.gain import Speedup

EXAMPLES = options.examples(
    "ireebench gain --instruction 2.0 --level serving=1.13..1.44 --level layer=0.862",
    "ireebench gain --instruction 2.0 --csv speedups.csv --format markdown",
    "ireebench gain --instruction 1.67 --from h200.db --feature vd --without vd_shuffle",
)


@click.command(epilog=EXAMPLES)
@click.option("--instruction", type=float, required=True, help="The feature's speedup at the level of instructions.")
@click.option("--level", "levels", multiple=True, metavar="NAME=S | NAME=LOW..HIGH", help="A published speedup.")
@click.option("--csv", "file", type=click.Path(path_type=Path), help="Speedups: columns level, speedup, low, high.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Stored trials: the kernel and span levels.")
@click.option("--feature", default="vd", show_default=True, help="The variant that has the feature.")
@click.option("--without", default="vd_shuffle", show_default=True, help="The variant that lacks it.")
@click.option("--noise", type=click.FloatRange(min=0), help="Relative noise floor (default: the store's, else 0.02).")
@options.output
def command(
    instruction: float,
    levels: tuple[str, ...],
    file: Path | None,
    source: Path | None,
    feature: str,
    without: str,
    noise: float | None,
    output: Output,
) -> None:
    """Print G = S_level / S_instruction for each level: how much of a feature survives on the way up."""
    from ireebench.report.gain import gain, gain_table, read_speedups
    from ireebench.report.ranking import DEFAULT_NOISE

    speedups = [_level(text) for text in levels]
    if file is not None:
        try:
            speedups += read_speedups(file.read_text(), str(file))
        except OSError as e:
            raise BadFileError(f"{file}: can't be read: {e.strerror}; give a CSV file of speedups") from e
        except UnicodeDecodeError as e:
            raise BadFileError(f"{file}: not text; give a CSV file of speedups") from e
    floor = DEFAULT_NOISE
    if source is not None:
        found, floor = _stored(source, feature, without)
        speedups += found
    if not speedups:
        raise UsageError("gain needs speedups: --level NAME=1.44, --csv FILE or --from DB")
    floor = floor if noise is None else noise
    gains = [gain(instruction, s, floor) for s in speedups]
    document = {"instruction": instruction, "noise": floor, "gains": [asdict(g) for g in gains]}
    output.emit(gain_table(instruction, gains, floor), document)


def _level(text: str) -> Speedup:
    """ "layer=0.862" is one speedup, "serving=1.13..1.44" a range with its middle."""
    from ireebench.report.gain import Speedup

    name, _, values = text.partition("=")
    try:
        numbers = [float(v) for v in values.split("..")]
    except ValueError:
        numbers = []
    if not name or len(numbers) not in (1, 2):
        raise UsageError(f"--level '{text}': write NAME=1.44 or NAME=1.13..1.44")
    low, high = (min(numbers), max(numbers)) if len(numbers) == 2 else (None, None)
    return Speedup(name, sum(numbers) / len(numbers), low, high)


def _stored(source: Path, feature: str, without: str) -> tuple[list[Speedup], float]:
    """The kernel and span levels of stored trials, and their noise floor.

    Each problem gives the ratio of its best without the feature to its best with it; each is tuned on its own.
    """
    from ireebench.report.gain import pooled
    from ireebench.report.load import load_evidence
    from ireebench.report.ranking import DEFAULT_NOISE, median_ns
    from ireebench.store.database import Store
    from ireebench.variants import find_variant

    for name in (feature, without):
        find_variant(name)
    with Store.open(source) as store:
        found = [e for e in load_evidence(store) if e.caches]
    speedups = []
    for by in ("kernel", "span"):
        ratios = []
        for e in found:
            for cache in e.caches:
                for s in e.standings(cache, by):
                    best = {r.trial.variant: r for r in reversed(s.candidates)}
                    if feature in best and without in best:
                        ratios.append(median_ns(best[without], by=by) / median_ns(best[feature], by=by))
        if ratios:
            speedups.append(pooled(f"{by} ({len(ratios)} problems)", ratios))
    if not speedups:
        raise UsageError(f"{source}: no problem was timed with both {feature} and {without}")
    floors = [f for e in found for cache in e.caches if (f := e.typical_floor(cache)) is not None]
    return speedups, max(floors, default=DEFAULT_NOISE)

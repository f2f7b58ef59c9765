"""`ireebench ceiling`: measures the streaming-read ceiling of a device and keeps it."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ireebench.cli import options
from ireebench.cli.output import Output
from ireebench.errors import MissingToolError, StoreError, UsageError
from ireebench.report.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ireebench.measure.ceiling_table import CeilingRow, CeilingTable

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}

_COLUMNS = (
    Column("size KiB", 0),
    Column("cache"),
    Column("GB/s", 1),
    Column("median us", 3),
    Column("q1 us", 3),
    Column("q3 us", 3),
    Column("workgroups"),
    Column("threads"),
    Column("loads"),
    Column("unroll"),
    Column("walk"),
    Column("copies"),
    Column("tried"),
)


# What only prints, and the options that it does not read.
_UNREAD = {"--from": ("device", "sizes", "timer", "budget", "stored"), "--stored": ("sizes", "timer", "budget")}


def _refuse_unread(context: click.Context, printing: str | None) -> None:
    """Raises UsageError for options that are given beside one that measures nothing and does not read them."""
    given = click.core.ParameterSource.COMMANDLINE
    unread = [f"--{n}" for n in _UNREAD.get(printing or "", ()) if context.get_parameter_source(n) is given]
    if unread:
        raise UsageError(f"{printing} prints what was measured before: leave {', '.join(unread)} out")


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes in bytes from "64K,1M,4G"; raises UsageError that names the wrong one."""
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", part.strip(), re.IGNORECASE)
        size = int(match.group(1)) * _UNITS[match.group(2).upper()] if match else 0
        if size < 64:
            raise UsageError(f"--sizes: '{part.strip()}' is no size of 64 bytes or more; write 64K, 1M or 4G")
        sizes.append(size)
    return tuple(sizes)


def as_table(table: CeilingTable) -> Table:
    """A ceiling for a person; the launch floor is the first row."""
    floor = table.floor_ns
    rows: list[tuple[str | float | None, ...]] = []
    if floor is not None:
        rows.append((0.0, "empty kernel", None, floor / 1e3, *([None] * 9)))
    for r in table.rows:
        times = (r.median_ns / 1e3, r.q1_ns / 1e3, r.q3_ns / 1e3)
        how = (r.reader.grid, r.reader.block, r.reader.loads, r.reader.unroll, r.reader.walk, r.copies, r.tried)
        rows.append((r.size_bytes / 1024, r.cache, r.gb_per_s, *times, *how))
    return Table(_COLUMNS, tuple(rows), f"{table.device}: streaming read, timer {table.timer}")


@click.command(
    epilog=options.examples(
        "ireebench ceiling",
        "ireebench ceiling --device cuda://0 --sizes 1M,64M,512M --budget 20",
        "ireebench ceiling --device local-task --format json -o ceiling.json",
    )
)
@click.option("--device", default="auto", show_default=True, help="Device URI: cuda://0, hip://0, local-task.")
@click.option("--sizes", metavar="SIZE[,SIZE...]", help="Buffer sizes, such as 64K,1M,4G; default: 64K to 4G.")
@click.option("--timer", default="auto", show_default=True, help="The timer; 'auto' takes the best that is usable.")
@click.option(
    "--budget", type=click.FloatRange(min=1.0), default=90.0, show_default=True, help="Seconds to spend, about."
)
@click.option("--stored", is_flag=True, help="Print the stored ceiling of the device; measure nothing.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Print the ceilings of a store of trials.")
@options.output
@click.pass_context
def command(  # one parameter an option
    context: click.Context,
    output: Output,
    device: str,
    sizes: str | None,
    timer: str,
    budget: float,
    stored: bool,
    source: Path | None,
) -> None:
    """Measure how fast a device can read memory at all, hot and cold, and the time of an empty kernel.

    The result is stored for the device and is the denominator of every percentage. Measuring again keeps the faster
    figure of each size. A sweep measures again where a checked kernel beats it.
    """
    from ireebench.measure import ceiling, ceiling_table
    from ireebench.measure.device import auto_device, describe

    _refuse_unread(context, "--from" if source is not None else "--stored" if stored else None)
    if source is not None:
        output_tables(output, _in_store(source), "ceilings")
        return
    wanted = parse_sizes(sizes) if sizes else None
    try:
        uri = auto_device() if device == "auto" else device
        info = describe(uri)
    except ValueError as e:
        raise UsageError(f"--device: {e}") from e
    path = ceiling_table.ceiling_file(info.name)
    if stored:
        output_table(output, _stored(path, info.name, uri))
        return
    table = _measure(uri, timer, wanted or ceiling.default_sizes(uri), budget)
    if not table.rows:
        raise UsageError(
            "no size was measured, so nothing is stored: smaller --sizes fit in memory, or a larger --budget"
        )
    earlier = _earlier(path)
    if earlier is not None and (earlier.device, earlier.timer) == (table.device, table.timer):
        table = earlier.merge(table)
    elif earlier is not None:
        click.echo(f"this replaces the ceiling that was measured with timer {earlier.timer}", err=True)
    ceiling_table.save(table, path)
    click.echo(f"stored in {path}", err=True)
    output_table(output, table)


def output_table(output: Output, table: CeilingTable) -> None:
    """Prints a ceiling in the user's format."""
    document = json.loads(json.dumps(table.to_json()))
    document.pop("schema_version")
    _output(output, (table,), document)


def output_tables(output: Output, tables: Sequence[CeilingTable], key: str) -> None:
    """Prints several ceilings in the user's format; as JSON under `key`."""
    _output(output, tables, {key: [table.to_json() for table in tables]})


def _output(output: Output, tables: Sequence[CeilingTable], document: Mapping[str, Any]) -> None:
    from ireebench.measure.ceiling_table import excess_lines

    output.emit([as_table(table) for table in tables], document)
    lines = [line for table in tables for line in excess_lines(table)]
    if lines and output.format != "json":
        click.echo("\n" + "\n".join(lines), err=output.format == "csv" or output.path is not None)


def _earlier(path: Path) -> CeilingTable | None:
    from ireebench.measure import ceiling_table

    try:
        return ceiling_table.load(path)
    except ValueError as e:
        click.echo(f"warning: {e}; it is replaced", err=True)
        return None


def _in_store(path: Path) -> tuple[CeilingTable, ...]:
    from ireebench.store.database import Store
    from ireebench.sweep.ceiling import stored_ceiling

    with Store.open(path) as store:
        try:
            found = [stored_ceiling(store, environment) for environment in store.environments()]
        except ValueError as e:
            raise StoreError(f"{path}: {e}") from e
    tables = tuple(t for t in found if t is not None)
    if not tables:
        raise StoreError(f"{path}: no ceiling in this store; a sweep stores that of `ireebench ceiling`")
    return tables


def _stored(path: Path, name: str, uri: str) -> CeilingTable:
    found = _earlier(path)
    if found is None:
        raise MissingToolError(f"no ceiling is stored for {name}: measure it with ireebench ceiling --device {uri}")
    return found


def _measure(uri: str, timer: str, sizes: tuple[int, ...], budget: float) -> CeilingTable:
    from ireebench.measure import ceiling
    from ireebench.measure.timers import table as timers

    try:
        name = timers.resolve(timer, uri)
    except LookupError as e:
        raise MissingToolError(str(e)) from e
    own = ceiling.timer_name(name, uri)
    if own != name:
        name = own
        click.echo(f"timer {name}: a ceiling is timed in this process", err=True)
    if reason := timers.missing(name, uri):
        raise MissingToolError(reason)

    def report(row: CeilingRow) -> None:
        size = f"{row.size_bytes / 1024:,.0f} KiB"
        click.echo(f"{size:>14} {row.cache:<4} {row.gb_per_s:8.1f} GB/s  ({row.tried} readers tried)", err=True)

    try:
        say = partial(click.echo, err=True)
        return ceiling.sweep_ceiling(uri, timers.load(name), sizes, budget, report, say=say)
    except (RuntimeError, ValueError) as e:
        raise MissingToolError(f"the ceiling of {uri} could not be measured: {e}") from e

"""`ireebench trace`: any rocprof output, as one table."""

from __future__ import annotations

import click

from ireebench.cli import options
from ireebench.cli.output import Output

EXAMPLES = options.examples(
    "ireebench trace rocprof-out/                            a folder: the files are found",
    "ireebench trace 4242_kernel_trace.csv --kernel 'main$async_dispatch_0'",
    "ireebench trace results.db --by-invocation 'main$async_dispatch' --format json",
)


@click.command(epilog=EXAMPLES)
@click.argument("inputs", metavar="FILE...", nargs=-1, required=True)
@click.option("--kernel", metavar="TEXT", help="Only kernels whose name is or contains TEXT ('$' means itself).")
@click.option("--regex", is_flag=True, help="--kernel and --by-invocation are regular expressions.")
@click.option(
    "--by-invocation",
    metavar="PATTERN",
    help="Also group the dispatches of kernels that match into invocations: the sequence in which they repeat.",
)
@options.output
def command(
    inputs: tuple[str, ...], kernel: str | None, regex: bool, by_invocation: str | None, output: Output
) -> None:
    """Summarise rocprof traces of any generation.

    FILE is a kernel_trace, kernel_stats, counter_collection or memory_copy_trace CSV, a results JSON or a rocpd
    database of rocprofv3, a results.csv of the first rocprof, a folder or a pattern. Grids are in workgroups, "-" is
    unknown. Rows that cannot be times are left out and counted; fills and copies of the runtime are listed apart.
    """
    from ireebench.measure.rocprof import sequences, summary
    from ireebench.measure.rocprof.reading import read
    from ireebench.report import trace as report

    trace = read(inputs)
    for note in trace.notes:
        click.echo(f"note: {note}", err=True)
    names = summary.names_of(trace)
    listed = summary.summarise(trace, summary.name_filter(kernel, regex, names))
    groups: tuple[sequences.InvocationSummary, ...] = ()
    if by_invocation is not None and trace.dispatches is not None:
        groups = sequences.by_invocation(trace.dispatches, summary.name_filter(by_invocation, regex, names))
    output.emit(
        report.tables(listed, groups, trace.counters), report.document(listed, groups, trace.counters, trace.notes)
    )

"""Runs a sweep for the command line: sets the tools up, shows progress, prints tables, writes the files."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

import click

from ireebench.cli.output import Output, write_file
from ireebench.cli.progress import SweepProgress
from ireebench.cli.sweep_options import Place
from ireebench.compiler.cache import default_cache
from ireebench.compiler.driver import Compiler, default_jobs
from ireebench.compiler.spawner import Limits
from ireebench.measure.profiled import run_job
from ireebench.outcome import Status
from ireebench.report.best_specs import best_specs
from ireebench.report.sweep_report import SweepReport, make_report
from ireebench.report.table import Table, to_csv
from ireebench.store.database import Store
from ireebench.store.trial import Trial
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.loop import Outcome, run_sweep
from ireebench.sweep.plan import plan
from ireebench.sweep.request import Request
from ireebench.sweep.stages import Tools


def count(request: Request, output: Output) -> None:
    """`--dry-run`: how many candidates there are, and which constraints refused the rest."""
    plans = plan(request, identity(current_environment(None)))
    rows = []
    for p in plans:
        refused = ", ".join(f"{name} {n}" for name, n in p.rejected) or None
        rows.append((p.problem.id, p.problem.shape_text, len(p.candidates), sum(n for _, n in p.rejected), refused))
    table = Table.of(("problem", "shape", "candidates", "refused", "by constraint"), rows)
    document = {"problems": [{"problem": r[0], "candidates": r[2], "refused": r[3]} for r in rows]}
    output.emit(table, document)


def sweep(request: Request, place: Place) -> Outcome:
    """Runs the sweep into its store. Ctrl-C keeps what is done and says how to go on."""
    by_call = request.measuring is not None and request.measuring.timer == "host"
    limits, jobs = Limits(time_s=place.compile_s), place.jobs or default_jobs()
    with (
        Store.open(place.db, create=True) as store,
        Compiler(default_cache(), limits, jobs, by_call=by_call) as compiler,
        SweepProgress(quiet=place.quiet) as progress,
    ):
        try:
            return run_sweep(request, Tools(store, compiler, run_job, place.out / "work", progress))
        except KeyboardInterrupt:
            # The second Ctrl-C is for those who cannot wait for the children to be ended.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            click.echo(f"\ninterrupted; what is done is kept in {place.db}. To go on, run it again:", err=True)
            click.echo("  " + " ".join(["ireebench", *sys.argv[1:]]), err=True)
            raise


def run(request: Request, place: Place, top: int, output: Output) -> None:
    """Runs the sweep, prints its tables and writes its files."""
    place.prepare()
    outcome = sweep(request, place)
    with Store.open(place.db) as store:
        report = report_of(store, outcome, request, top)
    output.emit(report.tables, report.document if output.format == "json" else {})
    if output.format == "table" and output.path is None:
        click.echo("\n" + "\n".join(report.lines))
    _write(report, best_specs(report.standings, request.target), request, place)
    if request.config is not None and any(r.trial.status is not Status.OK for r in report.rows):
        raise click.exceptions.Exit(3)


def report_of(store: Store, outcome: Outcome, request: Request, top: int) -> SweepReport:
    """The report of a finished sweep's trials."""
    trials = _trials_of(store, outcome)
    noise = {(p, cache): values for (p, _env, cache), values in store.noise().items() if _env == outcome.environment}
    caches = request.measuring.protocol.cache if request.measuring else ()
    return make_report(trials, caches, noise, top)


def _trials_of(store: Store, outcome: Outcome) -> tuple[Trial, ...]:
    order = {key: i for i, key in enumerate(outcome.keys)}
    mine = store.trials(keys=order)
    return tuple(sorted(mine, key=lambda t: order[t.key]))


def _write(report: SweepReport, specs: Sequence[tuple[str, str]], request: Request, place: Place) -> None:
    """The CSV of all trials and a spec file for each best that ships by one."""
    name = f"{request.op}-{request.target.name}"
    table = place.out / f"{name}.csv"
    write_file(table, to_csv(report.flat))
    click.echo(f"wrote {table}", err=True)
    for file, text in specs:
        path = place.out / "specs" / file
        write_file(path, text)
        click.echo(f"wrote {path}", err=True)

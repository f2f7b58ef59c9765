"""Runs a sweep for the command line: sets the tools up, shows progress, prints tables, writes the files."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import click

from ireebench.cli.output import Output, write_file
from ireebench.cli.progress import SweepProgress
from ireebench.cli.sweep_options import Place
from ireebench.compiler.cache import default_cache
from ireebench.compiler.driver import Compiler, default_jobs
from ireebench.compiler.spawner import Limits
from ireebench.errors import OutputError, StoreError
from ireebench.measure.campaign import RunJob
from ireebench.measure.profiled import run_job
from ireebench.outcome import Status
from ireebench.report.best_specs import best_specs
from ireebench.report.documents import environment_document
from ireebench.report.load import ceiling_of
from ireebench.report.profiled import profiled_document, profiled_table
from ireebench.report.rows import row_document
from ireebench.report.sweep_report import SweepReport, make_report
from ireebench.report.table import Table, to_csv
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.ceiling import keep_ceiling
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.loop import Outcome, run_sweep
from ireebench.sweep.plan import plan
from ireebench.sweep.profile import Bench, Profiled, profile
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


@dataclass(frozen=True, slots=True)
class Machines:
    """Where a sweep's work is done: a compiler, how jobs are run, and the environment of what measures (None: here)."""

    compiler: Compiler
    run_job: RunJob
    environment: Environment | None = None


def here(request: Request, place: Place, stack: ExitStack) -> tuple[Request, Machines]:
    """This machine."""
    limits = Limits(time_s=place.compile_s)
    compiler = Compiler(default_cache(), limits, place.jobs or default_jobs(), by_call=_by_call(request))
    return request, Machines(stack.enter_context(compiler), run_job)


def on_cluster(address: str, request: Request, place: Place, stack: ExitStack) -> tuple[Request, Machines]:
    """A Dask cluster; the request gets the timer that its workers have."""
    from ireebench.cluster.client import Cluster, ClusterCompiler

    cluster = stack.enter_context(Cluster(address))
    environment = None
    if request.measuring is not None:
        environment, measuring = cluster.place(request.measuring)
        request = replace(request, measuring=measuring)
    limits = Limits(time_s=place.compile_s)
    compiler = ClusterCompiler(cluster, default_cache(), limits, by_call=_by_call(request))
    return request, Machines(stack.enter_context(compiler), cluster.run_job, environment)


def _by_call(request: Request) -> bool:
    return request.measuring is not None and request.measuring.timer == "host"


def sweep(request: Request, place: Place, cluster: str | None = None) -> Outcome:
    """Runs the sweep into its store. Ctrl-C keeps what is done and says how to go on."""
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(place.db, write=True))
        if cluster is None:
            request, machines = here(request, place, stack)
        else:
            request, machines = on_cluster(cluster, request, place, stack)
        progress = stack.enter_context(SweepProgress(quiet=place.quiet))
        tools = Tools(store, machines.compiler, machines.run_job, place.out / "work", progress)
        try:
            outcome = run_sweep(request, tools, machines.environment)
            if not place.db.is_file():
                raise _removed(place)
            if request.measuring is not None and cluster is None:
                keep_ceiling(store, outcome.shares, request.measuring, _trials_of(store, outcome), _say)
            return outcome
        except (OSError, StoreError, OutputError) as e:
            raise e if place.db.is_file() and place.out.is_dir() else _removed(place) from e
        except KeyboardInterrupt:
            # The second Ctrl-C is for those who cannot wait for the children to be ended.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            click.echo(f"\ninterrupted; what is done is kept in {place.db}. To go on, run it again:", err=True)
            click.echo("  " + " ".join(["ireebench", *sys.argv[1:]]), err=True)
            raise click.exceptions.Exit(130) from None


def _say(text: str) -> None:
    click.echo(text, err=True)


def _removed(place: Place) -> OutputError:
    gone = place.db if place.out.is_dir() else place.out
    return OutputError(f"{gone} was removed while the sweep ran; run it again (compiles are kept in the cache)")


def run(request: Request, place: Place, top: int, output: Output, cluster: str | None = None) -> None:
    """Runs the sweep, prints its tables and writes its files. `cluster` is a Dask scheduler's address."""
    place.prepare()
    outcome = sweep(request, place, cluster)
    with Store.open(place.db) as store:
        report = report_of(store, outcome, request, top)
        places = store.environments()
    environments = [environment_document(places.get(share.environment)) for share in outcome.shares]
    profiled = _profiled(report, outcome, request, place) if request.profile else ()
    tables = (*report.tables, profiled_table(profiled)) if profiled else report.tables
    document: dict[str, Any] = {}
    if output.format == "json":
        document = {"environment": environments[0], "environments": environments}
        document |= {"trials": list(_documents(report, outcome)), "profiled": profiled_document(profiled)}
    output.emit(tables, document)
    if output.format == "table" and output.path is None:
        click.echo("\n" + "\n".join(report.lines))
    _write(report, best_specs(report.standings, request.target), request, place)
    if request.config is not None and any(r.trial.status is not Status.OK for r in report.rows):
        raise click.exceptions.Exit(3)


def _profiled(report: SweepReport, outcome: Outcome, request: Request, place: Place) -> tuple[Profiled, ...]:
    """Counter runs and thread traces of each problem's best."""
    assert request.measuring is not None
    candidates = {c.key: c.subject.candidate for p in outcome.plans for c in p.candidates}
    best = {s.best.trial.key: candidates[s.best.trial.key] for s in report.standings if s.best is not None}
    chosen = [(key, candidate) for key, candidate in best.items() if candidate is not None]
    if not place.quiet:
        click.echo(f"profile: {len(chosen)} candidates", err=True)
    with ExitStack() as stack:
        _, machines = here(request, place, stack)
        bench = Bench(machines.compiler, request.measuring, request.target.cache_bytes, place.out)
        return tuple(profile(bench, chosen, request.profile))


def report_of(store: Store, outcome: Outcome, request: Request, top: int) -> SweepReport:
    """The report of a finished sweep's trials."""
    trials = _trials_of(store, outcome)
    rows = {p: share.environment for share in outcome.shares for p in share.problems}
    noise = {(p, cache): values for (p, row, cache), values in store.noise().items() if row == rows.get(p)}
    caches = request.measuring.protocol.cache if request.measuring else ()
    # Devices of one sweep are of one model, whose ceiling is one.
    ceilings = [ceiling_of(store, share.environment) for share in outcome.shares]
    report = make_report(trials, caches, noise, top, ceilings[0][0])
    return replace(
        report, lines=(*report.lines, *(line for _, beaten in ceilings for lines in beaten.values() for line in lines))
    )


def _documents(report: SweepReport, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """The trials as JSON; `environment` counts the document's `environments` from 0."""
    numbers = {p: n for n, share in enumerate(outcome.shares) for p in share.problems}
    for row in report.rows:
        yield {**row_document(row), "environment": numbers[row.trial.problem]}


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

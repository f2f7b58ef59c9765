"""Compiles what a bundle carries: a sweep's first stage, with the measuring left to another machine."""

from __future__ import annotations

from pathlib import Path

from ireebench.compiler.driver import Compiler
from ireebench.measure.profiled import run_job
from ireebench.store.database import Store
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.plan import plan
from ireebench.sweep.request import Request
from ireebench.sweep.stages import Compiling, Events, MeasureWork, Tools, compile_stage


def compile_work(request: Request, compiler: Compiler, scratch: Path, events: Events) -> MeasureWork:
    """Plans and compiles `request`; failures are left out of the bundle, and counted by `events`."""
    assert request.measuring is not None
    here = current_environment(None)
    plans = plan(request, identity(here))
    with Store.open(scratch / "compiled.db", write=True) as store:
        environment = store.put_environment(here)
        tools = Tools(store, compiler, run_job, scratch, events)
        todo = [c for p in plans for c in p.candidates]
        compiling = Compiling(request.target, dict.fromkeys(request.problems, environment), request.where, {})
        compiled = {c.trial.key: c for c in compile_stage(todo, compiling, tools)}
    return MeasureWork(request.measuring, request.target, environment, plans, compiled)

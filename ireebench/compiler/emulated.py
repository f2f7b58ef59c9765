"""Executes an artifact with no GPU: its assembly from the dumps, its dispatches from the compiler's own host IR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.flags import DUMP, MODULE, SPEC, VMFB
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.host import read_schedule
from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.listing import Listing, read_listing
from ireebench.isa.emulate.program import EmulationResult, emulate_program
from ireebench.isa.emulate.schedule import Schedule
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem

HAL_PHASE = "--compile-to=hal"


def schedule_of(compiler: Compiler, artifact: Artifact) -> Schedule | Failure:
    """What one invocation dispatches, in order: the module compiled once more, up to the hal phase (cached)."""
    spec = artifact.folder / SPEC
    flags = tuple(f for f in artifact.command[2:-2] if f)
    mlir = (artifact.folder / MODULE).read_text()
    source = Source(mlir, spec.read_text() if spec.exists() else None, (*flags, HAL_PHASE))
    compiled = compiler.compile_source(source)
    if compiled.failure is not None:
        return compiled.failure
    try:
        return read_schedule((compiled.folder / VMFB).read_text(), artifact.function)
    except Unsupported as e:
        return Failure(Status.UNAVAILABLE, f"the emulator has no {e}", Stage.COMPILED)


def assemblies_of(artifact: Artifact) -> tuple[Listing, ...]:
    """The assembly files of an artifact, parsed."""
    return tuple(read_listing(p.read_text()) for p in sorted((artifact.folder / DUMP).glob("*.rocmasm")))


def emulate_artifact(
    compiler: Compiler,
    artifact: Artifact,
    problem: Problem,
    inputs: Sequence[npt.NDArray[Any]],
    *,
    rows: int | None = None,
    options: Options | None = None,
) -> EmulationResult | Failure:
    """Executes an artifact compiled for an AMD target; see `emulate_program`."""
    schedule = schedule_of(compiler, artifact)
    if isinstance(schedule, Failure):
        return schedule
    return emulate_program(schedule, assemblies_of(artifact), problem, inputs, rows=rows, options=options)

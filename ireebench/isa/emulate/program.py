"""Executes one invocation of a compiled function: all its dispatches in order, with their buffers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ireebench.isa.emulate.arena import Arena, Buffer
from ireebench.isa.emulate.errors import ExecutionLimit, Unsupported
from ireebench.isa.emulate.launch import KERNARG_LIMIT, Binding, Dispatch, Options, find_kernel, run_dispatch
from ireebench.isa.emulate.listing import Listing
from ireebench.isa.emulate.report import Counts, Fault, Report
from ireebench.isa.emulate.schedule import CopyCommand, DispatchCommand, FillCommand, OutputView, Schedule
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

Array = npt.NDArray[Any]
MOST_ROWS = 64  # rows that one workgroup computes at most: beyond, running some rows alone is given up

_DTYPES: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}


@dataclass(frozen=True, slots=True)
class EmulationResult:
    """What one invocation gave.

    `outputs` in the function's order; with `rows` only their first rows. `reports` of all dispatches, `counts` one a
    dispatch. `rows` is how many rows were emulated, None for all.
    """

    outputs: tuple[Array, ...]
    reports: tuple[Report, ...]
    counts: tuple[Counts, ...]
    rows: int | None = None


def emulate_schedule(
    schedule: Schedule,
    files: Sequence[Listing],
    inputs: Sequence[Array],
    options: Options | None = None,
    part: Fraction = Fraction(1),
) -> EmulationResult:
    """Runs all commands of a schedule.

    `inputs` are the function's arguments in order; one that is shorter than what is read leaves the rest undefined.
    `part` is the share of each result that must be stored. Raises Unsupported or ExecutionLimit.
    """
    options = options or Options()
    tables = [len(data) for f in files for data in f.constants.values()]
    arena = Arena(Arena.capacity_for([*(b.size for b in schedule.buffers), *tables, KERNARG_LIMIT]))
    kernargs = arena.allocate("kernel arguments", KERNARG_LIMIT, np.zeros(1, np.uint8), read_only=True)
    buffers = [_allocate(arena, schedule, i, inputs) for i in range(len(schedule.buffers))]
    reports: list[Report] = []
    counts: list[Counts] = []
    for command in schedule.commands:
        match command:
            case DispatchCommand():
                code = find_kernel(files, command.kernel)
                bindings = tuple(
                    Binding(buffers[s.buffer], s.offset, s.length, f"{buffers[s.buffer].name} (binding {n})")
                    for n, s in enumerate(command.bindings)
                )
                launch = Dispatch(command.kernel, command.workgroups, bindings, command.constants)
                result = run_dispatch(code, (arena, kernargs), launch, options)
                reports += result.reports
                counts.append(result.counts)
            case FillCommand():
                _fill(arena, buffers, command)
            case CopyCommand():
                _copy(arena, buffers, command)
    outputs = tuple(_output(arena, buffers, o) for o in schedule.outputs)
    reports += _unwritten(schedule, buffers, part)
    return EmulationResult(outputs, tuple(reports), tuple(counts))


def _allocate(arena: Arena, schedule: Schedule, index: int, inputs: Sequence[Array]) -> Buffer:
    b = schedule.buffers[index]
    if b.kind == "input":
        if b.argument >= len(inputs):
            raise Unsupported(f"{schedule.function} takes input {b.argument}, and {len(inputs)} were given")
        data = inputs[b.argument]
        written = any(isinstance(c, DispatchCommand) and _writes(schedule, index) for c in schedule.commands[:1])
        return arena.allocate(f"input {b.argument}", max(b.size, 1), data, read_only=not written)
    if b.kind == "constant":
        return arena.allocate(f"constant buffer {index}", b.size, np.frombuffer(b.data, np.uint8), read_only=True)
    results = [str(n) for n, o in enumerate(schedule.outputs) if o.place.buffer == index]
    name = f"output {' and '.join(results)}" if results else f"transient {index}"
    return arena.allocate(name, b.size)


def _writes(schedule: Schedule, index: int) -> bool:
    """Whether a result lies in an input's buffer (in-place functions): then it may be stored to."""
    return any(o.place.buffer == index for o in schedule.outputs)


def _fill(arena: Arena, buffers: Sequence[Buffer], command: FillCommand) -> None:
    t = command.target
    view = arena.bytes_of(buffers[t.buffer], t.offset, t.length)
    view[:] = np.tile(np.frombuffer(command.pattern, np.uint8), -(-t.length // len(command.pattern)))[: t.length]
    arena.mark_written(buffers[t.buffer], t.offset, t.length)


def _copy(arena: Arena, buffers: Sequence[Buffer], command: CopyCommand) -> None:
    s, t = command.source, command.target
    arena.bytes_of(buffers[t.buffer], t.offset, t.length)[:] = arena.bytes_of(buffers[s.buffer], s.offset, s.length)
    arena.mark_written(buffers[t.buffer], t.offset, t.length)


def _output(arena: Arena, buffers: Sequence[Buffer], view: OutputView) -> Array:
    dtype = _DTYPES.get(view.dtype)
    if dtype is None:
        raise Unsupported(f"a result of type {view.dtype}")
    size = int(np.prod(view.shape, dtype=np.int64)) * dtype.itemsize
    raw = arena.bytes_of(buffers[view.place.buffer], view.place.offset, size)
    return raw.copy().view(dtype).reshape(view.shape)


def _unwritten(schedule: Schedule, buffers: Sequence[Buffer], part: Fraction) -> Iterator[Report]:
    """Bytes of the first `part` of each result that no kernel stored."""
    for n, o in enumerate(schedule.outputs):
        written = buffers[o.place.buffer].written
        if written is None:
            continue
        size = int(np.prod(o.shape, dtype=np.int64)) * _DTYPES[o.dtype].itemsize
        wanted = int(size * part)
        missing = wanted - int(np.count_nonzero(written[o.place.offset : o.place.offset + wanted]))
        if missing:
            message = f"{missing} bytes of output {n} were never stored"
            yield Report(Fault.UNINITIALISED, schedule.kernels[-1], 0, 0, 0, (0, 0, 0), message, missing)


# --- Some rows only ---------------------------------------------------------------------------------------------------


def emulate_rows(
    schedule: Schedule,
    files: Sequence[Listing],
    inputs: Sequence[Array],
    rows: tuple[int, int],
    options: Options | None = None,
) -> EmulationResult:
    """As `emulate_schedule`, for the first rows: `rows` is (wanted, total); inputs that have rows hold the wanted ones.

    Which workgroups compute which rows is written down nowhere. Likely ones are started (all, if those do not do), and
    one that reads a row that was not given is left out. A workgroup that needs neighbours too (several rows each) finds
    copies of the given rows: their number is doubled until all rows that were asked for are stored.
    """
    wanted, total = rows
    counts = [wanted]
    while counts[-1] < min(total, MOST_ROWS):
        counts.append(min(2 * counts[-1], total))
    for exhaustive, given in itertools.product((False, True), counts):
        how = replace(options or Options(), sanitize=True, rows=(given, total), exhaustive=exhaustive)
        padded = [_repeat_rows(a, wanted, given) for a in inputs]
        result = emulate_schedule(schedule, files, padded, how, Fraction(wanted, total))
        if not any(r.line == 0 for r in result.reports):
            outputs = tuple(_first_rows(o, wanted, total) for o in result.outputs)
            return EmulationResult(outputs, result.reports, result.counts, wanted)
    raise Unsupported(f"way to run {wanted} of {total} rows alone; emulate all of them")


def _repeat_rows(a: Array, wanted: int, given: int) -> Array:
    """The first `wanted` rows, repeated to `given`; an input without rows (a vector of activations) as it is."""
    if a.shape[:1] != (wanted,) or given == wanted:
        return a
    return np.concatenate([a] * (-(-given // wanted)))[:given]


def _first_rows(output: Array, wanted: int, total: int) -> Array:
    leading = output.reshape(total, -1) if output.size != total else output.reshape(total)
    return leading[:wanted]


def emulate_program(
    schedule: Schedule,
    files: Sequence[Listing],
    problem: Problem,
    inputs: Sequence[Array],
    *,
    rows: int | None = None,
    options: Options | None = None,
) -> EmulationResult | Failure:
    """Executes a compiled problem. With `rows`, `inputs` hold only that many rows of the problem and only they are run.

    What the emulator lacks is a Failure with status `unavailable` that names it.
    """
    try:
        if rows is None or rows >= problem.rows:
            return emulate_schedule(schedule, files, inputs, options)
        if problem.op == "gemv" and problem.shape[0] > 1:
            raise Unsupported(f"way to run some rows of a batched GEMV alone; emulate all {problem.rows} rows")
        return emulate_rows(schedule, files, inputs, (rows, problem.rows), options)
    except Unsupported as e:
        return Failure(Status.UNAVAILABLE, f"the emulator has no {e}", Stage.COMPILED)
    except ExecutionLimit as e:
        return Failure(Status.RUN_TIMEOUT, f"emulated: {e}", Stage.COMPILED)


def check_emulated(problem: Problem, inputs: Sequence[Array], result: EmulationResult) -> CheckResult:
    """The problem's own check, marked as the emulator's. A report of the sanitizer fails it, whatever the values."""
    asked = problem if result.rows is None else with_rows(problem, result.rows)
    outputs = [o.reshape(s) for o, (s, _) in zip(result.outputs, op_of(asked).output_specs(asked), strict=True)]
    checked = replace(op_of(asked).check(asked, inputs, outputs), by="emulator")
    if result.reports and checked.ok:
        return replace(checked, ok=False, reason=str(result.reports[0]))
    return checked


def with_rows(problem: Problem, rows: int) -> Problem:
    """The same problem with fewer rows: (4096, 32768) becomes (4, 32768); for a GEMV the weight's rows."""
    if problem.op == "gemv":
        m, _, k = problem.shape
        return replace(problem, shape=(m, rows, k))
    return replace(problem, shape=(rows, problem.shape[-1]))

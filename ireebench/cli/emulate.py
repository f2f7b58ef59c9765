"""`ireebench emulate`: executes gfx kernels on the CPU, lane by lane, and checks them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ireebench.cli import options
from ireebench.cli.compiling import Setting, read_text
from ireebench.cli.output import Output
from ireebench.errors import UsageError, UserError

if TYPE_CHECKING:
    from ireebench.candidate import Candidate
    from ireebench.compiler.driver import Compiler
    from ireebench.isa.emulate.launch import Options

EXAMPLES = options.examples(
    "ireebench emulate llama3-8b --target gfx942 --config SG=4,PR=2048,TH=8",
    "ireebench emulate bert-base --variants vd,vd_shuffle --limit 3 --rows 4 --format json",
    "ireebench emulate kernel.rocmasm --binding in:131072xbf16=random --binding out:1xbf16 --binding out:1xi64",
)
FAILED = 3
MOST_WORKGROUPS = 1 << 20  # executed one after the other, on a CPU


@click.command(epilog=EXAMPLES)
@click.argument("inputs", nargs=-1, required=True, metavar="PROBLEM...|FILE.rocmasm")
@click.option("--target", metavar="NAME", help="gfx942 (default), gfx90a, gfx950, gfx1100.")
@click.option("--op", default="argmax", show_default=True, help="Of a problem: argmax, argmin, gemv.")
@click.option("--variants", default="vd", show_default=True, metavar="NAME[,NAME...]", help="Of a problem.")
@click.option("--config", "config_text", metavar="SG=4,PR=2048", help="Of a problem (default: the likeliest one).")
@click.option("--limit", type=click.IntRange(min=1), default=1, show_default=True, help="Configurations a variant.")
@click.option("--rows", type=click.IntRange(min=1), default=4, show_default=True, help="Rows to emulate, at most.")
@click.option("--padded/--no-padded", default=True, show_default=True, help="Of a problem: padded, as published.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the inputs.")
@click.option(
    "--conformance", is_flag=True, help="Of one problem: ties, +-0, infinities and NaN in place of one input."
)
@click.option("--sanitize/--no-sanitize", default=True, show_default=True, help="Check accesses, waits and races.")
@click.option("--kernel", "kernel_name", metavar="NAME", help="Of a file that holds several.")
@click.option("--binding", "bindings", multiple=True, metavar="SPEC", help="Of a file, in order: in:4x8xf32=random ...")
@click.option("--constant", "constants", multiple=True, type=int, metavar="N", help="Of a file: 32-bit constants.")
@click.option("--grid", default="1,1,1", show_default=True, metavar="X,Y,Z", help="Of a file: workgroups.")
@options.output
def command(
    inputs: tuple[str, ...],
    target: str | None,
    op: str,
    variants: str,
    config_text: str | None,
    limit: int,
    rows: int,
    padded: bool,
    seed: int,
    conformance: bool,
    sanitize: bool,
    kernel_name: str | None,
    bindings: tuple[str, ...],
    constants: tuple[int, ...],
    grid: str,
    output: Output,
) -> None:
    """Execute AMD kernels with no AMD GPU: results, faults and counts, never a time.

    PROBLEM is a model of the catalogue, compiled here and checked as a device's result is. FILE is a kernel's assembly
    with the bindings that you describe: in, out or inout, shape and type, and random, zeros, ones, iota or @FILE.npy.
    Ends with 3 when a result is wrong or a fault was found. docs/emulator.md says what is checked and what is not.
    """
    from ireebench.isa.emulate.launch import Options

    how = Options(sanitize=sanitize)
    if _is_path(inputs[0]):
        if len(inputs) > 1:
            raise UsageError(f"one file at a time; leave out {' '.join(inputs[1:])}")
        good = _file(Path(inputs[0]), target, (kernel_name, bindings, constants, _grid(grid)), seed, how, output)
    else:
        if bindings or constants or kernel_name:
            raise UsageError("--binding, --constant and --kernel are for a FILE; a problem brings its own")
        candidates = _candidates(inputs, (op, variants, config_text, padded), target or "gfx942", limit)
        if conformance and (len(candidates) > 1 or op == "gemv"):
            raise UsageError("--conformance takes one candidate of argmax or argmin; give one problem and one variant")
        with Setting(target or "gfx942", (), 60.0, 12.0, None).compiler() as compiler:
            run = _conformance if conformance else _problems
            good = run(compiler, candidates, (rows, seed), how, output)
    if not good:
        raise click.exceptions.Exit(FAILED)


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith((".s", ".rocmasm", ".asm")) or Path(text).is_file()


def _grid(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(p.strip().isdecimal() and int(p) > 0 for p in parts):
        raise UsageError(f"--grid '{text}': needs one to three positive numbers, such as 32,1,1")
    x, y, z = (*map(int, parts), *(1,) * (3 - len(parts)))
    if x * y * z > MOST_WORKGROUPS:
        raise UsageError(f"--grid '{text}': {x * y * z:,} workgroups; at most {MOST_WORKGROUPS:,} are executed")
    return x, y, z


def _file(
    path: Path,
    target: str | None,
    launch: tuple[str | None, tuple[str, ...], tuple[int, ...], tuple[int, int, int]],
    seed: int,
    how: Options,
    output: Output,
) -> bool:
    from ireebench.isa.emulate.errors import ExecutionLimit, Unsupported
    from ireebench.isa.emulate.listing import read_listing
    from ireebench.isa.emulate.standalone import choose_kernel, parse_binding, run_kernel
    from ireebench.report import emulation, executed
    from ireebench.report.table import Table

    name, bindings, constants, grid = launch
    listing = read_listing(read_text(path, "AMDGCN assembly (.rocmasm, .s)"))
    code = choose_kernel(listing, name, target)
    specs = [parse_binding(text, seed + n) for n, text in enumerate(bindings)]
    try:
        done = run_kernel(code, specs, grid, constants, how)
    except (Unsupported, ExecutionLimit) as e:
        if str(e).startswith("kernel "):  # it wants more than was described
            raise UsageError(f"{path}: {e}; describe each with --binding and --constant, in order") from e
        raise UserError(f"{path}: unavailable, the emulator has no {e}") from e
    heads = [" ".join(str(v) for v in b.reshape(-1)[:8]) + (" ..." if b.size > 8 else "") for b in done.bindings]
    table = Table.of(
        ("binding", "spec", "contents afterwards"),
        [(n, text.partition("=")[0], head) for n, (text, head) in enumerate(zip(bindings, heads, strict=True))],
        f"{done.kernel} on {done.target}",
    )
    result = done.result
    tables = [table, executed.count_table([result.counts])]
    tables += [emulation.fault_table(result.reports)] if result.reports else []
    output.emit(
        tables,
        {
            "kernel": done.kernel,
            "target": done.target,
            "bindings": [
                {"spec": text, "values": [_json_number(v) for v in b.reshape(-1)[:64]]}
                for text, b in zip(bindings, done.bindings, strict=True)
            ],
            "faults": emulation.faults_document(result.reports),
            "executed": executed.counts_document([result.counts]),
        },
    )
    return not result.reports


def _json_number(value: Any) -> float | str:
    """A number for JSON, which has neither infinities nor NaN: those as text."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _candidates(
    names: tuple[str, ...], what: tuple[str, str, str | None, bool], target: str, limit: int
) -> list[Candidate]:
    from ireebench.problems.select import Selection, select
    from ireebench.space.config import Config
    from ireebench.space.enumerate import enumerate_space
    from ireebench.targets import find_target
    from ireebench.variants import find_variant

    op, variants, config_text, padded = what
    found_target = find_target(target)
    if found_target.backend != "hip":
        raise UsageError(
            f"target '{target}' is no AMD target; the emulator runs gfx942, gfx90a, gfx950 and gfx1100 code"
        )
    config = Config.parse(config_text) if config_text is not None else None
    found: list[Candidate] = []
    for problem in select(op, Selection(models=",".join(names), padded=padded)):
        for variant in variants.split(","):
            space = enumerate_space(problem, find_variant(variant.strip()), found_target, limit=limit, config=config)
            if not space.accepted:
                refused = space.rejected[0]
                raise UsageError(
                    f"{problem.id} {variant} on {target}: {refused.reason} ({refused.constraint});"
                    " ireebench space lists what is accepted"
                )
            found += space.accepted
    return found


def _problems(
    compiler: Compiler, candidates: list[Candidate], inputs: tuple[int, int], how: Options, output: Output
) -> bool:
    from ireebench.isa.emulate.program import EmulationResult
    from ireebench.report import emulation, executed
    from ireebench.sweep.emulated import emulate_candidate

    results = [emulate_candidate(compiler, c, *inputs, how) for c in candidates]
    done = [r.outcome for r in results if isinstance(r.outcome, EmulationResult)]
    tables = [emulation.summary(results)]
    tables += [executed.count_table([c for d in done for c in d.counts])] if done else []
    reports = [r for d in done for r in d.reports]
    tables += [emulation.fault_table(reports)] if reports else []
    output.emit(tables, emulation.document(results))
    return all(r.good for r in results)


def _conformance(
    compiler: Compiler, candidates: list[Candidate], inputs: tuple[int, int], how: Options, output: Output
) -> bool:
    from ireebench.report.conformance import conformance_document, conformance_table
    from ireebench.sweep.emulated import conformance_emulated

    candidate = candidates[0]
    rows = conformance_emulated(compiler, candidate, *inputs, how)
    named = [(candidate.variant.name, r) for r in rows]
    output.emit(conformance_table(named, f"{candidate}, emulated"), conformance_document(named, "emulator"))
    return all(r.verdict != "fail" for r in rows)

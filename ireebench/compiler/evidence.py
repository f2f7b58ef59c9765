"""What was compiled, from the dumps: evidence of each kernel, and whether it is what was asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from ireebench.compiler.artifact import KernelEvidence
from ireebench.compiler.configured import Dispatch, Op, read_dispatch
from ireebench.compiler.flags import DUMP
from ireebench.compiler.registers import READERS, Registers
from ireebench.ir.program import Program, StageConfig
from ireebench.targets import Backend


def read_dispatches(folder: Path, function: str | None = None, files: str = "configured_*.mlir") -> list[Dispatch]:
    """The dispatches dumped in `folder`/dump, in the order of their numbers; only those of `function` if given.

    `files` may name the sources ("module_*_dispatch_*[0-9].mlir"), which are there before anything is configured.
    """
    found = []
    for path in (folder / DUMP).glob(files):
        if function is not None and f"_{function}_dispatch_" not in path.name.replace("$async", ""):
            continue  # a batch has many files: read those that can be meant
        dispatch = read_dispatch(path.read_text())
        if dispatch is None:
            continue
        owner, number = owner_of(dispatch.symbol)
        if function is None or owner == function:
            found.append((owner, number, dispatch))
    return [d for *_, d in sorted(found, key=lambda f: f[:2])]


def owner_of(symbol: str) -> tuple[str, int]:
    """The function and number of a dispatch: "argmax_dispatch_1_arg_compare_16xbf16" is ("argmax", 1).

    IREE puts `$async` after the function's name where it is exported through the asynchronous ABI.
    """
    match = re.match(r"(.*?)(?:\$async)?_dispatch_(\d+)(?:_|$)", symbol)
    return (match[1], int(match[2])) if match else (symbol, 0)


def read_registers(folder: Path) -> dict[str, tuple[Registers, str]]:
    """Registers by kernel symbol, with the assembly file's name relative to `folder`."""
    found: dict[str, tuple[Registers, str]] = {}
    for suffix, reader in READERS.items():
        for path in sorted((folder / DUMP).glob(f"*{suffix}")):
            for registers in reader(path.read_text()):
                found[registers.symbol] = (registers, f"{DUMP}/{path.name}")
    return found


def linked_ukernels(folder: Path) -> set[str]:
    """The micro-kernels whose code was linked into a dispatch."""
    found: set[str] = set()
    for path in (folder / DUMP).glob("*.linked.ll"):
        found.update(re.findall(r"^define [^\n]*@(iree_uk_\w+)\(", path.read_text(), re.MULTILINE))
    return found


def _per_load(op: Op) -> tuple[int | None, int | None]:
    """Elements that a workgroup loads at once (subgroups x lanes x thread loads), and how often it has to.

    A workgroup that owns several rows reduces them all: its reduction elements are rows x reduction.
    """
    if op.lowering is None:
        return None, None
    subgroups, lanes = op.lowering.counts("subgroup_basis"), op.lowering.counts("lane_basis")
    loads = op.lowering.tile("thread")
    if subgroups is None or lanes is None or loads is None:
        return None, None
    elements = math.prod(subgroups) * math.prod(lanes) * loads
    reduction, rows = op.reduction, op.lowering.tile("workgroup") or 1
    return elements, None if reduction is None else math.ceil(reduction * rows / elements)


def _subgroups(op: Op | None, workgroup: tuple[int, int, int] | None, size: int | None) -> int | None:
    counts = op.lowering.counts("subgroup_basis") if op and op.lowering else None
    if counts is not None:
        return math.prod(counts)
    return math.prod(workgroup) // size if workgroup and size else None


def kernel_evidence(
    dispatch: Dispatch, registers: dict[str, tuple[Registers, str]], ukernels: set[str]
) -> KernelEvidence:
    """Everything told about one dispatch; `registers` by symbol and the linked `ukernels` are its folder's."""
    op, translation = dispatch.root, dispatch.translation
    lowering = op.lowering if op else None
    workgroup = translation.workgroup_size if translation else None
    subgroup_size = translation.subgroup_size if translation else None
    elements, iterations = _per_load(op) if op else (None, None)
    used, assembly = registers.get(dispatch.symbol, (None, None))
    shape = op.input_shape if op else ()
    return KernelEvidence(
        symbol=dispatch.symbol,
        pipeline=translation.pipeline if translation else None,
        workgroup_size=workgroup,
        workgroup_count=dispatch.workgroup_count,
        subgroup_size=subgroup_size,
        subgroups=_subgroups(op, workgroup, subgroup_size),
        # Under TileAndFuse "thread" is a tile of work, not a load: only a layout of lanes makes it one.
        thread_loads=lowering.tile("thread") if lowering and lowering.counts("lane_basis") else None,
        partial_reduction=lowering.tile("partial_reduction") if lowering else None,
        elements_per_workgroup=elements,
        iterations=iterations,
        input_shape=tuple(n for n in shape if n is not None) if shape and None not in shape else None,
        vgpr=used.vgpr if used else None,
        agpr=used.agpr if used else None,
        sgpr=used.sgpr if used else None,
        lds_bytes=used.lds_bytes if used else None,
        scratch_bytes=used.scratch_bytes if used else None,
        vgpr_spills=used.vgpr_spills if used else None,
        ukernel=op.ukernel if op and op.ukernel in ukernels else None,
        assembly=assembly,
    )


def read_evidence(folder: Path, function: str | None = None) -> tuple[KernelEvidence, ...]:
    """Evidence of every dispatch in `folder`, in the order of their numbers; only those of `function` if given."""
    registers, ukernels = read_registers(folder), linked_ukernels(folder)
    return tuple(kernel_evidence(d, registers, ukernels) for d in read_dispatches(folder, function))


def _differences(asked: StageConfig, kernel: KernelEvidence) -> list[str]:
    threads = math.prod(kernel.workgroup_size) if kernel.workgroup_size else None
    pairs = (
        ("pipeline", "VectorDistribute", kernel.pipeline),
        ("threads", asked.workgroup_threads, threads),
        ("subgroup size", asked.subgroup_size, kernel.subgroup_size),
        ("subgroups", asked.subgroups, kernel.subgroups),
        ("partial reduction", asked.partial_reduction, kernel.partial_reduction),
        ("thread loads", asked.thread_loads, kernel.thread_loads),
    )
    return [
        f"{name} {want} asked, {got if got is not None else 'none'} used" for name, want, got in pairs if want != got
    ]


def _text(shape: Sequence[int] | None) -> str:
    return "x".join(map(str, shape)) if shape else "an unknown shape"


def _read_by(kernels: Sequence[KernelEvidence]) -> str:
    return ", ".join(_text(k.input_shape) for k in kernels) or "nothing"


def compare(asked: Sequence[StageConfig], kernels: Sequence[KernelEvidence]) -> str | None:
    """None when every stage's configuration was used; else what differs, in one line.

    Stages are told apart by what they read; where two read the same shape, each is compared with the kernel that fits.
    """
    left = list(kernels)
    for stage in asked:
        same = [k for k in left if k.input_shape == stage.input_shape]
        if not same:
            return f"no dispatch reads {_text(stage.input_shape)}; the dispatches read {_read_by(kernels)}"
        best = min(same, key=lambda k: len(_differences(stage, k)))
        if differences := _differences(stage, best):
            return f"{best.symbol}: {'; '.join(differences)}"
        left.remove(best)
    return None


# Forms whose split the compiler makes, told by an attribute or a flag.
_SPLIT_BY_COMPILER = ("generic", "split_attr")


def _split(program: Program, kernels: Sequence[KernelEvidence]) -> tuple[bool | None, str | None]:
    """Whether the row was split into the parts asked for, where no dispatch carries a configuration."""
    candidate = program.candidate
    part = candidate.config.st
    if part is None or candidate.form.name not in _SPLIT_BY_COMPILER:
        return None, None
    if any(k.input_shape and k.input_shape[-1] == part for k in kernels):
        return True, None
    return False, f"no dispatch reads parts of {part}; the dispatches read {_read_by(kernels)}"


_WHY: dict[Backend, str] = {"cuda": "IREE 3.13 ignores tuning specs on cuda; use the attribute route"}


def applied(program: Program, kernels: Sequence[KernelEvidence]) -> tuple[bool | None, str | None]:
    """Whether the program's configuration was used, and if not, what differs. None: nothing was asked for."""
    if program.candidate.variant.name == "ukernel":
        if not any(k.ukernel for k in kernels):
            return False, "no micro-kernel was linked"
        if len(kernels) > 1:
            return False, f"the micro-kernel is only one of {len(kernels)} dispatches"
        return True, None
    if not program.asked:
        return _split(program, kernels)
    difference = compare(program.asked, kernels)
    if difference is None:
        return True, None
    why = _WHY.get(program.candidate.target.backend) if program.spec else None
    return False, f"{difference}{f' ({why})' if why else ''}"

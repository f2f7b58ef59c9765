"""What `ireebench isa` prints: kernels taken apart, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ireebench.compiler.artifact import Artifact
from ireebench.errors import BadFileError, UnknownNameError, UsageError
from ireebench.isa.analysis import KernelAnalysis, LoopAnalysis, analyse_file
from ireebench.isa.architecture import ARCHITECTURES
from ireebench.isa.compare import Comparison, compare_kernels, pair_kernels
from ireebench.isa.lints import lint_kernel
from ireebench.isa.lints.base import Finding
from ireebench.isa.loopstring import LEGEND
from ireebench.isa.mix import opcodes_of
from ireebench.isa.parse import parse_assembly
from ireebench.isa.summary import KernelSummary, summary_of
from ireebench.isa.where import Where
from ireebench.report.table import Cell, Table


@dataclass(frozen=True, slots=True)
class Inspected:
    """A kernel, where it comes from ("kernel.s", "vd/native SG=4"), and what was found in it."""

    source: str
    analysis: KernelAnalysis
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> KernelSummary:
        """The kernel in one row."""
        return summary_of(self.analysis, self.findings)


@dataclass(frozen=True, slots=True)
class Inspection:
    """Kernels, and what must be said of the files they come from."""

    kernels: tuple[Inspected, ...]
    remarks: tuple[str, ...] = ()

    def where(self, condition: Where | None) -> Inspection:
        """Only the kernels whose figures pass."""
        if condition is None:
            return self
        kept = tuple(k for k in self.kernels if condition.matches(k.summary.figures()))
        return Inspection(kept, self.remarks)


def check_target(target: str | None) -> None:
    """Raises UnknownNameError for a `--target` with no rules in the architecture table."""
    known = [p for a in ARCHITECTURES for p in a.processors]
    if target is not None and target not in known:
        raise UnknownNameError("AMD processor", target, known, hint="isa reads AMDGCN only")


def inspect_text(source: str, text: str, target: str | None) -> Inspection:
    """Takes a file's kernels apart. Raises BadFileError where there is nothing to read, UsageError where neither the
    file nor the caller names a target."""
    if "\n.target sm_" in text or "\n.version " in text[:4096]:
        raise BadFileError(f"{source} is PTX; isa reads AMDGCN assembly (.rocmasm, .s)")
    assembly = parse_assembly(text)
    if not assembly.kernels:
        raise BadFileError(
            f"{source}: no kernel found ({assembly.unknown_lines} lines are no AMDGCN assembly); give a .rocmasm file"
            " of --iree-hal-dump-executable-files-to, or a .s file of clang --save-temps"
        )
    if not (target or assembly.target):
        raise UsageError(f"{source} names no target; give --target gfx942")
    remarks = []
    if assembly.unknown_lines:
        count = assembly.unknown_lines
        lines = "1 line is" if count == 1 else f"{count} lines are"
        remarks.append(f"{source}: {lines} no AMDGCN assembly and left out")
    if assembly.metadata_error:
        remarks.append(f"{source}: {assembly.metadata_error}; registers come from the descriptor alone")
    return Inspection(_inspected(source, analyse_file(assembly, target)), tuple(remarks))


def inspect_artifact(source: str, artifact: Artifact) -> tuple[Inspected, ...]:
    """The kernels of a compiled candidate, in the order of its dispatches."""
    by_file: dict[str, dict[str, KernelAnalysis]] = {}
    found = []
    for evidence in artifact.kernels:
        if evidence.assembly is None:
            continue
        if evidence.assembly not in by_file:
            parsed = parse_assembly((artifact.folder / evidence.assembly).read_text(errors="replace"))
            by_file[evidence.assembly] = {k.kernel.name: k for k in analyse_file(parsed)}
        if evidence.symbol in by_file[evidence.assembly]:
            found.append(by_file[evidence.assembly][evidence.symbol])
    return _inspected(source, found)


def _inspected(source: str, analyses: Iterable[KernelAnalysis]) -> tuple[Inspected, ...]:
    return tuple(Inspected(source, a, lint_kernel(a)) for a in analyses)


RESOURCE_TITLES = (
    "kernel",
    "VGPR",
    "AGPR",
    "SGPR",
    "LDS B",
    "scratch B",
    "spills",
    "waves/SIMD",
    "limited by",
    "load B",
    "in flight B",
    "DPP",
    "bpermute",
    "swizzle",
    "barriers",
    "lints",
)


def resource_table(kernels: Sequence[Inspected]) -> Table:
    """One row a kernel."""
    several = len({k.source for k in kernels}) > 1
    rows: list[tuple[Cell, ...]] = []
    for k in kernels:
        s, upper = k.summary, k.analysis.occupancy is not None and k.analysis.occupancy.upper_bound
        figures = (s.vgpr, s.agpr, s.sgpr, s.lds_bytes, s.scratch_bytes, s.vgpr_spills, s.occupancy)
        limit = f"{s.limited_by} (upper bound)" if upper else s.limited_by
        counts = (s.load_width_bytes, s.bytes_in_flight, s.dpp, s.bpermute, s.swizzle, s.barriers)
        row = (s.name, *figures, limit, *counts, ", ".join(s.lints) or None)
        rows.append((k.source, s.target, *row) if several else row)
    if several:
        return replace(Table.of(("from", "target", *RESOURCE_TITLES), rows), parted=True)
    return Table.of(RESOURCE_TITLES, rows, f"{kernels[0].source} for {kernels[0].analysis.target}" if kernels else None)


def _naming(kernels: Sequence[Inspected]) -> tuple[str, Callable[[Inspected], str]]:
    """What tells the kernels apart, with its title: their names, or where they come from as well.

    Kernels of several candidates of one problem have one name.
    """
    sources = [k.source for k in kernels]
    if len(set(sources)) < 2:
        return "kernel", lambda k: k.analysis.kernel.name
    if len(set(sources)) == len(sources):
        return "from", lambda k: k.source
    return "from: kernel", lambda k: f"{k.source}: {k.analysis.kernel.name}"


def _mix(kernel: Inspected) -> list[tuple[str, int | None, int]]:
    """(class of instructions, how many in the hot loop, how many outside it); None where there is no loop."""
    hot, outside = kernel.analysis.hot_loop, kernel.analysis.outside
    keys = sorted({*(hot.mix if hot else ()), *outside}, key=_key)
    return [(key, hot.mix.get(key, 0) if hot else None, outside.get(key, 0)) for key in keys]


def mix_table(kernel: Inspected, name: str | None = None) -> Table:
    """The instruction mix: in the hot loop and outside it. `name` is the kernel's own unless given."""
    rows, title = _mix(kernel), f"{name or kernel.analysis.kernel.name}: mix"
    if kernel.analysis.hot_loop is None:
        return Table.of(("class", "no loop"), [(key, outside) for key, _, outside in rows], title)
    return Table.of(("class", "hot loop", "outside"), rows, title)


def mixes_table(kernels: Sequence[Inspected]) -> Table:
    """The mixes of all kernels, named in each row: for CSV, where a table has no title."""
    title, name = _naming(kernels)
    rows = [(name(k), *row) for k in kernels for row in _mix(k)]
    return Table.of((title, "class", "hot loop", "outside"), rows, "mix")


def _key(name: str) -> tuple[bool, str]:
    return (name != "instructions", name)


def loop_table(kernels: Sequence[Inspected]) -> Table:
    """Every loop as one line."""
    title, name = _naming(kernels)
    rows = [
        (
            name(k),
            loop.loop.line,
            loop.loop.depth,
            n == k.analysis.hot,
            loop.bytes_in_flight,
            loop.string,
        )
        for k in kernels
        for n, loop in enumerate(k.analysis.loops)
    ]
    return Table.of((title, "line", "depth", "hot", "in flight B", "loop"), rows, f"loops ({LEGEND})")


def lint_table(kernels: Sequence[Inspected]) -> Table:
    """Every finding with its line."""
    title, name = _naming(kernels)
    rows = [(name(k), f.line, f.id, f.message) for k in kernels for f in k.findings]
    return Table.of((title, "line", "lint", "what"), rows, "lints")


def tables(inspection: Inspection, *, titled: bool = True) -> list[Table]:
    """Resources, loops, lints, and the mix of each kernel; in one table where titles are not shown."""
    kernels = inspection.kernels
    _, name = _naming(kernels)
    optional = [t for t in (loop_table(kernels), lint_table(kernels)) if t.rows]
    mixes = [mix_table(k, name(k)) for k in kernels] if titled else [mixes_table(kernels)] if kernels else []
    return [resource_table(kernels), *optional, *mixes]


def document(inspection: Inspection) -> dict[str, Any]:
    """The JSON contract of `isa`."""
    return {"kernels": [_kernel(k) for k in inspection.kernels], "remarks": list(inspection.remarks)}


def _kernel(k: Inspected) -> dict[str, Any]:
    a, s = k.analysis, k.summary
    return {
        "name": s.name,
        "target": s.target,
        "source": k.source,
        "vgpr": s.vgpr,
        "agpr": s.agpr,
        "sgpr": s.sgpr,
        "lds_bytes": s.lds_bytes,
        "scratch_bytes": s.scratch_bytes,
        "vgpr_spills": s.vgpr_spills,
        "sgpr_spills": a.resources.sgpr_spills,
        "wavefront_size": a.resources.wavefront_size,
        "workgroup_size": a.resources.workgroup_size,
        "allocated_vgpr": a.resources.allocated_vgpr,
        "dynamic_lds": a.resources.dynamic_lds,
        "occupancy_waves_per_simd": s.occupancy,
        "occupancy_limits": dict(a.occupancy.limits) if a.occupancy else None,
        "limited_by": s.limited_by,
        "load_width_bytes": s.load_width_bytes,
        "bytes_in_flight": s.bytes_in_flight,
        "mix": dict(sorted(a.mix.items())),
        "mix_outside_hot_loop": dict(sorted(a.outside.items())),
        "opcodes": dict(sorted(opcodes_of(a.kernel.instructions).items())),
        "loops": [_loop(loop, n == a.hot) for n, loop in enumerate(a.loops)],
        "lints": [{"id": f.id, "line": f.line, "message": f.message} for f in k.findings],
    }


def _loop(loop: LoopAnalysis, hot: bool) -> dict[str, Any]:
    return {
        "line": loop.loop.line,
        "depth": loop.loop.depth,
        "hot": hot,
        "bytes_in_flight": loop.bytes_in_flight,
        "mix": dict(sorted(loop.mix.items())),
        "string": loop.string,
    }


def compare(a: Inspection, b: Inspection) -> tuple[Comparison, ...]:
    """Compares the kernels of two files: by name, else by order."""
    pairs = pair_kernels([k.analysis for k in a.kernels], [k.analysis for k in b.kernels])
    return tuple(compare_kernels(x, y) for x, y in pairs)


def comparison_tables(comparisons: Sequence[Comparison], *, titled: bool = True) -> list[Table]:
    """Side by side, differences first; in one table that names the pair in each row where titles are not shown."""
    if not titled:
        rows = [(c.a, c.b, d.figure, d.a, d.b, d.same) for c in comparisons for d in c.figures]
        return [Table.of(("kernel A", "kernel B", "figure", "A", "B", "same"), rows)]
    return [
        Table.of(("figure", "A", "B", "same"), [(d.figure, d.a, d.b, d.same) for d in c.figures], f"A: {c.a}  B: {c.b}")
        for c in comparisons
    ]


def comparison_document(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The comparison as JSON: per pair, the figures that differ and those that do not."""
    return {
        "comparisons": [
            {
                "a": c.a,
                "b": c.b,
                "differ": {d.figure: [d.a, d.b] for d in c.figures if not d.same},
                "same": {d.figure: d.a for d in c.figures if d.same},
            }
            for c in comparisons
        ]
    }

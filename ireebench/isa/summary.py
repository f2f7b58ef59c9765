"""A kernel in one row: the columns that tables of sweeps, filters and comparisons use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields

from ireebench.isa.analysis import KernelAnalysis, analyse_file
from ireebench.isa.classify import Kind, classify
from ireebench.isa.flight import bytes_in_flight, load_waits
from ireebench.isa.lints import lint_kernel
from ireebench.isa.lints.base import Finding
from ireebench.isa.parse import parse_assembly
from ireebench.isa.where import Where

Figure = int | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """One kernel's figures; None where they are not known.

    `vgpr` leaves AGPRs out. `occupancy` is waves a SIMD, `limited_by` the resource that sets it ("vgpr, lds").
    `load_width_bytes` is the width a lane of the loads that carry most bytes of the hot loop (of the kernel when it
    has no loop). `bytes_in_flight` is bytes a lane outstanding at its first wait. Instruction counts are
    static, over the whole kernel; `dot`, `packed`, `mfma`, `convert` count in the hot loop. `lints` are ids.
    """

    name: str
    target: str
    vgpr: int | None
    agpr: int | None
    sgpr: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    vgpr_spills: int | None
    occupancy: int | None
    limited_by: str | None
    load_width_bytes: int | None
    bytes_in_flight: int | None
    dpp: int
    bpermute: int
    swizzle: int
    permlane: int
    barriers: int
    dot: int
    packed: int
    mfma: int
    convert: int
    instructions: int
    loops: int
    loop: str | None
    lints: tuple[str, ...]

    def figures(self) -> Mapping[str, Figure]:
        """The figures by name, for filters and comparisons."""
        return asdict(self)


FIGURES: tuple[str, ...] = tuple(f.name for f in fields(KernelSummary))


def summarise(text: str, target: str | None = None) -> tuple[KernelSummary, ...]:
    """Summarises each kernel of an assembly file's text; `target` overrides the one that the file names."""
    return tuple(summary_of(kernel, lint_kernel(kernel)) for kernel in analyse_file(parse_assembly(text), target))


def summary_of(kernel: KernelAnalysis, findings: tuple[Finding, ...]) -> KernelSummary:
    """The row of a kernel that has been taken apart."""
    resources, occupancy, hot, mix = kernel.resources, kernel.occupancy, kernel.hot_loop, kernel.mix
    inside = hot.mix if hot else mix
    waits = hot.waits if hot else load_waits(kernel.kernel.instructions, kernel.target, loop=False)
    return KernelSummary(
        name=kernel.kernel.name,
        target=kernel.target,
        vgpr=resources.vgpr,
        agpr=resources.agpr,
        sgpr=resources.sgpr,
        lds_bytes=resources.lds_bytes,
        scratch_bytes=resources.scratch_bytes,
        vgpr_spills=resources.vgpr_spills,
        occupancy=occupancy.waves if occupancy else None,
        limited_by=occupancy.limit_text if occupancy else None,
        load_width_bytes=load_width(kernel),
        bytes_in_flight=bytes_in_flight(waits),
        dpp=mix["dpp"],
        bpermute=mix[Kind.BPERMUTE],
        swizzle=mix[Kind.SWIZZLE],
        permlane=mix[Kind.PERMLANE],
        barriers=mix[Kind.BARRIER],
        dot=inside[Kind.DOT],
        packed=inside[Kind.PACKED],
        mfma=inside[Kind.MFMA],
        convert=inside[Kind.CONVERT],
        instructions=mix["instructions"],
        loops=len(kernel.loops),
        loop=hot.string if hot else None,
        lints=tuple(dict.fromkeys(f.id for f in findings)),
    )


def refusal(condition: Where, kernels: Iterable[KernelSummary]) -> str | None:
    """Why a candidate does not pass a filter: its first kernel that fails, with the figures that the filter looks at
    ("k: vgpr=130, vgpr_spills=4"); None when every kernel passes."""
    for kernel in kernels:
        figures = kernel.figures()
        if not condition.matches(figures):
            shown = ", ".join(f"{name}={_shown(figures[name])}" for name in sorted(condition.names))
            return f"{kernel.name}: {shown}"
    return None


def _shown(figure: Figure) -> str:
    if figure is None:
        return "unknown"
    return " ".join(figure) or "none" if isinstance(figure, tuple) else str(figure)


def load_width(kernel: KernelAnalysis) -> int | None:
    """Width in bytes a lane of the vector loads that carry most bytes; None when there are none."""
    bytes_by_width: dict[int, int] = {}
    for i in kernel.hot_instructions:
        found = classify(i.mnemonic)
        if found.vector_load and found.width_bytes:
            bytes_by_width[found.width_bytes] = bytes_by_width.get(found.width_bytes, 0) + found.width_bytes
    return max(bytes_by_width, key=lambda w: (bytes_by_width[w], w)) if bytes_by_width else None

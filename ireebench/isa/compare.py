"""Two kernels side by side, differences first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ireebench.isa.analysis import KernelAnalysis
from ireebench.isa.lints import lint_kernel
from ireebench.isa.summary import summary_of

Cell = int | str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of both kernels; None where a kernel has none."""

    figure: str
    a: Cell
    b: Cell

    @property
    def same(self) -> bool:
        """Whether both have the same value."""
        return self.a == self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two kernels; `figures` has those that differ first, each group in a fixed order."""

    a: str
    b: str
    figures: tuple[Difference, ...]


def compare_kernels(a: KernelAnalysis, b: KernelAnalysis) -> Comparison:
    """Compares resources, occupancy, the hot loop and the mix, inside the hot loop and outside."""
    left, right = _figures(a), _figures(b)
    rows = [Difference(name, left.get(name), right.get(name)) for name in dict.fromkeys([*left, *right])]
    return Comparison(a.kernel.name, b.kernel.name, tuple(sorted(rows, key=lambda r: r.same)))


def pair_kernels(
    a: Sequence[KernelAnalysis], b: Sequence[KernelAnalysis]
) -> tuple[tuple[KernelAnalysis, KernelAnalysis], ...]:
    """Pairs kernels of the same name, and the rest by their order in the file."""
    by_name = {k.kernel.name: k for k in b}
    named = [(k, by_name[k.kernel.name]) for k in a if k.kernel.name in by_name]
    taken = {k.kernel.name for k, _ in named}
    rest = zip((k for k in a if k.kernel.name not in taken), (k for k in b if k.kernel.name not in taken), strict=False)
    return (*named, *rest)


def _figures(kernel: KernelAnalysis) -> Mapping[str, Cell]:
    summary = summary_of(kernel, lint_kernel(kernel)).figures()
    hidden = ("name", "lints", "dpp", "bpermute", "swizzle", "permlane", "barriers", "dot", "packed", "mfma", "convert")
    plain: dict[str, Cell] = {k: v for k, v in summary.items() if k not in hidden and not isinstance(v, tuple)}
    lints = summary["lints"]
    plain["lints"] = ", ".join(lints) if isinstance(lints, tuple) else None
    hot = kernel.hot_loop
    inside = {f"loop: {key}": count for key, count in sorted(hot.mix.items())} if hot else {}
    outside = {f"outside: {key}": count for key, count in sorted(kernel.outside.items())}
    return {**plain, **inside, **outside}

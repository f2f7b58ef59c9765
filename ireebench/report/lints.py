"""Lints of stored trials: read from the assembly in the compile cache, where it still is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ireebench.compiler.artifact import KernelEvidence
from ireebench.compiler.cache import Cache
from ireebench.isa.analysis import analyse_file
from ireebench.isa.lints import lint_kernel
from ireebench.isa.parse import parse_assembly
from ireebench.problems.problem import Problem
from ireebench.report.evidence import Evidence
from ireebench.report.page.samples import shown_rows
from ireebench.store.trial import Trial

Lints = dict[str, tuple[str, ...]]


_UNTIMED = 3  # trials of a problem and variant whose assembly is read where nothing was timed


def worth_reading(found: Sequence[Evidence]) -> tuple[Trial, ...]:
    """The trials that a reader looks at: each problem's best of each variant and the best that ships.

    Of an environment where nothing was timed: the first few of each problem and variant.
    """
    chosen: list[Trial] = []
    for e in found:
        standings = (s for cache in e.caches for s in e.standings(cache))
        chosen += [r.trial for s in standings for r in shown_rows(s)]
        if not e.caches:
            seen: Counter[tuple[Problem, str | None]] = Counter()
            for t in e.trials:
                seen[t.problem, t.variant] += bool(t.kernels)
                chosen += [t] if seen[t.problem, t.variant] <= _UNTIMED else []
    return tuple(dict.fromkeys(t for t in chosen if t.variant and t.kernels))


def read_lints(trials: Iterable[Trial], root: Path) -> Lints:
    """Findings by trial key ("line 12, narrow-load: ..."). Absent: what has no AMDGCN assembly in the cache."""
    if not root.is_dir():
        return {}
    cache = Cache(root)
    found: Lints = {}
    for t in trials:
        folder = _folder(cache, t.compile_key)
        lines = _lines(folder, t.kernels) if folder else None
        if lines is not None:
            found[t.key] = lines
    return found


def _folder(cache: Cache, key: str | None) -> Path | None:
    """Where a trial was compiled: alone, or as a member of a batch."""
    if key is None:
        return None
    entry = cache.load(key)
    member = cache.member(key) if entry is None else None
    if member is not None:
        entry = cache.load(member.entry)
    return entry.folder if entry else None


def _lines(folder: Path, kernels: Sequence[KernelEvidence]) -> tuple[str, ...] | None:
    files = dict.fromkeys(k.assembly for k in kernels if k.assembly and k.assembly.endswith(".rocmasm"))
    symbols = {k.symbol for k in kernels}
    lines: list[str] = []
    read = False
    for file in files:
        path = folder / file
        if not path.is_file():
            continue
        for kernel in analyse_file(parse_assembly(path.read_text(errors="replace"))):
            if kernel.kernel.name in symbols:
                read = True
                lines += [f"{kernel.kernel.name}, line {f.line}, {f.id}: {f.message}" for f in lint_kernel(kernel)]
    return tuple(lines) if read else None

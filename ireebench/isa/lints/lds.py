"""Lints about LDS and barriers."""

from __future__ import annotations

from collections.abc import Iterable

from ireebench.isa.analysis import KernelAnalysis
from ireebench.isa.classify import Kind, classify
from ireebench.isa.lints.base import CDNA3_ISA, Hit, Lint
from ireebench.isa.waits import LOAD_COUNTERS, waits_of

_MATH = (Kind.MFMA, Kind.DOT, Kind.FMA, Kind.PACKED)


def _early_store(kernel: KernelAnalysis) -> Iterable[Hit]:
    """In the text of the loop: load, wait for it, LDS store, and only then the arithmetic."""
    if kernel.hot_loop is None:
        return
    loaded = waited = False
    store = None
    for i in kernel.hot_loop.instructions:
        found = classify(i.mnemonic)
        if found.vector_load:
            loaded = True
        elif found.kind is Kind.WAIT:
            waited = waited or (loaded and bool(waits_of(i, kernel.target).keys() & set(LOAD_COUNTERS)))
        elif found.kind is Kind.LDS_STORE and waited:
            store = store or i
        elif found.kind in _MATH:
            if store is not None:
                yield Hit(
                    store.line,
                    "the LDS store of this iteration's loads comes before the arithmetic, so the wave waits for memory"
                    " first; storing after it hides the latency",
                )
            return


def _single_barrier(kernel: KernelAnalysis) -> Iterable[Hit]:
    hot = kernel.hot_loop
    if hot is not None and hot.mix[Kind.LDS_STORE] and hot.mix[Kind.LDS_LOAD] and hot.mix[Kind.BARRIER] == 1:
        line = next(i.line for i in hot.instructions if classify(i.mnemonic).kind is Kind.BARRIER)
        yield Hit(
            line,
            "the loop writes and reads LDS with one barrier: without double buffering, a fast wave overwrites what a"
            " slow one still reads",
        )


def _dynamic(kernel: KernelAnalysis) -> Iterable[Hit]:
    if kernel.resources.dynamic_lds:
        yield Hit(
            kernel.kernel.start_line,
            "LDS is used and none is declared: its size is given at launch, and the occupancy is an upper bound",
        )


LDS_LINTS = (
    Lint(
        "early-lds-store",
        "LDS stores are moved ahead of the arithmetic in a software-pipelined loop: the wait for the loads moves with"
        " them and nothing hides it.",
        "https://github.com/iree-org/iree/pull/21151 (a scheduling barrier keeps the store behind the compute)",
        _early_store,
    ),
    Lint(
        "single-barrier",
        "One barrier a loop around an LDS write and read. Right with double buffering, a race without.",
        f"{CDNA3_ISA}, S_BARRIER",
        _single_barrier,
    ),
    Lint(
        "dynamic-lds",
        "The descriptor declares no LDS and the kernel uses it: the launch decides, and static occupancy is a bound.",
        "https://llvm.org/docs/AMDGPUUsage.html (group_segment_fixed_size)",
        _dynamic,
    ),
)

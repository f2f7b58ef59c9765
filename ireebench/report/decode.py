"""Calculators of batch-1 decode: bytes over time, percentage of a ceiling, tokens a second. Pure functions.

A decoded token reads every active weight once, so bytes over time against a measured bandwidth is the honest figure.
A GB is 1e9 bytes; a GiB is 2**30.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ireebench.errors import UnknownNameError, UsageError
from ireebench.outcome import Status
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.problems.models import Model, models, projections
from ireebench.problems.problem import Problem
from ireebench.problems.select import nearest_models

if TYPE_CHECKING:
    from ireebench.measure.ceiling_table import CeilingTable
    from ireebench.measure.job import CachePolicy
    from ireebench.store.trial import Trial

GB = 1e9
GIB = float(2**30)
NOT_COUNTED = "attention over the KV cache, norms, routers and the token's embedding"


def gib_to_gb(gib: float) -> float:
    """GiB (or GiB/s) as GB (or GB/s): 1 GiB is 1.073741824 GB."""
    return gib * GIB / GB


def gb_to_gib(gb: float) -> float:
    """GB (or GB/s) as GiB (or GiB/s)."""
    return gb * GB / GIB


def gb_per_s(bytes_moved: float, time_us: float) -> float:
    """Bytes over microseconds, in GB/s."""
    return bytes_moved / time_us / 1e3


@dataclass(frozen=True, slots=True)
class Rate:
    """A bandwidth with the bytes it counts. `mbu_percent` is None without a ceiling; `flag` says what is suspicious."""

    bytes_counted: int
    time_us: float
    gb_per_s: float
    mbu_percent: float | None
    flag: str | None


def rate(bytes_counted: int, time_us: float, ceiling_gb_per_s: float | None, cache_bytes: int | None = None) -> Rate:
    """Bandwidth and memory-bandwidth utilisation (MBU), never capped.

    Flagged: more than the ceiling, which means that a cache was read or something is mis-measured; less than 1% of it;
    and data that fit the last-level cache (`cache_bytes`), where the figure is no memory bandwidth unless the inputs
    were rotated.
    """
    achieved = gb_per_s(bytes_counted, time_us)
    percent = None if ceiling_gb_per_s is None else 100 * achieved / ceiling_gb_per_s
    flag = None
    if percent is not None and percent > 100:
        flag = f"{percent:.1f}% of the ceiling: read from a cache or mis-measured; rotate over more copies"
    elif percent is not None and percent < 1:
        flag = f"{percent:.2g}% of the ceiling: not bound by bandwidth, but by launch latency or too few threads"
    elif cache_bytes is not None and bytes_counted <= cache_bytes:
        flag = "fits the last-level cache: rotate over more copies to measure memory"
    return Rate(bytes_counted, time_us, achieved, percent, flag)


def tokens_per_second(bytes_per_token: float, bandwidth_gb_per_s: float) -> float:
    """The bound that reading the weights sets: bandwidth over bytes of a token."""
    return bandwidth_gb_per_s * GB / bytes_per_token


def project(measured: float, efficiency: float, at: float) -> float:
    """A rate measured at `efficiency` (percent of the ceiling), at another efficiency: rates go as bandwidth."""
    for name, percent in (("efficiency", efficiency), ("efficiency to project to", at)):
        if not 0 < percent <= 100:
            raise UsageError(f"{name} is {percent:g}%; it is above 0 and at most 100")
    if not 0 < measured < math.inf:
        raise UsageError(f"measured rate is {measured:g} tokens a second; it is above 0")
    return measured * at / efficiency


@dataclass(frozen=True, slots=True)
class Comparison:
    """A kernel beside its baseline, microseconds, and whether its result was right."""

    label: str
    baseline_us: float
    kernel_us: float
    check_passed: bool

    @property
    def uplift_percent(self) -> float | None:
        """baseline / kernel - 1 in percent; None for a kernel whose result is wrong: it has no speed."""
        return 100 * (self.baseline_us / self.kernel_us - 1) if self.check_passed else None


def best_uplift(comparisons: Iterable[Comparison]) -> Comparison | None:
    """The fastest against its baseline among those whose check passed; None when there is none."""
    valid = [c for c in comparisons if c.check_passed]
    return max(valid, key=lambda c: c.baseline_us / c.kernel_us, default=None)


@dataclass(frozen=True, slots=True)
class TokenGemv:
    """One projection of a model and how often one token goes through it."""

    projection: str
    problem: Problem
    count: int


def find_model(name: str) -> Model:
    """The model of this id; raises UnknownNameError, or UsageError that says why it has no decode bound."""
    known = {m.id: m for m in models()}
    if name not in known:
        raise UnknownNameError("model", name, nearest_models(name, list(known)), "ireebench models gemv lists all")
    model = known[name]
    if model.layers is None:
        raise UsageError(f"{name}: {model.note or 'no decode bound: its number of layers is not in the catalogue'}")
    return model


def token_gemvs(model: Model, weights: str | None = None, fused: bool = True) -> tuple[TokenGemv, ...]:
    """The GEMVs of one token, all layers: with fused qkv and gate-up, or each projection apart.

    A mixture of experts goes through `active_ffns` MLPs a layer. Everything, the LM head too, has format `weights`;
    None is the type that the model ships (f16 where that is f32).
    """
    if weights is None:
        weights = "f16" if model.dtype == "f32" else model.dtype
    if weights not in WEIGHT_FORMATS:
        raise UnknownNameError("weight format", weights, WEIGHT_FORMATS)
    assert model.layers is not None
    assert model.active_ffns is not None
    mlps = model.layers * model.active_ffns
    attention = {"qkv", "o"} if fused else {"q", "k", "v", "o"}
    mlp = {"gate_up", "down"} if fused and model.gated else {"gate", "up", "down"}
    counts = {**dict.fromkeys(attention, model.layers), **dict.fromkeys(mlp, mlps), "lm_head": 1}
    return tuple(
        TokenGemv(
            p.name,
            Problem(
                id=f"{model.id}-{p.name}",
                op="gemv",
                shape=(1, p.n, p.k),
                dtype=weights,
                index_dtype=None,
                out_dtype="f32",
                layout="nk",
                shape_kind="original",
                model=model.name,
                source=model.shape_source,
            ),
            counts[p.name],
        )
        for p in projections(model)
        if p.name in counts
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """The best time of a GEMV: what was fastest, and its span from the first kernel's start to the last's end.

    `final`: from final processes; else from the search alone, which is brief and picks what was lucky in it.
    """

    label: str
    span_us: float
    final: bool = True


def timed(trials: Iterable[Trial], gemvs: Sequence[TokenGemv], cache: CachePolicy) -> list[Trial]:
    """The IREE trials of these GEMVs that are right and timed under `cache`: a wrong result has no speed."""
    wanted = {_matched(g.problem) for g in gemvs}
    return [t for t in trials if _right(t) and t.timing(cache) is not None and _matched(t.problem) in wanted]


def _right(t: Trial) -> bool:
    return t.variant is not None and t.status is Status.OK and t.check is not None and t.check.ok


def _matched(p: Problem) -> tuple[tuple[int, ...], str, str | None]:
    return p.shape, p.dtype, p.layout


def best_times(trials: Iterable[Trial], gemvs: Sequence[TokenGemv], cache: CachePolicy) -> dict[str, Measured]:
    """The best of `timed` for each projection; equal shapes share trials. Projections without any are left out.

    The fastest in final processes; where there are none, the fastest of the search.
    """
    best: dict[tuple[tuple[int, ...], str, str | None], Measured] = {}
    for t in timed(trials, gemvs, cache):
        timing = t.timing(cache)
        assert timing is not None
        key, found = _matched(t.problem), Measured(t.label, timing.span_ns / 1e3, timing.final)
        if key not in best or (not found.final, found.span_us) < (not best[key].final, best[key].span_us):
            best[key] = found
    return {g.projection: best[_matched(g.problem)] for g in gemvs if _matched(g.problem) in best}


def there_instead(trials: Iterable[Trial], gemvs: Sequence[TokenGemv]) -> str:
    """What right times these trials hold where none is as asked: of the same shapes otherwise, else of other GEMVs."""
    right = [t for t in trials if t.problem.op == "gemv" and _right(t) and t.runs]
    shapes = {(g.problem.shape, g.problem.layout) for g in gemvs}
    policies: tuple[CachePolicy, ...] = ("hot", "cold")
    ways = dict.fromkeys(
        f"--weights {t.problem.dtype} --cache {cache} --target {t.target}"
        for t in right
        if (t.problem.shape, t.problem.layout) in shapes
        for cache in policies
        if t.timing(cache) is not None
    )
    if ways:
        return f"there is: {'; '.join(ways)}"
    others = list(dict.fromkeys(t.problem.id for t in right))
    if not others:
        return "no gemv candidate in it passed the check and was timed"
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"there are other GEMVs: {', '.join(others[:3])}{more}"


def memory_rate(tables: Iterable[CeilingTable], cache: CachePolicy) -> float | None:
    """The ceiling of what lies in memory, GB/s: the highest rate of a buffer beyond twice the last-level cache.

    At most half of such a buffer can be left in the cache by the read before. None where no such buffer was read.
    """
    large = [r for t in tables for r in t.rows if r.cache == cache and r.size_bytes > 2 * (t.cache_bytes or 0)]
    return max((r.gb_per_s for r in large), default=None)


def measured_rate(gemvs: Sequence[TokenGemv], times: Mapping[str, Measured]) -> float | None:
    """Tokens a second when the GEMVs run one after the other in their measured times; None when one was not measured.

    `times` is by projection. What `NOT_COUNTED` names takes time too: this is an upper limit.
    """
    if any(g.projection not in times for g in gemvs):
        return None
    return 1e6 / sum(g.count * times[g.projection].span_us for g in gemvs)

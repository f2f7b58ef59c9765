"""The catalogue: problems of the published benchmarks and of models that people run, read from `data/*.csv`.

Imports the standard library only, so that listing it is fast.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from ireebench.problems.models import Model, Projection, models, projections, read_csv
from ireebench.problems.problem import Op, Problem

# The batch of every model that the published table has no batch for: that table's LLaMA-3-8B (batch).
BATCH = 32
BATCH_SOURCE = "batch 32 as the published LLaMA-3-8B (batch)"
# The models whose distinct projections are `--suite decode`.
DECODE_MODELS = (
    "llama3.1-8b",
    "llama3.1-70b",
    "qwen3-4b",
    "gemma2-27b",
    "mistral-7b-v0.1",
    "mistral-7b-v0.3",
    "gpt-oss-20b",
)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One problem of the catalogue; `id` is unique with `op`.

    Shapes are as in `Problem.shape`. `padded_shape` is the published one, else the last dimension's next power of two;
    gemv is never padded. `suites` are the named sets it belongs to.
    """

    id: str
    op: Op
    model: str
    original_shape: tuple[int, ...]
    padded_shape: tuple[int, ...]
    dtype: str
    index_dtype: str | None
    out_dtype: str | None
    source: str
    suites: frozenset[str]
    note: str = ""

    def problem(self, padded: bool) -> Problem:
        """The problem at its padded or its original shape."""
        gemv = self.op == "gemv"
        return Problem(
            id=self.id,
            op=self.op,
            shape=self.padded_shape if padded else self.original_shape,
            dtype=self.dtype,
            index_dtype=self.index_dtype,
            out_dtype=self.out_dtype,
            layout="nk" if gemv else None,
            shape_kind="padded" if padded and not gemv else "original",
            model=self.model,
            source=self.source,
        )


SUITES: dict[str, str] = {
    "published": "the shapes of the published benchmarks (15 argmax, 3 argmin, 3 gemv)",
    "decode": "gemv: the distinct projections of Llama-3.1-8B and 70B, Qwen3-4B, Gemma-2-27B, Mistral-7B, gpt-oss-20b",
    "all": "everything",
}


def next_power_of_two(n: int) -> int:
    """The smallest power of two that is not below `n` (n >= 1)."""
    return 1 << (n - 1).bit_length()


@functools.cache
def catalogue(op: Op | None = None) -> tuple[CatalogueEntry, ...]:
    """All entries, or those of one op: the published first, then the models in the data file's order."""
    if op is not None:
        return tuple(e for e in catalogue() if e.op == op)
    published = _published()
    taken = {(e.op, e.id) for e in published}
    vocabularies = tuple(e for m in models() for e in _vocabulary(m) if (e.op, e.id) not in taken)
    return (*published, *vocabularies, *_gemv())


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(d) for d in text.split("x"))


def _published() -> tuple[CatalogueEntry, ...]:
    ops: dict[str, Op] = {"argmax": "argmax", "argmin": "argmin"}
    return tuple(
        CatalogueEntry(
            id=r["id"],
            op=ops[r["op"]],
            model=r["model"],
            original_shape=_shape(r["original_shape"]),
            padded_shape=_shape(r["padded_shape"]),
            dtype=r["dtype"],
            index_dtype=r["index_dtype"],
            out_dtype=None,
            source=r["source"],
            suites=frozenset({"published", "all"}),
        )
        for r in read_csv("published_argcompare.csv")
    )


def _vocabulary(m: Model) -> tuple[CatalogueEntry, CatalogueEntry]:
    """Greedy sampling: argmax over one token's logits, and over a batch of them."""
    one = CatalogueEntry(
        id=m.id,
        op="argmax",
        model=m.name,
        original_shape=(1, m.vocab),
        padded_shape=(1, next_power_of_two(m.vocab)),
        dtype=m.dtype,
        index_dtype="i64",
        out_dtype=None,
        source=m.shape_source,
        suites=frozenset({"all"}),
        note=_token_note(m),
    )
    batch = replace(
        one,
        id=f"{m.id}-batch",
        original_shape=(BATCH, m.vocab),
        padded_shape=(BATCH, next_power_of_two(m.vocab)),
        source=f"{m.shape_source}; {BATCH_SOURCE}",
    )
    return one, batch


def _token_note(m: Model) -> str:
    return f"indices {m.tokens} to {m.vocab - 1} are in range but no token of the tokenizer" if m.tokens else ""


def _gemv() -> tuple[CatalogueEntry, ...]:
    entries = [
        CatalogueEntry(
            id=r["id"],
            op="gemv",
            model=r["model"],
            original_shape=_shape(r["shape"]),
            padded_shape=_shape(r["shape"]),
            dtype=r["dtype"],
            index_dtype=None,
            out_dtype=r["out_dtype"],
            source=r["source"],
            suites=frozenset({"published", "all"}),
        )
        for r in read_csv("published_gemv.csv")
    ]
    seen: set[tuple[int, int]] = set()
    for m in sorted(models(), key=lambda m: m.id not in DECODE_MODELS):
        for p in projections(m):
            new = m.id in DECODE_MODELS and (p.n, p.k) not in seen
            seen.add((p.n, p.k))
            entries.append(_projection(m, p, frozenset({"all", "decode"} if new else {"all"})))
    return tuple(entries)


def _projection(m: Model, p: Projection, suites: frozenset[str]) -> CatalogueEntry:
    return CatalogueEntry(
        id=f"{m.id}-{p.name}",
        op="gemv",
        model=m.name,
        original_shape=(1, p.n, p.k),
        padded_shape=(1, p.n, p.k),
        # f32 models are served in half precision: a GEMV's weights are f16, bf16 or 4-bit.
        dtype="f16" if m.dtype == "f32" else m.dtype,
        index_dtype=None,
        out_dtype="f32",
        source=m.shape_source,
        suites=suites,
    )

"""Language models as data: the shapes of their projections, their vocabularies and where both were read."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"


def read_csv(name: str) -> list[dict[str, str]]:
    """The rows of a data file of this package."""
    with (DATA / name).open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2 report, arXiv:2405.04434): queries and keys go through low ranks.

    `q_lora` is None where queries are projected directly.
    """

    q_lora: int | None
    kv_lora: int
    nope: int
    rope: int
    v_dim: int


@dataclass(frozen=True, slots=True)
class Model:
    """One model. `head_dim` is None where attention is latent (`mla`).

    `dtype` is the type that the model ships its weights in. `ffn` is one dense MLP's width, or one expert's where every
    layer has experts; `expert_ffn` the experts' width where dense layers exist beside them. `layers` and `active_ffns`
    (MLPs that one token goes through in a layer) are None where no decode bound can be told; `note` says why.
    `tokens` is the tokenizer's size where the vocabulary is padded beyond it.
    """

    id: str
    name: str
    dtype: str
    vocab: int
    hidden: int
    ffn: int
    expert_ffn: int | None
    heads: int
    kv_heads: int
    head_dim: int | None
    gated: bool
    mla: Mla | None
    layers: int | None
    active_ffns: int | None
    tokens: int | None
    shape_source: str
    layers_source: str
    note: str


@dataclass(frozen=True, slots=True)
class Projection:
    """A weight of `n` rows and `k` columns: one activation of length k gives n results."""

    name: str
    n: int
    k: int


@functools.cache
def models() -> tuple[Model, ...]:
    """All models of `data/models.csv`, in the file's order."""
    return tuple(_model(r) for r in read_csv("models.csv"))


def _optional(text: str) -> int | None:
    return int(text) if text else None


def _model(r: dict[str, str]) -> Model:
    mla = None
    if r["kv_lora"]:
        mla = Mla(_optional(r["q_lora"]), int(r["kv_lora"]), int(r["nope"]), int(r["rope"]), int(r["v_dim"]))
    return Model(
        id=r["id"],
        name=r["name"],
        dtype=r["dtype"],
        vocab=int(r["vocab"]),
        hidden=int(r["hidden"]),
        ffn=int(r["ffn"]),
        expert_ffn=_optional(r["expert_ffn"]),
        heads=int(r["heads"]),
        kv_heads=int(r["kv_heads"]),
        head_dim=_optional(r["head_dim"]),
        gated=r["gated"] == "1",
        mla=mla,
        layers=_optional(r["layers"]),
        active_ffns=_optional(r["active_ffns"]),
        tokens=_optional(r["tokens"]),
        shape_source=r["shape_source"],
        layers_source=r["layers_source"],
        note=r["note"],
    )


def _attention(m: Model) -> list[Projection]:
    if m.mla is None:
        assert m.head_dim is not None
        # The query width is heads x head_dim, which is not the hidden size in Qwen3, Gemma or gpt-oss.
        q, kv = m.heads * m.head_dim, m.kv_heads * m.head_dim
        return [
            Projection("q", q, m.hidden),
            Projection("k", kv, m.hidden),
            Projection("v", kv, m.hidden),
            Projection("qkv", q + 2 * kv, m.hidden),
            Projection("o", m.hidden, q),
        ]
    a = m.mla
    q = m.heads * (a.nope + a.rope)
    queries = [Projection("q", q, m.hidden)]
    if a.q_lora is not None:
        queries = [Projection("q_a", a.q_lora, m.hidden), Projection("q_b", q, a.q_lora)]
    return [
        *queries,
        Projection("kv_a", a.kv_lora + a.rope, m.hidden),
        Projection("kv_b", m.heads * (a.nope + a.v_dim), a.kv_lora),
        Projection("o", m.hidden, m.heads * a.v_dim),
    ]


def _mlp(m: Model, width: int, prefix: str = "") -> list[Projection]:
    gate = [Projection(f"{prefix}gate", width, m.hidden)] if m.gated else []
    fused = [Projection(f"{prefix}gate_up", 2 * width, m.hidden)] if m.gated else []
    return [
        *gate,
        Projection(f"{prefix}up", width, m.hidden),
        *fused,
        Projection(f"{prefix}down", m.hidden, width),
    ]


def projections(m: Model) -> tuple[Projection, ...]:
    """The projections of one decoder layer, separate and fused, and the LM head."""
    experts = _mlp(m, m.expert_ffn, "expert_") if m.expert_ffn else []
    return (*_attention(m), *_mlp(m, m.ffn), *experts, Projection("lm_head", m.vocab, m.hidden))

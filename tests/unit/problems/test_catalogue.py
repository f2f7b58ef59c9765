"""The catalogue: what is in it, and that its figures agree with public ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ireebench.problems.catalogue import catalogue, next_power_of_two
from ireebench.problems.models import models, projections

# The published table: id -> (original, padded, type).
PUBLISHED = {
    "llama2-7b": ((1, 32000), (1, 32768), "f16"),
    "llama2-7b-batch": ((8, 32000), (8, 32768), "f16"),
    "llama3-8b": ((1, 128000), (1, 131072), "bf16"),
    "llama3-8b-batch": ((32, 128000), (32, 131072), "bf16"),
    "gpt2": ((1, 50257), (1, 65536), "f32"),
    "mistral-7b": ((1, 32000), (1, 32768), "bf16"),
    "gemma-7b": ((1, 256000), (1, 262144), "bf16"),
    "qwen2-7b": ((1, 152064), (1, 262144), "bf16"),
    "falcon-7b": ((1, 65024), (1, 65536), "bf16"),
    "bloom-7b": ((1, 250880), (1, 262144), "bf16"),
    "bert-base": ((8, 512, 30522), (8, 512, 32768), "f32"),
    "resnet50": ((32, 1000), (32, 1024), "f32"),
    "whisper-large": ((1, 51865), (1, 65536), "f16"),
    "recsys-100k": ((256, 100000), (256, 131072), "f32"),
    "recsys-1m": ((64, 1000000), (64, 1048576), "f32"),
    "knn": ((1000, 50000), (1024, 65536), "f32"),
    "vq-codebook": ((1, 4096, 8192), (1, 4096, 8192), "f32"),
    "image-retrieval": ((32, 1000000), (32, 1048576), "f32"),
}
# N x K of projections, from public model configurations (mlc-llm presets, DeepSeek-V3 and gpt-oss reports).
PROJECTIONS = {
    "llama3.1-8b-lm_head": (128256, 4096),
    "llama3.1-8b-qkv": (6144, 4096),
    "llama3.1-8b-o": (4096, 4096),
    "llama3.1-8b-gate": (14336, 4096),
    "llama3.1-8b-gate_up": (28672, 4096),
    "llama3.1-8b-down": (4096, 14336),
    "llama3-8b-qkv": (6144, 4096),
    "llama3.1-70b-qkv": (10240, 8192),
    "llama3.1-70b-lm_head": (128256, 8192),
    "qwen3-0.6b-q": (2048, 1024),
    "qwen3-0.6b-qkv": (4096, 1024),
    "qwen3-4b-q": (4096, 2560),
    "ministral3-3b-q": (4096, 3072),
    "gpt-oss-20b-q": (4096, 2880),
    "gpt-oss-20b-k": (512, 2880),
    "gpt-oss-20b-v": (512, 2880),
    "gemma2-2b-q": (2048, 2304),
    "gemma3-1b-q": (1024, 1152),
    "gemma2-27b-q": (4096, 4608),
    "gemma2-27b-o": (4608, 4096),
    "llama4-scout-lm_head": (202048, 5120),
    "deepseek-v3-lm_head": (129280, 7168),
    "deepseek-v3-q_a": (1536, 7168),
    "deepseek-v3-q_b": (24576, 1536),
    "deepseek-v3-kv_a": (576, 7168),
    "deepseek-v3-kv_b": (32768, 512),
    "deepseek-v3-o": (7168, 16384),
    "deepseek-v2-lite-q": (3072, 2048),
    "whisper-large-v3-lm_head": (51866, 1280),
}
# Parameters in billions as the models' cards state them: an independent check of widths and layer counts together.
BILLIONS = {
    "llama2-7b": 6.74,
    "llama2-13b": 13.0,
    "llama2-70b": 69.0,
    "llama3.1-8b": 8.03,
    "llama3.1-70b": 70.6,
    "llama3.2-1b": 1.24,
    "llama3.2-3b": 3.21,
    "qwen2-7b": 7.62,
    "qwen2.5-3b": 3.09,
    "qwen3-0.6b": 0.6,
    "qwen3-1.7b": 1.72,
    "qwen3-4b": 4.02,
    "qwen3-8b": 8.19,
    "gemma2-2b": 2.61,
    "gemma2-9b": 9.24,
    "gemma2-27b": 27.2,
    "gemma3-1b": 1.0,
    "gemma3-4b": 3.88,
    "gemma3-12b": 11.8,
    "mistral-7b-v0.1": 7.24,
    "ministral3-3b": 3.4,
    "phi-4": 14.66,
    "gpt2": 0.124,
    "falcon-7b": 6.92,
    "minicpm-2b": 2.72,
    "internlm2.5-7b": 7.74,
    "smollm2-135m": 0.135,
    "smollm2-360m": 0.362,
    "starcoder2-7b": 7.17,
}
TIED = {
    "llama3.2-1b", "llama3.2-3b", "qwen2.5-3b", "qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "gemma2-2b", "gemma2-9b",
    "gemma2-27b", "gemma3-1b", "gemma3-4b", "gemma3-12b", "ministral3-3b", "gpt2", "falcon-7b", "minicpm-2b",
    "smollm2-135m", "smollm2-360m", "starcoder2-7b",
}  # fmt: skip


def test_the_published_suite_is_the_published_table() -> None:
    found = {
        e.id: (e.original_shape, e.padded_shape, e.dtype)
        for op in ("argmax", "argmin")
        for e in catalogue(op)  # type: ignore[arg-type]
        if "published" in e.suites
    }
    assert found == PUBLISHED
    assert {e.id for e in catalogue("argmin")} == {"knn", "vq-codebook", "image-retrieval"}
    assert {e.index_dtype for e in catalogue("argmax")} == {"i64"}


def test_an_id_is_unique_with_its_op() -> None:
    keys = [(e.op, e.id) for e in catalogue()]
    assert len(keys) == len(set(keys))


def test_each_of_the_37_models_has_its_vocabulary_at_batch_one_and_batched() -> None:
    ids = {e.id for e in catalogue("argmax")}
    named = [m.id for m in models() if m.id != "llama3-8b"]
    assert len(named) == 37
    assert set(named) <= ids
    assert {f"{i}-batch" for i in named} <= ids
    # 15 published; 37 models twice, less llama2-7b and its batch, qwen2-7b, falcon-7b, gpt2 and bert-base.
    assert len(ids) == 15 + 74 - 6


def test_a_published_entry_stands_where_a_model_has_its_id() -> None:
    (llama2,) = [e for e in catalogue("argmax") if e.id == "llama2-7b-batch"]
    assert llama2.original_shape == (8, 32000)
    (falcon,) = [e for e in catalogue("argmax") if e.id == "falcon-7b-batch"]
    assert falcon.original_shape == (32, 65024)


def test_every_entry_names_its_source() -> None:
    assert [e.id for e in catalogue() if not e.source.strip()] == []
    (batch,) = [e for e in catalogue("argmax") if e.id == "qwen3-4b-batch"]
    assert "batch 32 as the published LLaMA-3-8B (batch)" in batch.source


@pytest.mark.parametrize("name", PROJECTIONS)
def test_projection_shapes_agree_with_public_configurations(name: str) -> None:
    (entry,) = [e for e in catalogue("gemv") if e.id == name]
    assert entry.original_shape == (1, *PROJECTIONS[name])


def test_a_latent_query_has_no_fused_qkv() -> None:
    ids = {e.id for e in catalogue("gemv")}
    assert "deepseek-v3-qkv" not in ids
    assert "deepseek-v2-lite-q_a" not in ids


def test_models_without_a_gate_have_no_gate_projection() -> None:
    ids = {e.id for e in catalogue("gemv")}
    assert {"gpt2-up", "gpt2-down", "falcon-7b-up"} <= ids
    assert not {"gpt2-gate", "gpt2-gate_up", "falcon-7b-gate"} & ids


@pytest.mark.parametrize("name", BILLIONS)
def test_widths_and_layers_give_the_parameters_that_the_model_card_states(name: str) -> None:
    (m,) = [m for m in models() if m.id == name]
    size = {p.name: p.n * p.k for p in projections(m)}
    assert m.layers is not None
    layer = size["qkv"] + size["o"] + size.get("gate", 0) + size["up"] + size["down"]
    embeddings = size["lm_head"] * (1 if name in TIED else 2)
    assert (m.layers * layer + embeddings) / 1e9 == pytest.approx(BILLIONS[name], rel=0.02)


def test_experts_that_one_token_goes_through_give_the_active_parameters() -> None:
    # gpt-oss-20b: 3.6e9 active without the input embedding; Mixtral 8x7B: 12.9e9; Llama 4 Scout: 17e9.
    stated = {"gpt-oss-20b": (3.6, 1), "mixtral-8x7b": (12.9, 2), "llama4-scout": (17.2, 2)}
    for name, (billions, embeddings) in stated.items():
        (m,) = [m for m in models() if m.id == name]
        size = {p.name: p.n * p.k for p in projections(m)}
        assert m.layers is not None
        assert m.active_ffns is not None
        mlp = m.active_ffns * (size["gate"] + size["up"] + size["down"])
        total = m.layers * (size["qkv"] + size["o"] + mlp) + embeddings * size["lm_head"]
        assert total / 1e9 == pytest.approx(billions, rel=0.02)


def test_the_decode_suite_has_each_shape_once_and_at_most_60() -> None:
    suite = [e for e in catalogue("gemv") if "decode" in e.suites]
    shapes = [e.original_shape for e in suite]
    assert len(shapes) == len(set(shapes)) <= 60
    for shape in (
        (1, 4096, 4096),
        (1, 57344, 8192),
        (1, 19456, 2560),
        (1, 73728, 4608),
        (1, 32768, 4096),
        (1, 5120, 2880),
    ):
        assert shape in shapes


def test_gpt_oss_says_which_indices_are_no_token() -> None:
    (entry,) = [e for e in catalogue("argmax") if e.id == "gpt-oss-20b"]
    assert entry.original_shape == (1, 201088)
    assert entry.note == "indices 199998 to 201087 are in range but no token of the tokenizer"


def test_padding_takes_leading_dimensions_from_the_published_table() -> None:
    (knn,) = [e for e in catalogue("argmin") if e.id == "knn"]
    assert knn.problem(padded=True).shape == (1024, 65536)
    assert knn.problem(padded=True).shape_kind == "padded"
    assert knn.problem(padded=False).shape == (1000, 50000)
    assert knn.problem(padded=False).shape_kind == "original"


def test_padding_of_the_rest_is_the_next_power_of_two() -> None:
    assert [next_power_of_two(n) for n in (1, 2, 3, 50257, 65536, 65537)] == [1, 2, 4, 65536, 65536, 131072]
    (entry,) = [e for e in catalogue("argmax") if e.id == "minicpm-2b-batch"]
    assert entry.padded_shape == (32, 131072)


def test_a_gemv_is_never_padded() -> None:
    (entry,) = [e for e in catalogue("gemv") if e.id == "gemma2-27b-qkv"]
    assert entry.problem(padded=True) == entry.problem(padded=False)
    assert entry.problem(padded=True).shape_kind == "original"


def test_the_catalogue_imports_no_numpy() -> None:
    code = (
        "import sys, ireebench.problems.select;"
        "print([m for m in ('numpy', 'pydantic', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

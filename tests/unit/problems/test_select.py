"""Names, suites and shapes to problems, and the line that a mistake gets."""

from __future__ import annotations

import pytest

from ireebench.errors import BadShapeError, UnknownNameError, UsageError
from ireebench.problems import validate
from ireebench.problems.select import Selection, match_names, select


def ids(op: str, **selection: object) -> list[str]:
    return [p.id for p in select(op, Selection(**selection))]  # type: ignore[arg-type]


def test_a_prefix_ends_at_a_dash() -> None:
    assert ids("argmax", models="llama3") == ["llama3-8b", "llama3-8b-batch"]


def test_an_exact_name_is_that_one_alone() -> None:
    assert ids("argmax", models="llama3-8b") == ["llama3-8b"]
    assert ids("argmax", models="mistral-7b") == ["mistral-7b"]


def test_a_model_selects_its_projections() -> None:
    found = ids("gemv", models="llama3")
    assert found == [f"llama3-8b-{p}" for p in ["q", "k", "v", "qkv", "o", "gate", "up", "gate_up", "down", "lm_head"]]
    assert ids("gemv", models="llama3-8b-qkv") == ["llama3-8b-qkv"]


def test_globs_and_comma_lists_join_without_repeats_in_catalogue_order() -> None:
    assert ids("argmax", models="gpt2,llama3*,gpt2") == [
        "llama3-8b", "llama3-8b-batch", "gpt2", "llama3.1-8b", "llama3.1-8b-batch", "llama3.1-70b",
        "llama3.1-70b-batch", "llama3.2-1b", "llama3.2-1b-batch", "llama3.2-3b", "llama3.2-3b-batch",
    ]  # fmt: skip


def test_all_is_everything() -> None:
    assert len(ids("argmax", models="all")) == 83
    assert ids("argmin", suite="all") == ["knn", "vq-codebook", "image-retrieval"]


def test_names_are_found_in_any_case() -> None:
    assert ids("argmax", models="GPT2") == ["gpt2"]


@pytest.mark.parametrize(
    ("op", "near"),
    [("argmax", "llama3-8b, llama3.1-8b, llama3.1-70b"), ("gemv", "llama3-8b-q, llama3.1-8b-q, llama3.1-70b-q")],
)
def test_a_typo_gets_the_nearest_models(op: str, near: str) -> None:
    with pytest.raises(UnknownNameError) as e:
        ids(op, models="lamma3")
    assert str(e.value) == f"no model matches 'lamma3'; nearest: {near} (ireebench models {op} lists all)"


def test_one_bad_name_in_a_list_is_named() -> None:
    with pytest.raises(UnknownNameError, match="'qwen9'"):
        ids("argmax", models="llama3,qwen9")


def test_an_empty_list_of_names_is_refused() -> None:
    with pytest.raises(UsageError, match="no model name given"):
        match_names(" , ", ["a"])


def test_suites_have_the_published_numbers() -> None:
    assert len(ids("argmax", suite="published")) == 15
    assert len(ids("argmin", suite="published")) == 3
    assert len(ids("gemv", suite="decode")) == 39


def test_a_suite_of_another_op_says_so() -> None:
    with pytest.raises(UsageError, match="suite 'decode' has no argmax problems"):
        ids("argmax", suite="decode")
    with pytest.raises(UnknownNameError, match="no suite matches 'publised'; nearest: published"):
        ids("argmax", suite="publised")


def test_nothing_asked_for_says_what_to_give() -> None:
    with pytest.raises(UsageError, match=r"--models llama3, --suite published, --shape 32x131072 --dtype bf16"):
        ids("argmax")


def test_two_ways_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="--models and --shape exclude each other"):
        ids("argmax", models="gpt2", shape="4x4", dtype="f32")


def test_padded_and_original_shapes() -> None:
    assert select("argmax", Selection(models="gpt2"))[0].shape == (1, 65536)
    original = select("argmax", Selection(models="gpt2", padded=False))[0]
    assert (original.shape, original.shape_kind) == ((1, 50257), "original")


def test_a_shape_of_ones_own_is_taken_as_it_is() -> None:
    (p,) = select("argmax", Selection(shape="32x131000", dtype="bf16", index_dtype="i32"))
    assert (p.shape, p.dtype, p.index_dtype, p.shape_kind) == ((32, 131000), "bf16", "i32", "custom")
    assert p.id == "custom-32x131000-bf16-i32"


def test_a_gemv_shape_is_nxk_or_mxnxk() -> None:
    (p,) = select("gemv", Selection(shape="4096x8192", dtype="q4_0"))
    assert (p.shape, p.layout, p.out_dtype, p.index_dtype) == ((1, 4096, 8192), "nk", "f32", None)
    (p,) = select("gemv", Selection(shape="8x4096x8192", dtype="f16"))
    assert p.shape == (8, 4096, 8192)


def test_types_on_the_command_line_replace_the_catalogues_and_the_id_says_so() -> None:
    (p,) = select("gemv", Selection(models="llama3-8b-qkv", dtype="nf4"))
    assert (p.id, p.dtype, p.source.endswith("; nf4 by the command line")) == ("llama3-8b-qkv-nf4", "nf4", True)
    (p,) = select("argmax", Selection(models="llama3-8b", index_dtype="i32"))
    assert (p.id, p.index_dtype) == ("llama3-8b-i32", "i32")
    (p,) = select("argmax", Selection(models="llama3-8b", dtype="bf16"))
    assert p.id == "llama3-8b"


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "index", "message"),
    [
        ("argmax", "-1x5", "f32", "i64", "shape -1x5: dimension 0 is -1; sizes are 1 or more"),
        ("argmax", "32x0", "f32", "i64", "shape 32x0: dimension 1 is 0; sizes are 1 or more"),
        ("argmax", "32*5", "f32", "i64", "shape '32*5' is malformed"),
        ("argmax", "", "f32", "i64", "shape '' is malformed"),
        ("argmax", "3.5x5", "f32", "i64", "malformed"),
        ("argmax", "9" * 5000, "f32", "i64", "malformed"),
        ("argmax", "1x2x3x4x5", "f32", "i64", "shape 1x2x3x4x5 has rank 5; ranks 1 to 4 are served"),
        ("argmax", "99999999999999999999", "f16", "i64", "does not fit a signed 64-bit integer"),
        ("argmax", "2147483649", "f16", "i32", "index type i32 can't hold 2147483648; use i64"),
        ("argmin", "8", "f64", "i64", "no argmin element type matches 'f64'"),
        ("argmax", "8", "f32", "i16", "no index type matches 'i16'"),
        ("gemv", "4096", "f16", "i64", "write NxK (one activation) or MxNxK"),
        ("gemv", "3x64x64", "f16", "i64", "M is 3; M = 1, 2, 4 or 8"),
        ("gemv", "64x100", "nf4", "i64", "K is 100, no multiple of nf4's block 64"),
        ("gemv", "64x64", "int4", "i64", "no gemv element type matches 'int4'"),
    ],
)
def test_a_bad_shape_or_type_gets_one_clear_line(op: str, shape: str, dtype: str, index: str, message: str) -> None:
    with pytest.raises(UsageError) as e:
        select(op, Selection(shape=shape, dtype=dtype, index_dtype=index))
    assert message in str(e.value)
    assert "\n" not in str(e.value)
    assert len(str(e.value)) < 250


def test_i32_holds_the_index_of_two_to_the_31_elements() -> None:
    assert validate.INDEX_LIMITS["i32"] == 2_147_483_648
    validate.validate(validate.Problem("x", "argmax", (2**31,), "f16", "i32"))


@pytest.mark.parametrize(("index", "exact"), [("bf16", 256), ("f16", 2048), ("f32", 16_777_216)])
def test_an_index_type_that_is_a_float_is_refused_with_its_exact_range(index: str, exact: int) -> None:
    with pytest.raises(UsageError, match=f"is a float: it holds every index only up to {exact}; use i32 or i64"):
        select("argmax", Selection(shape="1024", dtype="f32", index_dtype=index))


def test_a_shape_without_a_type_asks_for_one() -> None:
    with pytest.raises(UsageError, match="--shape 8 needs --dtype: one of f16, bf16, f32"):
        select("argmax", Selection(shape="8"))


def test_a_shape_beyond_this_machines_memory_gets_both_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "machine_memory_bytes", lambda: 2**30)
    with pytest.raises(BadShapeError) as e:
        select("argmax", Selection(shape="1024x1048576", dtype="f32"))
    assert str(e.value) == ("shape 1024x1048576 f32 is 4.0 GiB of input, more than this machine's memory of 1.0 GiB")
    with pytest.raises(BadShapeError, match=r"1x131072x32768 nf4 is 2\.3 GiB"):
        select("gemv", Selection(shape="131072x32768", dtype="nf4"))


def test_this_machines_memory_is_a_sane_figure() -> None:
    assert 2**28 < validate.machine_memory_bytes() < 2**50


def test_an_unknown_op_is_named() -> None:
    with pytest.raises(UnknownNameError, match="no op matches 'armax'; nearest: argmax"):
        select("armax", Selection(models="all"))

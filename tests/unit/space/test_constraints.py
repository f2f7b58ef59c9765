"""Each constraint refuses what it is for, by its name; figures worked out by hand."""

from __future__ import annotations

from typing import Literal

import pytest

from ireebench.problems.problem import Op, Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import Enumeration, enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


def forced(
    config: str,
    shape: tuple[int, ...] = (131072,),
    *,
    dtype: str = "bf16",
    variant: str = "vd",
    target: str = "gfx942",
    op: Op = "argmax",
    layout: Literal["nk", "kn"] | None = None,
) -> Enumeration:
    gemv = op == "gemv"
    problem = Problem("p", op, shape, dtype, None if gemv else "i64", "f32" if gemv else None, layout)
    return enumerate_space(problem, find_variant(variant), find_target(target), config=Config.parse(config))


@pytest.mark.parametrize(
    ("config", "constraint"),
    [
        ("SG=3,PR=768,TH=4", "power_of_two_subgroups"),  # compiles, and is wrong on all-negative input
        ("SG=6,PR=3072,TH=8", "power_of_two_subgroups"),
        ("SG=32,PR=16384,TH=8", "max_threads"),  # 32 x 64 = 2048 threads
        ("SG=4,PR=4096,TH=16", "load_width"),  # 16 x 2 bytes = 32
        ("SG=1,PR=768,TH=3", "load_width"),
        ("SG=4,PR=1024,TH=8", "tile_fills_lanes"),  # 4 x 64 x 8 = 2048
        ("SG=16,PR=262144,TH=8", "tile_within_reduction"),
        ("SG=1,PR=8192,TH=8", "tile_in_registers"),  # 8192 / 64 lanes = 128 elements each
        ("SG=4,PR=2048,TH=8,ST=8192", "split_knobs"),
        ("SG=4,PR=2048,TH=8,VEC=4", "known_knobs"),
        ("SG=1,PR=512,TH=8,RW=4", "rows_for_subgroups"),  # rank 1 has no rows
    ],
)
def test_a_configuration_is_refused_by_the_constraint_made_for_it(config: str, constraint: str) -> None:
    found = forced(config)
    assert not found.accepted
    assert [r.constraint for r in found.rejected] == [constraint]


@pytest.mark.parametrize(
    ("config", "constraint"),
    [
        ("SG=4,PR=2048,TH=8", "split_needs_tile"),
        ("SG=4,PR=2048,ST=131072,TH=8", "split_shorter_than_row"),
        ("SG=4,PR=2048,ST=3072,TH=8", "split_holds_tiles"),  # 3072 / 2048 is no whole number
        ("SG=4,PR=2048,ST=8192,TH=8,SG2=1,PR2=12,TH2=1", "second_stage_fills_lanes"),  # 12 lanes
        ("SG=4,PR=2048,ST=2048,TH=8,SG2=2,PR2=64,TH2=1", "second_stage_fills_lanes"),  # 2 x 64 lanes for 64 winners
    ],
)
def test_a_split_is_refused_by_the_constraint_made_for_it(config: str, constraint: str) -> None:
    found = forced(config, variant="vd_split")
    assert not found.accepted
    assert [r.constraint for r in found.rejected] == [constraint]


def test_a_refusal_names_the_figures() -> None:
    (refusal,) = forced("SG=4,PR=1024,TH=8").rejected
    assert refusal.reason == "PR=1024 is no multiple of SG=4 x 64 lanes x TH=8"


@pytest.mark.parametrize(
    ("shape", "config", "form"),
    [
        ((131072,), "SG=4,PR=2048,TH=8", "native"),
        ((1, 131072), "SG=4,PR=2048,TH=8", "collapse"),  # rank 2 takes one subgroup a row natively
        ((1, 131072), "SG=1,PR=512,TH=8", "native"),
        ((32, 131072), "SG=4,PR=2048,TH=8", "rows"),
        ((32, 131072), "SG=1,PR=512,TH=8,RW=4", "native"),
        ((8, 512, 32768), "SG=4,PR=2048,TH=8", "rows"),
        ((4, 2, 2, 4096), "SG=2,PR=1024,TH=8", "rows"),
        ((1, 50257), "SG=4,PR=2048,TH=8", "inner_pad"),  # 50257 = 29 x 1733
        ((50257,), "SG=1,PR=64,TH=1", "inner_pad"),
    ],
)
def test_the_first_form_that_can_carry_a_configuration_carries_it(
    shape: tuple[int, ...], config: str, form: str
) -> None:
    (candidate,) = forced(config, shape).accepted
    assert candidate.form.name == form


def test_several_subgroups_on_rows_that_no_form_serves_are_refused_with_the_way_out() -> None:
    found = forced("SG=4,PR=2048,TH=8,RW=4", (32, 131072))
    (refusal,) = found.rejected
    assert refusal.constraint == "rank_one_for_subgroups"
    assert "forms 'collapse', 'rows' and 'two_stage' do it" in refusal.reason


def test_rows_that_do_not_divide_are_refused() -> None:
    (refusal,) = forced("SG=1,PR=512,TH=8,RW=4", (30, 131072)).rejected
    assert refusal.constraint == "rows_for_subgroups"


def test_cuda_shuffles_f32_only() -> None:
    assert forced("SG=4,PR=1024,TH=8", variant="vd_shuffle", target="sm_89").rejected[0].constraint == "shuffle_type"
    assert forced("SG=4,PR=512,TH=4", dtype="f32", variant="vd_shuffle", target="sm_89").accepted


def test_cuda_ignores_specs_so_its_splits_are_explicit() -> None:
    config = "SG=2,PR=512,ST=2048,TH=8"
    assert forced(config, variant="vd_split", target="sm_89").accepted[0].form.name == "two_stage"
    assert forced("SG=2,PR=1024,ST=2048,TH=8", variant="vd_split").accepted[0].form.name == "split_attr"


def test_a_spec_that_cannot_tell_the_stages_of_a_split_apart_is_not_tried() -> None:
    # 262144 elements in tiles of 512 leave 512 partial winners: both stages read 512 elements of a type.
    same = forced("SG=1,PR=512,ST=512,TH=8,SG2=1,PR2=512,TH2=1", (1, 262144), variant="vd_split")
    assert same.accepted[0].form.name == "two_stage"
    equal = forced("SG=1,PR=512,ST=512,TH=8,SG2=1,PR2=512,TH2=8", (1, 262144), variant="vd_split")
    assert equal.accepted[0].form.name == "split_attr"


def test_micro_kernels_are_for_argmax_on_amd() -> None:
    assert forced("default", variant="ukernel").accepted
    assert forced("default", variant="ukernel", op="argmin").rejected[0].constraint == "ukernel_op"
    assert forced("default", variant="ukernel", target="sm_89").rejected[0].constraint == "ukernel_target"


def test_an_index_that_cannot_count_the_row_is_refused() -> None:
    problem = Problem("p", "argmax", (2**32,), "f16", "i32")
    found = enumerate_space(problem, find_variant("generic"), find_target("gfx942"), config=Config())
    assert found.rejected[0].constraint == "index_holds_size"


def test_what_a_person_leaves_out_is_filled_in() -> None:
    (candidate,) = forced("SG=4,PR=2048").accepted
    assert candidate.config == Config(sg=4, pr=2048, th=8)  # 16 bytes of bf16
    (split,) = forced("SG=4,PR=2048,ST=8192", variant="vd_split").accepted
    assert split.config == Config(sg=4, pr=2048, st=8192, th=8, sg2=1, pr2=16, th2=1)  # 131072 / 8192 winners
    (small,) = forced("SG=4,PR=512").accepted
    assert small.config.th == 2  # 512 / (4 x 64 lanes)


@pytest.mark.parametrize(
    ("config", "shape", "dtype", "layout", "constraint"),
    [
        ("SG=3,PR=1536,TH=8,RW=1,SR=1", (1, 4096, 4096), "f16", "nk", "power_of_two_subgroups"),
        ("SG=16,PR=8192,TH=8,RW=4,SR=4", (1, 4096, 8192), "f16", "nk", "max_threads"),  # 64 subgroups of 64
        ("SG=1,PR=1024,TH=16,RW=1,SR=1", (1, 4096, 4096), "f16", "nk", "load_width"),
        ("SG=1,PR=256,TH=8,RW=1,SR=1", (1, 4096, 4096), "f16", "nk", "tile_fills_lanes"),  # 64 lanes x 8
        ("SG=1,PR=1536,TH=8,RW=1,SR=1", (1, 4096, 4096), "f16", "nk", "tile_divides_k"),  # 4096 / 1536
        ("SG=1,PR=512,TH=8,RW=3,SR=2", (1, 4096, 4096), "f16", "nk", "row_tile"),
        ("SG=1,PR=512,TH=8,RW=2,SR=2", (1, 50257, 1024), "f16", "nk", "rows_divide"),
        ("SG=4,PR=64,TH=8,RW=32,SR=1", (1, 4096, 4096), "f16", "kn", "columns_one_subgroup"),
        ("SG=2,PR=1024,TH=8,RW=2,SR=1", (4, 4096, 4096), "f16", "nk", "batch_one_row_a_lane"),
        ("SG=4,PR=2048,TH=8", (1, 4096, 4096), "f16", "nk", "known_knobs"),
    ],
)
def test_a_gemv_configuration_is_refused_by_the_constraint_made_for_it(
    config: str, shape: tuple[int, ...], dtype: str, layout: Literal["nk", "kn"], constraint: str
) -> None:
    found = forced(config, shape, dtype=dtype, op="gemv", layout=layout)
    assert [r.constraint for r in found.rejected] == [constraint]


def test_words_are_for_4_bit_weights() -> None:
    config = "SG=2,PR=4096,TH=32,RW=2,SR=1"
    (refusal,) = forced(config, (1, 4096, 4096), dtype="f16", variant="vd_words", op="gemv", layout="nk").rejected
    assert refusal.constraint == "weight_format"
    assert forced(config, (1, 4096, 4096), dtype="q4_0", variant="vd_words", op="gemv", layout="nk").accepted

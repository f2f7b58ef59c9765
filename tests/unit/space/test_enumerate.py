"""The space of every problem of the catalogue, and what a limit keeps of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ireebench.candidate import Candidate
from ireebench.errors import UnknownNameError
from ireebench.problems.catalogue import catalogue
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.space.geometry import stage_shapes
from ireebench.space.knobs import Place, find_knob
from ireebench.targets import find_target
from ireebench.variants import Ship, find_variant

GFX942 = find_target("gfx942")
BATCH = Problem("llama3-8b-batch", "argmax", (32, 131072), "bf16")


def holds_by_hand(c: Candidate, lanes: int) -> bool:
    """The compiler's rules, written out again: what it needs, and what makes it return wrong results."""
    for s in stage_shapes(c):
        used = min(lanes, max(s.partial_reduction // s.thread, 1)) if s.subgroups == 1 else lanes
        if s.length % s.partial_reduction or s.partial_reduction % (s.subgroups * used * s.thread):
            return False
        if s.subgroups * s.rows_per_workgroup * lanes > 1024 or bin(s.subgroups).count("1") != 1:
            return False
    native = c.form.name in ("native", "split_attr") and len(c.problem.shape) > 1
    return not (native and c.config.sg != 1)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(1, 64), max_size=3),
    st.integers(1, 300_000),
    st.sampled_from(["f16", "bf16", "f32"]),
    st.sampled_from(["gfx942", "gfx1100", "sm_89"]),
    st.sampled_from(["vd", "vd_split"]),
)
def test_whatever_is_accepted_keeps_the_compilers_rules(
    outer: list[int], reduction: int, dtype: str, target: str, variant: str
) -> None:
    problem = Problem("p", "argmax", (*outer, reduction), dtype)
    place = find_target(target)
    for candidate in enumerate_space(problem, find_variant(variant), place, limit=30).accepted:
        assert holds_by_hand(candidate, place.subgroup_size), candidate


def distinct(op: str, suite: str, padded: bool) -> list[Problem]:
    """A suite's problems, one of each shape and type."""
    problems = [e.problem(padded) for e in catalogue(op) if suite in e.suites]
    return list({(p.shape, p.dtype): p for p in problems}.values())


@pytest.mark.parametrize("padded", [True, False])
def test_every_published_problem_has_candidates_with_one_kernel_and_with_two(padded: bool) -> None:
    vd, split = find_variant("vd"), find_variant("vd_split")
    for problem in (*distinct("argmax", "published", padded), *distinct("argmin", "published", padded)):
        assert enumerate_space(problem, vd, GFX942).accepted, problem
        assert enumerate_space(problem, split, GFX942, limit=1).accepted or problem.reduction < 2048, problem


@pytest.mark.parametrize("reduction", [1, 2, 7, 1733, 30522, 50257, 51866, 122753, 128000, 151936, 152064, 201088])
def test_odd_vocabularies_have_vd_candidates_everywhere(reduction: int) -> None:
    for target in ("gfx942", "sm_89", "cpu"):
        assert enumerate_space(
            Problem("p", "argmax", (1, reduction), "f16"), find_variant("vd"), find_target(target)
        ).accepted


def test_every_decode_problem_has_a_vd_candidate() -> None:
    for problem in distinct("gemv", "decode", padded=True):
        assert enumerate_space(problem, find_variant("vd"), GFX942, limit=1).accepted, problem


def test_the_published_ranges_are_covered() -> None:
    found = enumerate_space(BATCH, find_variant("vd"), GFX942).accepted
    assert {c.config.sg for c in found} >= {1, 2, 4, 8, 16}
    assert {c.config.pr for c in found} >= {256, 512, 1024, 2048, 4096}
    split = enumerate_space(BATCH, find_variant("vd_split"), GFX942).accepted
    assert {c.config.st for c in split} >= {256, 512, 1024, 2048, 65536}
    assert {c.config.sg for c in split} >= {1, 2, 4, 8, 16}


def test_a_limit_keeps_wide_loads_with_many_and_few_subgroups() -> None:
    kept = enumerate_space(BATCH, find_variant("vd"), GFX942, limit=12).accepted
    assert len(kept) == 12
    wide = {c.config.sg for c in kept if c.config.th == 8 and c.config.pr == (c.config.sg or 1) * 64 * 8}
    assert wide >= {1, 2, 4, 8, 16}


def test_a_limit_keeps_the_same_sample_for_the_same_seed() -> None:
    vd = find_variant("vd")
    first = enumerate_space(BATCH, vd, GFX942, limit=12, seed=3).accepted
    assert first == enumerate_space(BATCH, vd, GFX942, limit=12, seed=3).accepted
    assert first != enumerate_space(BATCH, vd, GFX942, limit=12, seed=4).accepted
    assert len(set(first)) == 12


def test_labels_are_unique_within_a_problem_and_target() -> None:
    found = [c for v in ("vd", "vd_split", "default") for c in enumerate_space(BATCH, find_variant(v), GFX942).accepted]
    assert len({c.label for c in found}) == len(found)


def test_stock_iree_is_tried_in_three_forms() -> None:
    found = enumerate_space(BATCH, find_variant("default"), GFX942).accepted
    assert [c.form.name for c in found] == ["native", "split_attr", "generic"]
    assert {c.ship for c in found} == {Ship.FLAGS}


@pytest.mark.parametrize(
    ("shape", "variant", "config", "target", "ship"),
    [
        ((131072,), "vd", Config(sg=4, pr=2048, th=8), "gfx942", Ship.SPEC),
        ((131072,), "vd", Config(sg=4, pr=1024, th=8), "sm_89", Ship.IR_REWRITE),  # specs are ignored on cuda
        ((32, 131072), "vd", Config(sg=4, pr=2048, th=8), "gfx942", Ship.IR_REWRITE),  # form rows
        ((32, 131072), "vd_split", Config(sg=1, pr=512, st=2048, th=8), "gfx942", Ship.SPEC_FLAGS),
        (
            (131072,),
            "vd_split",
            Config(sg=1, pr=512, st=2048, th=8),
            "gfx942",
            Ship.IR_REWRITE,
        ),  # no flag splits rank 1
        ((1, 131072), "vd_split", Config(sg=1, pr=512, st=65536, th=8), "gfx942", Ship.IR_REWRITE),  # nor into 65536
    ],
)
def test_how_a_candidate_ships(shape: tuple[int, ...], variant: str, config: Config, target: str, ship: Ship) -> None:
    problem = Problem("p", "argmax", shape, "bf16")
    (candidate,) = enumerate_space(problem, find_variant(variant), find_target(target), config=config).accepted
    assert candidate.ship is ship


def test_neighbours_are_the_next_values() -> None:
    place = Place(BATCH, find_variant("vd"), GFX942)
    config = Config(sg=4, pr=2048, th=8)
    assert find_knob(place, "SG").neighbours(place, config) == (2, 8)
    assert find_knob(place, "TH").neighbours(place, config) == (4,)
    with pytest.raises(UnknownNameError):
        find_knob(place, "QQ")

"""Asked against applied: what counts as a difference, and how it is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ireebench.compiler.artifact import KernelEvidence
from ireebench.compiler.evidence import applied, compare, owner_of
from ireebench.ir.build import build_program
from ireebench.ir.program import StageConfig
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant

ASKED = StageConfig((8192,), 256, 64, 4, 2048, 8)
KERNEL = KernelEvidence(
    symbol="k0",
    pipeline="VectorDistribute",
    workgroup_size=(256, 1, 1),
    subgroup_size=64,
    subgroups=4,
    partial_reduction=2048,
    thread_loads=8,
    input_shape=(8192,),
)


def test_a_configuration_that_was_used_has_no_difference() -> None:
    assert compare((ASKED,), (KERNEL,)) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pipeline": "TileAndFuse"}, "k0: pipeline VectorDistribute asked, TileAndFuse used"),
        ({"workgroup_size": (128, 1, 1)}, "k0: threads 256 asked, 128 used"),
        ({"workgroup_size": (128, 2, 1)}, None),
        ({"subgroup_size": 32}, "k0: subgroup size 64 asked, 32 used"),
        ({"subgroups": None}, "k0: subgroups 4 asked, none used"),
        ({"partial_reduction": 512}, "k0: partial reduction 2048 asked, 512 used"),
        ({"thread_loads": 4}, "k0: thread loads 8 asked, 4 used"),
        ({"subgroups": 2, "thread_loads": 4}, "k0: subgroups 4 asked, 2 used; thread loads 8 asked, 4 used"),
        ({"input_shape": (16,)}, "no dispatch reads 8192; the dispatches read 16"),
        ({"input_shape": None}, "no dispatch reads 8192; the dispatches read an unknown shape"),
    ],
)
def test_every_difference_is_said(change: dict[str, object], said: str | None) -> None:
    assert compare((ASKED,), (replace(KERNEL, **change),)) == said  # type: ignore[arg-type]


def test_a_configuration_without_a_dispatch_is_a_difference() -> None:
    assert compare((ASKED,), ()) == "no dispatch reads 8192; the dispatches read nothing"


def test_stages_are_matched_by_what_they_read_in_any_order() -> None:
    second = replace(ASKED, input_shape=(16,), partial_reduction=16)
    kernels = (replace(KERNEL, symbol="k1", input_shape=(16,), partial_reduction=16), KERNEL)
    assert compare((ASKED, second), kernels) is None


def test_two_stages_that_read_the_same_shape_each_get_their_own_kernel() -> None:
    """A split of n x n elements into chunks of n."""
    second = replace(ASKED, subgroups=2, workgroup_threads=128, partial_reduction=1024)
    other = replace(KERNEL, symbol="k1", subgroups=2, workgroup_size=(128, 1, 1), partial_reduction=1024)
    assert compare((ASKED, second), (other, KERNEL)) is None
    assert compare((ASKED, ASKED), (other, KERNEL)) is not None


@pytest.mark.parametrize(
    ("symbol", "owner"),
    [
        ("argmax_dispatch_1_arg_compare_16xbf16", ("argmax", 1)),
        ("argmax_3_dispatch_0", ("argmax_3", 0)),
        ("run$async_dispatch_48_attention", ("run", 48)),
        ("my_dispatch_fn_dispatch_2_x", ("my_dispatch_fn", 2)),
        ("plain", ("plain", 0)),
    ],
)
def test_a_dispatch_belongs_to_the_function_in_its_name(symbol: str, owner: tuple[str, int]) -> None:
    assert owner_of(symbol) == owner


@pytest.mark.parametrize(
    ("variant", "config", "shapes", "expected"),
    [
        ("generic", "ST=1024", ((256, 1024), (256,)), (True, None)),
        ("generic", "ST=1024", ((262144,),), (False, "no dispatch reads parts of 1024; the dispatches read 262144")),
        ("generic", "ST=1024", (), (False, "no dispatch reads parts of 1024; the dispatches read nothing")),
        ("vd_split", "ST=512", ((1, 512), (1, 512)), (True, None)),
        ("vd_split", "ST=512", ((1, 262144),), (False, "no dispatch reads parts of 512; the dispatches read 1x262144")),
        ("generic", "default", ((262144,),), (None, None)),
        ("two_pass", "ST=2048", ((1, 262144),), (None, None)),
    ],
)
def test_a_split_that_the_compiler_was_told_to_make_is_looked_for(
    variant: str, config: str, shapes: tuple[tuple[int, ...], ...], expected: tuple[bool | None, str | None]
) -> None:
    problem = Problem("p", "argmax", (1, 262144), "bf16")
    found = enumerate_space(problem, find_variant(variant), find_target("cpu"), config=Config.parse(config))
    kernels = [KernelEvidence(f"k{n}", input_shape=shape) for n, shape in enumerate(shapes)]
    assert applied(build_program(found.accepted[0]), kernels) == expected

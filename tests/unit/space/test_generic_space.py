"""The space of variant `generic`: IREE's own split of an argmax."""

from __future__ import annotations

from ireebench.problems.problem import Op, Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import Enumeration, enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


def space(op: Op, config: str | None = None) -> Enumeration:
    problem = Problem("p", op, (32, 1048576), "f32")
    forced = Config.parse(config) if config else None
    return enumerate_space(problem, find_variant("generic"), find_target("gfx942"), config=forced)


def test_an_argmax_is_split_at_powers_of_two() -> None:
    tried = [c.config.st for c in space("argmax").accepted]
    assert tried == [None, *(64 << n for n in range(11))]


def test_an_argmin_is_not_split_and_says_why() -> None:
    assert [str(c.config) for c in space("argmin").accepted] == ["default"]
    (refused,) = space("argmin", "ST=2048").rejected
    assert (refused.constraint, refused.reason) == (
        "argmax_alone_is_split",
        "IREE splits a generic argmax and no argmin: leave ST=2048 out",
    )

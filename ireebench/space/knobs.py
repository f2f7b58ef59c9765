"""Knobs: what each means, which values a sweep tries, and which values are neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ireebench.errors import UnknownNameError
from ireebench.space.config import Config
from ireebench.space.constraints import MAX_ELEMENTS_PER_LANE
from ireebench.space.gemv import GEMV_KNOBS, serves
from ireebench.space.geometry import next_power_of_two
from ireebench.space.knob import UNSET, Knob, Place, Values, powers_of_two

__all__ = ["Knob", "Place", "find_knob", "grid", "knobs_of", "partials_of", "powers_of_two"]

LONGEST_SPLIT = 65_536


def _split(place: Place, _: Config) -> Values:
    """Powers of two from 256, and equal shares of a row whose length is no power of two."""
    if not place.variant.split:
        return UNSET
    reduction = place.problem.reduction
    longest = min(LONGEST_SPLIT, next_power_of_two(reduction) // 2)
    shares = {
        reduction // n
        for n in powers_of_two(2, 256)
        if reduction % n == 0
        and 256 <= reduction // n <= LONGEST_SPLIT
        and reduction // n % place.target.subgroup_size == 0
    }
    return tuple(sorted({*powers_of_two(256, longest), *shares})) or (max(longest, 1),)


def _subgroups(place: Place, _: Config) -> Values:
    return powers_of_two(1, place.target.max_threads // place.target.subgroup_size)


def _thread(place: Place, _: Config) -> Values:
    return powers_of_two(1, place.load_elements)[::-1]


def _tile(place: Place, config: Config) -> Values:
    """Powers of two from one element a lane, and odd multiples of one load of all lanes that divide the row."""
    length = config.st or place.problem.reduction
    lanes = (config.sg or 1) * place.target.subgroup_size
    most = min(next_power_of_two(length), lanes * MAX_ELEMENTS_PER_LANE)
    load = lanes * (config.th or 1)
    odd = {load * n for n in range(3, MAX_ELEMENTS_PER_LANE, 2) if load * n <= most and length % (load * n) == 0}
    return tuple(sorted({*powers_of_two(min(place.target.subgroup_size, most), most), *odd}))


def partials_of(place: Place, config: Config) -> int:
    """Partial winners of a row after the first stage of a split; 1 where there is no split."""
    return math.ceil(place.problem.reduction / (config.st or place.problem.reduction))


def _second_subgroups(place: Place, config: Config) -> Values:
    if not place.variant.split:
        return UNSET
    return (1, *(n for n in (2, 4) if n * place.target.subgroup_size <= partials_of(place, config)))


def _second_thread(place: Place, config: Config) -> Values:
    if not place.variant.split:
        return UNSET
    lanes = (config.sg2 or 1) * place.target.subgroup_size
    return (1, *(n for n in (2, 4) if n <= place.load_elements and n * lanes <= partials_of(place, config)))


def _second_tile(place: Place, config: Config) -> Values:
    """All partial winners at once, or one load of every lane."""
    if not place.variant.split:
        return UNSET
    count = next_power_of_two(partials_of(place, config))
    load = (config.sg2 or 1) * place.target.subgroup_size * (config.th2 or 1)
    return tuple(sorted({min(count, load), min(count, load * 8)}))


def _rows(place: Place, config: Config) -> Values:
    """Rows of a workgroup: only where one subgroup reduces a row."""
    if config.sg != 1 or len(place.problem.shape) == 1:
        return UNSET
    return (
        None,
        *powers_of_two(2, min(place.problem.shape[-2], place.target.max_threads // place.target.subgroup_size)),
    )


def _waves(place: Place, _: Config) -> Values:
    # Only AMD's register allocator reads the hint; a split's space is large enough without it.
    return (None, 2, 4) if place.target.backend == "hip" and not place.variant.split else UNSET


def _generic_split(place: Place, _: Config) -> Values:
    if place.problem.op != "argmax":
        return UNSET
    reduction = place.problem.reduction
    return (None, *(n for n in powers_of_two(64, LONGEST_SPLIT) if n < reduction and reduction % n == 0))


def _chunk(place: Place, _: Config) -> Values:
    """A whole row, or chunks small enough that searching one for the winner's place costs nothing."""
    if place.target.backend != "cpu":
        return (place.problem.reduction,)
    return (*(n for n in powers_of_two(512, 16_384) if n < place.problem.reduction), place.problem.reduction)


def _tasks(place: Place, config: Config) -> Values:
    chunks = place.problem.reduction // (config.st or place.problem.reduction)
    return (None, *(n for n in (1, 8, 32) if chunks % n == 0)) if place.target.backend == "cpu" else UNSET


def _vector(_: Place, config: Config) -> Values:
    if config.dist is None:
        return UNSET
    return tuple(n for n in (32, 128) if (config.st or 1) % n == 0) or (1,)


# In this order: the values of a knob may depend on those before it.
ARGCOMPARE_GPU: tuple[Knob, ...] = (
    Knob("st", "split tile: elements of a row that one workgroup of the first stage reduces", _split),
    Knob("sg", "subgroups of a workgroup that share one reduction", _subgroups),
    Knob("th", "elements that a thread loads at once, 16 bytes at most", _thread),
    Knob("pr", "partial-reduction tile: elements that a workgroup reads in one iteration", _tile),
    Knob("sg2", "SG of a split's second stage", _second_subgroups),
    Knob("th2", "TH of a split's second stage", _second_thread),
    Knob("pr2", "PR of a split's second stage", _second_tile),
    Knob("rw", "rows of a workgroup, one subgroup each (forms native and split_attr)", _rows),
    Knob("wpe", "waves per execution unit: a hint to the register allocator on AMD GPUs", _waves),
)
ARGCOMPARE_CPU: tuple[Knob, ...] = (Knob("st", "split tile: elements of a row that one task reduces", _split),)
TWO_PASS: tuple[Knob, ...] = (
    Knob("st", "elements of a chunk, whose extremum one step of the first pass finds", _chunk),
    Knob("dist", "chunks of a row that one task takes", _tasks),
    Knob("vec", "elements of a chunk that one step takes", _vector),
)
GENERIC: tuple[Knob, ...] = (Knob("st", "tile of IREE's own split of a generic argmax", _generic_split),)


_OF_VARIANT = {"generic": GENERIC, "two_pass": TWO_PASS}


def knobs_of(place: Place) -> tuple[Knob, ...]:
    """The knobs of a variant on a target; none for a variant that takes no configuration."""
    if not place.variant.tuned:
        return ()
    if place.problem.op == "gemv":
        return GEMV_KNOBS if place.target.backend != "cpu" and serves(place.problem, place.variant) else ()
    if place.variant.name in _OF_VARIANT:
        return _OF_VARIANT[place.variant.name]
    return ARGCOMPARE_CPU if place.target.backend == "cpu" else ARGCOMPARE_GPU


def find_knob(place: Place, name: str) -> Knob:
    """The knob called `name` in any case; raises UnknownNameError."""
    knobs = {k.name: k for k in knobs_of(place)}
    try:
        return knobs[name.lower()]
    except KeyError:
        raise UnknownNameError("knob", name, [k.upper() for k in knobs]) from None


def grid(place: Place, given: Mapping[str, Sequence[int]] | None = None) -> Iterator[Config]:
    """Every configuration that a sweep tries, before constraints; `Config()` alone where there are no knobs.

    `given` values replace a knob's own, by its name in lower case, where the knob applies at all.
    """
    given = given or {}

    def extend(chosen: dict[str, int | None], rest: tuple[Knob, ...]) -> Iterator[Config]:
        config = Config(**chosen)
        if not rest:
            yield config
            return
        values = rest[0].values(place, config)
        if rest[0].name in given and values != UNSET:
            values = tuple(given[rest[0].name])
        for value in values:
            yield from extend({**chosen, rest[0].name: value}, rest[1:])

    yield from extend({}, knobs_of(place))

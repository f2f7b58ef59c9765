"""Fills in the knobs that a person left out of a configuration, so that "SG=4,PR=2048" is enough."""

from __future__ import annotations

from dataclasses import replace

from ireebench.space.config import Config
from ireebench.space.geometry import lanes_used, next_power_of_two
from ireebench.space.knobs import Place, knobs_of, partials_of


def complete(place: Place, config: Config) -> Config:
    """`config` with what it leaves out: the widest load that fits the tile, one load of every lane as the tile.

    A split's second stage reads all partial winners at once with one subgroup. A configuration without any knob, or of
    a variant without these knobs, is left as it is.
    """
    if place.problem.op == "gemv" or config.is_default or "sg" not in {k.name for k in knobs_of(place)}:
        return config
    length = next_power_of_two(config.st or place.problem.reduction)
    size = place.target.subgroup_size
    sg = config.sg or 1
    pr = config.pr or min(length, sg * size * (config.th or place.load_elements))
    filled = replace(config, sg=sg, pr=pr, th=config.th or _widest(place, sg, pr))
    if not place.variant.split or config.st is None:
        return filled
    sg2, th2 = config.sg2 or 1, config.th2 or 1
    return replace(filled, sg2=sg2, th2=th2, pr2=config.pr2 or next_power_of_two(partials_of(place, config)))


def _widest(place: Place, subgroups: int, tile: int) -> int:
    """The widest load of which the tile is a whole number for every lane in use; 1 where none is."""
    th = place.load_elements
    while th > 1 and tile % (subgroups * lanes_used(place.target.subgroup_size, subgroups, tile, th) * th) != 0:
        th //= 2
    return th

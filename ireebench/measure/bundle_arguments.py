"""The command line of a bundle's `run.py`: a wrong argument ends in one line before anything is measured."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ireebench.errors import UnknownNameError, UsageError
from ireebench.measure.campaign import Campaign
from ireebench.measure.device import describe, kind_of, ordinal


@dataclass(frozen=True, slots=True)
class Arguments:
    """What `run.py` is asked for; None: the bundle's own. `ceiling_s` 0 leaves the ceiling unmeasured."""

    devices: tuple[str, ...] | None
    time_limit_s: float | None
    ceiling_s: float
    timer: str | None
    processes: int | None
    problems: tuple[str, ...] | None
    out: Path


class _Parser(argparse.ArgumentParser):
    """Ends in one line, as the rest of ireebench, where argparse prints its usage."""

    def error(self, message: str) -> NoReturn:
        print(f"error: {message}; run.py --help lists the arguments", file=sys.stderr, flush=True)  # noqa: T201
        sys.exit(2)


def parse(folder: Path, arguments: Sequence[str]) -> Arguments:
    """Reads the command line; exits with code 2 and one line that names what is wrong with it."""
    parser = _Parser(prog="run.py", description="Measure this bundle on this machine.")
    add = parser.add_argument
    add("--devices", type=_names, metavar="URI[,URI...]", help="device URIs that share the problems")
    add("--time-limit", type=_above_0_s, metavar="SECONDS", help="stop then and keep what is done")
    add("--ceiling", type=_from_0_s, default=0.0, metavar="SECONDS", help="measure the read ceiling first")
    add("--timer", help="timer (default: the bundle's)")
    add("--processes", type=_count, metavar="N", help="final processes (default: the bundle's)")
    add("--problems", type=_names, metavar="ID[,ID...]", help="problems to measure (default: all)")
    add("--out", type=Path, default=folder / "results", metavar="DIR", help="where results go")
    o = parser.parse_args(arguments)
    return Arguments(o.devices, o.time_limit, o.ceiling, o.timer, o.processes, o.problems, o.out)


def _above_0_s(text: str) -> float:
    return _number(text, float, lambda s: 0.0 < s < math.inf, "a number of seconds above 0")


def _from_0_s(text: str) -> float:
    return _number(text, float, lambda s: 0.0 <= s < math.inf, "a number of seconds from 0 on")


def _count(text: str) -> int:
    return int(_number(text, int, lambda n: n >= 0, "a whole number from 0 on"))


def _number(text: str, read: Callable[[str], float], good: Callable[[float], bool], wanted: str) -> float:
    """The number that a text says; raises ArgumentTypeError for none, and for one that is not `good` (NaN never is)."""
    try:
        if good(value := read(text)):
            return value
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")


def _names(text: str) -> tuple[str, ...]:
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' names nothing")
    return found


def require_alike(devices: Sequence[str], campaign: Campaign) -> None:
    """Raises UsageError for devices that cannot share a bundle's problems.

    That is one named twice, since it would run two jobs at once and time neither right; one of another kind than the
    bundle was compiled for; and one of another model than the first, since a bundle's results are of one. Raises
    MissingToolError where one is not there.
    """
    kind = kind_of(campaign.device)
    seen: dict[str, str] = {}
    for uri in devices:
        try:
            found = kind_of(uri)
        except ValueError as e:
            raise UsageError(str(e)) from e
        if found != kind:
            raise UsageError(f"--devices: {uri} is of kind {found}; this bundle was compiled for {kind}")
        place = uri if found == "cpu" else f"{found}://{ordinal(uri)}"  # "cuda" is cuda://0
        if place in seen:
            also = "" if seen[place] == uri else f" (it is {seen[place]})"
            raise UsageError(f"--devices names {uri} twice{also}; a device runs one job at a time")
        seen[place] = uri
    models = {describe(uri).name: uri for uri in reversed(devices)}
    if len(models) > 1:
        apart = ", ".join(f"{uri} is {name}" for name, uri in reversed(models.items()))
        raise UsageError(f"--devices: {apart}; a bundle's results are of one model: measure them apart")


def require_problems(problems: Sequence[str] | None, campaign: Campaign, folder: Path) -> None:
    """Raises UnknownNameError for a problem id that the bundle lacks, UsageError for a bundle with nothing to run."""
    known = {g.problem.id for g in campaign.groups if g.entries}
    if not known:
        raise UsageError(f"{folder}: this bundle has nothing to measure: none of its candidates compiled")
    for problem in problems or ():
        if problem not in known:
            raise UnknownNameError("problem of this bundle", problem, known)

"""The options of commands that sweep, gathered into a few values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from ireebench.errors import OutputError, UnknownNameError, UsageError
from ireebench.measure.job import CachePolicy, Protocol
from ireebench.problems.problem import OPS
from ireebench.space.config import Config
from ireebench.sweep.request import NO_PROFILE, Profile

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_OUT = Path("ireebench-out")
DEFAULT_LIMIT = 24


class Seconds(click.FloatRange):
    """A time above 0. A range alone lets NaN in, which nothing compares with."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; refuses NaN and infinity."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is no time.", param, ctx)
        return seconds


def names(text: str | None) -> tuple[str, ...]:
    """A comma list: "a, b" gives ("a", "b")."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def definition_option(f: F) -> F:
    """`--file`: what to sweep, in place of OP and problems."""
    return click.option("--file", "file", metavar="NAME|TOML", help="A sweep definition, in place of OP and problems.")(
        f
    )


def op_argument(f: F) -> F:
    """The positional op; a typo gets the nearest names."""

    def check(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
        if value not in OPS:
            raise UnknownNameError("op", value, OPS)
        return value

    return click.argument("op", callback=check, metavar="OP")(f)


@dataclass(frozen=True, slots=True)
class Space:
    """Which candidates. `target` "auto" is the best device present; `where` filters on their assembly.

    `near` is a store around whose best to search.
    """

    target: str
    variants: tuple[str, ...]
    config: Config | None
    limit: int | None
    seed: int
    where: str | None = None
    near: Path | None = None


def candidate_options(f: F) -> F:
    """`--target`, `--variants`, `--config`, `--seed`; gives `space: Space`. For what takes one candidate a variant."""

    @click.option(
        "--target", default="auto", show_default=True, help="gfx942, sm_89, cpu ...; auto: best device present."
    )
    @click.option("--variants", "variant_names", metavar="NAME[,NAME...]", help="Default: all that the op has.")
    @click.option("--config", "config_text", metavar="SG=4,PR=2048", help="One configuration instead of the space.")
    @click.option("--seed", type=int, default=0, show_default=True, help="Seed of samples, inputs and orders.")
    @functools.wraps(f)
    def wrapper(
        *args: Any,
        target: str,
        variant_names: str | None,
        config_text: str | None,
        seed: int,
        **kwargs: Any,
    ) -> Any:
        config = Config.parse(config_text) if config_text is not None else None
        variants = names(variant_names)
        if variant_names is not None and not variants:
            raise UsageError("--variants names none; write vd,vd_split, or leave it out for all that the op has")
        return f(*args, space=Space(target, variants, config, None, seed), **kwargs)

    return wrapper  # type: ignore[return-value]


def listing_options(f: F) -> F:
    """`candidate_options` and `--limit`; gives `space: Space`. For what compiles nothing."""

    @click.option(
        "--limit",
        type=click.IntRange(min=0),
        default=DEFAULT_LIMIT,
        show_default=True,
        help="Candidates a problem and variant: the likeliest, then a seeded sample; 0 for the whole space.",
    )
    @functools.wraps(f)
    def wrapper(*args: Any, limit: int, space: Space, **kwargs: Any) -> Any:
        return f(*args, space=replace(space, limit=limit or None), **kwargs)

    return candidate_options(wrapper)  # type: ignore[return-value]


def space_options(f: F) -> F:
    """`listing_options`, `--where` and `--near`; gives `space: Space`."""

    @click.option("--where", metavar="EXPR", help="Only kernels such as 'vgpr_spills == 0 and occupancy >= 4' (AMD).")
    @click.option(
        "--near",
        metavar="DB",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Search around the best of a store in place of a sample: each best and its nearest untried.",
    )
    @functools.wraps(f)
    def wrapper(*args: Any, where: str | None, near: Path | None, space: Space, **kwargs: Any) -> Any:
        if near is not None and space.config is not None:
            raise UsageError("--near and --config exclude each other: neighbours, or the one configuration")
        if near is not None and space.limit is None:
            raise UsageError("--near and --limit 0 exclude each other: neighbours, or the whole space")
        return f(*args, space=replace(space, where=where, near=near), **kwargs)

    return listing_options(wrapper)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class MeasureChoice:
    """How to measure, as asked. None: choose by device."""

    device: str | None
    timer: str
    baselines: tuple[str, ...]
    protocol: Protocol
    processes: int
    finalists: int
    compile_only: bool
    emulated_rows: int
    profile: Profile = NO_PROFILE
    devices: tuple[str, ...] = ()  # several, in place of `device`
    cache_given: bool = True  # not the op's own default


def check_options(rows: int) -> Callable[[F], F]:
    """`--check`, `--emulated-rows` (default `rows`); gives `emulated_rows: int`, 0 for a check on the device."""

    def decorate(f: F) -> F:
        @click.option(
            "--check",
            type=click.Choice(["device", "emulated"]),
            default="device",
            show_default=True,
            help="emulated: execute the assembly for AMD targets on the CPU, with no GPU and no times.",
        )
        @click.option(
            "--emulated-rows", type=click.IntRange(min=1), default=rows, show_default=True, help="Rows of each."
        )
        @functools.wraps(f)
        def wrapper(*args: Any, check: str, emulated_rows: int, **kwargs: Any) -> Any:
            return f(*args, emulated_rows=emulated_rows if check == "emulated" else 0, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate


def measure_options(f: F) -> F:
    """`--device`, `--timer`, `--baselines` and the protocol; gives `measure: MeasureChoice`."""

    @click.option("--device", metavar="URI", help="IREE device URI, such as cuda://0 (default: the target's).")
    @click.option("--timer", default="auto", show_default=True, help="cupti, batched, host, hal, rocprofv3 ...")
    @click.option(
        "--baselines",
        "baseline_names",
        default="auto",
        show_default=True,
        help="numpy, torch, cub ..., published, none.",
    )
    @click.option("--processes", type=click.IntRange(min=0), default=3, show_default=True, help="Final processes.")
    @click.option("--finalists", type=click.IntRange(min=1), default=4, show_default=True, help="Timed again in them.")
    @click.option("--warmup", type=click.IntRange(min=0), default=100, show_default=True, help="Warm-up invocations.")
    @click.option(
        "--invocations", type=click.IntRange(min=1), default=500, show_default=True, help="Timed invocations."
    )
    @click.option(
        "--seconds", type=Seconds(), default=1.0, show_default=True, help="Most seconds of a candidate's time."
    )
    @click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Interleaved rounds.")
    @click.option("--cache", help="hot, cold, or hot,cold.  [default: hot; gemv: cold,hot]")
    @click.option("--compile-only", is_flag=True, help="Compile and read the evidence; run nothing.")
    @check_options(rows=1)
    @functools.wraps(f)
    def wrapper(
        *args: Any,
        device: str | None,
        timer: str,
        baseline_names: str,
        processes: int,
        finalists: int,
        warmup: int,
        invocations: int,
        seconds: float,
        rounds: int,
        cache: str | None,
        compile_only: bool,
        emulated_rows: int,
        **kwargs: Any,
    ) -> Any:
        protocol = Protocol(
            warmup=warmup, invocations=invocations, seconds=seconds, rounds=rounds, cache=_policies(cache or "hot")
        )
        choice = MeasureChoice(
            device=device,
            timer=timer,
            baselines=names(baseline_names),
            protocol=protocol,
            processes=processes,
            finalists=finalists,
            compile_only=compile_only or emulated_rows > 0,
            emulated_rows=emulated_rows,
            cache_given=cache is not None,
        )
        return f(*args, measure=choice, **kwargs)

    return wrapper  # type: ignore[return-value]


def devices_option(f: F) -> F:
    """`--devices`: goes below `measure_options`, whose `measure` it completes."""

    @click.option("--devices", metavar="URI,URI[...]", help="Several devices: each measures problems of its own.")
    @functools.wraps(f)
    def wrapper(*args: Any, devices: str | None, measure: MeasureChoice, **kwargs: Any) -> Any:
        if devices is None:
            return f(*args, measure=measure, **kwargs)
        uris = names(devices)
        if not uris:
            raise UsageError("--devices names no device; write cuda://0,cuda://1")
        if measure.device is not None:
            raise UsageError("--device and --devices exclude each other; leave one out")
        if len(set(uris)) < len(uris):
            twice = next(u for u in uris if uris.count(u) > 1)
            raise UsageError(f"--devices names {twice} twice; a device runs one job at a time")
        return f(*args, measure=replace(measure, device=uris[0], devices=uris), **kwargs)

    return wrapper  # type: ignore[return-value]


def profile_options(f: F) -> F:
    """`--pmc`, `--att`: goes below `measure_options`, whose `measure` it completes."""

    @click.option("--pmc", metavar="NAME[,NAME...]", help="Then collect counters of each best, by rocprofv3: no times.")
    @click.option("--att", is_flag=True, help="Then trace the threads of each best, by rocprofv3: no times.")
    @functools.wraps(f)
    def wrapper(*args: Any, pmc: str | None, att: bool, measure: MeasureChoice, **kwargs: Any) -> Any:
        if pmc is not None and not names(pmc):
            raise UsageError("--pmc names no counter; write SQ_WAVES,TCC_HIT_sum (rocprofv3-avail list has them)")
        return f(*args, measure=replace(measure, profile=Profile(names(pmc), att)), **kwargs)

    return wrapper  # type: ignore[return-value]


def _policies(text: str) -> tuple[CachePolicy, ...]:
    known: dict[str, CachePolicy] = {"hot": "hot", "cold": "cold"}
    chosen = names(text)
    for name in chosen:
        if name not in known:
            raise UnknownNameError("cache policy", name, known)
    if not chosen:
        raise UsageError("--cache needs hot, cold, or hot,cold")
    return tuple(known[n] for n in chosen)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sweep keeps its files, and how it compiles. `db` is the store; `out` holds specs and tables.

    `compile_s` is the most seconds of one compiler: good kernels take half a second, what needs more than 20 s hangs.
    """

    db: Path
    out: Path
    jobs: int | None
    compile_s: float
    fresh: bool
    quiet: bool

    def prepare(self) -> None:
        """Makes the output folder; raises OutputError that names it when it cannot be written."""
        probe = self.out / ".writable"
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink(missing_ok=True)
        except OSError as e:
            raise OutputError(f"cannot write {self.out}: {e.strerror}; name another folder with --out") from e
        if self.db.parent != self.out and not self.db.parent.is_dir():
            try:
                self.db.parent.mkdir(parents=True)
            except OSError as e:
                raise OutputError(f"cannot make {self.db.parent}: {e.strerror}; name another place with --db") from e


def place_options(f: F) -> F:
    """`--out`, `--db`, `--jobs`, `--compile-timeout`, `--fresh`, `--quiet`; gives `place: Place`."""

    @click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=DEFAULT_OUT,
        show_default=True,
        help="Output folder.",
    )
    @click.option("--db", type=click.Path(path_type=Path), help="The store (default: OUT/ireebench.db).")
    @click.option("--jobs", type=click.IntRange(min=1), help="Compilers at once (default: the cores).")
    @click.option(
        "--compile-timeout",
        "compile_s",
        type=Seconds(),
        default=20.0,
        show_default=True,
        help="Most seconds of a compiler.",
    )
    @click.option("--fresh", is_flag=True, help="Measure again what the store already holds.")
    @click.option("--quiet", is_flag=True, help="No progress on stderr.")
    @functools.wraps(f)
    def wrapper(
        *args: Any,
        out: Path,
        db: Path | None,
        jobs: int | None,
        compile_s: float,
        fresh: bool,
        quiet: bool,
        **kwargs: Any,
    ) -> Any:
        place = Place(db or out / "ireebench.db", out, jobs, compile_s, fresh, quiet)
        return f(*args, place=place, **kwargs)

    return wrapper  # type: ignore[return-value]

"""From the options of a sweep, or a definition file, to a request; mistakes are raised here, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from ireebench.cli.sweep_options import DEFAULT_LIMIT, MeasureChoice, Space
from ireebench.errors import BadFileError, MissingToolError, UnknownNameError, UsageError
from ireebench.measure.job import CachePolicy, Protocol
from ireebench.problems.problem import OPS, Op, Problem
from ireebench.problems.select import Selection
from ireebench.sweep.request import ConfigSource, Measuring, Request
from ireebench.targets import Target, find_target
from ireebench.variants import VARIANTS, Variant, find_variant

if TYPE_CHECKING:
    from ireebench.sweep.definition import Definition


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asked for. `definition` is the file behind `--file`, already merged into the rest."""

    op: str
    problems: tuple[Problem, ...]
    space: Space
    measure: MeasureChoice
    definition: Definition | None = None


@dataclass(frozen=True, slots=True)
class What:
    """What a command line says to sweep: an op and its problems, or the definition file that names both."""

    op: str | None
    selection: Selection
    file: str | None


def asked_by(context: click.Context, what: What, space: Space, measure: MeasureChoice) -> Asked:
    """What OP and its problems, or `--file`, ask for; raises UsageError for both or neither."""
    if what.file is not None:
        if what.op is not None:
            raise UsageError(f"--file says what to sweep: leave '{what.op}' out")
        return asked_by_file(context, what.file, space, measure)
    if what.op is None:
        raise UsageError(f"{context.info_name} needs an op ({', '.join(OPS)}) or --file")
    if what.op not in OPS:
        raise UnknownNameError("op", what.op, OPS)
    return asked_by_options(what.op, what.selection, space, measure)


def asked_by_options(op: str, selection: Selection, space: Space, measure: MeasureChoice) -> Asked:
    """Problems from the options alone."""
    from ireebench.problems.select import select

    return Asked(op, select(op, selection), space, _defaulted(op, measure))


def _defaulted(op: str, measure: MeasureChoice) -> MeasureChoice:
    """A decoder reads a weight once and then others: a GEMV's own default is cold, with hot beside it."""
    if measure.cache_given or op != "gemv":
        return measure
    return replace(measure, protocol=replace(measure.protocol, cache=("cold", "hot")))


def asked_by_file(context: click.Context, name: str, space: Space, measure: MeasureChoice) -> Asked:
    """A definition file's sweep (a path, or the name of one that comes with ireebench).

    What is given on the command line as well wins over the file.
    """
    from ireebench.sweep.definition import find_definition, load_definition

    d = load_definition(find_definition(name))
    if space.near is not None and (d.configs is not None or d.knobs):
        key = "configs" if d.configs is not None else "knobs"
        raise UsageError(
            f"--near and the key '{key}' of {d.path} exclude each other: neighbours, or what the file lists"
        )

    def given(option: str) -> bool:
        return context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE

    space = replace(
        space,
        target=d.target.name if d.target and not given("target") else space.target,
        variants=tuple(v.name for v in d.variants) if d.variants and not given("variant_names") else space.variants,
        limit=d.limit if d.limit and not given("limit") else space.limit,
        seed=space.seed if given("seed") else d.seed,
    )
    wanted = d.protocol
    kept = {n: v for n in ("warmup", "invocations", "seconds", "rounds") if (v := getattr(wanted, n)) and not given(n)}
    protocol = replace(measure.protocol, **kept)
    if wanted.cache and not given("cache"):
        protocol = replace(protocol, cache=_policies(wanted.cache))
    measure = replace(
        measure,
        timer=d.timer if d.timer and not given("timer") else measure.timer,
        baselines=d.baselines if d.baselines is not None and not given("baseline_names") else measure.baselines,
        processes=measure.processes if wanted.processes is None or given("processes") else wanted.processes,
        finalists=measure.finalists if wanted.finalists is None or given("finalists") else wanted.finalists,
        protocol=protocol,
        cache_given=measure.cache_given or bool(wanted.cache),
    )
    return Asked(d.op, d.problems, space, _defaulted(d.op, measure), d)


def _policies(names: tuple[str, ...]) -> tuple[CachePolicy, ...]:
    known: dict[str, CachePolicy] = {"hot": "hot", "cold": "cold"}
    return tuple(known[n] for n in names)


def resolve_target(name: str, device: str | None) -> Target:
    """The target asked for; "auto" is that of `device`, or of the best device present (hip, cuda, cpu)."""
    if name != "auto":
        return find_target(name)
    from ireebench.measure.device import auto_device, kind_of

    try:
        return find_target(kind_of(device or auto_device()))
    except ValueError as e:
        raise UsageError(f"--device: {e}") from e


def require_assembly(target: Target) -> None:
    """Raises UsageError for a target whose code the emulator can't execute."""
    if target.backend != "hip":
        raise UsageError(f"--check emulated executes AMD assembly; target {target.name} has none")


def resolve_variants(op: str, asked: tuple[str, ...], target: Target) -> tuple[Variant, ...]:
    """The variants asked for, or all that the op has (the shuffle ones only when asked for: they double a sweep)."""
    if asked:
        return tuple(find_variant(n) for n in asked)
    usual = [v for v in VARIANTS.values() if v.comparator == "ballot" and v.serves(op, target.backend)]
    return tuple(usual)


def resolve_measuring(choice: MeasureChoice, space: Space, target: Target) -> Measuring:
    """How to measure on this machine; raises MissingToolError when the target has no device here."""
    from ireebench.measure.device import URIS, describe, kind_of
    from ireebench.measure.timers.table import missing, refuses, resolve

    device = choice.device or URIS[target.backend]
    try:
        kind = kind_of(device)
        describe(device)
        timer = resolve(choice.timer, device)
    except MissingToolError as e:
        raise MissingToolError(f"target {target.name}: {e}; --compile-only needs no device") from e
    except ValueError as e:
        raise UsageError(str(e)) from e
    except LookupError as e:
        raise MissingToolError(str(e)) from e
    if kind != target.backend:
        raise UsageError(f"target {target.name} does not run on device '{device}'; leave --device out or mend --target")
    problem = missing(timer, device)
    if problem is not None:
        raise MissingToolError(problem)
    protocol = replace(choice.protocol, seed=space.seed)
    if not choice.cache_given:  # a default is what the timer serves of it
        served = tuple(c for c in protocol.cache if refuses(timer, (c,)) is None)
        protocol = replace(protocol, cache=served or protocol.cache)
    refusal = refuses(timer, protocol.cache)
    if refusal is not None:
        raise UsageError(refusal)
    return Measuring(
        device, timer, search_protocol(protocol, choice.processes), protocol, choice.processes, choice.finalists
    )


def resolve_devices(choice: MeasureChoice, space: Space, target: Target) -> Measuring:
    """As `resolve_measuring`, for each of several devices of one kind and model."""
    from ireebench.measure.device import describe

    first = resolve_measuring(choice, space, target)
    if len(choice.devices) < 2:
        return first
    model = describe(first.device).name
    for device in choice.devices[1:]:
        resolve_measuring(replace(choice, device=device, timer=first.timer), space, target)
        if describe(device).name != model:
            raise UsageError(
                f"--devices: {first.device} is {model}, {device} is {describe(device).name}; "
                "a sweep ranks what one model measured: sweep them apart"
            )
    return replace(first, devices=choice.devices)


def require_one_kind(devices: tuple[str, ...]) -> None:
    """Raises UsageError for a list that mixes kinds, or names what ireebench does not measure on."""
    from ireebench.measure.device import kind_of

    try:
        kinds = {kind_of(uri): uri for uri in reversed(devices)}
    except ValueError as e:
        raise UsageError(f"--devices: {e}") from e
    if len(kinds) > 1:
        mixed = " and ".join(f"{uri} ({kind})" for kind, uri in reversed(kinds.items()))
        raise UsageError(f"--devices mixes {mixed}; a sweep has one target: sweep them apart")


def search_protocol(final: Protocol, processes: int) -> Protocol:
    """A fifth of the final one: enough to tell the finalists from the rest, which are not quoted.

    Where final processes follow, under the first cache policy alone: it is the one that picks the finalists.
    """
    return replace(
        final,
        warmup=-(-final.warmup // 5),
        invocations=max(final.min_samples, final.invocations // 5),
        seconds=final.seconds / 5,
        rounds=min(3, final.rounds),
        cache=final.cache[:1] if processes else final.cache,
    )


def _op(name: str) -> Op:
    found: dict[str, Op] = {o: o for o in OPS}
    return found[name]


def make_request(asked: Asked, fresh: bool) -> Request:
    """The request for this machine."""
    space, measure = asked.space, asked.measure
    require_one_kind(measure.devices)
    target = resolve_target(space.target, measure.device)
    measuring = None if measure.compile_only else resolve_devices(measure, space, target)
    return _request(asked, target, measuring, fresh)


def make_remote_request(asked: Asked) -> Request:
    """As `make_request` for a device on another machine: what is there is found out when the bundle runs."""
    from ireebench.measure.device import URIS
    from ireebench.measure.timers.table import find_timer

    space, measure = asked.space, asked.measure
    target = resolve_target(space.target, measure.device)
    timer = measure.timer if measure.timer == "auto" else find_timer(measure.timer).name
    if alone := _figures(measure):
        raise UsageError(f"{', '.join(alone)}: for a sweep on the GPU's own machine; leave it out of --baselines here")
    protocol = replace(measure.protocol, seed=space.seed)
    device = measure.device or URIS[target.backend]
    search = search_protocol(protocol, measure.processes)
    measuring = Measuring(device, timer, search, protocol, measure.processes, measure.finalists)
    return _request(asked, target, measuring, fresh=False)


def _figures(measure: MeasureChoice) -> tuple[str, ...]:
    """Baselines that are a single figure; vendors' programs run where something is measured."""
    from ireebench.measure.baselines.figures import PUBLISHED, chosen

    found = chosen(measure.baselines)
    return tuple(n for n in found if n == PUBLISHED) if measure.compile_only else found


def _require_profiler(measuring: Measuring | None) -> None:
    from ireebench.sweep.profile import unusable

    if measuring is None:
        raise UsageError("--pmc and --att need a device; leave --compile-only, --dry-run, --check emulated out")
    reason = unusable(measuring.device)
    if reason is not None:
        raise MissingToolError(reason)


def _refinement(asked: Asked, target: Target) -> ConfigSource:
    """The neighbours of what `--near` holds; raises BadFileError where nothing of the op was timed so.

    Says for which problems it holds nothing: their space is sampled, as without `--near`.
    """
    from ireebench.store.database import Store
    from ireebench.sweep.refine import refinement

    near, cache = asked.space.near, asked.measure.protocol.cache[0]
    assert near is not None
    with Store.open(near) as store:
        found = refinement(store.trials(op=asked.op), target, cache, asked.space.limit or DEFAULT_LIMIT)
    if not found.costs:
        raise BadFileError(f"{near}: holds no candidates of {asked.op} timed {cache} on {target.name} to search around")
    unknown = [p.id for p in asked.problems if p not in found.costs]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        click.echo(f"{near} holds nothing of {', '.join(unknown[:3])}{more}: their space is sampled", err=True)
    return found


def _request(asked: Asked, target: Target, measuring: Measuring | None, fresh: bool) -> Request:
    from ireebench.measure.baselines.table import expand
    from ireebench.measure.device import URIS
    from ireebench.sweep.static import parse_filter

    space, measure = asked.space, asked.measure
    if measure.emulated_rows:
        require_assembly(target)
    if space.where and target.backend != "hip":
        raise UsageError(f"--where reads AMD assembly; target {target.name} has none: leave it out")
    if measure.profile:
        _require_profiler(measuring)
    device = measuring.device if measuring is not None else URIS[target.backend]
    baselines = expand(measure.baselines, _op(asked.op), device)  # a wrong name is refused where none runs, too
    return Request(
        op=asked.op,
        problems=asked.problems,
        target=target,
        variants=resolve_variants(asked.op, space.variants, target),
        baselines=baselines if measuring is not None else (),
        named=frozenset(measure.baselines),
        config=space.config,
        limit=space.limit,
        seed=space.seed,
        measuring=measuring,
        fresh=fresh,
        where=parse_filter(space.where) if space.where else None,
        emulated_rows=measure.emulated_rows,
        profile=measure.profile,
        figures=_figures(measure),
        configs=_refinement(asked, target) if space.near else asked.definition,
        variants_named=bool(space.variants),
    )

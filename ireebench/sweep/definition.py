"""Sweep definitions: TOML files that say what to sweep, validated strictly and turned into problems and configs."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ireebench import resources
from ireebench.errors import BadFileError, UnknownNameError, UsageError
from ireebench.problems.problem import Op, Problem
from ireebench.problems.select import Selection, select
from ireebench.space.config import Config
from ireebench.space.knobs import Place, grid
from ireebench.targets import Target, find_target
from ireebench.variants import Variant, find_variant

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ireebench.sweep.definition_schema import File, ProtocolKeys


@dataclass(frozen=True, slots=True)
class ProtocolOverrides:
    """What a definition changes of the measurement protocol; None: as it is."""

    warmup: int | None = None
    invocations: int | None = None
    seconds: float | None = None
    rounds: int | None = None
    processes: int | None = None
    finalists: int | None = None
    cache: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """What a definition file asks for. None (or no variants): the command's own default.

    `target` None is "auto". `knobs` are values to try in place of the space's own; `configs` replace the whole space.
    """

    path: Path
    description: str
    op: Op
    problems: tuple[Problem, ...]
    variants: tuple[Variant, ...]
    target: Target | None
    limit: int | None
    seed: int
    timer: str | None
    baselines: tuple[str, ...] | None
    configs: tuple[Config, ...] | None
    knobs: tuple[tuple[str, tuple[int, ...]], ...]
    protocol: ProtocolOverrides

    def configs_for(self, place: Place) -> tuple[Config, ...] | None:
        """The configurations to try there in place of the space's own; None where the definition leaves it alone."""
        if self.configs is not None:
            return self.configs
        return tuple(grid(place, dict(self.knobs))) if self.knobs else None


def shipped() -> tuple[str, ...]:
    """The names of the definitions that come with ireebench."""
    return tuple(sorted(p.stem for p in resources.folder("sweeps").glob("*.toml")))


def find_definition(name: str) -> Path:
    """The file of a definition: a path, or the name of one that comes with ireebench; raises UnknownNameError."""
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return path
    if name not in shipped():
        raise UnknownNameError("sweep definition", name, shipped(), "or give the path of a .toml file")
    return resources.folder("sweeps") / f"{name}.toml"


def load_definition(path: Path) -> Definition:
    """Reads a definition. Raises BadFileError that names the file, the key or line, and what is allowed there."""
    from pydantic import ValidationError

    from ireebench.sweep.definition_schema import File

    try:
        file = File.model_validate(_read(path))
    except ValidationError as e:
        # A key that is misspelt is missing as well: the misspelling is the news.
        errors = sorted(e.errors(), key=lambda error: error["type"] != "extra_forbidden")
        raise BadFileError(f"{path}: {_first_error(errors[0])}") from None
    try:
        return _resolve(path, file)
    except BadFileError:
        raise
    except UsageError as e:
        raise BadFileError(f"{path}: {e}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as e:
        raise BadFileError(f"{path}: can't be read: {e.strerror or e}") from None
    except UnicodeDecodeError as e:
        raise BadFileError(f"{path}: byte {e.start} is not UTF-8; a sweep definition is TOML text") from None
    except RecursionError:
        raise BadFileError(f"{path}: nested too deep") from None
    except ValueError as e:  # also a number of thousands of digits
        raise BadFileError(f"{path}: not valid TOML: {e}") from None


def _first_error(error: ErrorDetails) -> str:
    from ireebench.sweep.definition_schema import ALLOWED, KEYS

    names = [str(part) for part in error["loc"] if isinstance(part, str)]
    table, key = ("", names[0]) if len(names) == 1 else (names[0], names[1])
    if error["type"] == "extra_forbidden":
        return f"unknown key '{'.'.join(names)}'; allowed{f' in {table}' if table else ''}: {', '.join(KEYS[table])}"
    allowed = "a list of positive whole numbers" if table == "knobs" else ALLOWED[key]
    if error["type"] == "missing":
        return f"key '{key}' is missing: {allowed}"
    return f"key '{'.'.join(names)}' is {str(error['input'])[:60]!r}; allowed: {allowed}"


def _resolve(path: Path, file: File) -> Definition:
    knobs = {} if file.knobs is None else file.knobs.model_dump(exclude_none=True)
    if knobs and file.configs is not None:
        raise UsageError("keys 'configs' and 'knobs' exclude each other")
    return Definition(
        path=path,
        description=file.description,
        op=file.op,
        problems=_problems(path, file),
        variants=tuple(find_variant(v) for v in file.variants or ()),
        target=None if file.target in (None, "auto") else find_target(file.target or ""),
        limit=file.limit,
        seed=file.seed,
        timer=file.timer,
        baselines=None if file.baselines is None else tuple(file.baselines),
        configs=None if file.configs is None else tuple(Config.parse(c) for c in file.configs),
        knobs=tuple((name.lower(), tuple(values)) for name, values in knobs.items()),
        protocol=_protocol(file.protocol),
    )


def _protocol(keys: ProtocolKeys | None) -> ProtocolOverrides:
    if keys is None:
        return ProtocolOverrides()
    return ProtocolOverrides(
        warmup=keys.warmup,
        invocations=keys.invocations,
        seconds=keys.seconds,
        rounds=keys.rounds,
        processes=keys.processes,
        finalists=keys.finalists,
        cache=None if keys.cache is None else tuple(keys.cache),
    )


def _problems(path: Path, file: File) -> tuple[Problem, ...]:
    ways = ("models", "suite", "shapes", "problems")
    given = [name for name in ways if getattr(file, name) is not None]
    if len(given) != 1:
        raise UsageError(
            f"give exactly one of the keys {', '.join(ways)}; this file gives {', '.join(given) or 'none'}"
        )
    selections = [
        Selection(
            models=",".join(file.models) if file.models is not None else None,
            suite=file.suite,
            shape=shape,
            dtype=file.dtype,
            index_dtype=file.index_dtype or "i64",
            problems_file=path.parent / file.problems if file.problems is not None else None,
            padded=file.padded,
        )
        for shape in file.shapes or (None,)
    ]
    return tuple(dict.fromkeys(problem for selection in selections for problem in select(file.op, selection)))

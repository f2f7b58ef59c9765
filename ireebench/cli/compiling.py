"""What the commands share that compile a user's own file: reading it, its flags, and the limits."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ireebench.errors import BadFileError, UsageError

if TYPE_CHECKING:
    from ireebench.compiler.driver import Compiler
    from ireebench.targets import Target

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """For which target, with which extra flags, and under which limits a file is compiled."""

    target_name: str
    extra_flags: tuple[str, ...]
    time_s: float
    memory_gb: float
    folder: Path | None

    @property
    def target(self) -> Target:
        """The target; raises UnknownNameError."""
        from ireebench.targets import find_target

        return find_target(self.target_name)

    def compiler(self) -> Compiler:
        """A compiler with these limits; it runs one process at a time."""
        from ireebench.compiler.cache import default_cache
        from ireebench.compiler.driver import Compiler
        from ireebench.compiler.spawner import Limits

        return Compiler(self.folder or default_cache(), Limits(self.time_s, round(self.memory_gb * 1e9)))


def setting(f: F) -> F:
    """`--target`, `--flags`, `--time-limit`, `--memory-limit`, `--cache-dir`; the command receives `setting`."""

    @click.option(
        "--target", default="gfx942", show_default=True, metavar="NAME", help="gfx942, gfx1100, sm_89, cpu ..."
    )
    @click.option("--flags", default="", metavar="'FLAG ...'", help="Compiler flags beyond the target's own.")
    @click.option(
        "--time-limit",
        metavar="SECONDS",
        type=click.FloatRange(0, min_open=True),
        default=60.0,
        show_default=True,
        help="Give up a compile after this long.",
    )
    @click.option(
        "--memory-limit",
        metavar="GB",
        type=click.FloatRange(0.5),
        default=12.0,
        show_default=True,
        help="What the compiler may allocate.",
    )
    @click.option("--cache-dir", metavar="DIR", type=click.Path(path_type=Path), help="Where compiles are kept.")
    @functools.wraps(f)
    def wrapper(
        *args: Any,
        target: str,
        flags: str,
        time_limit: float,
        memory_limit: float,
        cache_dir: Path | None,
        **kwargs: Any,
    ) -> Any:
        chosen = Setting(target, split_flags(flags), time_limit, memory_limit, cache_dir)
        return f(*args, setting=chosen, **kwargs)

    return wrapper  # type: ignore[return-value]


def read_text(path: Path, what: str) -> str:
    """A file of the user's, which should be `what`; raises BadFileError that names it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadFileError(f"{path}: no such file; give {what}") from None
    except IsADirectoryError:
        raise BadFileError(f"{path} is a folder; give {what}") from None
    except UnicodeDecodeError:
        raise BadFileError(f"{path} is not text; give {what} as text (iree-ir-tool converts bytecode)") from None
    except OSError as e:
        raise BadFileError(f"cannot read {path}: {e.strerror or e}") from None
    if not text.strip():
        raise BadFileError(f"{path} is empty; give {what}")
    return text


def split_flags(flags: str) -> tuple[str, ...]:
    """`--flags`, split as a shell would; raises UsageError for an open quote or a word that is no flag."""
    try:
        words = tuple(shlex.split(flags))
    except ValueError as e:
        raise UsageError(f"--flags {flags!r}: {e}") from None
    wrong = next((w for w in words if not w.startswith("-")), None)
    if wrong is not None:
        raise UsageError(f"--flags: '{wrong}' is no compiler flag; write --name=value")
    return words

"""Problems of the user's own, from a TOML file, validated strictly."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ireebench.errors import BadFileError, UsageError
from ireebench.problems.catalogue import catalogue
from ireebench.problems.problem import Problem
from ireebench.problems.validate import ELEMENT_TYPES, INDEX_LIMITS, OUT_TYPES, own_problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_FILE_BYTES = 1_000_000
_KEYS = ("id", "op", "shape", "dtype", "index_dtype", "dimension", "out_dtype", "layout", "model", "source")
_OPS = tuple(ELEMENT_TYPES)
# Keys that only these ops have.
_ONLY: dict[str, tuple[str, ...]] = {
    "index_dtype": ("argmax", "argmin"),
    "dimension": ("argmax", "argmin"),
    "out_dtype": ("gemv",),
    "layout": ("gemv",),
}
# What each key may be, for messages.
_ALLOWED: dict[str, str] = {
    "id": "a name of lower-case letters, digits, '.', '_' and '-', at most 64 characters",
    "op": f"one of {', '.join(_OPS)}",
    "shape": "a list of 1 to 4 positive integers, such as [32, 131072]",
    "dtype": f"one of {', '.join(ELEMENT_TYPES['argmax'])} (argmax, argmin), {', '.join(ELEMENT_TYPES['gemv'])} (gemv)",
    "index_dtype": f"one of {', '.join(INDEX_LIMITS)}",
    "dimension": "the last dimension's number (the reduced one), or -1",
    "out_dtype": f"one of {', '.join(OUT_TYPES)} (gemv)",
    "layout": "nk or kn (gemv)",
    "model": "text",
    "source": "text",
}


def read_problems(path: Path) -> tuple[Problem, ...]:
    """All problems of a TOML file of `[[problem]]` tables.

    Raises BadFileError that names the file and the line (malformed TOML) or the key and what is allowed.
    """
    from pydantic import BaseModel, ConfigDict, Field, ValidationError

    class Row(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
        op: Literal["argmax", "argmin", "gemv"]
        shape: list[int] = Field(min_length=1)
        dtype: str
        index_dtype: str | None = None
        dimension: int | None = None
        out_dtype: str | None = None
        layout: Literal["nk", "kn"] | None = None
        model: str = "custom"
        source: str | None = None

    class File(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        problem: list[Row] = Field(min_length=1)

    try:
        rows = File.model_validate(_load(path)).problem
    except ValidationError as e:
        raise BadFileError(f"{path}: {_first_error(e.errors()[0])}") from None
    problems: list[Problem] = []
    for i, r in enumerate(rows):
        where = f"{path}: problem[{i}] '{r.id}'"
        _check_keys(where, r.op, len(r.shape), {k: getattr(r, k) for k in _ONLY})
        if any(p.id == r.id and p.op == r.op for p in problems):
            raise BadFileError(f"{where}: this id is there twice for {r.op}; ids are unique with their op")
        if any(e.id == r.id for e in catalogue(r.op)):
            raise BadFileError(f"{where}: the catalogue has a problem of this id; choose another")
        try:
            problem = own_problem(
                Problem(
                    id=r.id,
                    op=r.op,
                    shape=tuple(r.shape),
                    dtype=r.dtype,
                    index_dtype=r.index_dtype or "i64",
                    out_dtype=r.out_dtype,
                    layout=r.layout,
                    model=r.model,
                    source=r.source or str(path),
                )
            )
        except UsageError as e:
            raise BadFileError(f"{where}: {e}") from None
        problems.append(problem)
    return tuple(problems)


def _load(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise BadFileError(f"{path}: {size} bytes; a problem file has at most {MAX_FILE_BYTES}")
        text = path.read_bytes().decode("utf-8")
    except OSError as e:
        raise BadFileError(f"{path}: can't be read: {e.strerror or e}") from None
    except UnicodeDecodeError as e:
        raise BadFileError(f"{path}: byte {e.start} is not UTF-8; a problem file is TOML text") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        what = str(e).replace("end of document", f"end of document, line {text.count(chr(10)) + 1}")
        raise BadFileError(f"{path}: not valid TOML: {what}") from None
    except RecursionError:
        raise BadFileError(f"{path}: nested too deep") from None
    except ValueError as e:  # a number of thousands of digits
        raise BadFileError(f"{path}: not valid TOML: {e}") from None


def _first_error(error: ErrorDetails) -> str:
    location = error["loc"]
    if not location or location == ("problem",) or location[0] != "problem":
        key = f"key '{location[0]}': " if location else ""
        return f"{key}a problem file is made of [[problem]] tables, one or more, and nothing else"
    where = f"problem[{location[1]}]"
    if len(location) < 3:
        return f"{where}: a [[problem]] table has keys {', '.join(_KEYS)}"
    key = str(location[2])
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key '{key}'; allowed: {', '.join(_KEYS)}"
    if error["type"] == "missing":
        return f"{where}: key '{key}' is missing: {_ALLOWED[key]}"
    return f"{where}: key '{key}' is {str(error['input'])[:60]!r}; allowed: {_ALLOWED[key]}"


def _check_keys(where: str, op: str, rank: int, values: Mapping[str, object]) -> None:
    """Refuses keys that make no sense for the op, and a reduction over another dimension than the last."""
    for key, ops in _ONLY.items():
        if values[key] is not None and op not in ops:
            raise BadFileError(f"{where}: key '{key}' makes no sense for {op}")
    if values["dimension"] not in (None, rank - 1, -1):
        raise BadFileError(
            f"{where}: key 'dimension' is {values['dimension']}; only the last dimension ({rank - 1}) is reduced: "
            "transpose the problem"
        )

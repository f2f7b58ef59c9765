"""Turns what the user asked for (names, a suite, a shape, a file) into problems, or says in one line what is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from heapq import nlargest
from pathlib import Path

from ireebench.errors import BadShapeError, UnknownNameError, UsageError
from ireebench.problems.catalogue import SUITES, catalogue
from ireebench.problems.problem import Op, Problem
from ireebench.problems.validate import ELEMENT_TYPES, check_element_type, check_memory, own_problem, validate


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--models`, `--suite`, `--shape`, `--dtype`, `--index-dtype`, `--problems` and `--padded` said."""

    models: str | None = None
    suite: str | None = None
    shape: str | None = None
    dtype: str | None = None
    index_dtype: str = "i64"
    problems_file: Path | None = None
    padded: bool = True


def select(op: str, selection: Selection) -> tuple[Problem, ...]:
    """The problems of `op` that `selection` asks for, without repeats, in catalogue order.

    `--dtype` and `--index-dtype` given with names replace the catalogue's types; the id then says so. Raises UsageError
    (or a subclass) with one line: unknown names, malformed or too large shapes, types that don't fit.
    """
    checked_op = _op(op)
    ways = {
        "--models": selection.models,
        "--suite": selection.suite,
        "--shape": selection.shape,
        "--problems": selection.problems_file,
    }
    given = [k for k, v in ways.items() if v is not None]
    if not given:
        raise UsageError(
            f"which {op} problems? give --models llama3, --suite published, --shape "
            f"{'4096x4096' if op == 'gemv' else '32x131072'} --dtype bf16, or --problems FILE.toml "
            f"(ireebench models {op} lists the catalogue)"
        )
    if len(given) > 1 and given != ["--models", "--problems"]:
        raise UsageError(f"{' and '.join(given)} exclude each other; give one (or --models with --problems)")
    if selection.shape is not None:
        found: tuple[Problem, ...] = (_ad_hoc(checked_op, selection.shape, selection.dtype, selection.index_dtype),)
    else:
        found = tuple(_retyped(p, selection.dtype, selection.index_dtype) for p in _named(checked_op, selection))
    for problem in found:
        validate(problem)
        check_memory(problem)
    return found


def match_names(pattern_list: str, ids: Sequence[str], hint: str = "ireebench models lists all") -> tuple[str, ...]:
    """The ids that a comma list of names, prefixes, globs or `all` means, in the order of `ids`.

    A name that is an id means only that one; else it means the ids that go on with '-' after it (`llama3` is not
    `llama3.1-8b`). Raises UnknownNameError with the nearest names for one that matches nothing.
    """
    names = [n.strip() for n in pattern_list.split(",") if n.strip()]
    if not names:
        raise UsageError("no model name given; name models, globs or 'all' (ireebench models lists all)")
    wanted: set[str] = set()
    for name in names:
        found = _match(name.lower(), ids)
        if not found:
            raise UnknownNameError("model", name, nearest_models(name.lower(), ids), hint)
        wanted.update(found)
    return tuple(i for i in ids if i in wanted)


def _match(name: str, ids: Sequence[str]) -> list[str]:
    if name == "all":
        return list(ids)
    if name in ids:
        return [name]
    if any(c in name for c in "*?["):
        return [i for i in ids if fnmatchcase(i, name)]
    return [i for i in ids if i.startswith(f"{name}-")]


def nearest_models(name: str, ids: Sequence[str]) -> list[str]:
    """The ids of three models whose name, or a prefix of it that would match, is closest."""

    def closeness(candidate: str) -> float:
        parts = candidate.split("-")
        stems = ["-".join(parts[:i]) for i in range(1, len(parts) + 1)]
        return max(SequenceMatcher(None, name, stem).ratio() for stem in stems)

    # One id a model: gemv has a dozen of each.
    per_model = {tuple(i.split("-")[:2]): i for i in reversed(ids) if not i.endswith("-batch")}
    return nlargest(3, reversed(per_model.values()), key=closeness)


def _op(op: str) -> Op:
    ops: dict[str, Op] = {"argmax": "argmax", "argmin": "argmin", "gemv": "gemv"}
    if op not in ops:
        raise UnknownNameError("op", op, ops)
    return ops[op]


def _named(op: Op, selection: Selection) -> tuple[Problem, ...]:
    entries = catalogue(op)
    if selection.suite is not None:
        if selection.suite not in SUITES:
            raise UnknownNameError("suite", selection.suite, SUITES)
        members = tuple(e.problem(selection.padded) for e in entries if selection.suite in e.suites)
        if not members:
            raise UsageError(f"suite '{selection.suite}' has no {op} problems: it is {SUITES[selection.suite]}")
        return members
    own: tuple[Problem, ...] = ()
    if selection.problems_file is not None:
        from ireebench.problems.userfile import read_problems

        own = tuple(p for p in read_problems(selection.problems_file) if p.op == op)
        if selection.models is None:
            if not own:
                raise UsageError(f"{selection.problems_file}: no {op} problem in this file")
            return own
    assert selection.models is not None
    known = {e.id: e.problem(selection.padded) for e in entries} | {p.id: p for p in own}
    ids = match_names(selection.models, list(known), hint=f"ireebench models {op} lists all")
    return tuple(known[i] for i in ids)


def _retyped(problem: Problem, dtype: str | None, index_dtype: str) -> Problem:
    changes: dict[str, str] = {}
    if dtype is not None and dtype != problem.dtype:
        check_element_type(problem.op, dtype)
        changes["dtype"] = dtype
    if problem.op != "gemv" and index_dtype not in (problem.index_dtype, "i64"):
        changes["index_dtype"] = index_dtype
    if not changes:
        return problem
    note = ", ".join(changes.values())
    return replace(
        problem,
        id="-".join([problem.id, *changes.values()]),
        source=f"{problem.source}; {note} by the command line",
        dtype=changes.get("dtype", problem.dtype),
        index_dtype=changes.get("index_dtype", problem.index_dtype),
    )


def parse_shape(text: str) -> tuple[int, ...]:
    """`32x131072` as (32, 131072); raises BadShapeError for anything but positive integers joined by x."""
    if not re.fullmatch(r"[+-]?[0-9]{1,30}(x[+-]?[0-9]{1,30})*", text):
        raise BadShapeError(f"shape '{text[:60]}' is malformed; write positive sizes joined by x, such as 32x131072")
    return tuple(int(d) for d in text.split("x"))


def _ad_hoc(op: Op, text: str, dtype: str | None, index_dtype: str) -> Problem:
    if dtype is None:
        raise UsageError(f"--shape {text[:60]} needs --dtype: one of {', '.join(ELEMENT_TYPES[op])}")
    check_element_type(op, dtype)
    shape = parse_shape(text)
    parts = ["custom", "x".join(map(str, shape)), dtype]
    if op != "gemv" and index_dtype != "i64":
        parts.append(index_dtype)
    return own_problem(Problem("-".join(parts), op, shape, dtype, index_dtype))

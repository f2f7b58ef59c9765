"""A measuring job, as the worker reads it from `job.json`. Standard library only: it travels in bundles."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ireebench.problems.problem import Problem

CachePolicy = Literal["hot", "cold"]
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Protocol:
    """How samples are taken. Defaults: the measurement policy in docs/method.md.

    A candidate is warmed up `warmup` times, then sampled `invocations` times, each stopping after `seconds` of its own
    time but never below `min_samples`; samples are spread over `rounds` in which all entries take turns in a seeded
    order. `repeat_check` is how often the same input is run to catch results that differ between runs.
    """

    warmup: int = 100
    invocations: int = 500
    seconds: float = 1.0
    min_samples: int = 10
    rounds: int = 5
    seed: int = 0
    cache: tuple[CachePolicy, ...] = ("hot",)
    repeat_check: int = 3
    entry_timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to measure: an artifact (`vmfb`, `function`) or a baseline (`baseline`).

    `key` is unique in the job. `kernels` are the symbols that one invocation dispatches, in order, where known: timers
    that see kernels attribute by them. `vmfb` is relative to the job's folder.
    """

    key: str
    vmfb: str | None = None
    function: str | None = None
    kernels: tuple[str, ...] = ()
    baseline: str | None = None
    always: bool = False
    ships: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that share one problem, and so one input."""

    problem: Problem
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything a worker needs. `device` is an IREE device URI ("local-task", "cuda://0", "hip://0").

    `process` numbers the repetition: figures that are quoted come from several processes.
    """

    device: str
    timer: str
    protocol: Protocol
    groups: tuple[Group, ...]
    process: int = 0
    cache_bytes: int | None = None
    schema_version: int = SCHEMA_VERSION
    options: tuple[tuple[str, str], ...] = field(default=())

    def to_json(self) -> str:
        """Stable JSON text."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    @classmethod
    def read(cls, path: Path) -> Job:
        """Reads `job.json`; raises ValueError that names the file when it is no job of this version."""
        try:
            return cls.of(json.loads(path.read_text()))
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as e:
            raise ValueError(f"{path}: not a measuring job: {e}") from e

    @classmethod
    def of(cls, data: dict[str, Any]) -> Job:
        """A job from its JSON values; raises KeyError, TypeError or ValueError for what is none."""
        if data["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version {data['schema_version']}, this ireebench reads {SCHEMA_VERSION}")
        groups = tuple(
            Group(
                Problem(**{**g["problem"], "shape": tuple(g["problem"]["shape"])}),
                tuple(Entry(**{**e, "kernels": tuple(e["kernels"])}) for e in g["entries"]),
            )
            for g in data["groups"]
        )
        protocol = Protocol(**{**data["protocol"], "cache": tuple(data["protocol"]["cache"])})
        rest = {k: data[k] for k in ("device", "timer", "process", "cache_bytes")}
        options = tuple((str(k), str(v)) for k, v in data["options"])
        return cls(protocol=protocol, groups=groups, options=options, **rest)

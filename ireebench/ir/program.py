"""A program: MLIR text, the spec that configures it, and the flags it is compiled with."""

from __future__ import annotations

from dataclasses import dataclass

from ireebench.candidate import Candidate


@dataclass(frozen=True, slots=True)
class StageConfig:
    """The configuration asked for one dispatch, to be compared with what the dumps say was applied.

    `input_shape` is what the configured op reads (after tiling into rows and splits): it tells one stage from another.
    """

    input_shape: tuple[int, ...]
    workgroup_threads: int
    subgroup_size: int
    subgroups: int
    partial_reduction: int
    thread_loads: int


@dataclass(frozen=True, slots=True)
class Program:
    """What goes to the compiler for one candidate.

    `mlir` is one function called `function`; its arguments are the problem's inputs and its results the outputs that
    `problems.ops` checks, in order. `spec` is a tuning spec's text, or None. `flags` are the compiler flags beyond the
    target's own, in order. `asked` has one entry a configured dispatch; empty where the compiler chooses.
    """

    candidate: Candidate
    function: str
    mlir: str
    spec: str | None
    flags: tuple[str, ...]
    asked: tuple[StageConfig, ...]

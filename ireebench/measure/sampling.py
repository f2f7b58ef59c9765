"""From invocations, as timers return them, to arrays, and back from the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ireebench.measure.result import KernelSamples, Samples
from ireebench.measure.timers.base import Invocation, KernelRecord


@dataclass(frozen=True, slots=True)
class Turn:
    """The samples of one entry in one round. `kernels` in the order of their first appearance in an invocation."""

    kernel_ns: Samples
    span_ns: Samples
    kernels: tuple[KernelSamples, ...] = ()

    def columns(self) -> list[Samples]:
        """The arrays, as `journal.write_samples` stores them."""
        return [self.kernel_ns, self.span_ns, *(k.ns for k in self.kernels)]

    def describe_kernels(self) -> list[dict[str, Any]]:
        """What is known of each kernel beside its samples, as JSON values."""
        return [{field: getattr(k, field) for field in _KERNEL_FIELDS} for k in self.kernels]

    @classmethod
    def restore(cls, columns: Sequence[Samples], kernels: Sequence[dict[str, Any]]) -> Turn:
        """The inverse of `columns` and `describe_kernels`."""
        kernel_ns, span_ns, *rest = columns
        return cls(kernel_ns, span_ns, tuple(_kernel(ns, k) for ns, k in zip(rest, kernels, strict=True)))


def _kernel(ns: Samples, fields: dict[str, Any]) -> KernelSamples:
    values: list[Any] = [tuple(v) if isinstance(v := fields[f], list) else v for f in _KERNEL_FIELDS]
    name, *rest = values
    return KernelSamples(name, ns, *rest)


_KERNEL_FIELDS = ("name", "registers", "local_bytes", "shared_bytes", "grid", "block")


def collect(invocations: Sequence[Invocation]) -> Turn:
    """Arrays of one turn's invocations.

    A kernel is told from another by its name and by how often that name came before it in the invocation: two launches
    of one kernel are two columns. Raises RuntimeError for a time that no invocation can have: then the timer is wrong.
    """
    for number, invocation in enumerate(invocations):
        if invocation.kernel_ns <= 0 or invocation.span_ns <= 0:
            raise RuntimeError(
                f"the timer returned {invocation.kernel_ns} ns (span {invocation.span_ns} ns) for invocation {number}"
            )
    seen: dict[tuple[str, int], list[int]] = {}
    first: dict[tuple[str, int], KernelRecord] = {}
    for invocation in invocations:
        counts: dict[str, int] = {}
        for record in sorted(invocation.records, key=lambda r: r.start_ns):
            key = (record.name, counts.get(record.name, 0))
            counts[record.name] = key[1] + 1
            seen.setdefault(key, []).append(record.end_ns - record.start_ns)
            first.setdefault(key, record)
    return Turn(
        np.array([i.kernel_ns for i in invocations], np.int64),
        np.array([i.span_ns for i in invocations], np.int64),
        tuple(
            KernelSamples(
                r.name, np.array(seen[key], np.int64), r.registers, r.local_bytes, r.shared_bytes, r.grid, r.block
            )
            for key, r in first.items()
        ),
    )


def merge(turns: Sequence[Turn]) -> Turn:
    """One entry's turns, end to end; kernels are joined by name and position among those of the same name."""
    columns: dict[tuple[str, int], list[KernelSamples]] = {}
    for turn in turns:
        counts: dict[str, int] = {}
        for kernel in turn.kernels:
            key = (kernel.name, counts.get(kernel.name, 0))
            counts[kernel.name] = key[1] + 1
            columns.setdefault(key, []).append(kernel)
    empty = np.empty(0, np.int64)
    return Turn(
        np.concatenate([empty, *(t.kernel_ns for t in turns)]),
        np.concatenate([empty, *(t.span_ns for t in turns)]),
        tuple(
            KernelSamples(
                k[0].name, np.concatenate([part.ns for part in k]), *(getattr(k[0], f) for f in _KERNEL_FIELDS[1:])
            )
            for k in columns.values()
        ),
    )

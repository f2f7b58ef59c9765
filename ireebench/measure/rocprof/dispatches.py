"""Kernel dispatches as columns, whatever profiler and version wrote them.

A trace of a real program has millions of rows and few distinct kernels, so names and launch shapes are stored once and
rows hold codes. Times are integer ns on the device's clock; a duration may be fractional (means over counter passes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Dim = tuple[int, int, int]
T = TypeVar("T")

# A kernel descriptor's symbol ends in ".kd": JSON keeps it; rocprof v1 appends " [clone .kd]" to demangled names.
_SUFFIX = re.compile(r"(?: \[clone \.kd\]|\.kd)$")
# ROCclr's own kernels: fills, copies and heap set-up that a runtime launches on a program's behalf.
HELPER_PREFIXES = ("__amd_rocclr_",)
_AGENT = re.compile(r"^(?:agent\s*)?(\d+)$", re.IGNORECASE)


def kernel_name(text: str) -> str:
    """The kernel's name without the descriptor's suffix; `$`, commas and templates stay as they are."""
    return _SUFFIX.sub("", text.strip())


def is_helper(name: str) -> bool:
    """Whether the runtime launched it (a fill, a copy), not the program."""
    return name.startswith(HELPER_PREFIXES)


def agent_name(text: str) -> str:
    """One spelling for an agent: 4, "4" and "Agent 4" are "4"; "GPU 0" stays "GPU 0".

    They are two numberings: absolute (agents count CPUs too: on an MI300A the first GPU is agent 4) and among the GPUs.
    Neither is the HIP device number, so they are never converted into each other.
    """
    stripped = text.strip()
    absolute = _AGENT.match(stripped)
    return absolute.group(1) if absolute else re.sub(r"\s+", " ", stripped)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel was launched and what it occupies; None: the format does not say (never 0 for unknown).

    `grid` counts work-items, as every rocprof does; `grid_workgroups` is what an engineer means by a grid.
    `lds_bytes` and `scratch_bytes` are per workgroup and per lane. LDS is rounded up to 512 bytes by rocprofv3.
    """

    workgroup: Dim | None = None
    grid: Dim | None = None
    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None

    @property
    def grid_workgroups(self) -> Dim | None:
        """Workgroups in each dimension; a partial one counts."""
        if self.grid is None or self.workgroup is None or 0 in self.workgroup:
            return None
        x, y, z = (-(-g // w) for g, w in zip(self.grid, self.workgroup, strict=True))
        return x, y, z


@dataclass(frozen=True, slots=True)
class Dispatches:
    """Columns of equal length: codes into `names`, `agents`, `processes` and `launches`, and times.

    `has_times` is False where a stamp is missing or no number; `duration_ns` is then meaningless. `queue` and `order`
    (the dispatch number) are 0 where the format has none. `process` is "" where the format does not name it.
    """

    names: tuple[str, ...]
    agents: tuple[str, ...]
    processes: tuple[str, ...]
    launches: tuple[Launch, ...]
    name: Ints
    agent: Ints
    process: Ints
    queue: Ints
    launch: Ints
    order: Ints
    start_ns: Ints
    end_ns: Ints
    duration_ns: Floats
    has_times: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.name)

    def take(self, rows: npt.NDArray[np.bool_] | Ints) -> Dispatches:
        """The chosen rows, in the order given."""
        columns = {c: getattr(self, c)[rows] for c in _COLUMNS}
        return Dispatches(self.names, self.agents, self.processes, self.launches, **columns)


_COLUMNS = ("name", "agent", "process", "queue", "launch", "order", "start_ns", "end_ns", "duration_ns", "has_times")


class Interner(Generic[T]):
    """Gives each distinct value a small number, in order of first sight."""

    def __init__(self) -> None:
        self.codes: dict[T, int] = {}

    def __call__(self, value: T) -> int:
        """The value's number."""
        return self.codes.setdefault(value, len(self.codes))

    @property
    def values(self) -> tuple[T, ...]:
        """The values, by number."""
        return tuple(self.codes)


@dataclass(frozen=True, slots=True)
class Row:
    """One dispatch, for formats that are read row by row. None: missing."""

    name: str
    agent: str
    queue: int
    start_ns: int | None
    end_ns: int | None
    launch: Launch
    process: str = ""
    order: int = 0
    duration_ns: float | None = None  # where it is not end minus start to the ns


def from_rows(rows: Iterable[Row]) -> Dispatches:
    """Columns from rows. A stamp that no clock shows (negative, or beyond 63 bits) counts as missing."""
    listed = [_sane(r) for r in rows]
    names, agents, processes = Interner[str](), Interner[str](), Interner[str]()
    launches = Interner[Launch]()
    stamped = np.array([r.start_ns is not None and r.end_ns is not None for r in listed], bool)
    start = np.array([r.start_ns or 0 for r in listed], np.int64)
    end = np.array([r.end_ns or 0 for r in listed], np.int64)
    duration = np.array(
        [
            r.duration_ns if r.duration_ns is not None else (r.end_ns or 0) - (r.start_ns or 0) if ok else 0.0
            for r, ok in zip(listed, stamped, strict=True)
        ],
        np.float64,
    )
    code = np.int64
    return Dispatches(
        name=np.array([names(kernel_name(r.name)) for r in listed], code),
        agent=np.array([agents(agent_name(r.agent)) for r in listed], code),
        process=np.array([processes(r.process) for r in listed], code),
        queue=np.array([r.queue for r in listed], code),
        launch=np.array([launches(r.launch) for r in listed], code),
        order=np.array([r.order for r in listed], code),
        start_ns=start,
        end_ns=end,
        duration_ns=duration,
        has_times=stamped,
        names=names.values,
        agents=agents.values,
        processes=processes.values,
        launches=launches.values,
    )


def _sane(row: Row) -> Row:
    stamps = (row.start_ns, row.end_ns)
    if all(t is None or 0 <= t < 2**63 for t in stamps) and 0 <= row.queue < 2**63 and 0 <= row.order < 2**63:
        return row
    start, end = (t if t is not None and 0 <= t < 2**63 else None for t in stamps)
    return replace(row, start_ns=start, end_ns=end, queue=row.queue % 2**63, order=row.order % 2**63)


def concatenate(parts: list[Dispatches]) -> Dispatches:
    """One table of several, with common codes."""
    if len(parts) == 1:
        return parts[0]
    names, agents, processes = Interner[str](), Interner[str](), Interner[str]()
    launches = Interner[Launch]()

    def recode(values: tuple[T, ...], column: Ints, intern: Interner[T]) -> Ints:
        table = np.array([intern(v) for v in values], np.int64)
        return table[column] if len(values) else column

    columns: dict[str, list[npt.NDArray[np.generic]]] = {c: [] for c in _COLUMNS}
    for p in parts:
        columns["name"].append(recode(p.names, p.name, names))
        columns["agent"].append(recode(p.agents, p.agent, agents))
        columns["process"].append(recode(p.processes, p.process, processes))
        columns["launch"].append(recode(p.launches, p.launch, launches))
        for c in ("queue", "order", "start_ns", "end_ns", "duration_ns", "has_times"):
            columns[c].append(getattr(p, c))
    whole: dict[str, npt.NDArray[np.generic]] = {
        c: np.concatenate(v) if v else np.empty(0, bool if c == "has_times" else np.int64) for c, v in columns.items()
    }
    return Dispatches(names.values, agents.values, processes.values, launches.values, **whole)  # type: ignore[arg-type]


def times_dropped(d: Dispatches) -> dict[str, npt.NDArray[np.bool_]]:
    """Rows that cannot be times, as masks by cause; a row has one cause at most."""
    missing = ~d.has_times
    backwards = d.has_times & (d.duration_ns < 0)
    zero = d.has_times & (d.duration_ns == 0)
    return {"missing timestamp": missing, "end before start": backwards, "zero duration": zero}

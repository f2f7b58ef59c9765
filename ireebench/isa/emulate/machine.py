"""One dispatch being executed: its memories, what it reports and counts, and the operations in flight."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ireebench.isa.emulate.arena import Arena, Buffer
from ireebench.isa.emulate.listing import Addresses
from ireebench.isa.emulate.operands import Kind
from ireebench.isa.emulate.report import Fault, Report, Reports, Tally
from ireebench.isa.emulate.rules import Decode, Mode, Run, registers
from ireebench.isa.emulate.waves import Array, Bools, Pending, Waves

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """Bytes of the arena that the dispatch may touch: a binding, the kernel arguments or constant data."""

    start: int
    end: int
    name: str
    buffer: Buffer


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One memory instruction of a group of waves: `size` bytes at `offset` [wave, lane] in the lanes `ok`.

    Offsets are int64, from the arena's start for global memory and from the workgroup's allocation for the LDS.
    """

    g: Waves
    line: int
    offset: Ints
    ok: Bools
    size: int
    store: bool

    @property
    def verb(self) -> str:
        """For messages."""
        return "store" if self.store else "load"

    def within(self, ok: Bools) -> Access:
        """The same in fewer lanes."""
        return Access(self.g, self.line, self.offset, ok, self.size, self.store)

    def first(self, bad: Bools) -> int:
        """The offset of the first bad lane."""
        return int(self.offset[tuple(np.argwhere(bad)[0])])


@dataclass(eq=False)
class LocalMemory:
    """The LDS of a batch of workgroups, one after the other, and what is known of each byte.

    `writer` and `reader` are the wave that last wrote or read it, plus one (a reader of -1: several waves), at a line
    and in an epoch: the number of barriers that its workgroup had passed.
    """

    size: int  # bytes that the kernel declares a workgroup
    workgroups: int
    stride: int = field(init=False)
    memory: npt.NDArray[np.uint8] = field(init=False)
    views: dict[int, Array] = field(init=False)
    epoch: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.stride = -(-self.size // 16) * 16 + 16
        n = self.stride * self.workgroups
        self.memory = np.zeros(n, np.uint8)
        self.views = {1: self.memory, 2: self.memory.view(np.uint16), 4: self.memory.view(np.uint32)}
        self.epoch = np.zeros(self.workgroups, np.int64)
        self.writer = np.zeros(n, np.int32)
        self.write_epoch = np.full(n, -1, np.int32)
        self.write_line = np.zeros(n, np.int32)
        self.reader = np.zeros(n, np.int32)
        self.read_epoch = np.full(n, -1, np.int32)
        self.read_line = np.zeros(n, np.int32)


@dataclass(eq=False)
class Machine:
    """What the rules of one dispatch share. `lds` is replaced for each batch of workgroups."""

    mode: Mode
    kernel: str
    arena: Arena
    sanitize: bool
    lds: LocalMemory
    windows: tuple[Window, ...] = ()
    grid: tuple[int, int, int] = (1, 1, 1)
    addresses: Addresses | None = None
    scratch_bytes: int = 0
    dropped: Bools | None = None  # workgroups of the batch that need data that was not given: they are not run on
    tally: Tally = field(default_factory=Tally)
    reports: Reports = field(init=False)

    def __post_init__(self) -> None:
        self.reports = Reports(self.kernel)

    # --- Reports ------------------------------------------------------------------------------------------------------

    def report(self, g: Waves, fault: Fault, line: int, bad: Bools, *, subject: str, message: str) -> None:
        """Reports the first of the lanes in `bad` [wave, lane] (or [wave]); `subject` keeps reports of a line apart."""
        if not self.sanitize and fault is not Fault.OUT_OF_BOUNDS:
            return
        if bad.ndim == 1:
            bad = bad[:, None]
        if self.dropped is not None:
            bad = bad & ~self.dropped[g.workgroup][:, None]
            if not bad.any():
                return
        wave, lane = (int(x) for x in np.argwhere(bad)[0])
        ids = tuple(int(x) for x in g.ids[wave])
        where = (ids[0], ids[1], ids[2])
        times = int(np.count_nonzero(bad))
        self.reports.add(subject, Report(fault, self.kernel, line, lane, int(g.wave[wave]), where, message, times))

    def drop(self, g: Waves, lacking: Bools) -> None:
        """Gives up the workgroups of the lanes in `lacking`, where only part of the data was given.

        `lacking` is [wave, lane].
        """
        assert self.dropped is not None
        self.dropped[g.workgroup[lacking.any(axis=1)]] = True

    def linear(self, g: Waves) -> Ints:
        """The number of each wave's workgroup in the grid, x fastest."""
        x, y, _ = self.grid
        return g.ids[:, 0] + x * (g.ids[:, 1] + y * g.ids[:, 2])

    # --- Operations in flight -----------------------------------------------------------------------------------------

    def issue(self, d: Decode, counter: str, kind: str, loads: bool = True) -> Run:
        """A function that notes that this instruction is in flight and will write its destination later."""
        outputs = d.operands[:1] if loads else []
        awaited = registers([o for o in outputs if o.kind in (Kind.VGPR, Kind.SGPR)])
        pending = Pending(counter, kind, awaited, d.line, d.instruction.mnemonic)
        d.flight = (counter, kind) if loads else None
        tally, sanitize = self.tally, self.sanitize

        def note(g: Waves) -> None:
            g.pending.append(pending)
            if kind == "vmem" and loads:
                flying = sum(1 for p in g.pending if p.source == "vmem" and p.registers)
                tally.loads_in_flight = max(tally.loads_in_flight, flying)
            if sanitize:
                g.hot |= awaited

        return note

    @staticmethod
    def wait(g: Waves, counter: str, allowed: int) -> None:
        """S_WAITCNT: at most `allowed` operations of a counter stay in flight.

        Operations of one source return in order. Scalar loads return in any order, and so does a mix of sources: then
        only a wait for 0 says anything (CDNA3 ISA guide, S_WAITCNT).
        """
        mine = [p for p in g.pending if p.counter == counter]
        if len(mine) <= allowed:
            return
        sources = {p.source for p in mine}
        if allowed and (len(sources) > 1 or sources == {"smem"}):
            return
        done = set(map(id, mine[: len(mine) - allowed]))
        g.pending = [p for p in g.pending if id(p) not in done]
        refresh_hot(g)


def refresh_hot(g: Waves) -> None:
    """Recomputes which registers need a second look."""
    g.hot = set(g.poison_v) | {1000 + i for i in g.poison_s}
    for p in g.pending:
        g.hot |= p.registers


def gather(views: dict[int, Array], index: Ints, size: int) -> list[Array]:
    """Reads `size` bytes at each index as uint32 words (1 and 2 bytes are zero-extended)."""
    if size < 4:
        if size == 1 or not (index & 1).any():
            return [views[size][index >> (size - 1)].astype(np.uint32)]
    elif not (index & 3).any():
        word = index >> 2
        return [views[4][word + k if k else word] for k in range(size // 4)]
    raw = views[1][index[..., None] + np.arange(size)]
    if size < 4:
        return [raw[..., 0].astype(np.uint32) | (raw[..., 1].astype(np.uint32) << np.uint32(8))]
    words = np.ascontiguousarray(raw).view(np.uint32)
    return [words[..., k] for k in range(size // 4)]


def scatter(views: dict[int, Array], index: Ints, words: list[Array], size: int) -> None:
    """Writes `size` bytes at each index (1-D); later elements win where two are equal."""
    if size < 4:
        if size == 1 or not (index & 1).any():
            views[size][index >> (size - 1)] = words[0].astype(views[size].dtype)
            return
        for k in range(size):
            views[1][index + k] = (words[0] >> np.uint32(8 * k)).astype(np.uint8)
        return
    if not (index & 3).any():
        for k, w in enumerate(words):
            views[4][(index >> 2) + k] = w
        return
    for k, w in enumerate(words):
        for byte in range(4):
            views[1][index + 4 * k + byte] = (w >> np.uint32(8 * byte)).astype(np.uint8)

"""The registers of many waves at once: every wave of every workgroup that executes the same code.

An instruction is one NumPy operation on arrays of [wave, lane] (vector registers) or [wave] (scalar registers). Waves
that take another branch are split off into a `Waves` of their own and joined again where they meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ireebench.isa.emulate.operands import EXEC, NULL, SCALAR_SLOTS

U32 = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A memory operation that has been issued and not yet waited for.

    `counter` is the wait counter ("vm", "lgkm", "vs"); `source` tells operations that return in order among themselves
    ("lds", "smem", "vmem"). `written_lds` are flat LDS bytes that it writes: they become visible only after the wait.
    """

    counter: str
    source: str
    registers: frozenset[int]
    line: int
    mnemonic: str
    written_lds: Array | None = None


@dataclass(eq=False)
class Waves:
    """Waves that stand at the same place in the code.

    `v` is uint32 [register, wave, lane], `s` is uint32 [wave, slot]. `workgroup` is the workgroup's number in the
    batch, `ids` are its x, y, z, `wave` is the wave's number within the workgroup. `scratch` is uint32 [wave, lane,
    dword].
    """

    v: U32
    s: U32
    scc: Bools
    workgroup: npt.NDArray[np.int64]
    wave: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    scratch: U32
    exec_mask: Bools
    block: int = 0
    full: bool = True
    pending: list[Pending] = field(default_factory=list)
    poison_v: dict[int, U32] = field(default_factory=dict)  # bits that were never given a value
    poison_s: dict[int, U32] = field(default_factory=dict)
    hot: set[int] = field(default_factory=set)  # registers that are poisoned or awaited: everything else goes fast

    @property
    def count(self) -> int:
        """Number of waves."""
        return int(self.s.shape[0])

    @property
    def lanes(self) -> int:
        """Lanes of a wave (32 or 64)."""
        return int(self.v.shape[2])

    # Views, made once: indexing a list is several times cheaper than slicing an array.
    @cached_property
    def vu(self) -> list[U32]:
        """Vector registers as uint32 [wave, lane]."""
        return list(self.v)

    @cached_property
    def vi(self) -> list[Array]:
        """Vector registers as int32."""
        return list(self.v.view(np.int32))

    @cached_property
    def vf(self) -> list[Array]:
        """Vector registers as float32."""
        return list(self.v.view(np.float32))

    @cached_property
    def v16(self) -> tuple[list[Array], list[Array]]:
        """Lower and upper halves as uint16."""
        halves = self.v.view(np.uint16)
        return list(halves[:, :, 0::2]), list(halves[:, :, 1::2])

    @cached_property
    def su(self) -> list[U32]:
        """Scalar registers as uint32 [wave]."""
        return [self.s[:, i] for i in range(SCALAR_SLOTS)]

    @cached_property
    def column(self) -> list[U32]:
        """Scalar registers as uint32 [wave, 1]: as a vector instruction sees them."""
        return [self.s[:, i : i + 1] for i in range(SCALAR_SLOTS)]

    @cached_property
    def su64(self) -> list[Array]:
        """Even pairs of scalar registers as uint64 [wave]; entry i is the pair 2i."""
        pairs = self.s.view(np.uint64)
        return [pairs[:, i] for i in range(SCALAR_SLOTS // 2)]

    def put(self, register: int, value: Array) -> None:
        """Writes uint32 to a vector register in the active lanes."""
        if self.full:
            self.vu[register][...] = value
        else:
            np.copyto(self.vu[register], value, where=self.exec_mask)

    def put_float(self, register: int, value: Array) -> None:
        """Writes float32 to a vector register in the active lanes."""
        if self.full:
            self.vf[register][...] = value
        else:
            np.copyto(self.vf[register], value, where=self.exec_mask)

    def pair(self, register: int) -> Array:
        """Two vector registers as uint64 [wave, lane]."""
        return self.vu[register].astype(np.uint64) | (self.vu[register + 1].astype(np.uint64) << np.uint64(32))

    def put_pair(self, register: int, value: Array) -> None:
        """Writes uint64 to two vector registers in the active lanes."""
        self.put(register, value.astype(np.uint32))
        self.put(register + 1, (value >> np.uint64(32)).astype(np.uint32))

    def read_mask(self, slot: int) -> Bools:
        """A lane mask held in scalar registers, as bool [wave, lane]."""
        words = self.s[:, slot : slot + self.lanes // 32].copy()
        return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").view(np.bool_)

    def write_mask(self, slot: int, mask: Bools) -> None:
        """Stores bool [wave, lane] as a lane mask in scalar registers; NULL takes nothing."""
        if slot == NULL:
            return
        packed = np.packbits(mask, axis=1, bitorder="little").view(np.uint32)
        self.s[:, slot : slot + self.lanes // 32] = packed

    def exec_changed(self) -> None:
        """Brings `exec_mask` and `full` up to date after the EXEC register was written."""
        self.exec_mask = self.read_mask(EXEC)
        self.full = bool(self.exec_mask.all())

    def take(self, chosen: Bools) -> Waves:
        """A copy of some of the waves."""
        part = Waves(
            np.ascontiguousarray(self.v[:, chosen]),
            self.s[chosen],
            self.scc[chosen],
            self.workgroup[chosen],
            self.wave[chosen],
            self.ids[chosen],
            self.scratch[chosen],
            self.exec_mask[chosen],
            self.block,
            pending=list(self.pending),
            poison_v={r: p[chosen] for r, p in self.poison_v.items()},
            poison_s={r: p[chosen] for r, p in self.poison_s.items()},
        )
        part.full = bool(part.exec_mask.all())
        part.hot = set(self.hot)
        return part


def join(a: Waves, b: Waves) -> Waves:
    """Both groups as one. They stand at the same place and await the same operations."""

    def both(x: Array, y: Array, axis: int = 0) -> Array:
        return np.concatenate((x, y), axis=axis)

    def poison(
        x: dict[int, U32], y: dict[int, U32], like_x: tuple[int, ...], like_y: tuple[int, ...]
    ) -> dict[int, U32]:
        return {
            r: both(x.get(r, np.zeros(like_x, np.uint32)), y.get(r, np.zeros(like_y, np.uint32)))
            for r in x.keys() | y.keys()
        }

    joined = Waves(
        both(a.v, b.v, 1),
        both(a.s, b.s),
        both(a.scc, b.scc),
        both(a.workgroup, b.workgroup),
        both(a.wave, b.wave),
        both(a.ids, b.ids),
        both(a.scratch, b.scratch),
        both(a.exec_mask, b.exec_mask),
        a.block,
        pending=list(a.pending),
        poison_v=poison(a.poison_v, b.poison_v, (a.count, a.lanes), (b.count, b.lanes)),
        poison_s=poison(a.poison_s, b.poison_s, (a.count,), (b.count,)),
    )
    joined.full = a.full and b.full
    joined.hot = a.hot | b.hot
    return joined

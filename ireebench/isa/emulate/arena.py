"""Global memory: named buffers far apart in one address space, and what is known of each byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

# Any 47-bit address will do; this one is easy to tell in a register dump.
BASE_ADDRESS = 0x7A00_0000_0000
# Distance between buffers: an access that leaves one is not taken for one to the next.
GUARD_BYTES = 1 << 20
_ALIGN = 4096


@dataclass(eq=False)
class Buffer:
    """One allocation. `start` and `end` are offsets in the arena.

    `provided` bytes from the start hold input data; `written` is a flag a byte for what kernels stored (None for pure
    inputs); `writer` is the workgroup that stored a byte in the current dispatch, plus one.
    """

    name: str
    start: int
    size: int
    provided: int
    read_only: bool
    written: npt.NDArray[np.bool_] | None
    writer: npt.NDArray[np.int32] | None

    @property
    def end(self) -> int:
        """Offset after the last byte."""
        return self.start + self.size


@dataclass(eq=False)
class Arena:
    """The address space of one invocation. Sizes must be known when it is made: pages are real only once touched."""

    capacity: int
    memory: Bytes = field(init=False)
    buffers: list[Buffer] = field(default_factory=list)
    _next: int = GUARD_BYTES
    views: dict[int, npt.NDArray[Any]] = field(init=False)
    _constants: dict[bytes, Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = -(-self.capacity // _ALIGN) * _ALIGN
        self.memory = np.zeros(size, np.uint8)
        self.views = {1: self.memory, 2: self.memory.view(np.uint16), 4: self.memory.view(np.uint32)}

    @staticmethod
    def capacity_for(sizes: list[int]) -> int:
        """Bytes that an arena needs for buffers of these sizes."""
        return GUARD_BYTES * 2 + sum(-(-s // _ALIGN) * _ALIGN + GUARD_BYTES for s in sizes)

    def allocate(self, name: str, size: int, data: npt.NDArray[Any] | None = None, read_only: bool = False) -> Buffer:
        """A new buffer; `data` fills it from the start (it may be shorter: the rest counts as not provided)."""
        start = self._next
        provided = 0
        if data is not None:
            raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
            provided = min(raw.size, size)
            self.memory[start : start + provided] = raw[:provided]
        written = None if read_only else np.zeros(size, np.bool_)
        writer = None if read_only else np.zeros(size, np.int32)
        buffer = Buffer(name, start, size, provided, read_only, written, writer)
        self.buffers.append(buffer)
        self._next = -(-(start + size) // _ALIGN) * _ALIGN + GUARD_BYTES
        if self._next > self.memory.size:
            raise ValueError(f"arena of {self.memory.size} bytes is too small for '{name}' ({size} bytes)")
        return buffer

    def constant(self, name: str, data: bytes) -> Buffer:
        """The buffer that holds constant data: one for equal data."""
        if data not in self._constants:
            values = np.frombuffer(data, np.uint8)
            self._constants[data] = self.allocate(f"constant {name}", len(data), values, read_only=True)
        return self._constants[data]

    def address(self, buffer: Buffer, offset: int = 0) -> int:
        """The device address of a byte of a buffer."""
        return BASE_ADDRESS + buffer.start + offset

    def new_dispatch(self) -> None:
        """Forgets which workgroup stored what: kernels of one invocation run one after the other."""
        for b in self.buffers:
            if b.writer is not None and b.written is not None and b.written.any():
                b.writer[:] = 0

    def forget_stores(self, workgroups: npt.NDArray[np.int64]) -> None:
        """What some workgroups stored in this dispatch counts as never written: they were given up half-way."""
        if not workgroups.size:
            return
        for b in self.buffers:
            if b.written is None or b.writer is None:
                continue
            places = np.nonzero(b.writer)[0]
            theirs = places[np.isin(b.writer[places], workgroups + 1)]
            b.written[theirs] = False
            b.writer[theirs] = 0

    def mark_written(self, buffer: Buffer, offset: int, size: int) -> None:
        """Records a fill or copy by the host."""
        if buffer.written is not None:
            buffer.written[offset : offset + size] = True

    def bytes_of(self, buffer: Buffer, offset: int, size: int) -> Bytes:
        """A view of a buffer's bytes."""
        return self.memory[buffer.start + offset : buffer.start + offset + size]

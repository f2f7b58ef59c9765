"""What one invocation of a compiled function does on the device: buffers, commands in order, results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class HostBuffer:
    """A buffer of the invocation, `size` in bytes: argument number `argument` (inputs), or with `data` (constants)."""

    kind: Literal["input", "allocation", "constant"]
    size: int
    argument: int = -1
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Slice:
    """`length` bytes from `offset` of buffer number `buffer`."""

    buffer: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class DispatchCommand:
    """Launches `kernel` on a grid of workgroups; `constants` are 32 bits each."""

    kernel: str
    workgroups: tuple[int, int, int]
    constants: tuple[int, ...]
    bindings: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class FillCommand:
    """Fills a slice with a pattern of 1, 2 or 4 bytes."""

    target: Slice
    pattern: bytes


@dataclass(frozen=True, slots=True)
class CopyCommand:
    """Copies one slice onto another of the same length."""

    source: Slice
    target: Slice


Command = DispatchCommand | FillCommand | CopyCommand


@dataclass(frozen=True, slots=True)
class OutputView:
    """A result: where it lies, its shape in elements and its element type as MLIR spells it."""

    place: Slice
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """One invocation of one function."""

    function: str
    buffers: tuple[HostBuffer, ...]
    commands: tuple[Command, ...]
    outputs: tuple[OutputView, ...]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels launched, in order."""
        return tuple(c.kernel for c in self.commands if isinstance(c, DispatchCommand))

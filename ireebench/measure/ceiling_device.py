"""Streaming readers as Runnables: the GPU's (`native/ceiling.cu`) and the host's (`native/ceiling_cpu.cpp`).

A reader owns one pool of pseudo-random words and reads ranges of it, so that all sizes share one allocation.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ireebench.measure.baselines import native_build
from ireebench.measure.runnable import Array

Loads = Literal["plain", "streaming", "no_allocate", "evict_first"]
Walk = Literal["grid", "chunk"]
# The numbers are those of the enumerations in native/ceiling.cu.
_LOADS: dict[Loads, int] = {"plain": 0, "streaming": 1, "no_allocate": 2, "evict_first": 3}
_WALKS: dict[Walk, int] = {"grid": 0, "chunk": 1}
WORD_BYTES = 16  # one load of one thread
_LARGEST_AMD_CACHE = 256 * 1024**2  # Infinity Cache of MI300X and MI355X (data sheets): cold is cold on any AMD card


@dataclass(frozen=True, slots=True, order=True)
class Reader:
    """How a buffer is read: workgroups, threads a workgroup, kind of load, loads in flight a thread, order of words.

    `walk` "grid": all workgroups sweep the buffer together; "chunk": each reads one contiguous part. On the CPU `grid`
    is the number of threads and the rest is fixed.
    """

    grid: int
    block: int = 1
    loads: Loads = "plain"
    unroll: int = 1
    walk: Walk = "chunk"


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a sweep has to know. `parallel` is the number of multiprocessors, or of cores; sizes in bytes."""

    name: str
    kind: native_build.Kind
    parallel: int
    cache_bytes: int
    free_bytes: int


class ReadPool(Protocol):
    """A device's pool of words, `pool_bytes` of them."""

    pool_bytes: int

    @property
    def facts(self) -> DeviceFacts:
        """What the sweep has to know of the device."""

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        """One reader over `copies` ranges of `size_bytes`, side by side in the pool."""

    def empty(self) -> ReadRunnable | None:
        """A kernel that does nothing: the launch floor. None on the CPU."""

    def fold(self, reader: Reader, size_bytes: int) -> int:
        """The xor of all words that one reading of the first `size_bytes` saw: proof that it read them all."""

    def close(self) -> None:
        """Frees the pool."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class ReadRunnable:
    """A Runnable that reads. It has no outputs; `ReadPool.fold` checks it."""

    copies: int
    _launch: Callable[[int], None]
    _sync: Callable[[], None]

    def launch(self, copy: int) -> None:
        """Reads one range."""
        self._launch(copy)

    def sync(self) -> None:
        """Waits for it."""
        self._sync()

    def poison(self) -> None:
        """Nothing to poison."""

    def outputs(self) -> tuple[Array, ...]:
        """None."""
        return ()

    def close(self) -> None:
        """The pool is freed by its owner."""


class _Describe(ctypes.Structure):
    """struct ceiling_device of native/ceiling.cu."""

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("pci_bus_id", ctypes.c_char * 32),
        ("multiprocessors", ctypes.c_int32),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("l2_bytes", ctypes.c_uint64),
        ("total_bytes", ctypes.c_uint64),
        ("free_bytes", ctypes.c_uint64),
    )


def _gpu_library(kind: native_build.Kind, ordinal: int) -> ctypes.CDLL:
    library = native_build.load("ceiling.cu", kind, ordinal)
    handle, integer, wide = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
    library.ceiling_last_error.restype = ctypes.c_char_p
    library.ceiling_describe.argtypes = [integer, handle]
    library.ceiling_create.restype = handle
    library.ceiling_create.argtypes = [integer, wide]
    library.ceiling_launch.argtypes = [handle, wide, wide, integer, integer, integer, integer, integer, integer]
    library.ceiling_launch_empty.argtypes = [handle]
    library.ceiling_sync.argtypes = [handle]
    library.ceiling_take_sink.argtypes = [handle, handle]
    library.ceiling_destroy.argtypes = [handle]
    library.ceiling_destroy.restype = None
    return library


class GpuPool:
    """A pool in a GPU's memory. Raises MissingToolError without a compiler, RuntimeError when the device refuses."""

    def __init__(self, kind: native_build.Kind, ordinal: int, pool_bytes: int) -> None:
        self._library = _gpu_library(kind, ordinal)
        raw = _Describe()
        self._check(self._library.ceiling_describe(ordinal, ctypes.byref(raw)))
        # HIP tells the size of the L2 alone, not of the cache behind it.
        cache_bytes = max(raw.l2_bytes, _LARGEST_AMD_CACHE) if kind == "hip" else raw.l2_bytes
        self._facts = DeviceFacts(
            raw.name.decode(errors="replace"), kind, raw.multiprocessors, cache_bytes, raw.free_bytes
        )
        # Half of what is free at most: a display or another program may share the card.
        self.pool_bytes = min(pool_bytes, raw.free_bytes // 2) // WORD_BYTES * WORD_BYTES
        self._handle = self._library.ceiling_create(ordinal, self.pool_bytes)
        if not self._handle:
            raise RuntimeError(self._library.ceiling_last_error().decode(errors="replace"))

    @property
    def facts(self) -> DeviceFacts:
        """What the sweep has to know of the device."""
        return self._facts

    def _check(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(self._library.ceiling_last_error().decode(errors="replace"))

    def _launch(self, reader: Reader, offset: int, size_bytes: int, check: bool) -> None:
        self._check(
            self._library.ceiling_launch(
                self._handle,
                offset,
                size_bytes,
                _LOADS[reader.loads],
                reader.unroll,
                _WALKS[reader.walk],
                reader.grid,
                reader.block,
                int(check),
            )
        )

    def _sync(self) -> None:
        self._check(self._library.ceiling_sync(self._handle))

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        """One reader over `copies` ranges of `size_bytes`, side by side in the pool."""
        # Arguments are made once: a launch is one call, as cheap as any baseline's.
        launch, handle = self._library.ceiling_launch, self._handle
        tail = (_LOADS[reader.loads], reader.unroll, _WALKS[reader.walk], reader.grid, reader.block, 0)
        calls = [(handle, copy * size_bytes, size_bytes, *tail) for copy in range(copies)]
        return ReadRunnable(copies, lambda copy: self._check(launch(*calls[copy])), self._sync)

    def empty(self) -> ReadRunnable:
        """A kernel of one warp that does nothing."""
        return ReadRunnable(1, lambda _: self._check(self._library.ceiling_launch_empty(self._handle)), self._sync)

    def fold(self, reader: Reader, size_bytes: int) -> int:
        """The xor of all 32-bit words that one reading of the first `size_bytes` saw."""
        value = ctypes.c_uint32()
        self._launch(reader, 0, size_bytes, check=True)
        self._check(self._library.ceiling_take_sink(self._handle, ctypes.byref(value)))
        return value.value

    def close(self) -> None:
        """Frees the pool; harmless when repeated."""
        if self._handle:
            self._library.ceiling_destroy(self._handle)
            self._handle = None


def expected_fold(size_bytes: int) -> int:
    """The xor that `GpuPool.fold` must give: the words are i * 2654435761, xored with itself shifted right by 15."""
    total = 0
    step = 1 << 22
    for first in range(0, size_bytes // 4, step):
        index = np.arange(first, min(first + step, size_bytes // 4), dtype=np.uint32)
        x = index * np.uint32(2654435761)
        total ^= int(np.bitwise_xor.reduce(x ^ (x >> np.uint32(15))))
    return total


class CpuPool:
    """A pool in the host's memory, read by `grid` threads. Raises MissingToolError without a C++ compiler.

    Its pages are placed by the threads that fill it, all cores together.
    """

    def __init__(self, pool_bytes: int, name: str, cache_bytes: int | None, threads: int | None = None) -> None:
        """`threads` is the most that a reader may use: one a core unless told otherwise."""
        library = native_build.load("ceiling_cpu.cpp", "host")
        wide, integer, handle = ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p
        library.ceiling_last_error.restype = ctypes.c_char_p
        library.ceiling_cpu_create.restype = handle
        library.ceiling_cpu_create.argtypes = [wide, integer]
        library.ceiling_cpu_pass.argtypes = [handle, wide, wide, integer, handle]
        library.ceiling_cpu_destroy.argtypes = [handle]
        library.ceiling_cpu_destroy.restype = None
        self._library = library
        cores = len(os.sched_getaffinity(0))
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.pool_bytes = min(pool_bytes, free // 2) // 64 * 64
        self._facts = DeviceFacts(name, "host", cores, cache_bytes or 0, free)
        self._fold = ctypes.c_uint64()
        self._handle = library.ceiling_cpu_create(self.pool_bytes, threads or cores)
        if not self._handle:
            raise RuntimeError(library.ceiling_last_error().decode(errors="replace"))

    @property
    def facts(self) -> DeviceFacts:
        """What the sweep has to know of the device."""
        return self._facts

    def _pass(self, offset: int, size_bytes: int, threads: int) -> None:
        code = self._library.ceiling_cpu_pass(self._handle, offset, size_bytes, threads, ctypes.byref(self._fold))
        if code != 0:
            raise RuntimeError(self._library.ceiling_last_error().decode(errors="replace"))

    def runnable(self, reader: Reader, size_bytes: int, copies: int) -> ReadRunnable:
        """One reader over `copies` ranges; a launch waits itself."""
        return ReadRunnable(copies, lambda copy: self._pass(copy * size_bytes, size_bytes, reader.grid), lambda: None)

    def empty(self) -> None:
        """The CPU has no launch."""

    def fold(self, reader: Reader, size_bytes: int) -> int:
        """The xor of all 64-bit words that one reading saw."""
        self._pass(0, size_bytes, reader.grid)
        return self._fold.value

    def close(self) -> None:
        """Stops the threads and frees the pool; harmless when repeated."""
        if self._handle:
            self._library.ceiling_cpu_destroy(self._handle)
            self._handle = None

"""Runs a function of a compiled IREE module: inputs stay on the device, a launch is one VM invocation.

An invocation of a function compiled with IREE's default execution model waits for the device before it returns. (A
module compiled with `--iree-execution-model=async-external` returns earlier, in 12 us instead of 60 on an H200, but 200
of them back to back still took 53 us each: it gives a timer without a profiler nothing, so it is not supported.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import iree.runtime as rt
import ml_dtypes
import numpy as np

from ireebench.measure.device import ordinal
from ireebench.measure.runnable import Array
from ireebench.problems.ops.base import InputSpec

_H = rt.HalElementType

# MLIR's spelling -> (IREE's element type, the numpy type of the same bits). 4-bit elements are packed in bytes, low
# nibble first, so their host array has half as many elements as the tensor.
ELEMENT_TYPES: dict[str, tuple[Any, np.dtype[Any]]] = {
    "f16": (_H.FLOAT_16, np.dtype(np.float16)),
    "bf16": (_H.BFLOAT_16, np.dtype(ml_dtypes.bfloat16)),
    "f32": (_H.FLOAT_32, np.dtype(np.float32)),
    "i4": (_H.INT_4, np.dtype(np.uint8)),
    "i8": (_H.INT_8, np.dtype(np.int8)),
    "ui8": (_H.UINT_8, np.dtype(np.uint8)),
    "i32": (_H.INT_32, np.dtype(np.int32)),
    "i64": (_H.INT_64, np.dtype(np.int64)),
}

# The results of one invocation are carved from one allocation, each at a multiple of this (IREE's default alignment).
_SLAB_ALIGNMENT = 64
POISON_BYTE = 0xA5
_COPIES_AT_ONCE = 256  # recorded in one command buffer; a driver may make a graph of as many nodes


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a function takes or gives: shape in elements, element type as MLIR spells it."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def host_bytes(self) -> int:
        """Bytes that it takes, 4-bit elements packed."""
        elements = int(np.prod(self.shape, dtype=np.int64))
        return (elements + 1) // 2 if self.dtype == "i4" else elements * ELEMENT_TYPES[self.dtype][1].itemsize


def input_tensors(specs: Sequence[InputSpec]) -> tuple[Tensor, ...]:
    """A problem's arguments as IREE takes them: logical shape and element type ("tensor<4x32xi4>" gives i4)."""
    return tuple(Tensor(s.shape, re.split(r"[x<>]", s.mlir_type)[-2]) for s in specs)


def output_tensors(specs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> tuple[Tensor, ...]:
    """A problem's results as IREE gives them."""
    names = {dtype: name for name, (_, dtype) in ELEMENT_TYPES.items() if name not in ("i4", "ui8")}
    return tuple(Tensor(shape, names[dtype]) for shape, dtype in specs)


class Module:
    """A vmfb on a device: its VM module, and a context that runs it. Raises RuntimeError when it cannot be loaded."""

    def __init__(self, instance: rt.VmInstance, hal: Any, vmfb: Path) -> None:
        try:
            self.vm: Any = rt.VmModule.mmap(instance, str(vmfb))
            self.context: Any = rt.VmContext(instance, [rt.create_hal_module(instance, hal), self.vm])
        except (RuntimeError, ValueError, OSError) as e:
            raise RuntimeError(f"{vmfb.name} cannot be loaded: {first_line(e)}") from e


class Device:
    """An IREE device with the instance that modules are loaded into. Raises RuntimeError when it cannot be opened."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.instance = rt.VmInstance()
        try:
            # A UUID has several spellings, of which the driver takes one: the number is always understood.
            self.hal = rt.get_device(f"{uri.partition(':')[0]}://{ordinal(uri)}" if "://GPU-" in uri else uri)
        except (RuntimeError, ValueError) as e:
            raise RuntimeError(f"device {uri} cannot be opened: {first_line(e)}") from e
        # A driver compiles all kernels of a file when it is loaded, 50 ms of a batch of eight on an H200: those who run
        # functions of the same file at the same time share it.
        self._modules: WeakValueDictionary[Path, Module] = WeakValueDictionary()

    def load(self, vmfb: Path) -> Module:
        """The module of a file, loaded once while anybody holds it."""
        module = self._modules.get(vmfb)
        if module is None:
            module = self._modules[vmfb] = Module(self.instance, self.hal, vmfb)
        return module

    def upload(self, array: Array, tensor: Tensor) -> rt.HalBufferView:
        """Copies a host array to the device. Raises ValueError when its size is not the tensor's."""
        raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        if raw.nbytes != tensor.host_bytes:
            raise ValueError(f"input of {raw.nbytes} bytes where {tensor} takes {tensor.host_bytes}")
        bytes_view = self.hal.allocator.allocate_buffer_copy(
            memory_type=rt.MemoryType.DEVICE_LOCAL,
            allowed_usage=rt.BufferUsage.DEFAULT,
            device=self.hal,
            buffer=raw,
            element_type=_H.UINT_8,
        )
        return rt.HalBufferView(bytes_view.get_buffer(), list(tensor.shape), ELEMENT_TYPES[tensor.dtype][0])

    def download(self, view: rt.HalBufferView, tensor: Tensor) -> Array:
        """A host copy. Raises RuntimeError when shape or element type are not the tensor's."""
        element_type, dtype = ELEMENT_TYPES[tensor.dtype]
        if tuple(view.shape) != tensor.shape or int(view.element_type) != int(element_type):
            raise RuntimeError(f"the function returns {view}, not {tensor}")
        return self.download_bytes(view).view(dtype).reshape(tensor.shape)

    def download_bytes(self, view: rt.HalBufferView) -> Array:
        """A host copy of the bytes behind a view, as uint8."""
        as_bytes = rt.HalBufferView(view.get_buffer(), [view.byte_length], _H.UINT_8)
        return np.array(rt.DeviceArray(self.hal, as_bytes).to_host(), copy=True)

    def poison(self, sizes: Sequence[int]) -> None:
        """Fills queue-ordered allocations of these sizes (bytes) with POISON_BYTE and frees them again.

        IREE allocates the results of an invocation from the same pool, so memory that the kernel does not write shows
        the pattern. This reaches recycled memory only: a pool that hands out fresh memory is not poisoned.
        """
        queue = _Queue(self.hal)
        buffers = [queue.run(partial(self.hal.queue_alloca, size)) for size in sizes]
        for buffer in buffers:
            fill = rt.HalCommandBuffer(self.hal)
            fill.fill(buffer, np.array([POISON_BYTE], np.uint8), end=True)
            queue.run(partial(self.hal.queue_execute, fill))
        for buffer in buffers:
            queue.run(partial(self.hal.queue_dealloca, buffer))

    def clone(self, view: rt.HalBufferView, tensor: Tensor, count: int) -> list[rt.HalBufferView]:
        """`count` more buffers with the bytes of `view`, each in memory of its own, copied on the device.

        A small problem has some 2000 cold copies on a GPU, where each upload crosses the bus and waits by itself. On a
        CPU both ways cost the same (50 us for 64 KiB, of which allocating takes half).
        """
        allocate = partial(
            self.hal.allocator.allocate_buffer,
            memory_type=rt.MemoryType.DEVICE_LOCAL,
            allowed_usage=rt.BufferUsage.DEFAULT,
            allocation_size=tensor.host_bytes,
        )
        source, queue = view.get_buffer(), _Queue(self.hal)
        buffers = [allocate() for _ in range(count)]
        for start in range(0, count, _COPIES_AT_ONCE):
            copies = rt.HalCommandBuffer(self.hal)
            for buffer in buffers[start : start + _COPIES_AT_ONCE]:
                copies.copy(source, buffer, length=tensor.host_bytes)
            copies.end()
            queue.run(partial(self.hal.queue_execute, copies))
        return [rt.HalBufferView(b, list(tensor.shape), ELEMENT_TYPES[tensor.dtype][0]) for b in buffers]


class _Queue:
    """A device's queue, given one operation at a time, each waited for.

    IREE's queue thread calls the profiler, which calls Python; were this thread inside a queue call of its own then,
    each could wait for what the other holds.
    """

    def __init__(self, hal: Any) -> None:
        self._timeline = hal.create_semaphore(0)
        self._step = 0

    def run(self, operation: Callable[[rt.HalFence, rt.HalFence], Any]) -> Any:
        """Queues `operation(wait for, signal)` and returns its result when it has ended."""
        done = rt.HalFence.create_at(self._timeline, self._step + 1)
        result = operation(rt.HalFence.create_at(self._timeline, self._step), done)
        done.wait()
        self._step += 1
        return result


@dataclass(frozen=True, slots=True)
class DeviceInputs:
    """`copies[i]` is the i-th set of a problem's inputs on the device; entries of one group share them."""

    tensors: tuple[Tensor, ...]
    copies: tuple[tuple[rt.HalBufferView, ...], ...]


def upload_inputs(device: Device, arrays: Sequence[Array], tensors: Sequence[Tensor], copies: int) -> DeviceInputs:
    """Puts `copies` sets of the same inputs on the device, each in memory of its own; the first alone is uploaded."""
    by_tensor = []
    for array, tensor in zip(arrays, tensors, strict=True):
        first = device.upload(array, tensor)
        by_tensor.append([first, *device.clone(first, tensor, copies - 1)])
    return DeviceInputs(tuple(tensors), tuple(zip(*by_tensor, strict=True)))


class ArtifactRunner:
    """A Runnable for one function of a vmfb. Raises RuntimeError when it cannot be loaded or lacks the function."""

    def __init__(
        self, device: Device, vmfb: Path, function: str, inputs: DeviceInputs, outputs: Sequence[Tensor]
    ) -> None:
        self.vmfb = vmfb
        self.function = function
        self.inputs = inputs
        self._device = device
        self._output_tensors = tuple(outputs)
        self._module: Module | None = device.load(vmfb)
        self._context = self._module.context
        self._vm_function = self._module.vm.lookup_function(function)
        if self._vm_function is None:
            names = ", ".join(self._module.vm.function_names)
            raise RuntimeError(f"{vmfb.name} has no function '{function}'; it has {names}")
        # Argument lists are built once: an invocation reads them and does not change them.
        self._arguments = [self._argument_list(views) for views in inputs.copies]
        self._results: rt.VmVariantList | None = None
        if self._vm_function.reflection.get("iree.abi.model") == "coarse-fences":
            raise RuntimeError(f"{vmfb.name} was compiled with --iree-execution-model=async-external; leave it out")

    @property
    def copies(self) -> int:
        """How many copies of the inputs there are."""
        return len(self._arguments)

    @staticmethod
    def _argument_list(views: Sequence[rt.HalBufferView]) -> rt.VmVariantList:
        arguments = rt.VmVariantList(len(views))
        for view in views:
            arguments.push_ref(view)
        return arguments

    def input_bytes(self) -> tuple[Array, ...]:
        """The first copy's inputs, as the device holds them."""
        return tuple(self._device.download_bytes(view) for view in self.inputs.copies[0])

    def poison(self) -> None:
        """Poisons the memory that the next results are likely to be carved from; see `Device.poison`."""
        self._results = None
        slots = [-(-t.host_bytes // _SLAB_ALIGNMENT) * _SLAB_ALIGNMENT for t in self._output_tensors]
        self._device.poison([sum(slots), *slots])

    def launch(self, copy: int) -> None:
        """One VM invocation. The results of the one before are released when this one's arrive."""
        results = rt.VmVariantList(len(self._output_tensors))
        self._context.invoke(self._vm_function, self._arguments[copy], results)
        self._results = results

    def sync(self) -> None:
        """Nothing to wait for: an invocation waits itself."""

    def outputs(self) -> tuple[Array, ...]:
        """The last invocation's results, as host arrays."""
        if self._results is None:
            raise RuntimeError("nothing was launched")
        found = len(self._results)
        if found != len(self._output_tensors):
            raise RuntimeError(f"the function returns {found} results, not {len(self._output_tensors)}")
        views = [self._results.get_as_object(i, rt.HalBufferView) for i in range(found)]
        return tuple(self._device.download(v, t) for v, t in zip(views, self._output_tensors, strict=True))

    def close(self) -> None:
        """Drops the module and the last results; inputs are shared and stay."""
        self._results = None
        self._arguments = []
        self._vm_function = None
        self._context = self._module = None


def first_line(error: BaseException) -> str:
    """An error's message, shortened to the line that says what failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__

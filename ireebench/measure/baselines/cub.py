"""CUB and hipCUB as baselines for argmax and argmin, through one C++ source (`native/argreduce.cu`).

Input copies, outputs and temporary storage are allocated before timing, so that a launch is the library call alone.
Forms: `device` is DeviceReduce::ArgMax/ArgMin (one row; CUB's two-output call, hipCUB's pair), `segmented` is
DeviceSegmentedReduce with computed offsets, `segmented_offsets` with offsets in memory, `segmented_fixed` with a
segment size (CUB 3.1 and newer). The best legal one is the baseline to beat; all are shown.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ireebench.errors import MissingToolError
from ireebench.measure.baselines import native_build
from ireebench.measure.device import ordinal
from ireebench.measure.runnable import Array
from ireebench.problems.dtypes import FLOATS, INDEX_TYPES
from ireebench.problems.problem import Problem

Library = Literal["cub", "hipcub"]
_KIND: dict[Library, native_build.Kind] = {"cub": "cuda", "hipcub": "hip"}
_SCHEME: dict[Library, str] = {"cub": "cuda", "hipcub": "hip"}
# The numbers are those of the enumerations in native/argreduce.cu.
_OPS = {"argmax": 0, "argmin": 1}
_TYPES = {"f16": 0, "bf16": 1, "f32": 2}
_FORMS = {"device": 0, "segmented": 1, "segmented_offsets": 2, "segmented_fixed": 3}
_FIXED_SINCE = 300_100  # CUB_VERSION
_MAX_ELEMENTS = 2**31 - 1  # both libraries index segments with int


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    """Gives the functions of native/argreduce.cu their types: without them ctypes cuts pointers to 32 bits."""
    handle, integer, wide = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
    library.argreduce_last_error.restype = ctypes.c_char_p
    library.argreduce_create.restype = handle
    library.argreduce_create.argtypes = [integer, integer, integer, integer, wide, wide, integer, handle]
    library.argreduce_launch.argtypes = [handle, integer]
    library.argreduce_sync.argtypes = [handle]
    library.argreduce_poison.argtypes = [handle]
    library.argreduce_read.argtypes = [handle, handle, handle]
    library.argreduce_destroy.argtypes = [handle]
    library.argreduce_destroy.restype = None
    return library


class CubRunnable:
    """One reduction, with its inputs on the device. Outputs: values [leading shape], indices [leading shape]."""

    def __init__(
        self, library: ctypes.CDLL, problem: Problem, values: Array, copies: int, place: tuple[int, int]
    ) -> None:
        """`place` is (device ordinal, form). Raises RuntimeError with the library's text."""
        self._library = library
        self._problem = problem
        self._copies = copies
        contiguous = np.ascontiguousarray(values)
        ordinal, form = place
        self._handle = library.argreduce_create(
            ordinal,
            _OPS[problem.op],
            _TYPES[problem.dtype],
            form,
            problem.rows,
            problem.reduction,
            copies,
            contiguous.ctypes.data,
        )
        if not self._handle:
            raise RuntimeError(self._error())

    @property
    def copies(self) -> int:
        """How many copies of the input it holds."""
        return self._copies

    def _error(self) -> str:
        return str(self._library.argreduce_last_error().decode(errors="replace"))

    def _check(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(self._error())

    def poison(self) -> None:
        """Sets every bit of the outputs: NaN, and index -1."""
        self._check(self._library.argreduce_poison(self._handle))

    def launch(self, copy: int) -> None:
        """Calls the library on one copy of the input; returns when the kernels are queued."""
        if self._library.argreduce_launch(self._handle, copy) != 0:
            raise RuntimeError(self._error())

    def sync(self) -> None:
        """Waits for the stream; raises RuntimeError with the device's error."""
        if self._library.argreduce_sync(self._handle) != 0:
            raise RuntimeError(self._error())

    def outputs(self) -> tuple[Array, ...]:
        """(values in the input's type, indices in the problem's index type), of the leading shape."""
        rows = self._problem.rows
        leading = self._problem.shape[:-1]
        values = np.empty(rows, FLOATS[self._problem.dtype].numpy)
        indices = np.empty(rows, np.int64)
        self._check(self._library.argreduce_read(self._handle, values.ctypes.data, indices.ctypes.data))
        index_type = INDEX_TYPES[self._problem.index_dtype or "i64"]
        return values.reshape(leading), indices.astype(index_type).reshape(leading)

    def close(self) -> None:
        """Frees device memory; harmless when repeated."""
        if self._handle:
            self._library.argreduce_destroy(self._handle)
            self._handle = None


@dataclass(frozen=True, slots=True)
class CubBaseline:
    """One form of one library, as a baseline called `<library>_<form>`."""

    library: Library
    form: str

    @property
    def name(self) -> str:
        """ "cub_device", "hipcub_segmented", ..."""
        return f"{self.library}_{self.form}"

    def missing(self, device: str) -> str | None:
        """None when it can run on `device`; else what is missing and how to get it, in one line."""
        if device.partition("://")[0] != _SCHEME[self.library]:
            return f"{self.library} runs on {_SCHEME[self.library]} devices, not on {device}"
        try:
            ordinal(device)
        except MissingToolError as e:
            return str(e)
        reason = native_build.missing_compiler(_KIND[self.library])
        if reason is None and self.form == "segmented_fixed":
            version = native_build.cub_version()
            if version is None or version < _FIXED_SINCE:
                return (
                    f"this CUB ({version}) has no fixed segment size, 3.1 ({_FIXED_SINCE}) has: "
                    "pip install nvidia-cuda-cccl, and set IREEBENCH_CCCL to its include/cccl folder"
                )
        return reason

    def serves(self, op: str, dtype: str, shape: tuple[int, ...]) -> str | None:
        """None when it can compute this problem; else why not."""
        if op not in _OPS:
            return f"{self.library} has no {op}"
        if dtype not in _TYPES:
            return f"{self.library} is built for {', '.join(_TYPES)}, not {dtype}"
        if self.form == "device" and math.prod(shape[:-1]) != 1:
            return "DeviceReduce reduces one row; the segmented forms take several"
        if math.prod(shape) > _MAX_ELEMENTS:
            return f"more than {_MAX_ELEMENTS} elements: the segmented forms index with 32 bits"
        return None

    def prepare(self, problem: Problem, inputs: tuple[np.ndarray[Any, Any], ...], copies: int, device: str) -> Any:
        """Uploads `copies` copies of `inputs[0]` and allocates outputs and temporary storage; a CubRunnable.

        Raises RuntimeError when the library cannot be built or the device refuses.
        """
        expected = FLOATS[problem.dtype].numpy
        if inputs[0].dtype != expected or inputs[0].size != problem.rows * problem.reduction:
            raise ValueError(f"{self.name}: input is {inputs[0].dtype}{inputs[0].shape}, the problem {expected}")
        try:
            card = ordinal(device)
            library = _declare(native_build.load("argreduce.cu", _KIND[self.library], card))
        except MissingToolError as e:
            raise RuntimeError(str(e)) from e  # this entry's failure, not the whole job's
        return CubRunnable(library, problem, inputs[0], copies, (card, _FORMS[self.form]))


# hipCUB has no form with a fixed segment size.
BASELINES = {
    b.name: b
    for b in (
        *(CubBaseline("cub", form) for form in _FORMS),
        *(CubBaseline("hipcub", form) for form in _FORMS if form != "segmented_fixed"),
    )
}

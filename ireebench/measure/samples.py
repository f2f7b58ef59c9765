"""A run's raw samples as one compact blob, and back: what the store and result files keep."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np

from ireebench.measure.job import CachePolicy
from ireebench.measure.result import KernelSamples, RunResult

# Of one run: ten million samples of four columns are no measurement of ours.
MOST_UNPACKED = 320 << 20


def pack_samples(run: RunResult) -> bytes:
    """All samples of a run as one compressed .npz: deltas of int64 ns compress to about 2 bytes a sample."""
    arrays = {"kernel_ns": run.kernel_ns, "span_ns": run.span_ns, "rounds": run.rounds}
    arrays |= {f"k{i}": k.ns for i, k in enumerate(run.kernels)}
    meta = [[k.name, k.registers, k.local_bytes, k.shared_bytes, k.grid, k.block] for k in run.kernels]
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, meta=np.array(json.dumps(meta)), **arrays)
    return out.getvalue()


def _size3(values: list[int] | None) -> tuple[int, int, int] | None:
    return (values[0], values[1], values[2]) if values else None


def unpack_samples(body: bytes, process: int, cache: CachePolicy, timer: str) -> RunResult:
    """The reverse of `pack_samples`; raises ValueError for what unpacks to more than any run holds."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        if sum(i.file_size for i in archive.infolist()) > MOST_UNPACKED:
            raise ValueError(f"samples that unpack to more than {MOST_UNPACKED >> 20} MB")
    with np.load(io.BytesIO(body), allow_pickle=False) as data:
        meta = json.loads(str(data["meta"]))
        kernels = tuple(
            KernelSamples(
                name,
                data[f"k{i}"],
                registers,
                local,
                shared,
                tuple(grid) if grid else None,
                tuple(block) if block else None,
            )
            for i, (name, registers, local, shared, grid, block) in enumerate(meta)
        )
        return RunResult(
            entry="",
            process=process,
            cache=cache,
            timer=timer,
            kernel_ns=data["kernel_ns"],
            span_ns=data["span_ns"],
            rounds=data["rounds"],
            kernels=kernels,
        )

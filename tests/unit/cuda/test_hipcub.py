"""HIP mode of the native sources, compiled and run by the host with a stub of the HIP names: syntax, types, results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ireebench.measure.baselines import table
from ireebench.measure.baselines.cub import BASELINES
from ireebench.measure.ceiling import gpu_readers
from ireebench.measure.ceiling_device import GpuPool, Reader, expected_fold
from ireebench.problems.dtypes import FLOATS
from ireebench.problems.problem import Op, Problem

pytestmark = pytest.mark.usefixtures("host_hipcc")
FORMS = ("device", "segmented", "segmented_offsets")


def reduce(form: str, op: Op, values: np.ndarray[Any, Any], dtype: str, index: str = "i64") -> tuple[Any, Any]:
    problem = Problem("test", op, values.shape, dtype, index)
    runnable = BASELINES[f"hipcub_{form}"].prepare(problem, (values,), 3, "hip://0")
    try:
        assert runnable.copies == 3
        poisoned, nowhere = runnable.outputs()
        assert np.isnan(poisoned.astype(np.float32)).all()
        assert (nowhere == -1).all()
        runnable.launch(2)
        runnable.sync()
        got = runnable.outputs()
        runnable.poison()
        assert (runnable.outputs()[1] == -1).all()
        return got
    finally:
        runnable.close()
        runnable.close()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize("form", ["segmented", "segmented_offsets"])
def test_rows_give_value_and_index_within_the_row(form: str, op: Op, dtype: str) -> None:
    values = np.random.default_rng(7).standard_normal((2, 3, 333)).astype(FLOATS[dtype].numpy)
    got_values, got_indices = reduce(form, op, values, dtype)
    exact = values.astype(np.float64)
    assert got_values.dtype == FLOATS[dtype].numpy
    assert got_indices.dtype == np.int64
    assert got_indices.tolist() == (exact.argmax(-1) if op == "argmax" else exact.argmin(-1)).tolist()
    assert got_values.astype(np.float64).tolist() == (exact.max(-1) if op == "argmax" else exact.min(-1)).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_one_row_gives_scalars_in_the_index_type(form: str) -> None:
    values = np.array([3.0, -1.0, 7.5, 7.0], np.float32)
    got_value, got_index = reduce(form, "argmax", values, "f32", "i32")
    assert (got_value.shape, got_index.shape, got_index.dtype) == ((), (), np.int32)
    assert (float(got_value), int(got_index)) == (7.5, 2)


def test_every_row_of_the_table_is_a_baseline_of_the_module_and_says_where_it_runs() -> None:
    for name, baseline in BASELINES.items():
        assert table.BASELINES[name].module.endswith(".cub")
        assert baseline.name == name
        assert "devices, not on local-task" in (baseline.missing("local-task") or "")


def test_problems_that_it_cannot_compute_are_told_apart() -> None:
    device, segmented = BASELINES["hipcub_device"], BASELINES["hipcub_segmented"]
    assert device.serves("argmax", "f16", (128,)) is None
    assert device.serves("argmax", "f16", (1, 128)) is None
    assert "one row" in (device.serves("argmax", "f16", (2, 128)) or "")
    assert segmented.serves("argmin", "bf16", (2, 128)) is None
    assert "no gemv" in (segmented.serves("gemv", "f16", (1, 2, 3)) or "")
    assert "not i8" in (segmented.serves("argmax", "i8", (4,)) or "")
    assert "32 bits" in (segmented.serves("argmax", "f16", (65536, 65536)) or "")


def test_an_input_of_another_type_is_refused_before_it_is_uploaded() -> None:
    problem = Problem("test", "argmax", (4,), "f16")
    with pytest.raises(ValueError, match="input is float32"):
        BASELINES["hipcub_device"].prepare(problem, (np.zeros(4, np.float32),), 1, "hip://0")


def test_a_device_error_is_reported_with_the_call_that_failed() -> None:
    problem = Problem("test", "argmax", (4,), "f32")
    with pytest.raises(RuntimeError, match=r"SetDevice\(device\): stub error"):
        BASELINES["hipcub_device"].prepare(problem, (np.zeros(4, np.float32),), 1, "hip://5")


def test_a_build_that_fails_is_the_entrys_failure_not_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "hipcc"
    broken.write_text('#!/bin/bash\n[ "$1" = --version ] && exit 0\necho "fatal error: hipcub.hpp" >&2; exit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("IREEBENCH_HIPCC", str(broken))
    problem = Problem("test", "argmax", (4,), "f32")
    with pytest.raises(RuntimeError, match=r"fatal error: hipcub\.hpp"):
        BASELINES["hipcub_device"].prepare(problem, (np.zeros(4, np.float32),), 1, "hip://0")


def test_a_card_that_is_not_there_is_named() -> None:
    assert "no device 'hip://GPU-1234'" in (BASELINES["hipcub_device"].missing("hip://GPU-1234") or "")


@pytest.mark.parametrize("size", [16, 16 * 255, 16 * 4096 + 48, (1 << 18) + 16])
def test_every_reader_of_the_ceiling_reads_every_word_once(size: int) -> None:
    words = np.arange(size // 4, dtype=np.uint64) * 2654435761 % 2**32
    expected = int(np.bitwise_xor.reduce(words ^ (words >> np.uint64(15))))
    assert expected_fold(size) == expected
    pool = GpuPool("hip", 0, 1 << 19)
    try:
        # Four loads times two walks times four unrolls, and grids from one workgroup to one a tile.
        readers = [r for r in gpu_readers(size, 3) if r.block == 256]
        readers += [Reader(g, 32, "plain", u, w) for g in (1, 7) for u in (1, 2, 4, 8) for w in ("grid", "chunk")]  # type: ignore[arg-type]
        assert len({(r.loads, r.walk, r.unroll) for r in readers}) >= 8
        assert {pool.fold(r, size) for r in readers} == {expected}
    finally:
        pool.close()


def test_cold_runs_on_amd_exceed_the_cache_that_hip_does_not_tell() -> None:
    pool = GpuPool("hip", 0, 1 << 12)
    assert pool.facts.cache_bytes == 256 << 20  # the stub's L2 has 1 MiB
    pool.close()


def test_a_range_outside_the_pool_is_refused() -> None:
    pool = GpuPool("hip", 0, 1 << 12)
    with pytest.raises(RuntimeError, match="outside the pool"):
        pool.fold(Reader(1, 32), 1 << 13)
    pool.close()

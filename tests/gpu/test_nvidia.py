"""The NVIDIA path on a real card: timers against each other, CUB against the reference, the ceiling against the data
sheet. Sizes are chosen for a card of 1 TB/s or more; the rates asked of an H200 apply to an H200 only.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ireebench.measure import cuda_driver, telemetry
from ireebench.measure.baselines import native_build
from ireebench.measure.baselines.cub import BASELINES
from ireebench.measure.ceiling import MIB, gpu_readers, sweep_ceiling
from ireebench.measure.ceiling_device import GpuPool, Reader, expected_fold
from ireebench.measure.timers.base import Invocation, Timer
from ireebench.measure.timers.batched import BatchedTimer
from ireebench.measure.timers.cupti import CuptiTimer
from ireebench.measure.timers.torch_profiler import TorchProfilerTimer
from ireebench.problems.dtypes import FLOATS
from ireebench.problems.problem import Op, Problem

needs_nvcc = pytest.mark.skipif(native_build.missing_compiler("cuda") is not None, reason="nvcc is not installed")
needs_cupti = pytest.mark.skipif(
    CuptiTimer().missing("cuda://0") is not None, reason=f"no CUPTI: {CuptiTimer().missing('cuda://0')}"
)
CUB = [b for b in BASELINES.values() if b.library == "cub"]


@pytest.fixture(scope="module")
def pool(device: str) -> Iterator[GpuPool]:
    made = GpuPool("cuda", 0, 1 << 30)
    yield made
    made.close()


def reader(pool: GpuPool) -> Reader:
    return Reader(8 * pool.facts.parallel, 512, "plain", 4, "grid")


def median_ns(timer: Timer, runnable: Any, count: int) -> float:
    with timer.session("cuda://0"):
        timer.sample(runnable, [0] * 20)
        return statistics.median(i.kernel_ns for i in timer.sample(runnable, [0] * count))


@needs_nvcc
def test_every_reader_reads_every_word_once(pool: GpuPool) -> None:
    size = 3 * MIB + 48
    wrong = [r for r in gpu_readers(size, pool.facts.parallel) if pool.fold(r, size) != expected_fold(size)]
    assert wrong == []


@needs_nvcc
@needs_cupti
@pytest.mark.parametrize("size", [256 * MIB, 1024 * MIB])
def test_cupti_and_batched_agree_within_five_percent_over_twenty_us(pool: GpuPool, size: int) -> None:
    runnable = pool.runnable(reader(pool), size, 1)
    exact = median_ns(CuptiTimer(), runnable, 200)
    assert exact > 20_000
    assert median_ns(BatchedTimer(), runnable, 30) == pytest.approx(exact, rel=0.05)


@needs_nvcc
@needs_cupti
def test_torch_profiler_and_cupti_agree(pool: GpuPool) -> None:
    timer = TorchProfilerTimer()
    if reason := timer.missing("cuda://0"):
        pytest.skip(reason)
    runnable = pool.runnable(reader(pool), 256 * MIB, 1)
    assert median_ns(timer, runnable, 100) == pytest.approx(median_ns(CuptiTimer(), runnable, 100), rel=0.03)


@needs_nvcc
@needs_cupti
def test_cupti_tells_registers_grid_and_block(pool: GpuPool) -> None:
    used = reader(pool)
    timer = CuptiTimer()
    with timer.session("cuda://0"):
        (invocation,) = timer.sample(pool.runnable(used, MIB, 1), [0])
    (kernel,) = invocation.records
    assert "read_words" in kernel.name
    assert kernel.registers is not None
    assert kernel.registers > 0
    assert (kernel.grid, kernel.block) == ((used.grid, 1, 1), (512, 1, 1))
    assert (kernel.local_bytes, kernel.shared_bytes) == (0, 0)
    assert invocation.kernel_ns == invocation.span_ns > 0


@needs_nvcc
@needs_cupti
def test_five_hundred_invocations_take_well_under_a_second(pool: GpuPool) -> None:
    timer, runnable = CuptiTimer(), pool.runnable(reader(pool), MIB, 1)
    with timer.session("cuda://0"):
        timer.sample(runnable, [0] * 50)
        start = time.perf_counter()
        got: list[Invocation] = timer.sample(runnable, [0] * 500)
        took_s = time.perf_counter() - start
    assert len(got) == 500
    assert took_s < 0.5


@needs_nvcc
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize("shape", [(65536,), (100_003,), (32, 1000), (7, 3, 4099)])
def test_cub_finds_the_extremum_and_its_first_index(shape: tuple[int, ...], op: Op, dtype: str, device: str) -> None:
    values = np.random.default_rng(3).standard_normal(shape).astype(FLOATS[dtype].numpy)
    exact = values.astype(np.float64)
    problem = Problem("gpu", op, shape, dtype)
    ran = 0
    for baseline in CUB:
        if baseline.missing(device) or baseline.serves(op, dtype, shape):
            continue
        runnable = baseline.prepare(problem, (values,), 2, device)
        runnable.launch(1)
        runnable.sync()
        got_values, got_indices = runnable.outputs()
        runnable.close()
        assert np.array_equal(got_values.astype(np.float64), exact.max(-1) if op == "argmax" else exact.min(-1))
        assert np.array_equal(got_indices, exact.argmax(-1) if op == "argmax" else exact.argmin(-1))
        ran += 1
    assert ran >= 2  # every shape is served by two segmented forms


@needs_nvcc
@pytest.mark.parametrize("baseline", [b for b in CUB if b.form != "segmented_fixed"], ids=lambda b: b.name)
def test_cub_returns_infinity_where_there_is_nothing_else(baseline: Any, device: str) -> None:
    values = np.full((1, 5000), -np.inf, np.float32)
    runnable = baseline.prepare(Problem("gpu", "argmax", values.shape, "f32"), (values,), 1, device)
    runnable.launch(0)
    runnable.sync()
    got_value, got_index = runnable.outputs()
    runnable.close()
    assert (got_value.item(), got_index.item()) == (-np.inf, 0)


@needs_nvcc
@needs_cupti
def test_the_ceiling_is_near_the_data_sheet(device: str) -> None:
    table = sweep_ceiling(device, CuptiTimer(), [MIB, 512 * MIB], budget_s=12)
    cold = table.best_for(512 * MIB, "cold")
    assert cold is not None
    assert table.floor_ns is not None
    assert 300 < table.floor_ns < 5_000
    hot = table.best_for(MIB, "hot")
    assert hot is not None
    if "H200" in table.device:
        assert 4_000 < cold < 4_800  # 4.8 TB/s is the data sheet's


def test_telemetry_tells_clock_power_and_temperature(device: str) -> None:
    now = telemetry.read(device)
    if now.reason:
        pytest.skip(now.reason)
    assert now.clock_mhz is not None
    assert now.clock_mhz > 100
    assert now.temperature_c is not None
    assert 10 < now.temperature_c < 110
    assert now.power_w is not None
    assert now.power_w > 10


def test_the_driver_tells_what_a_build_and_a_cold_run_need(device: str) -> None:
    card = cuda_driver.find_device(0)
    assert card is not None
    assert card.capability >= (7, 0)
    assert card.l2_bytes >= MIB
    assert cuda_driver.find_device(10_000) is None

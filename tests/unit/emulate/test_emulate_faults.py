"""Faults planted in a copy of assembly that the compiler wrote: each must be caught, and the original must be clean.

`argmax_rows_32x131072xbf16_gfx942.rocmasm` is what IREE 3.13.0 makes of a row-wise argmax: VectorDistribute, one
workgroup of 4 subgroups a row, 2048 elements an iteration.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.listing import read_listing
from ireebench.isa.emulate.report import Fault, Report
from ireebench.isa.emulate.standalone import BindingSpec, KernelRun, choose_kernel, run_kernel

FILE = Path(__file__).parents[2] / "data" / "emulate" / "argmax_rows_32x131072xbf16_gfx942.rocmasm"
BF16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
ROWS, LENGTH = 32, 131072


@pytest.fixture(scope="module")
def rows() -> Any:
    data = np.zeros((ROWS, LENGTH), BF16)
    data[:4] = np.random.default_rng(7).standard_normal((4, LENGTH), np.float32).astype(BF16)
    return data


def run(text: str, data: Any, grid: int = 4, *, sanitize: bool = True) -> KernelRun:
    # The compiler puts both results in one buffer: 64 bytes of values, then the indices.
    out = BindingSpec("out", (64 + ROWS * 8,), np.dtype(np.uint8), None)
    specs = (BindingSpec("in", data.shape, BF16, data), out)
    return run_bound(choose_kernel(read_listing(text), None), specs, grid, Options(sanitize=sanitize))


def run_bound(code: Any, specs: Any, grid: int, options: Options) -> KernelRun:
    """The kernel has three bindings, two of them on one buffer: its values and its indices are kept apart here."""
    values = BindingSpec("out", (64,), np.dtype(np.uint8), None)
    return run_kernel(code, (specs[0], values, specs[1]), (grid, 1, 1), (), options)


def edit(*changes: tuple[str, str]) -> str:
    """The assembly with each piece of text, which must occur, replaced at its last place."""
    text = FILE.read_text()
    for old, new in changes:
        assert old in text
        head, _, tail = text.rpartition(old)
        text = head + new + tail
    return text


def faults(run: KernelRun) -> set[Fault]:
    return {r.fault for r in run.result.reports}


def first(run: KernelRun, fault: Fault) -> Report:
    return next(r for r in run.result.reports if r.fault is fault)


def test_the_original_is_clean_and_right(rows: Any) -> None:
    done = run(FILE.read_text(), rows)
    assert done.result.reports == ()
    values = done.bindings[1].view(BF16)[:4]
    indices = done.bindings[2][64:].view(np.int64)[:4]
    assert np.array_equal(values, rows[:4].astype(np.float32).max(axis=1).astype(BF16))
    assert np.array_equal(indices, rows[:4].astype(np.float32).argmax(axis=1))


def test_one_row_of_131072_takes_less_than_twenty_seconds(rows: Any) -> None:
    start = time.process_time()
    run(FILE.read_text(), rows, grid=1)
    assert time.process_time() - start < 20


WAIT_FOR_INPUT = "\ts_waitcnt vmcnt(0)\n"
WAIT_FOR_ARGUMENTS = "\ts_waitcnt lgkmcnt(0)\n\ts_branch .LBB0_0\n"


def test_a_missing_wait_for_the_input_names_register_load_and_counter(rows: Any) -> None:
    done = run(edit((WAIT_FOR_INPUT, "")), rows)
    report = first(done, Fault.MISSING_WAIT)
    assert "before a wait on vmcnt for buffer_load_dwordx4" in report.message
    assert report.workgroup == (0, 0, 0)
    assert report.kernel.startswith("argmax_dispatch_0")
    assert report.line > 0


def test_a_wait_that_lets_one_too_many_fly_is_caught(rows: Any) -> None:
    assert Fault.MISSING_WAIT in faults(run(edit((WAIT_FOR_INPUT, "\ts_waitcnt vmcnt(1)\n")), rows))


def test_a_missing_wait_for_the_arguments_is_caught(rows: Any) -> None:
    done = run(edit((WAIT_FOR_ARGUMENTS, "\ts_branch .LBB0_0\n")), rows)
    assert "before a wait on lgkmcnt for s_load" in first(done, Fault.MISSING_WAIT).message


def test_a_missing_wait_before_the_barrier_is_a_race(rows: Any) -> None:
    text = FILE.read_text()
    write = text.index("ds_write_b64")
    barrier = text.index("s_barrier", write)
    without = text[:write] + text[write:barrier].replace("lgkmcnt(0)", "lgkmcnt(4)") + text[barrier:]
    report = first(run(without, rows), Fault.RACE)
    assert "LDS load" in report.message
    assert "with no barrier and wait between" in report.message


def test_a_missing_barrier_is_a_race_between_waves(rows: Any) -> None:
    done = run(edit(("\ts_barrier\n", "")), rows)
    assert faults(done) & {Fault.RACE, Fault.UNINITIALISED}
    # Which wave comes first is chance on a device; here a wave sees what no wave has written yet, or races.
    assert any("LDS" in r.message for r in done.result.reports)


def test_a_shrunk_lds_allocation_is_out_of_bounds(rows: Any) -> None:
    size = ".amdhsa_group_segment_fixed_size 64"
    report = first(run(edit((size, size.replace("64", "32"))), rows), Fault.OUT_OF_BOUNDS)
    assert "past its allocation of 32 bytes" in report.message


def test_a_widened_store_overlaps_the_next_workgroups(rows: Any) -> None:
    report = first(run(edit(("buffer_store_short", "buffer_store_dword")), rows), Fault.OVERLAP)
    assert "another workgroup stores too" in report.message
    assert "binding 1" in report.message


def test_two_workgroups_on_one_output_overlap(rows: Any) -> None:
    report = first(run(edit(("s_lshl_b32 s3, s8, 1", "s_mov_b32 s3, 0")), rows), Fault.OVERLAP)
    assert report.workgroup != (0, 0, 0) or report.times > 0
    assert "byte 0 of binding 1 (out)" in report.message


def test_a_load_past_the_end_of_the_input_names_the_binding(rows: Any) -> None:
    half = rows.reshape(-1)[: rows.size // 64].reshape(1, -1)
    report = first(run(FILE.read_text(), half), Fault.OUT_OF_BOUNDS)
    assert "of binding 0 (in)" in report.message


def test_nothing_is_reported_when_the_sanitizer_is_off(rows: Any) -> None:
    assert run(edit((WAIT_FOR_INPUT, "")), rows, sanitize=False).result.reports == ()


def test_bounds_are_reported_even_then(rows: Any) -> None:
    half = rows.reshape(-1)[: rows.size // 64].reshape(1, -1)
    assert faults(run(FILE.read_text(), half, sanitize=False)) == {Fault.OUT_OF_BOUNDS}

"""A fiftieth of the sizes that are promised (a million rows in 1.5 s as CSV, in 4 s as a database), in processor time.

The whole million is benchmarked by hand: other work on a test machine makes seconds meaningless there.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ireebench.measure.rocprof.reading import read
from ireebench.measure.rocprof.summary import summarise

ROWS = 20_000
NAMES = ("__amd_rocclr_fillBufferAligned", "main$async_dispatch_0_x", "void f<half, 64>(half const*, int)")


def rows(formats: ModuleType) -> list[Any]:
    """Rows of 3000 + i % 500 ns, three kernels in turn."""
    return [
        formats.Planted(
            NAMES[i % 3], 5_329_321_973_213_203 + 4000 * i, 5_329_321_973_213_203 + 4000 * i + 3000 + i % 500
        )
        for i in range(ROWS)
    ]


@pytest.mark.parametrize(("form", "limit_s"), [("G2", 0.3), ("rocpd", 0.8)])
def test_large_traces_are_read_in_bulk(formats: ModuleType, tmp_path: Path, form: str, limit_s: float) -> None:
    formats.write(form, tmp_path, 1, rows(formats))
    read([str(tmp_path)])  # imports and caches
    began = time.process_time()
    summary = summarise(read([str(tmp_path)]))
    took = time.process_time() - began
    expected = [3000 + i % 500 for i in range(ROWS) if i % 3 == 1]
    (kernel,) = [k for k in summary.kernels if k.name == NAMES[1]]
    assert (kernel.calls, kernel.total_ns) == (len(expected), sum(expected))
    assert took < limit_s

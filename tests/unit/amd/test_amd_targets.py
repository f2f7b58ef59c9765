"""The table of AMD targets against the vendor's figures, written out here a second time."""

from __future__ import annotations

import pytest

from ireebench.targets import find_target

KIB, MIB = 1024, 1024 * 1024
# name: (lanes, LDS of a workgroup KiB, compute units, last-level cache MiB, GB/s, vector registers of a unit KiB)
SHEETS = {
    "gfx942": ((64,), 64, 304, 256, 5300.0, 512),
    "gfx950": ((64,), 160, 256, 256, 8000.0, 512),
    "gfx90a": ((64,), 64, 110, 8, 1638.4, 512),
    "gfx906": ((64,), 64, 60, 4, 1024.0, 256),
    "gfx1100": ((32, 64), 64, 96, 96, 960.0, 384),
    "gfx1151": ((32, 64), 64, 40, 32, 256.0, 384),
    "gfx1201": ((32, 64), 64, 64, 64, 640.0, 384),
}


@pytest.mark.parametrize("name", SHEETS)
def test_a_target_is_what_its_data_sheet_says(name: str) -> None:
    t = find_target(name)
    lanes, lds, units, cache, rate, registers = SHEETS[name]
    assert (t.backend, t.subgroup_sizes, t.max_threads) == ("hip", lanes, 1024)
    assert t.lds_bytes == lds * KIB
    assert (t.compute_units, t.cache_bytes, t.spec_gb_per_s) == (units, cache * MIB, rate)
    assert t.register_file_bytes == registers * KIB
    assert "ISA guide" in t.source

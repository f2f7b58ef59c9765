"""Occupancy, with the arithmetic shown. Rules: LLVM AMDGPUBaseInfo.cpp; AMD ISA guides; ROCm/hip-ep#470 for gfx1151."""

from __future__ import annotations

import pytest

from ireebench.isa.architecture import ARCHITECTURES, find_architecture, generation
from ireebench.isa.occupancy import occupancy_of, waves_by_vgpr
from ireebench.isa.resources import Resources


def resources(
    vgpr: int, *, wave: int = 64, sgpr: int = 32, lds: int = 0, workgroup: int | None = 256, wgp: bool = False
) -> Resources:
    return Resources(vgpr, 0, sgpr, lds, 0, 0, 0, wave, workgroup, vgpr, vgpr, vgpr, sgpr, wgp, False, ())


@pytest.mark.parametrize(
    ("vgpr", "waves"),
    [
        (61, 8),  # 61 -> 64, 512 / 64 = 8
        (64, 8),
        (65, 7),  # 65 -> 72, 512 / 72 = 7.1
        (76, 6),  # 76 -> 80, 512 / 80 = 6.4
        (101, 4),  # 101 -> 104, 512 / 104 = 4.9
        (129, 3),  # 129 -> 136, 512 / 136 = 3.8
        (256, 2),
        (512, 1),
        (1, 8),  # 512 / 8 = 64, and a SIMD has 8 wave slots
    ],
)
@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950"])
def test_cdna_gives_512_vgprs_in_groups_of_8_to_at_most_8_waves(target, vgpr, waves):
    found = occupancy_of(resources(vgpr), target)
    assert found is not None
    assert found.waves == waves


@pytest.mark.parametrize(
    ("vgpr", "waves"),
    [
        (38, 16),  # 38 -> 48, 1536 / 48 = 32, and a SIMD has 16 wave slots
        (77, 16),  # 77 -> 96, 1536 / 96 = 16
        (96, 16),
        (97, 12),  # 97 -> 120, 1536 / 120 = 12.8
        (108, 12),  # 108 -> 120
        (157, 9),  # 157 -> 168, 1536 / 168 = 9.1
        (192, 8),  # 1536 / 192 = 8
        (240, 6),  # 1536 / 240 = 6.4
    ],
)
@pytest.mark.parametrize("target", ["gfx1100", "gfx1151", "gfx1201"])
def test_large_rdna_gives_1536_vgprs_in_groups_of_24_to_wave32(target, vgpr, waves):
    found = occupancy_of(resources(vgpr, wave=32, wgp=True), target)
    assert found is not None
    assert found.waves == waves


@pytest.mark.parametrize(
    ("target", "wave", "vgpr", "waves"),
    [
        ("gfx906", 64, 24, 10),  # 256 / 24 = 10.7, 10 slots
        ("gfx906", 64, 28, 9),  # 256 / 28 = 9.1
        ("gfx906", 64, 29, 8),  # 29 -> 32, 256 / 32 = 8
        ("gfx1010", 32, 52, 18),  # 52 -> 56, 1024 / 56 = 18.3
        ("gfx1010", 64, 26, 18),  # 26 -> 28, 512 / 28 = 18.3
        ("gfx1030", 32, 65, 12),  # 65 -> 80, 1024 / 80 = 12.8
        ("gfx1102", 32, 108, 9),  # 108 -> 112, 1024 / 112 = 9.1: no 1536 registers there
        ("gfx1100", 64, 54, 12),  # 54 -> 60, 768 / 60 = 12.8
    ],
)
def test_other_register_files_have_their_own_granule(target, wave, vgpr, waves):
    found = occupancy_of(resources(vgpr, wave=wave, wgp=generation(target) >= 10), target)
    assert found is not None
    assert found.limits["vgpr"] == waves


def test_lds_limits_workgroups_and_with_them_waves():
    # 65536 // 20480 = 3 workgroups of 256 / 64 = 4 waves on 4 SIMDs: 3 waves a SIMD.
    found = occupancy_of(resources(8, lds=20_480), "gfx942")
    assert found is not None
    assert (found.waves, found.limited_by) == (3, ("lds",))


def test_a_single_large_workgroup_fills_a_quarter_of_each_simd():
    # One workgroup of 1024 / 64 = 16 waves in 64 KiB of LDS, on 4 SIMDs: 4.
    found = occupancy_of(resources(10, lds=65_536, workgroup=1024), "gfx942")
    assert found is not None
    assert (found.waves, found.limited_by) == (4, ("lds",))


def test_gfx950_has_160_kib_of_lds_in_blocks_of_1280_bytes():
    # 65536 -> 66560 (52 blocks); 163840 // 66560 = 2 workgroups of 16 waves on 4 SIMDs: 8.
    found = occupancy_of(resources(10, lds=65_536, workgroup=1024), "gfx950")
    assert found is not None
    assert found.limits["lds"] == 8


def test_a_workgroup_pair_of_compute_units_has_twice_the_lds():
    # 40000 -> 40960. WGP mode: 131072 // 40960 = 3 workgroups of 8 waves on 4 SIMDs = 6.
    # CU mode: 65536 // 40960 = 1 workgroup of 8 waves on 2 SIMDs = 4.
    wgp = occupancy_of(resources(10, wave=32, lds=40_000, wgp=True), "gfx1100")
    cu = occupancy_of(resources(10, wave=32, lds=40_000, wgp=False), "gfx1100")
    assert wgp is not None
    assert cu is not None
    assert (wgp.limits["lds"], cu.limits["lds"]) == (6, 4)


def test_lds_is_given_in_blocks_that_grew_with_rdna2():
    # 9700 bytes: 19 x 512 = 9728, 131072 // 9728 = 13; 10 x 1024 = 10240, 131072 // 10240 = 12.
    # Workgroups of one wave on 4 SIMDs: 13 give the fullest SIMD 4, 12 give it 3.
    old = occupancy_of(resources(8, wave=32, lds=9_700, workgroup=32, wgp=True), "gfx1010")
    new = occupancy_of(resources(8, wave=32, lds=9_700, workgroup=32, wgp=True), "gfx1030")
    assert old is not None
    assert new is not None
    assert (old.limits["lds"], new.limits["lds"]) == (4, 3)


def test_whole_workgroups_must_fit_in_the_wave_slots():
    # 576 threads are 9 waves; 32 slots hold 3 workgroups = 27 waves on 4 SIMDs: the fullest has 7.
    found = occupancy_of(resources(8, workgroup=576), "gfx942")
    assert found is not None
    assert (found.waves, found.limited_by) == (7, ("workgroup",))


@pytest.mark.parametrize(("sgpr", "waves"), [(80, 10), (88, 9), (100, 8), (102, 7)])
def test_sgprs_limit_gfx9(sgpr, waves):
    found = occupancy_of(resources(8, sgpr=sgpr, workgroup=None), "gfx906")
    assert found is not None
    assert found.waves == waves


def test_sgprs_never_limit_rdna():
    found = occupancy_of(resources(8, wave=32, sgpr=106, wgp=True), "gfx1100")
    assert found is not None
    assert "sgpr" not in found.limits


def test_an_unknown_processor_has_no_occupancy_rather_than_a_guess():
    assert occupancy_of(resources(8), "gfx7777") is None


def test_no_registers_still_leaves_one_wave():
    assert waves_by_vgpr(0, 8, 512, 8) == 8
    assert waves_by_vgpr(1024, 8, 512, 8) == 1


def test_every_processor_is_in_the_table_once_with_a_source():
    names = [p for a in ARCHITECTURES for p in a.processors]
    assert len(names) == len(set(names))
    assert all(a.source for a in ARCHITECTURES)
    assert all(find_architecture(p) is not None for p in names)


@pytest.mark.parametrize(
    ("name", "major"),
    [
        ("gfx906", 9),
        ("gfx90a", 9),
        ("gfx950", 9),
        ("gfx1030", 10),
        ("gfx1151", 11),
        ("gfx1201", 12),
        ("sm_80", 0),
        ("gfx", 0),
    ],
)
def test_the_generation_is_in_the_name(name, major):
    assert generation(name) == major

"""Cases that went wrong for people: files of ours with the traits of public kernels, and the facts that must come out.

Each file's first line says which trait it has; counts are those of the public kernel that it stands for.
"""

from __future__ import annotations

from pathlib import Path

from ireebench.isa.analysis import KernelAnalysis, analyse_file
from ireebench.isa.lints import lint_kernel
from ireebench.isa.mix import opcodes_of
from ireebench.isa.parse import parse_assembly
from ireebench.isa.summary import KernelSummary, summarise

DATA = Path(__file__).parents[2] / "data" / "isa"


def analyses(name: str) -> tuple[KernelAnalysis, ...]:
    return analyse_file(parse_assembly((DATA / name).read_text()))


def summaries(name: str) -> dict[str, KernelSummary]:
    return {s.name: s for s in summarise((DATA / name).read_text())}


def test_three_vgpr_counts_the_descriptor_decides_the_occupancy():
    (k,) = analyses("a31_three_counts.s")
    assert k.target == "gfx942"  # from the metadata: there is no .amdgcn_target
    r = k.resources
    assert (r.descriptor_vgpr, r.metadata_vgpr, r.vgpr, r.agpr, r.sgpr) == (129, 104, 40, 64, 36)
    assert (r.lds_bytes, r.scratch_bytes, r.vgpr_spills, r.workgroup_size) == (20_480, 0, 0, 256)
    # 129 -> 136, 512 / 136 = 3; LDS: 65536 // 20480 = 3 workgroups of 4 waves on 4 SIMDs = 3. With 104 it would be 4.
    assert k.occupancy is not None
    assert (k.occupancy.waves, k.occupancy.limited_by) == (3, ("vgpr", "lds"))
    assert [f.id for f in lint_kernel(k)] == ["descriptor-mismatch"]
    counts = opcodes_of(k.kernel.instructions)
    expected = {
        "global_load_dwordx4": 4,
        "ds_write2_b64": 4,
        "ds_read_b64": 8,
        "ds_read2st64_b64": 4,
        "v_mfma_f32_32x32x8_bf16_1k": 16,
        "v_accvgpr_write_b32": 128,
        "v_accvgpr_read_b32": 64,
        "global_store_short_d16_hi": 64,
        "s_barrier": 2,
        "s_waitcnt": 12,
    }
    assert {name: counts[name] for name in expected} == expected
    waits = {key: n for key, n in k.mix.items() if key.startswith("wait.")}
    assert waits == {"wait.lgkmcnt(0)": 8, "wait.vmcnt(0)": 2, "wait.lgkmcnt(1)": 1, "wait.lgkmcnt(3)": 1}


def test_inline_assembly_is_code_and_its_look_alikes_are_not():
    half, bf16, matmul = analyses("a32_inline_asm.s")
    mix, counts = half.mix, opcodes_of(half.kernel.instructions)
    assert (mix["global_load.16"], mix["load.nt"], mix["global_store.2"], mix["scalar_load"]) == (10, 2, 4, 0)
    assert (counts["v_dot2c_f32_f16"], counts["s_nop"], counts["s_trap"], mix["barrier"]) == (32, 71, 1, 0)
    assert {k: n for k, n in mix.items() if k.startswith("wait.")} == {"wait.vmcnt(5)": 1, "wait.vmcnt(0)": 1}
    dpp = {k: n for k, n in mix.items() if k.startswith("dpp.")}
    patterns = ("row_shr:8", "row_shr:4", "row_shr:2", "wave_shr:1", "row_bcast:15", "row_bcast:31")
    assert dpp == {f"dpp.{p}": 4 for p in patterns}
    assert not any(i.mnemonic.endswith("_dpp") for i in half.kernel.instructions)
    assert (half.resources.vgpr, half.resources.sgpr) == (60, 23)
    # 60 -> 64, 512 / 64 = 8; 76 -> 80, 512 / 80 = 6.
    assert half.occupancy is not None
    assert bf16.occupancy is not None
    assert (half.occupancy.waves, bf16.occupancy.waves) == (8, 6)
    twin = opcodes_of(bf16.kernel.instructions)
    assert (bf16.mix["dot"], twin["v_pk_fma_f32"], twin["v_pk_mul_f32"], bf16.resources.vgpr) == (0, 24, 8, 76)
    lds = opcodes_of(matmul.kernel.instructions)
    assert (lds["ds_write_b32"], lds["ds_read_b128"], lds["ds_read2_b32"], lds["s_barrier"]) == (2, 8, 16, 1)
    assert (matmul.resources.lds_bytes, matmul.resources.vgpr) == (8192, 40)


def test_the_minimal_inline_assembly_sample_has_the_counts_in_its_last_line():
    (k,) = analyses("q_inline_dpp.s")
    counts = opcodes_of(k.kernel.instructions)
    assert (k.mix["global_load.16"], k.mix["load.nt"], counts["s_waitcnt"], k.mix["dot"]) == (2, 1, 2, 2)
    assert (k.mix["dpp"], counts["s_nop"], counts["s_trap"], k.mix["scalar_load"], k.mix["global_store.2"]) == (
        *(3, 3, 1, 0, 1),
    )
    assert k.occupancy is not None
    assert (k.resources.vgpr, k.occupancy.waves) == (76, 6)


def test_a_ladder_of_waits_and_an_occupancy_that_lds_limits():
    v8, v6 = analyses("a33_lds_limited.s")
    counts = opcodes_of(v8.kernel.instructions)
    assert (v8.mix["global_load.16"], v8.mix["load.nt"], counts["ds_write_b128"], counts["ds_read_b128"]) == (
        5,
        4,
        1,
        16,
    )
    assert (v8.mix["dot"], v8.mix["barrier"], counts["s_nop"]) == (64, 1, 92)
    waits = {k: n for k, n in v8.mix.items() if k.startswith("wait.")}
    ladder = {f"wait.vmcnt({n})": 1 for n in (3, 2, 1)} | {f"wait.lgkmcnt({n})": 1 for n in (12, 8, 4)}
    assert waits == ladder | {"wait.vmcnt(0)": 2, "wait.lgkmcnt(0)": 2}
    assert v8.occupancy is not None
    assert v6.occupancy is not None
    # v8: 101 -> 104, 512 / 104 = 4. Both: one workgroup of 16 waves in 64 KiB of LDS on 4 SIMDs = 4.
    assert (v8.occupancy.waves, v8.occupancy.limited_by) == (4, ("vgpr", "lds"))
    assert (v6.occupancy.waves, v6.occupancy.limited_by) == (4, ("lds",))
    assert v6.occupancy.limits["vgpr"] == 8  # what a calculator that looks at registers alone says


def test_scratch_is_no_spill():
    (k,) = analyses("q_scratch_not_spill.s")
    assert k.target == "gfx950"  # spelled amdgcn-amd-amdhsa-unknown-gfx950
    assert (k.resources.scratch_bytes, k.resources.vgpr_spills) == (32, 0)
    assert (k.mix["scratch_store.16"], k.mix["scratch_load.4"]) == (2, 1)
    assert [f.id for f in lint_kernel(k)] == ["scratch"]


def test_spills_are_reported_apart_from_scratch_and_dynamic_lds_is_a_bound():
    (k,) = analyses("a34_spills_dynamic_lds.s")
    assert (k.resources.scratch_bytes, k.resources.vgpr_spills, k.resources.lds_bytes) == (284, 72, 0)
    assert k.resources.dynamic_lds
    assert k.occupancy is not None
    assert (k.occupancy.waves, k.occupancy.upper_bound) == (2, True)  # 512 / 256
    assert {"dynamic-lds", "spills"} <= {f.id for f in lint_kernel(k)}


def test_descriptor_and_metadata_that_disagree_are_reported_and_flow_style_is_read():
    rsqrt, norm = analyses("a35_descriptor_metadata.s")
    assert (rsqrt.resources.descriptor_vgpr, rsqrt.resources.metadata_vgpr) == (8, 4)
    (finding,) = lint_kernel(rsqrt)
    assert finding.id == "descriptor-mismatch"
    assert finding.message == "descriptor asks for 8 VGPRs, metadata says 4; occupancy follows the descriptor"
    assert {k: n for k, n in rsqrt.mix.items() if k.startswith("dpp")} == {
        "dpp": 6,
        "dpp.quad_perm:[1,0,3,2]": 1,
        "dpp.quad_perm:[2,3,0,1]": 1,
        "dpp.row_half_mirror": 1,
        "dpp.row_mirror": 1,
        "dpp.row_bcast:15": 1,
        "dpp.row_bcast:31": 1,
    }
    assert (norm.mix["dpp"], norm.mix["global_load.2"], norm.mix["global_store.2"]) == (6, 6, 2)
    assert (norm.mix["wait.lgkmcnt(0)"], norm.mix["wait.vmcnt(0)"]) == (2, 2)
    assert norm.kernel.metadata.reqd_workgroup_size == (64, 1, 1)
    assert rsqrt.kernel.metadata.args[0].value_kind == "global_buffer"


def test_rdna_with_1536_vgprs_has_a_granule_of_24():
    found = summaries("a36_rdna_granule.s")
    waves = {name.removeprefix("tile_"): s.occupancy for name, s in found.items()}
    assert waves == {"38": 16, "77": 16, "108": 12, "157": 9, "192": 8, "96": 16, "240": 6}
    assert [name for name, s in found.items() if "scratch" in s.lints] == ["tile_157", "tile_192"]


def test_four_kernels_whose_names_differ_in_one_flag_stay_four():
    found = summaries("a37_four_kernels.s")
    assert [(s.vgpr, s.sgpr, s.lds_bytes, s.scratch_bytes, s.vgpr_spills, s.occupancy) for s in found.values()] == [
        (43, 48, 512, 0, 0, 8),
        (33, 31, 256, 0, 0, 8),
        (39, 48, 512, 0, 0, 8),
        (31, 28, 256, 0, 0, 8),
    ]

"""Instructions one by one, on values worked out by hand from AMD's pseudocode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.standalone import KernelRun

Body = Callable[..., KernelRun]

LOAD_TWO = """
	global_load_dword v2, v1, s[4:5]
	global_load_dword v3, v1, s[4:5] offset:256
	s_waitcnt vmcnt(0)
"""
STORE = """
	global_store_dword v1, v4, s[6:7]
"""

F32 = {"one": 0x3F800000, "two": 0x40000000, "inf": 0x7F800000, "nan": 0x7FC00000, "snan": 0x7F800001, "-0": 0x80000000}

# text, first and second input, result: v2 and v3 give v4.
VECTOR = (
    ("v_add_u32_e32 v4, v2, v3", 0xFFFFFFFF, 2, 1),
    ("v_sub_u32_e64 v4, v2, v3 clamp", 3, 5, 0),
    ("v_lshlrev_b32_e32 v4, v2, v3", 33, 1, 2),  # shifts take five bits
    ("v_ashrrev_i32_e32 v4, 4, v2", 0x80000000, 0, 0xF8000000),
    ("v_mul_hi_u32 v4, v2, v3", 0x80000000, 6, 3),
    ("v_mad_u32_u24 v4, v2, v3, 7", 0x01000003, 5, 22),  # the upper 8 bits of a factor do not count
    ("v_mul_i32_i24_e32 v4, v2, v3", 0x00FFFFFF, 5, 0xFFFFFFFB),  # 24-bit -1
    ("v_bfe_u32 v4, v2, 8, 8", 0x12345678, 0, 0x56),
    ("v_bfe_i32 v4, v2, 4, 4", 0x000000F0, 0, 0xFFFFFFFF),
    ("v_bfi_b32 v4, v2, v3, 0", 0x0000FF00, 0x12345678, 0x00005600),
    ("v_perm_b32 v4, v2, v3, 0x07060100", 0xAABBCCDD, 0x11223344, 0xAABB3344),
    ("v_perm_b32 v4, v2, v3, 0x0c0d0408", 0xAABBCCDD, 0x0000F000, 0x00FFDDFF),  # zero, ones, byte, sign of byte 1
    ("v_alignbit_b32 v4, v2, v3, 16", 0x11112222, 0x33334444, 0x22223333),
    ("v_ffbh_u32_e32 v4, v2", 0x00010000, 0, 15),
    ("v_ffbl_b32_e32 v4, v2", 0, 0, 0xFFFFFFFF),
    ("v_bcnt_u32_b32 v4, v2, v3", 0xF0F0F0F0, 1, 17),
    ("v_med3_i32 v4, v2, v3, 0", 0xFFFFFFFE, 5, 0),
    ("v_max_f32_e32 v4, v2, v3", F32["-0"], 0, 0),  # +0 is above -0
    ("v_min_f32_e32 v4, v2, v3", F32["-0"], 0, F32["-0"]),
    ("v_max_f32_e32 v4, v2, v3", F32["nan"], F32["one"], F32["one"]),
    ("v_max_f32_e32 v4, v2, v3", F32["snan"], F32["one"], 0x7FC00001),  # quietened in IEEE mode
    ("v_add_f32_e64 v4, -v2, |v3|", F32["one"], 0xC0000000, F32["one"]),  # -1 + |-2|
    ("v_mul_f32_e64 v4, v2, v3 mul:2", F32["two"], F32["two"], 0x41000000),
    ("v_add_f32_e64 v4, v2, v3 clamp", F32["two"], F32["two"], F32["one"]),
    # (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46 only if the product is not rounded.
    ("v_mov_b32_e32 v4, 0xbf800002\n\tv_fmac_f32_e32 v4, v2, v3", 0x3F800001, 0x3F800001, 0x28800000),
    ("v_cvt_i32_f32_e32 v4, v2", 0xC0600000, 0, 0xFFFFFFFD),  # -3.5 truncates to -3
    ("v_cvt_u32_f32_e32 v4, v2", 0xBF800000, 0, 0),  # -1 saturates
    ("v_cvt_i32_f32_e32 v4, v2", F32["nan"], 0, 0),
    ("v_cvt_f16_f32_e32 v4, v2", 0x477FE000, 0, 0x7BFF),  # 65504, the largest
    ("v_cvt_f16_f32_e32 v4, v2", 0x47800000, 0, 0x7C00),  # 65536 is infinity
    ("v_cvt_pkrtz_f16_f32 v4, v2, v3", 0x477FF000, 0xC0600000, 0xC3007BFF),  # towards zero: 65520 stays 65504
    ("v_cvt_f32_f16_sdwa v4, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0x3C000000, 0, F32["one"]),
    ("v_cvt_f32_ubyte2_e32 v4, v2", 0x00020000, 0, F32["two"]),
    ("v_rndne_f32_e32 v4, v2", 0x40200000, 0, F32["two"]),  # 2.5 goes to even
    ("v_ldexp_f32 v4, v2, v3", F32["one"], 0xFFFFFFFF, 0x3F000000),
    ("v_pk_add_f16 v4, v2, v3", 0x3C004000, 0x3C003C00, 0x40004200),
    ("v_pk_add_f16 v4, v2, v3 op_sel_hi:[1,0]", 0x3C004000, 0x00003C00, 0x40004200),
    ("v_pk_mul_lo_u16 v4, v2, v3", 0x00030002, 0x00050004, 0x000F0008),
    ("v_dot2_f32_f16 v4, v2, v3, 1.0", 0x3C004000, 0x3C004000, 0x40C00000),  # 1*1 + 2*2 + 1
    ("v_cmp_gt_f32_e32 vcc, v2, v3\n\tv_cndmask_b32_e32 v4, 7, v2, vcc", F32["two"], F32["one"], F32["two"]),
    ("v_cmp_lg_f32_e32 vcc, v2, v3\n\tv_cndmask_b32_e64 v4, 1, 2, vcc", F32["nan"], F32["one"], 1),  # unordered
    ("v_cmp_class_f32_e64 s[2:3], v2, 3\n\tv_cndmask_b32_e64 v4, 0, 1, s[2:3]", F32["nan"], 0, 1),
    ("v_add_co_u32_e32 v5, vcc, v2, v3\n\tv_addc_co_u32_e64 v4, s[2:3], 0, 0, vcc", 0xFFFFFFFF, 1, 1),
    ("v_readfirstlane_b32 s2, v2\n\tv_mov_b32_e32 v4, s2", 41, 0, 41),
    ("s_mov_b32 s2, 0x00080004\n\ts_bfe_u32 s2, 0xabcdef12, s2\n\tv_mov_b32_e32 v4, s2", 0, 0, 0xF1),
    ("s_movk_i32 s2, 0x8000\n\tv_mov_b32_e32 v4, s2", 0, 0, 0xFFFF8000),
    ("s_mov_b64 s[2:3], 12\n\ts_ff1_i32_b64 s2, s[2:3]\n\tv_mov_b32_e32 v4, s2", 0, 0, 2),
)


@pytest.mark.parametrize(("text", "first", "second", "expected"), VECTOR)
def test_an_instruction_gives_what_the_pseudocode_says(
    run_body: Body, text: str, first: int, second: int, expected: int
) -> None:
    run = run_body(LOAD_TWO + "\t" + text + STORE, [first] * 64 + [second] * 64)
    assert [hex(v) for v in run.bindings[1][[0, 5, 63]]] == [hex(expected)] * 3
    assert run.result.reports == ()


def lanes(run_body: Body, text: str) -> list[int]:
    """What lanes hold after `text`, which moves v2 (the lane's number) to v4 (at first 1000)."""
    body = "\tv_mov_b32_e32 v2, v0\n\tv_mov_b32_e32 v4, 0x3e8\n\t" + text + "\n\ts_waitcnt lgkmcnt(0)" + STORE
    return [int(v) for v in run_body(body).bindings[1]]


def test_dpp_patterns_take_the_lanes_that_they_name(run_body: Body) -> None:
    everywhere = "row_mask:0xf bank_mask:0xf bound_ctrl:1"
    assert lanes(run_body, f"v_mov_b32_dpp v4, v2 quad_perm:[1,0,3,2] {everywhere}")[:4] == [1, 0, 3, 2]
    assert lanes(run_body, f"v_mov_b32_dpp v4, v2 row_half_mirror {everywhere}")[:9] == [7, 6, 5, 4, 3, 2, 1, 0, 15]
    assert lanes(run_body, f"v_mov_b32_dpp v4, v2 row_mirror {everywhere}")[16:18] == [31, 30]
    assert lanes(run_body, f"v_mov_b32_dpp v4, v2 row_shr:1 {everywhere}")[15:18] == [14, 0, 16]  # lane 16 has none
    assert lanes(run_body, f"v_mov_b32_dpp v4, v2 row_ror:1 {everywhere}")[16:18] == [31, 16]


def test_dpp_masks_and_missing_sources_keep_the_old_value(run_body: Body) -> None:
    got = lanes(run_body, "v_mov_b32_dpp v4, v2 row_bcast:15 row_mask:0xa bank_mask:0xf")
    assert got[:16] == [1000] * 16
    assert got[16:32] == [15] * 16
    assert got[32:48] == [1000] * 16
    assert got[48:] == [47] * 16
    got = lanes(run_body, "v_mov_b32_dpp v4, v2 row_bcast:31 row_mask:0xc bank_mask:0xf")
    assert got == [1000] * 32 + [31] * 32
    got = lanes(run_body, "v_mov_b32_dpp v4, v2 row_shl:4 row_mask:0xf bank_mask:0x5")
    assert got[:16] == [4, 5, 6, 7, *[1000] * 4, 12, 13, 14, 15, *[1000] * 4]


def test_lanes_move_through_the_lds_crossbar(run_body: Body) -> None:
    assert lanes(run_body, "v_mov_b32_e32 v3, 20\n\tds_bpermute_b32 v4, v3, v2")[:2] == [5, 5]
    assert lanes(run_body, "ds_swizzle_b32 v4, v2 offset:swizzle(SWAP,16)")[:2] == [16, 17]
    assert lanes(run_body, "ds_swizzle_b32 v4, v2 offset:0x401f")[:2] == [16, 17]  # xor 16
    assert lanes(run_body, 'ds_swizzle_b32 v4, v2 offset:swizzle(BITMASK_PERM,"00000")')[31:33] == [0, 32]


def test_inactive_lanes_keep_their_values_and_read_as_zero_for_others(run_body: Body) -> None:
    text = """v_cmp_gt_u32_e32 vcc, 8, v2
	s_and_saveexec_b64 s[2:3], vcc
	v_mov_b32_e32 v3, 36
	ds_bpermute_b32 v4, v3, v2
	s_waitcnt lgkmcnt(0)
	s_or_b64 exec, exec, s[2:3]"""
    assert lanes(run_body, text)[:10] == [0] * 8 + [1000] * 2  # lane 9 is off: nothing to pull


def test_an_unknown_instruction_is_named_with_its_line(run_body: Body) -> None:
    with pytest.raises(Unsupported, match=r"v_frobnicate_b32, line 10"):
        run_body("\tv_frobnicate_b32 v4, v2" + STORE)


def test_a_modifier_that_is_not_implemented_is_not_ignored(run_body: Body) -> None:
    with pytest.raises(Unsupported, match="frobnicate"):
        run_body("\tv_add_u32_e64 v4, v0, v0 frobnicate:3" + STORE)


def test_an_unknown_instruction_that_is_never_reached_does_no_harm(run_body: Body) -> None:
    run = run_body("\tv_mov_b32_e32 v4, v0\n\ts_branch .L1\n\tv_frobnicate_b32 v4, v4\n.L1:" + STORE)
    assert run.bindings[1][63] == 63


def test_dual_issued_halves_read_before_either_writes(run_body: Body) -> None:
    body = """
	v_mov_b32_e32 v2, 1
	v_mov_b32_e32 v3, 2
	v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2
	v_lshl_or_b32 v4, v3, 4, v2
	v_lshlrev_b32_e32 v1, 2, v0
	global_store_b32 v1, v4, s[6:7]
"""
    prologue = "\ts_load_b128 s[4:7], s[0:1], 0x0\n\ts_waitcnt lgkmcnt(0)\n"
    run = run_body(body, out=32, target="gfx1100", lanes=32, threads=32, prologue=prologue)
    assert set(run.bindings[1].tolist()) == {0x12}


def test_buffer_loads_beyond_the_range_read_zero_and_dwords_within_it_are_kept(run_body: Body) -> None:
    body = """
	s_mov_b32 s6, 8
	s_mov_b32 s7, 0x27000
	s_load_dwordx2 s[8:9], s[0:1], 0x8
	v_mov_b32_e32 v2, 0
	buffer_load_dwordx4 v[4:7], v2, s[4:7], 0 offen
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_dwordx4 v2, v[4:7], s[8:9]
"""
    run = run_body(body, np.arange(10, 74), threads=1, out=4)
    assert run.bindings[1].tolist() == [10, 11, 0, 0]
    assert run.result.counts.clamped_lanes > 0

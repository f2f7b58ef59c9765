"""Basic blocks, loops, nesting, mixes, loop strings and bytes in flight, on a kernel small enough to do by hand."""

from __future__ import annotations

import pytest

from ireebench.isa.analysis import KernelAnalysis, analyse
from ireebench.isa.classify import Kind, classify, opcode
from ireebench.isa.flight import bytes_in_flight, load_waits
from ireebench.isa.parse import parse_assembly, parse_instruction
from ireebench.isa.waits import waits_of

NESTED = """\
k:
 s_mov_b32 s0, 0
.L1:
 s_mov_b32 s1, 0
 global_load_dwordx4 v[0:3], v[20:21], off
.L2:
 buffer_load_dwordx2 v[4:5], v6, s[4:7], 0 offen nt
 ds_read_b128 v[8:11], v7
 s_waitcnt vmcnt(1) lgkmcnt(0)
 v_dot2c_f32_f16_e32 v12, v8, v0
 v_dot2c_f32_f16_e32 v12, v9, v1
 s_cbranch_execz .L3
 v_cvt_f32_f16_e32 v13, v4
.L3:
 s_cbranch_scc1 .L2
 s_barrier
 s_cbranch_scc1 .L1
 v_add_f32_dpp v12, v12, v12 row_shr:8 row_mask:0xf bank_mask:0xf
 ds_bpermute_b32 v1, v2, v12
 global_store_dword v[20:21], v12, off
 s_endpgm
 s_nop 0
"""


def kernel(text: str = NESTED, target: str = "gfx942") -> KernelAnalysis:
    return analyse(parse_assembly(text).kernels[0], target)


def test_blocks_start_at_labels_and_after_branches():
    blocks = kernel().flow.blocks
    # entry; .L1; .L2 to execz; cvt; .L3 branch; barrier to branch; tail; the s_nop that nothing reaches
    assert [b.end - b.start for b in blocks] == [1, 2, 6, 1, 1, 2, 4, 1]
    assert [b.successors for b in blocks] == [(1,), (2,), (3, 4), (4,), (5, 2), (6, 1), (), ()]


def test_loops_nest_and_the_inner_one_is_hot():
    k = kernel()
    loops = [(a.loop.line, a.loop.depth, a.loop.parent, a.loop.blocks) for a in k.loops]
    assert loops == [(4, 1, None, (1, 2, 3, 4, 5)), (7, 2, 0, (2, 3, 4))]
    assert k.hot == 1


def test_the_hot_loop_as_a_line():
    k = kernel()
    assert k.hot_loop is not None
    assert k.hot_loop.string == "G r v d2 ^ c ^"
    assert k.loops[0].string == "G2 r v d2 ^ c ^ | ^"


def test_the_mix_inside_and_outside():
    k = kernel()
    assert k.hot_loop is not None
    assert dict(k.hot_loop.mix) == {
        "instructions": 8,
        "buffer_load": 1,
        "buffer_load.8": 1,
        "load.nt": 1,
        "lds_load": 1,
        "lds_load.16": 1,
        "wait": 1,
        "wait.vmcnt(1)": 1,
        "wait.lgkmcnt(0)": 1,
        "dot": 2,
        "branch": 2,
        "convert": 1,
    }
    assert dict(k.outside) == {
        "instructions": 10,
        "salu": 2,
        "global_load": 1,
        "global_load.16": 1,
        "barrier": 1,
        "branch": 1,
        "valu": 1,
        "dpp": 1,
        "dpp.row_shr:8": 1,
        "bpermute": 1,
        "global_store": 1,
        "global_store.4": 1,
        "end": 1,
        "nop": 1,
    }


def test_a_loop_that_reads_nothing_is_not_the_hot_one():
    first = ".L1:\n global_load_dword v0, v[2:3], off\n s_cbranch_scc1 .L1\n"
    second = ".L2:\n v_add_f32 v0, v0, v0\n v_add_f32 v0, v0, v0\n s_cbranch_scc1 .L2\n"
    text = f"k:\n{first}{second} s_endpgm\n"
    k = kernel(text)
    assert k.hot_loop is not None
    assert k.hot_loop.loop.line == 3


def test_a_branch_to_nowhere_and_an_empty_tail_are_no_error():
    k = kernel("k:\n s_cbranch_scc1 elsewhere\n s_branch 4\n.Lend:\n")
    assert [b.successors for b in k.flow.blocks] == [(1,), ()]


LOAD4 = "global_load_dwordx4 v[0:3], v[8:9], off\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # four are issued, three of the pass before are still outstanding: 7 x 16
        (LOAD4 * 4 + "s_waitcnt vmcnt(3)\n", 112),
        (LOAD4 * 4 + "s_waitcnt vmcnt(0)\n", 64),
        ((LOAD4 + "s_waitcnt vmcnt(0)\n") * 2, 16),
        # one may stay: nothing is waited for in the first pass, and in the next one the load of the pass before
        ("global_load_dwordx2 v[0:1], v[8:9], off\ns_waitcnt vmcnt(1)\n", 16),
        ("v_mov_b32 v0, v1\n", None),
    ],
)
def test_bytes_in_flight_follow_the_wait_counts(body, expected):
    instructions = [i for line in body.splitlines() if (i := parse_instruction(line))]
    assert bytes_in_flight(load_waits(instructions, "gfx942", loop=True)) == expected


def test_stores_share_the_counter_on_gfx9_and_not_on_gfx11():
    body = ["global_load_dword v0, v[2:3], off", "global_store_dword v[2:3], v1, off", "s_waitcnt vmcnt(1)"]
    instructions = [i for line in body if (i := parse_instruction(line))]
    (nine,) = load_waits(instructions, "gfx942", loop=False)
    (eleven,) = load_waits(instructions, "gfx1100", loop=False)
    assert (nine.outstanding, nine.waits) == ((4, 0), True)
    assert (eleven.outstanding, eleven.waits) == ((4,), False)


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("s_waitcnt vmcnt(3) lgkmcnt(0)", "gfx942", {"vmcnt": 3, "lgkmcnt": 0}),
        ("s_waitcnt 0", "gfx942", {"vmcnt": 0, "expcnt": 0, "lgkmcnt": 0}),
        # gfx9: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8
        ("s_waitcnt 0xc07f", "gfx942", {"lgkmcnt": 0}),
        ("s_waitcnt 0x0f70", "gfx90a", {"vmcnt": 0}),
        # gfx11: vmcnt in bits 15:10, lgkmcnt in 9:4, expcnt in 2:0
        ("s_waitcnt 0xfc07", "gfx1100", {"lgkmcnt": 0}),
        ("s_waitcnt_vscnt null, 0x0", "gfx1030", {"vscnt": 0}),
        ("s_wait_loadcnt 0x2", "gfx1201", {"loadcnt": 2}),
        ("s_wait_loadcnt_dscnt 0x301", "gfx1201", {"loadcnt": 3, "dscnt": 1}),
        ("s_nop 0", "gfx942", {}),
        ("s_waitcnt", "gfx942", {}),
    ],
)
def test_waits_name_their_counters(text, target, expected):
    instruction = parse_instruction(text)
    assert instruction is not None
    assert dict(waits_of(instruction, target)) == expected


@pytest.mark.parametrize(
    ("mnemonic", "kind", "width"),
    [
        ("global_load_dwordx4", Kind.GLOBAL_LOAD, 16),
        ("global_load_lds_dwordx4", Kind.GLOBAL_LOAD, 16),
        ("buffer_load_ushort", Kind.BUFFER_LOAD, 2),
        ("buffer_load_b96", Kind.BUFFER_LOAD, 12),
        ("buffer_load_format_xyzw", Kind.BUFFER_LOAD, 16),
        ("flat_load_ubyte", Kind.FLAT_LOAD, 1),
        ("global_load_d16_b16", Kind.GLOBAL_LOAD, 2),
        ("global_store_short_d16_hi", Kind.GLOBAL_STORE, 2),
        ("ds_read2st64_b64", Kind.LDS_LOAD, 16),
        ("ds_load_2addr_b32", Kind.LDS_LOAD, 8),
        ("ds_write2_b64", Kind.LDS_STORE, 16),
        ("ds_store_b16", Kind.LDS_STORE, 2),
        ("ds_add_rtn_u32", Kind.LDS_ATOMIC, 4),
        ("ds_storexchg_rtn_b32", Kind.LDS_ATOMIC, 4),
        ("buffer_atomic_add", Kind.ATOMIC, 4),
        ("global_atomic_add_x2", Kind.ATOMIC, 8),
        ("s_load_dwordx8", Kind.SCALAR_LOAD, 32),
        ("s_buffer_load_b512", Kind.SCALAR_LOAD, 64),
        ("scratch_load_dword", Kind.SCRATCH_LOAD, 4),
        ("v_dot2c_f32_f16_e32", Kind.DOT, 0),
        ("v_dual_dot2acc_f32_f16", Kind.DOT, 0),
        ("v_mad_u32_u24", Kind.VALU, 0),
        ("v_mad_mix_f32", Kind.FMA, 0),
        ("v_fmamk_f32", Kind.FMA, 0),
        ("v_dual_fmac_f32", Kind.FMA, 0),
        ("v_pk_fma_f16", Kind.PACKED, 0),
        ("v_cvt_pk_bf16_f32", Kind.CONVERT, 0),
        ("v_wmma_f32_16x16x16_f16", Kind.MFMA, 0),
        ("v_smfmac_f32_16x16x32_f16", Kind.MFMA, 0),
        ("ds_permute_b32", Kind.BPERMUTE, 0),
        ("ds_swizzle_b32", Kind.SWIZZLE, 0),
        ("v_permlanex16_b32", Kind.PERMLANE, 0),
        ("v_readfirstlane_b32", Kind.READLANE, 0),
        ("s_ff1_i32_b64", Kind.BALLOT, 0),
        ("s_ctz_i32_b32", Kind.BALLOT, 0),
        ("s_barrier_signal", Kind.BARRIER_SIGNAL, 0),
        ("s_barrier_wait", Kind.BARRIER, 0),
        ("s_wait_alu", Kind.HINT, 0),
        ("s_waitcnt_depctr", Kind.HINT, 0),
        ("s_wait_kmcnt", Kind.WAIT, 0),
        ("buffer_inv", Kind.CACHE, 0),
        ("global_wbinv", Kind.CACHE, 0),
        ("image_sample", Kind.OTHER, 0),
    ],
)
def test_a_mnemonic_has_its_class_and_width(mnemonic, kind, width):
    found = classify(mnemonic)
    assert (found.kind, found.width_bytes) == (kind, width)


@pytest.mark.parametrize(
    ("mnemonic", "name"),
    [
        ("v_add_f32_e32", "v_add_f32"),
        ("v_add_f32_dpp", "v_add_f32"),
        ("v_add_f32_e64_dpp", "v_add_f32"),
        ("v_cvt_f32_f16_sdwa", "v_cvt_f32_f16"),
        ("v_mov_b32_dpp8", "v_mov_b32"),
        ("s_nop", "s_nop"),
    ],
)
def test_an_opcode_is_the_mnemonic_without_its_encoding(mnemonic, name):
    assert opcode(mnemonic) == name

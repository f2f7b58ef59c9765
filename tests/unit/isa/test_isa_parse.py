"""The parser of AMDGCN assembly. Expected operands and modifiers are written out from LLVM's syntax pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireebench.isa.parse import parse_assembly, parse_instruction

DATA = Path(__file__).parents[2] / "data" / "isa"

INSTRUCTIONS = [
    ("s_endpgm", "s_endpgm", (), ()),
    ("s_barrier", "s_barrier", (), ()),
    ("s_cbranch_scc1 .LBB0_1", "s_cbranch_scc1", (".LBB0_1",), ()),
    ("v_or3_b32 v2, s0, v2, 0x7f", "v_or3_b32", ("v2", "s0", "v2", "0x7f"), ()),
    ("V_ADD_F32 v0,v1,\tv2", "v_add_f32", ("v0", "v1", "v2"), ()),
    (
        "buffer_load_dwordx4 v[6:9], v2, s[16:19], 0 offen offset:16 nt",
        "buffer_load_dwordx4",
        ("v[6:9]", "v2", "s[16:19]", "0"),
        (("offen", None), ("offset", "16"), ("nt", None)),
    ),
    (
        "global_store_short v[2:3], v1, off sc0 sc1",
        "global_store_short",
        ("v[2:3]", "v1", "off"),
        (("sc0", None), ("sc1", None)),
    ),
    ("buffer_inv sc1", "buffer_inv", (), (("sc1", None),)),
    ("s_waitcnt vmcnt(0) lgkmcnt(1)", "s_waitcnt", ("vmcnt(0)", "lgkmcnt(1)"), ()),
    ("s_waitcnt vmcnt(0) & expcnt(2)", "s_waitcnt", ("vmcnt(0)", "expcnt(2)"), ()),
    ("s_wait_loadcnt 0x0", "s_wait_loadcnt", ("0x0",), ()),
    (
        "s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)",
        "s_delay_alu",
        ("instid0(VALU_DEP_4)", "instskip(NEXT)", "instid1(VALU_DEP_1)"),
        (),
    ),
    (
        "v_mov_b32_dpp v7, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1",
        "v_mov_b32_dpp",
        ("v7", "v3"),
        (("quad_perm", "[1,0,3,2]"), ("row_mask", "0xf"), ("bank_mask", "0xf"), ("bound_ctrl", "1")),
    ),
    ("v_mov_b32_dpp v8, v8 row_half_mirror", "v_mov_b32_dpp", ("v8", "v8"), (("row_half_mirror", None),)),
    ("v_mov_b32_dpp v8, v8 quad_perm: [1, 0,3,2]", "v_mov_b32_dpp", ("v8", "v8"), (("quad_perm", "[1,0,3,2]"),)),
    (
        "v_fma_f32 v1, -|v2|, v3, neg(v4) clamp mul:2",
        "v_fma_f32",
        ("v1", "-|v2|", "v3", "neg(v4)"),
        (("clamp", None), ("mul", "2")),
    ),
    (
        "v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[0:1] op_sel_hi:[1,0,1] neg_lo:[1,0,0]",
        "v_pk_fma_f32",
        ("v[0:1]", "v[2:3]", "s[4:5]", "v[0:1]"),
        (("op_sel_hi", "[1,0,1]"), ("neg_lo", "[1,0,0]")),
    ),
    ("s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)", "s_getreg_b32", ("s0", "hwreg(HW_REG_MODE, 0, 4)"), ()),
    (
        "ds_swizzle_b32 v1, v2 offset:swizzle(QUAD_PERM, 0,1,2,3)",
        "ds_swizzle_b32",
        ("v1", "v2"),
        (("offset", "swizzle(QUAD_PERM,0,1,2,3)"),),
    ),
    (
        "ds_read2_b64 v[0:3], v4 offset0:1 offset1:2",
        "ds_read2_b64",
        ("v[0:3]", "v4"),
        (("offset0", "1"), ("offset1", "2")),
    ),
    (
        "tbuffer_load_format_x v0, off, s[0:3], format:78, 0 offset:4",
        "tbuffer_load_format_x",
        ("v0", "off", "s[0:3]", "0"),
        (("format", "78"), ("offset", "4")),
    ),
    ("exp mrt0 v0, v1, off, off done vm", "exp", ("mrt0", "v0", "v1", "off", "off"), (("done", None), ("vm", None))),
    ("s_add_u32 s0, s0, sym@rel32@lo+4", "s_add_u32", ("s0", "s0", "sym@rel32@lo+4"), ()),
    ("s_mov_b32 s0, sym + 4", "s_mov_b32", ("s0", "sym+4"), ()),
    ("v_cndmask_b16 v19.h, v19.l, v28.h, s0", "v_cndmask_b16", ("v19.h", "v19.l", "v28.h", "s0"), ()),
    (
        "global_load_b128 v[0:3], v4, s[0:1] th:TH_LOAD_NT scope:SCOPE_DEV",
        "global_load_b128",
        ("v[0:3]", "v4", "s[0:1]"),
        (("th", "TH_LOAD_NT"), ("scope", "SCOPE_DEV")),
    ),
]


@pytest.mark.parametrize(("text", "mnemonic", "operands", "modifiers"), INSTRUCTIONS)
def test_an_instruction_is_split_into_operands_and_modifiers(text, mnemonic, operands, modifiers):
    found = parse_instruction(text, 7)
    assert found is not None
    assert (found.line, found.mnemonic, found.operands, found.modifiers) == (7, mnemonic, operands, modifiers)
    assert found.text == text


def test_a_dual_issue_pair_is_one_instruction_with_a_second_half():
    found = parse_instruction("v_dual_mov_b32 v16, 0 :: v_dual_and_b32 v17, 31, v0")
    assert found is not None
    assert found.second is not None
    assert (found.mnemonic, found.operands) == ("v_dual_mov_b32", ("v16", "0"))
    assert (found.second.mnemonic, found.second.operands) == ("v_dual_and_b32", ("v17", "31", "v0"))


@pytest.mark.parametrize("text", ["", "hello world", "mov eax, ebx", "v_add_f32.x v0", "::", "v_mov_b32 v0, 1 ::"])
def test_what_is_no_instruction_is_none(text):
    assert parse_instruction(text) is None


FILE = """\
\t.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942:sramecc+:xnack-"
# 1 "preprocessed.s"
\t.macro helper
\tv_mov_b32 v9, 0
\t.endm
/* v_mov_b32 v8, 0
   two lines */
\t.type\tk,@function
k:   s_mov_b32 s0, 0 ; v_mov_b32 v7, 0
loop: inner:
\tv_mov_b32 v0, v1 // s_nop 0
\ts_cbranch_scc0 loop
this line is nonsense
\tsym = 4
\ts_endpgm
.Lfunc_end0:
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr max(k.num_vgpr, 1, 0)
\t\t.amdhsa_next_free_sgpr 8
\t\t.amdhsa_kernarg_size unknown_symbol
\t.end_amdhsa_kernel
\t.set k.num_vgpr, 2
"""


def test_a_file_gives_kernels_labels_descriptor_and_the_count_of_unknown_lines():
    found = parse_assembly(FILE)
    (kernel,) = found.kernels
    assert found.target == "gfx942"
    assert found.unknown_lines == 1
    assert [(i.line, i.mnemonic) for i in kernel.instructions] == [
        (9, "s_mov_b32"),
        (11, "v_mov_b32"),
        (12, "s_cbranch_scc0"),
        (15, "s_endpgm"),
    ]
    assert dict(kernel.labels) == {"loop": 1, "inner": 1, ".Lfunc_end0": 4}
    assert kernel.descriptor.integer("next_free_vgpr") == 2
    assert kernel.descriptor.integer("kernarg_size") is None
    assert kernel.descriptor.values["kernarg_size"] == "unknown_symbol"
    assert (kernel.start_line, kernel.end_line) == (9, 15)


def test_device_functions_are_no_kernels_where_the_file_has_descriptors():
    text = "\t.type f,@function\nf:\n\ts_setpc_b64 s[30:31]\n" + FILE
    assert [k.name for k in parse_assembly(text).kernels] == ["k"]


def test_metadata_gives_arguments_and_the_registers():
    text = (DATA / "lints" / "spills.hit.s").read_text()
    text = text.replace(
        "    .agpr_count: 0\n",
        "    .agpr_count: 0\n    .args:\n      - {.offset: 8, .size: 4, .value_kind: by_value}\n",
    )
    (kernel,) = parse_assembly(text).kernels
    assert [(a.offset, a.size, a.value_kind) for a in kernel.metadata.args] == [(8, 4, "by_value")]
    assert (kernel.metadata.vgpr_count, kernel.metadata.vgpr_spill_count, kernel.metadata.wavefront_size) == (16, 2, 64)


def test_metadata_that_is_no_yaml_is_reported_and_the_code_is_still_read():
    text = (DATA / "lints" / "spills.hit.s").read_text().replace("amdhsa.kernels:", "amdhsa.kernels: [")
    found = parse_assembly(text)
    assert found.metadata_error is not None
    assert "not valid YAML" in found.metadata_error
    assert [k.name for k in found.kernels] == ["k"]


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    parse_assembly(text)


PIECES = [
    "\t.amdhsa_kernel k\n",
    "k:\n",
    ".type k,@function\n",
    "v_add_f32 v0, v[1:2",
    "quad_perm:[",
    ")",
    "::",
    ";",
    "/*",
    "*/",
    "\n",
    "\t.amdgpu_metadata\n",
    "---\n",
    "  .end_amdgpu_metadata\n",
    ".set a, b+b\n",
    ".set b, a\n",
    ".amdhsa_next_free_vgpr a*(\n",
    ".macro x\n",
    "s_waitcnt vmcnt(",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_mixture_of_assembly_is_read_without_an_error(pieces):
    parse_assembly("".join(pieces))


def test_hostile_text_takes_linear_time():
    # Each of these took quadratic time with a naive pattern: a megabyte would run for minutes.
    for piece in ("/* ", "\t.amdgpu_metadata\n", "v0, [", "quad_perm:[", '"', "a:", "*/ /*"):
        parse_assembly(piece * (1_000_000 // len(piece)))


def test_lines_of_no_language_are_counted():
    assert parse_assembly("one\ntwo three\n\n; comment\n").unknown_lines == 2

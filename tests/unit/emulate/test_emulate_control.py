"""Branches, barriers, several waves, and what was counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ireebench.isa.emulate.errors import ExecutionLimit
from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.report import Fault
from ireebench.isa.emulate.standalone import KernelRun

Body = Callable[..., KernelRun]
STORE = "\tglobal_store_dword v1, v4, s[6:7]\n"


def test_waves_that_part_at_a_branch_meet_again(run_body: Body) -> None:
    body = """
	v_readfirstlane_b32 s2, v0
	s_lshr_b32 s2, s2, 6
	s_mov_b32 s3, 0
.Lloop:
	s_cmp_gt_u32 s3, s2
	s_cbranch_scc1 .Ldone
	s_add_u32 s3, s3, 1
	s_branch .Lloop
.Ldone:
	v_mov_b32_e32 v4, s3
"""
    run = run_body(body + STORE, threads=256, out=256)
    assert [int(run.bindings[1][64 * w]) for w in range(4)] == [1, 2, 3, 4]
    # The loop's body (a compare, an addition) is executed as often as each wave goes round it.
    assert run.result.counts.waves == 4
    assert run.result.counts.bytes["global store b32"] == 1024


def test_lds_carries_values_across_a_barrier(run_body: Body) -> None:
    body = """
	ds_write_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_xor_b32_e32 v2, 0x80, v1
	ds_read_b32 v4, v2
	s_waitcnt lgkmcnt(0)
"""
    run = run_body(body + STORE, threads=128, out=128, lds=512)
    assert run.result.reports == ()
    assert run.bindings[1][0] == 32
    assert run.result.counts.lds_conflicts == 0


def test_a_barrier_does_not_wait_for_waves_that_have_ended(run_body: Body) -> None:
    body = (
        """
	v_readfirstlane_b32 s2, v0
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 .Lend
	s_barrier
	v_mov_b32_e32 v4, 5
"""
        + STORE
    )
    run = run_body(body + ".Lend:\n", threads=128, out=64)
    assert set(run.bindings[1].tolist()) == {5}


def test_lanes_of_one_bank_are_counted_as_conflicts(run_body: Body) -> None:
    body = """
	v_lshlrev_b32_e32 v2, 7, v0
	ds_write_b32 v2, v0
	s_waitcnt lgkmcnt(0)
"""
    counts = run_body(body, threads=64, lds=8192).result.counts
    assert counts.lds_conflicts == 2 * 31  # two passes of 32 lanes, all on bank 0


def test_an_endless_loop_ends_with_the_limit(run_body: Body) -> None:
    with pytest.raises(ExecutionLimit, match="more than 1000 instructions"):
        run_body(".L0:\n\ts_nop 0\n\ts_branch .L0\n", options=Options(limit=1000))


def test_cache_lines_are_counted_once_a_wave_and_instruction(run_body: Body) -> None:
    body = "\tglobal_load_dword v4, v1, s[4:5]\n\ts_waitcnt vmcnt(0)\n" + STORE
    counts = run_body(body).result.counts
    # 64 lanes of 4 bytes are two lines of 128, for the load and for the store, and one for the kernel arguments.
    assert counts.cache_lines == 5
    assert counts.loads_in_flight == 1


def test_workgroups_get_their_numbers(run_body: Body) -> None:
    body = (
        """
	v_mov_b32_e32 v4, s2
	s_lshl_b32 s3, s2, 8
	v_add_u32_e32 v1, s3, v1
"""
        + STORE
    )
    run = run_body(body, out=192, grid=3)
    assert [int(run.bindings[1][64 * n]) for n in range(3)] == [0, 1, 2]
    assert run.result.reports == ()


def test_a_value_from_a_register_that_was_never_written_is_reported_where_it_is_stored(run_body: Body) -> None:
    run = run_body("\tv_add_u32_e32 v4, v9, v0\n" + STORE)
    (report,) = run.result.reports
    assert report.fault is Fault.UNINITIALISED
    assert report.message == "global_store_dword uses v4, which was never written"
    assert report.times == 64


def test_undefined_bits_that_are_masked_away_are_no_fault(run_body: Body) -> None:
    run = run_body("\tv_lshl_or_b32 v4, v9, 16, v0\n\tv_and_b32_e32 v4, 0xffff, v4\n" + STORE)
    assert run.result.reports == ()


def test_a_store_to_an_input_is_reported_with_its_name(run_body: Body) -> None:
    run = run_body("\tglobal_store_dword v1, v0, s[4:5]\n")
    (report,) = run.result.reports
    assert report.fault is Fault.OUT_OF_BOUNDS
    assert "binding 0 (in)" in report.message


def test_reading_an_output_before_it_is_written_is_reported(run_body: Body) -> None:
    run = run_body("\tglobal_load_dword v4, v1, s[6:7]\n\ts_waitcnt vmcnt(0)\n" + STORE)
    (report,) = run.result.reports
    assert report.fault is Fault.UNINITIALISED
    assert "byte 0 of binding 1 (out), which was never stored" in report.message


def test_a_misaligned_access_is_reported(run_body: Body) -> None:
    body = "\tv_add_u32_e32 v2, 2, v1\n\tglobal_load_dword v4, v2, s[4:5]\n\ts_waitcnt vmcnt(0)\n"
    (report,) = run_body(body + STORE, [0] * 65).result.reports
    assert report.fault is Fault.MISALIGNED


def test_a_far_branch_goes_where_the_code_computes(run_body: Body) -> None:
    body = """
	s_getpc_b64 s[2:3]
.Lpost0:
	s_add_u32 s2, s2, (.Lfar-.Lpost0)&4294967295
	s_addc_u32 s3, s3, (.Lfar-.Lpost0)>>32
	s_setpc_b64 s[2:3]
	v_frobnicate_b32 v4, v4
.Lfar:
	v_mov_b32_e32 v4, 7
"""
    assert set(run_body(body + STORE).bindings[1].tolist()) == {7}


def test_constant_tables_are_read_and_bounds_of_them_checked(run_body: Body) -> None:
    body = """
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, .Ltable@rel32@lo+4
	s_addc_u32 s3, s3, .Ltable@rel32@hi+12
	s_load_dwordx2 s[8:9], s[2:3], 0x{offset:x}
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v4, s9
"""
    table = "\n\t.section\t.rodata\n.Ltable:\n\t.long\t11\n\t.long\t22\n\t.long\t33\n\t.text\n"
    run = run_body(body.format(offset=4) + STORE + "\ts_endpgm" + table)
    assert set(run.bindings[1].tolist()) == {33}
    assert run.result.reports == ()
    (report,) = run_body(body.format(offset=8) + STORE + "\ts_endpgm" + table).result.reports
    assert report.fault is Fault.OUT_OF_BOUNDS
    assert "byte 8 of constant .Ltable, which has 12 bytes" in report.message


def test_undefined_branch_conditions_are_reported(run_body: Body) -> None:
    body = "\ts_cmp_eq_u32 s20, 0\n\ts_cbranch_scc1 .Lend\n\tv_mov_b32_e32 v4, 1\n" + STORE + ".Lend:\n"
    faults = [r.message for r in run_body(body).result.reports]
    assert faults == ["s_cbranch_scc1 depends on scc, which was never written"]

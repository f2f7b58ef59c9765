"""Traces that are empty, cut off, renamed or wrong: each has its own message, none a traceback or a 0."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.rocprof.reading import read
from ireebench.measure.rocprof.summary import summarise

DATA = Path(__file__).parents[2] / "data" / "rocprof"
HEAD = "Kind,Agent_Id,Queue_Id,Kernel_Name,Start_Timestamp,End_Timestamp,VGPR_Count\n"


def write(path: Path, *rows: str, head: str = HEAD) -> str:
    path.write_text(head + "".join(r + "\n" for r in rows))
    return str(path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "nothing written"),
        ({"X_agent_info.csv": '"Node_Id","Agent_Type"\n0,"CPU"\n'}, "no kernels recorded"),
        ({"out_kernel_trace.csv": (DATA / "header_only_kernel_trace.csv").read_text()}, "0 dispatches"),
        ({"out_kernel_trace.csv": ""}, "no kernels recorded"),
    ],
)
def test_each_way_of_having_no_times_has_its_own_message(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(TraceError, match=message):
        read([str(tmp_path)])


def test_a_folder_with_a_database_only_is_read_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    shutil.copy(DATA / "gen_f_4242_results.db", tmp_path / "host" / "4242_results.db")
    trace = read([str(tmp_path)])
    assert "database found - reading it" in trace.notes[0]
    assert [k.calls for k in summarise(trace).kernels] == [3, 3]


def test_a_csv_beside_the_database_of_the_same_run_is_not_counted_twice(tmp_path: Path) -> None:
    shutil.copy(DATA / "gen_f_4242_results.db", tmp_path / "4242_results.db")
    shutil.copy(DATA / "gen_c_4242_kernel_trace.csv", tmp_path / "4242_kernel_trace.csv")
    assert [k.calls for k in summarise(read([str(tmp_path)])).kernels] == [3, 3]


def test_a_pattern_takes_every_trace_that_matches(tmp_path: Path) -> None:
    for pid in (1, 2):
        shutil.copy(DATA / "gen_c_4242_kernel_trace.csv", tmp_path / f"{pid}_kernel_trace.csv")
    trace = read([str(tmp_path / "*_kernel_trace.csv")])
    assert [k.calls for k in summarise(trace).kernels] == [6, 6]
    assert trace.dispatches is not None
    assert trace.dispatches.processes == ("1", "2")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(TraceError, match=r"nowhere\.csv: no such file"):
        read(["nowhere.csv"])


def test_rows_that_cannot_be_times_are_dropped_by_cause(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv",
        "KERNEL_DISPATCH,Agent 4,1,k,1000,1500,8",
        "KERNEL_DISPATCH,Agent 4,1,k,2000,2000,8",
        "KERNEL_DISPATCH,Agent 4,1,k,3000,2900,8",
        "KERNEL_DISPATCH,Agent 4,1,k,,4000,8",
        "KERNEL_DISPATCH,Agent 4,1,k,5000,0,8",
        "KERNEL_DISPATCH,Agent 4,1,k,nan,4000,8",
        "KERNEL_DISPATCH,Agent 4,1,k,6000,6700,8",
    )
    s = summarise(read([path]))
    assert [(k.calls, k.min_ns, k.max_ns, k.total_ns) for k in s.kernels] == [(2, 500, 700, 1200)]
    assert dict(s.dropped) == {"missing timestamp": 3, "end before start": 1, "zero duration": 1}


def test_fractional_stamps_keep_their_fraction_beside_large_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "K,4,1,k,5329321973213203.250,5329321973213303.750,8")
    (kernel,) = summarise(read([path])).kernels
    assert kernel.total_ns == 100.5


def test_a_cut_off_last_line_is_counted_and_the_rest_is_right(tmp_path: Path) -> None:
    text = (DATA / "gen_c_4242_kernel_trace.csv").read_text()
    path = tmp_path / "4242_kernel_trace.csv"
    path.write_text(text[: text.rindex('"void bench') + 30])  # inside the last kernel's quoted name
    s = summarise(read([str(path)]))
    assert sorted(k.calls for k in s.kernels) == [2, 3]
    assert ("malformed line", 1) in s.dropped


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    text = (DATA / "gen_c_4242_kernel_trace.csv").read_text()
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    s = summarise(read([str(path)]))
    assert [k.total_ns for k in s.kernels] == [223_800, 115_800]
    assert s.kernels[0].launches[0][0].grid_workgroups == (256, 1, 1)


def test_a_renamed_column_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = write(tmp_path / "x_kernel_trace.csv", "K,4,1,k,1,2,8", head=HEAD.replace("End_Timestamp", "Stop"))
    with pytest.raises(TraceError, match=r"unknown column set, without End_Timestamp .*rocpd convert"):
        read([path])


def test_columns_in_another_order_and_case_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "1500,k,1000,7", head="END_TIMESTAMP,kernel_name,start_timestamp,AGENT_ID\n")
    (kernel,) = summarise(read([path])).kernels
    assert (kernel.name, kernel.agent, kernel.total_ns) == ("k", "7", 500)


def test_two_agents_are_two_lines_and_two_spellings_of_one_are_one(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv",
        "K,Agent 4,1,k,1000,1100,8",
        "K,4,1,k,2000,2200,8",
        "K,Agent 5,1,k,3000,3300,8",
        "K,GPU 0,1,k,4000,4400,8",
    )
    assert {(k.agent, k.calls, k.total_ns) for k in summarise(read([path])).kernels} == {
        ("4", 2, 300),
        ("5", 1, 300),
        ("GPU 0", 1, 400),
    }


def test_a_kernel_with_several_launch_shapes_has_no_single_grid(tmp_path: Path) -> None:
    head = "Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
    head += "Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
    path = write(tmp_path / "t.csv", "k,10,20,64,1,1,640,1,1", "k,30,40,64,1,1,650,1,1", head=head)
    (kernel,) = summarise(read([path])).kernels
    assert [(launch.grid_workgroups, n) for launch, n in kernel.launches] == [((10, 1, 1), 1), ((11, 1, 1), 1)]


def test_names_keep_dollars_commas_and_quotes(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'K,4,1,"f<int, 4>(char ""x"")$1.kd",1000,1100,8')
    (kernel,) = summarise(read([path])).kernels
    assert kernel.name == 'f<int, 4>(char "x")$1'


def test_a_damaged_database_says_so(tmp_path: Path) -> None:
    whole = (DATA / "gen_f_4242_results.db").read_bytes()
    (tmp_path / "x_results.db").write_bytes(whole[:2000])
    with pytest.raises(TraceError, match=r"x_results\.db: the database cannot be read"):
        read([str(tmp_path / "x_results.db")])


def test_a_database_of_something_else_names_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE plants(name)")
    db.close()
    with pytest.raises(TraceError, match=r"lacks name, start, end \(found: plants\).*rocpd convert"):
        read([str(path)])


def test_json_is_read_with_its_symbols_and_agents(tmp_path: Path) -> None:
    dispatch = {
        "start_timestamp": 1000,
        "end_timestamp": 1600,
        "dispatch_info": {
            "agent_id": {"handle": 77},
            "queue_id": {"handle": 3},
            "kernel_id": 9,
            "dispatch_id": 1,
            "workgroup_size": {"x": 64, "y": 1, "z": 1},
            "grid_size": {"x": 128, "y": 2, "z": 1},
        },
    }
    symbol = {"kernel_id": 9, "formatted_kernel_name": "main$async_dispatch_0.kd", "arch_vgpr_count": 24}
    tool = {
        "metadata": {"pid": 31},
        "agents": [{"id": {"handle": 77}, "node_id": 4}],
        "kernel_symbols": [symbol],
        "buffer_records": {"kernel_dispatch": [dispatch, {"start_timestamp": 1}]},
    }
    path = tmp_path / "31_results.json"
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [tool]}))
    s = summarise(read([str(path)]))
    (kernel,) = s.kernels
    assert (kernel.name, kernel.agent, kernel.total_ns) == ("main$async_dispatch_0", "4", 600)
    assert (kernel.launches[0][0].vgpr, kernel.launches[0][0].grid_workgroups) == (24, (2, 2, 1))
    assert s.dropped == (("malformed line", 1),)


def test_json_that_was_cut_off_says_so(tmp_path: Path) -> None:
    (tmp_path / "x_results.json").write_text('{"rocprofiler-sdk-tool": [{"metadata"')
    with pytest.raises(TraceError, match="not complete JSON"):
        read([str(tmp_path / "x_results.json")])


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ("K,4,1,k,99999999999999999999,99999999999999999999,8", "missing timestamp"),
        ("K,4,1,k,-5,10,8", "missing timestamp"),
        ("K,4,1,k\r,NaN,10,8", "missing timestamp"),
        ('K,4,1,"k,10,20,8', "malformed line"),
        ("K,4,1,k,10,20", "malformed line"),
    ],
)
def test_a_row_that_makes_no_sense_costs_itself_alone(tmp_path: Path, row: str, cause: str) -> None:
    path = write(tmp_path / "t.csv", "K,4,1,k,1000,1500,8", row, "K,4,1,k,2000,2700,8")
    s = summarise(read([path]))
    assert [k.total_ns for k in s.kernels if k.name == "k"] == [1200]
    assert dict(s.dropped) == {cause: 1}


@pytest.mark.parametrize(
    "name", ["gen_a_rocprof_v1_results.csv", "gen_c_4242_kernel_trace.csv", "kernel_stats_sci.csv"]
)
def test_bytes_that_are_no_text_cost_their_line_alone(tmp_path: Path, name: str) -> None:
    lines = (DATA / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / "t.csv"
    path.write_bytes(lines[0] + b"\xff\xfe\x00\r,\x80\n" + b"".join(lines[1:]))
    trace = read([str(path)])
    assert trace.malformed >= 1
    intact = summarise(read([str(DATA / name)]))
    assert summarise(trace).kernels == intact.kernels


def test_json_of_another_structure_is_named(tmp_path: Path) -> None:
    (tmp_path / "x_results.json").write_text('{"rocprofiler-sdk-tool": ["x"]}')
    with pytest.raises(TraceError, match="unknown structure"):
        read([str(tmp_path / "x_results.json")])

"""From a job's journal to the log of launches, and the command lines that the profiler gets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ireebench.measure import rocm
from ireebench.measure.invocation_log import InvocationLog, Segment, read_logs
from ireebench.measure.job import Entry, Group, Job, Protocol
from ireebench.measure.journal import Event, Item
from ireebench.measure.timers import rocprof_legacy, rocprofv3
from ireebench.problems.problem import Problem

JOB = Job(
    "hip://0",
    "rocprofv3",
    Protocol(),
    (Group(Problem("p", "argmax", (8,), "f32"), (Entry("a", kernels=("k$0", "k$1")), Entry("torch"))),),
)
K = ("k$0", "k$1")


def event(name: str, entry: str, phase: Any, number: int | None = None, cache: Any = None, **data: Any) -> Event:
    return Event(name, Item(entry, phase, cache, number), data)


def session(pid: int) -> Event:
    return Event("session", None, {"pid": pid})


def test_a_journal_becomes_segments_in_launch_order() -> None:
    events = [
        session(7),
        event("begin", "group 0", "prepare"),
        event("begin", "a", "check"),
        event("end", "a", "check", launches=3, check={"ok": True}),
        event("failed", "torch", "check", launches=1, check={"ok": False}),
        event("end", "a", "warmup", cache="cold", launches=90),
        event("end", "a", "round", 2, "cold", rewarm=5, launches=100),
        event("end", "a", "recheck"),
    ]
    assert read_logs(JOB, events) == (
        InvocationLog(
            7,
            (
                Segment("a", "check", 3, K),
                Segment("torch", "check", 1),
                Segment("a", "warmup", 90, K, cache="cold"),
                Segment("a", "warmup", 5, K, 2, "cold"),
                Segment("a", "round", 100, K, 2, "cold"),
                Segment("a", "check", 1, K),
            ),
        ),
    )


def test_each_worker_has_its_own_log_and_the_one_that_died_says_at_what() -> None:
    events = [
        session(7),
        event("end", "a", "check", launches=3, check={"ok": True}),
        event("begin", "a", "round", 0, "hot"),
        session(8),
        event("begin", "a", "round", 0, "hot"),
        event("end", "a", "round", 0, "hot", rewarm=0, launches=4),
        session(9),
    ]
    first, second = read_logs(JOB, events)
    assert (first.pid, first.interrupted, len(first.segments)) == (7, "a", 1)
    assert (second.pid, second.interrupted, second.segments) == (8, None, (Segment("a", "round", 4, K, 0, "hot"),))


WORKER = ["python", "-m", "ireebench.measure.worker", "/w d/job"]


def test_the_profiler_gets_its_format_and_a_name_with_the_process_id() -> None:
    assert rocprofv3.wrap_command(WORKER, Path("/out")) == [
        *("rocprofv3", "--kernel-trace", "--memory-copy-trace", "--output-format", "csv"),
        *("-d", "/out", "-o", "ireebench_%pid%", "--", "python", "-m", "ireebench.measure.worker", "/w d/job"),
    ]


def test_the_first_rocprof_is_told_to_take_times() -> None:
    command = rocprof_legacy.wrap_command(WORKER, Path("/out"))
    assert command[:5] == ["rocprof", "--timestamp", "on", "-o", "/out/results.csv"]


def test_counters_are_a_run_of_their_own_with_names_escaped() -> None:
    command = rocprofv3.counters_command(WORKER, Path("/out"), ["SQ_WAVES"], ["mv$async_dispatch_0_f<a, 4>(x*)"])
    assert "--kernel-trace" not in command
    pattern = command[command.index("--kernel-include-regex") + 1]
    assert re.search(pattern, "mv$async_dispatch_0_f<a, 4>(x*)")
    assert not re.search(pattern, "mv_async_dispatch_0_f<a, 4>(x*)")
    assert "--pmc" not in rocprofv3.thread_trace_command(WORKER, Path("/out"))


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("6.2.0", "ROCm 6.2.0: GPU time stamps on MI300X were wrong before 6.4.2"),
        ("6.4.1", "ROCm 6.4.1"),
        ("6.4", "ROCm 6.4:"),
        (None, "not known"),
    ],
)
def test_a_rocm_whose_stamps_are_wrong_is_warned_of(version: str | None, words: str) -> None:
    assert words in (rocm.version_warning(version) or "")


@pytest.mark.parametrize("version", ["6.4.2", "6.4.10", "7.0", "10.0.1"])
def test_a_good_rocm_is_not_warned_of(version: str) -> None:
    assert rocm.version_warning(version) is None


@pytest.mark.parametrize(
    ("folder", "script", "info", "expected"),
    [
        ("rocm-6.4.2", "echo 'rocm_version: 7.1.0'", None, "7.1.0"),
        ("rocm-6.4.2", "echo 'version: 0.6.0'", None, "6.4.2"),
        ("rocm", "echo 'version: 0.6.0'", "7.0.2-56\n", "7.0.2"),
        ("rocm", "exit 1", None, None),
    ],
)
def test_the_version_is_found_wherever_it_is_written(
    tmp_path: Path, folder: str, script: str, info: str | None, expected: str | None
) -> None:
    tool = tmp_path / folder / "bin" / "rocprofv3"
    tool.parent.mkdir(parents=True)
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    if info:
        (tmp_path / folder / ".info").mkdir()
        (tmp_path / folder / ".info" / "version").write_text(info)
    assert rocm.rocm_version(tool, {"ROCM_PATH": str(tmp_path / "nowhere")}) == expected


def test_a_tool_is_found_on_path_and_in_rocms_folder(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "rocprofv3"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert rocm.find_tool("rocprofv3", {"PATH": "/nowhere", "ROCM_PATH": str(tmp_path)}) == tool
    assert rocm.find_tool("rocprofv3", {"PATH": str(tool.parent)}) == tool
    assert rocm.find_tool("rocprofv3", {"PATH": "/nowhere", "ROCM_PATH": "/nowhere"}) is None

"""Kernels to invocations: the figures are those that the test planted, whatever else is in the trace."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ireebench.measure.invocation_log import InvocationLog, Segment
from ireebench.measure.rocprof.errors import TraceError
from ireebench.measure.timers.rocprofv3 import Collected, collect

PID = 4242
ONE = ("main$async_dispatch_0_argmax_131072xbf16",)
TWO = ("main$async_dispatch_0_split, part", "main$async_dispatch_1_final")
FILL = "__amd_rocclr_fillBufferAligned"


def log_of(*segments: Segment, pid: int = PID) -> InvocationLog:
    return InvocationLog(pid, segments)


LOG = log_of(
    Segment("a", "check", 2, ONE),
    Segment("b", "check", 2, TWO),
    Segment("a", "warmup", 3, ONE),
    Segment("b", "warmup", 3, TWO),
    Segment("b", "round", 4, TWO, 0),
    Segment("a", "round", 4, ONE, 0),
    Segment("a", "round", 4, ONE, 1),
    Segment("b", "round", 4, TWO, 1),
)


class Run:
    """A program's dispatches, one after the other, 200 ns apart, each 1000 ns longer than a step of `step` ns."""

    def __init__(self, formats: ModuleType, begin: int = 7_000_000_000_000_000) -> None:
        self.make = formats.Planted
        self.rows: list[Any] = []
        self.clock = begin
        self.timed: dict[str, list[tuple[int, int]]] = {}

    def play(self, log: InvocationLog, **changes: Any) -> Run:
        for s in log.segments:
            for _ in range(s.count):
                first, total = self.clock, 0
                for k in s.kernels:
                    ns = 1000 + 13 * (len(self.rows) % 11)
                    self.rows.append(self.make(k, self.clock, self.clock + ns, **changes))
                    total, last = total + ns, self.clock + ns
                    self.clock = last + 200
                if s.phase == "round":
                    self.timed.setdefault(s.entry, []).append((total, last - first))
        return self

    def samples(self, entry: str) -> tuple[list[int], list[int]]:
        return [k for k, _ in self.timed[entry]], [s for _, s in self.timed[entry]]


def got(found: Collected, entry: str) -> tuple[list[int], list[int]]:
    (run,) = found.runs[entry]
    return run.kernel_ns.tolist(), run.span_ns.tolist()


@pytest.mark.parametrize("form", ["G0", "G1", "G2", "G3", "json", "rocpd", "v1"])
def test_every_format_gives_the_planted_times_amid_fills_and_foreign_kernels(
    formats: ModuleType, tmp_path: Path, form: str
) -> None:
    run = Run(formats).play(LOG)
    rows = list(run.rows)
    for i in range(0, len(run.rows), 3):
        at = run.rows[i].end + 10
        rows.append(formats.Planted(FILL, at, at + 50))
        rows.append(formats.Planted("void foreign<a, b>(int)$1", at, at + 90, queue=2))
    random.Random(0).shuffle(rows)
    formats.write(form, tmp_path, PID, rows)
    found = collect(tmp_path, [LOG])
    assert found.failures == {}
    assert got(found, "a") == run.samples("a")
    assert got(found, "b") == run.samples("b")
    planted = (len(run.rows) + 2) // 3
    assert dict(found.foreign) == {"foreign kernel": planted, "runtime helper (fill, copy)": planted}
    (b,) = found.runs["b"]
    assert b.rounds.tolist() == [0] * 4 + [1] * 4
    assert [k.name for k in b.kernels] == list(TWO)
    assert [k.grid for k in b.kernels] == [(256, 1, 1)] * 2


def test_the_trace_of_another_process_is_left_out_although_its_kernels_have_the_same_names(
    formats: ModuleType, tmp_path: Path
) -> None:
    run = Run(formats).play(LOG)
    formats.write("G2", tmp_path, PID, run.rows)
    formats.write("G2", tmp_path, 99, [formats.Planted(ONE[0], r.start + 5, r.end + 500) for r in run.rows])
    found = collect(tmp_path, [LOG])
    assert got(found, "a") == run.samples("a")
    assert dict(found.foreign)["another process"] == len(run.rows)


def test_of_two_agents_the_one_that_ran_the_sequence_counts(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    other = [formats.Planted(ONE[0], r.start, r.end + 70, agent=5) for r in run.rows[:6]]
    formats.write("G2", tmp_path, PID, run.rows + other)
    found = collect(tmp_path, [LOG])
    assert got(found, "a") == run.samples("a")
    assert dict(found.foreign) == {"foreign kernel": 6}


def test_entries_whose_kernels_share_a_name_are_told_apart_by_the_order_of_launches(
    formats: ModuleType, tmp_path: Path
) -> None:
    log = log_of(
        Segment("x", "check", 1, ONE),
        Segment("y", "check", 1, ONE),
        Segment("y", "round", 3, ONE, 0),
        Segment("x", "round", 3, ONE, 0),
    )
    run = Run(formats).play(log)
    formats.write("G2", tmp_path, PID, run.rows)
    found = collect(tmp_path, [log])
    assert got(found, "x") == run.samples("x")
    assert got(found, "y") == run.samples("y")
    assert run.samples("x") != run.samples("y")


def test_a_lost_dispatch_refuses_its_entry_and_no_other(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    lost = next(i for i, r in enumerate(run.rows) if r.name == TWO[1] and i > 20)
    formats.write("G2", tmp_path, PID, run.rows[:lost] + run.rows[lost + 1 :])
    found = collect(tmp_path, [LOG])
    assert set(found.runs) == {"a"}
    assert got(found, "a") == run.samples("a")
    assert "incomplete: 13 dispatches of main$async_dispatch_1_final were launched, the trace has 12" in (
        found.failures["b"].reason
    )


def test_a_dispatch_too_many_refuses_its_entry(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    formats.write("G2", tmp_path, PID, [*run.rows, formats.Planted(ONE[0], run.clock, run.clock + 900)])
    found = collect(tmp_path, [LOG])
    assert set(found.runs) == {"b"}
    assert "14 dispatches" in found.failures["a"].reason


def test_kernels_out_of_the_launched_order_refuse_their_entry(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    swapped = [formats.Planted({TWO[0]: TWO[1], TWO[1]: TWO[0]}.get(r.name, r.name), r.start, r.end) for r in run.rows]
    formats.write("G2", tmp_path, PID, swapped)
    assert "not in the order" in collect(tmp_path, [LOG]).failures["b"].reason


def test_a_kernel_that_never_ran_names_what_did(formats: ModuleType, tmp_path: Path) -> None:
    formats.write("G2", tmp_path, PID, Run(formats).play(LOG).rows)
    log = log_of(Segment("z", "round", 3, ("gone$kernel",)))
    reason = collect(tmp_path, [log]).failures["z"].reason
    assert reason.startswith("the trace has no dispatch of gone$kernel; kernels seen: main$async_dispatch_0_argmax")


def test_samples_with_impossible_times_are_left_out_and_counted(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    rows = list(run.rows)
    ours = [i for i, r in enumerate(rows) if r.name == ONE[0]]
    for i in (ours[-1], ours[-3]):  # of the last round
        rows[i] = formats.Planted(ONE[0], rows[i].start, rows[i].start)
    rows[ours[-4]] = formats.Planted(ONE[0], rows[ours[-4]].start, rows[ours[-4]].start - 40)
    formats.write("G2", tmp_path, PID, rows)
    (a,) = collect(tmp_path, [LOG]).runs["a"]
    kernel, _ = run.samples("a")
    assert a.kernel_ns.tolist() == [*kernel[:4], kernel[6]]
    assert dict(a.foreign) == {"invocation with end before start": 1, "invocation with zero duration": 2}


def test_a_trace_without_one_usable_time_fails_the_entry(formats: ModuleType, tmp_path: Path) -> None:
    rows = [formats.Planted(r.name, r.start, r.start) for r in Run(formats).play(LOG).rows]
    formats.write("G2", tmp_path, PID, rows)
    assert "no sample of it is a time" in collect(tmp_path, [LOG]).failures["a"].reason


def test_a_stream_spread_over_queues_is_put_together(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    rows = [formats.Planted(r.name, r.start, r.end, queue=1 + i % 2) for i, r in enumerate(run.rows)]
    formats.write("G2", tmp_path, PID, rows)
    found = collect(tmp_path, [LOG])
    assert got(found, "a") == run.samples("a")
    assert got(found, "b") == run.samples("b")


def test_kernels_that_nobody_knows_are_found_by_how_often_they_repeat(formats: ModuleType, tmp_path: Path) -> None:
    named = log_of(
        Segment("torch", "check", 2, ("reduce$1", "reduce$2")),
        Segment("a", "round", 3, ONE, 0),
        Segment("torch", "round", 5, ("reduce$1", "reduce$2"), 0),
    )
    run = Run(formats).play(log_of(Segment("setup", "check", 1, ("randn",))), queue=1).play(named)
    formats.write("G2", tmp_path, PID, run.rows)
    blind = log_of(*(s if s.kernels == ONE else Segment(s.entry, s.phase, s.count) for s in named.segments))
    found = collect(tmp_path, [blind])
    assert got(found, "torch") == run.samples("torch")
    assert [k.name for k in found.runs["torch"][0].kernels] == ["reduce$1", "reduce$2"]


def test_two_entries_of_unknown_kernels_in_one_trace_are_refused(formats: ModuleType, tmp_path: Path) -> None:
    formats.write("G2", tmp_path, PID, Run(formats).play(LOG).rows)
    blind = log_of(Segment("p", "round", 3), Segment("q", "round", 3))
    assert "measure it by itself" in collect(tmp_path, [blind]).failures["p"].reason


P, Q = ("void at::reduce<2, f>(x)", "void at::reduce_final(x)"), ("hipcub::DeviceReduce<int, 4>",)


def baselines_log(told: bool) -> InvocationLog:
    """Two baselines among candidates: each has one turn between candidates, and one beside the other."""

    def seg(entry: str, phase: Any, count: int, number: int = 0) -> Segment:
        kernels = {"a": ONE, "p": P, "q": Q, "b": TWO}[entry]
        return Segment(entry, phase, count, kernels if told or entry in "ab" else (), number)

    return log_of(
        *(seg(e, "check", 2) for e in "apqb"),
        *(seg("q", "warmup", 3), seg("q", "round", 4), seg("a", "warmup", 2), seg("a", "round", 4)),
        *(seg("p", "warmup", 3), seg("p", "round", 4), seg("b", "round", 4)),
        *(seg("p", "warmup", 1, 1), seg("p", "round", 4, 1), seg("q", "warmup", 1, 1), seg("q", "round", 4, 1)),
        *(seg("a", "round", 4, 1), seg("b", "round", 4, 1)),
        *(seg("q", "round", 4, 2), seg("p", "round", 4, 2), seg("p", "check", 1), seg("a", "check", 1)),
    )


def baselines_run(formats: ModuleType) -> Run:
    """The same, with kernels that fill inputs before each check of a baseline."""
    run = Run(formats)
    checks = 0
    for s in baselines_log(True).segments:
        if s.phase == "check" and s.entry in "pq":
            run.play(log_of(Segment("setup", "check", 3 + checks, ("void at::normal_(x)",))), queue=1)
            checks += 1
        run.play(log_of(s))
    return run


def test_baselines_of_unknown_kernels_are_found_between_the_candidates(formats: ModuleType, tmp_path: Path) -> None:
    run = baselines_run(formats)
    formats.write("G2", tmp_path, PID, run.rows)
    found = collect(tmp_path, [baselines_log(False)])
    assert found.failures == {}
    for entry in "abpq":
        assert got(found, entry) == run.samples(entry)
    assert [k.name for k in found.runs["p"][0].kernels] == list(P)
    assert found.runs["p"][0].rounds.tolist() == [0] * 4 + [1] * 4 + [2] * 4


@pytest.mark.parametrize("lost", [P[1], Q[0]])
def test_a_lost_dispatch_of_a_baseline_refuses_what_was_beside_it_and_no_candidate(
    formats: ModuleType, tmp_path: Path, lost: str
) -> None:
    run = baselines_run(formats)
    at = [i for i, r in enumerate(run.rows) if r.name == lost][-3]
    formats.write("G2", tmp_path, PID, run.rows[:at] + run.rows[at + 1 :])
    found = collect(tmp_path, [baselines_log(False)])
    assert got(found, "a") == run.samples("a")
    assert got(found, "b") == run.samples("b")
    refused = {P[1]: "p", Q[0]: "q"}[lost]
    assert "cannot be told" in found.failures[refused].reason
    assert refused not in found.runs


def test_a_foreign_kernel_among_a_baselines_refuses_it(formats: ModuleType, tmp_path: Path) -> None:
    run = baselines_run(formats)
    at = next(i for i, r in enumerate(run.rows) if r.name == Q[0] and i > 30)
    stranger = formats.Planted("void stranger()", run.rows[at].end + 10, run.rows[at].end + 60)
    formats.write("G2", tmp_path, PID, [*run.rows, stranger])
    found = collect(tmp_path, [baselines_log(False)])
    assert "q" in found.failures
    assert got(found, "a") == run.samples("a")


def test_workers_that_followed_each_other_are_joined_and_a_lost_trace_refuses(
    formats: ModuleType, tmp_path: Path
) -> None:
    first = log_of(Segment("a", "check", 1, ONE), Segment("a", "round", 2, ONE, 0), Segment("b", "round", 2, TWO, 0))
    second = log_of(Segment("a", "round", 3, ONE, 1), pid=77)
    one, two = Run(formats).play(first), Run(formats, 8_000_000_000_000_000).play(second)
    formats.write("G2", tmp_path, PID, one.rows)
    formats.write("G2", tmp_path, 77, two.rows)
    found = collect(tmp_path, [first, second])
    assert got(found, "a")[0] == one.samples("a")[0] + two.samples("a")[0]
    (tmp_path / f"{PID}_kernel_trace.csv").unlink()
    found = collect(tmp_path, [first, second])
    assert "died before rocprofv3 wrote its trace" in found.failures["b"].reason
    assert set(found.runs) == set()


def test_what_an_interrupted_worker_launched_last_is_left_out(formats: ModuleType, tmp_path: Path) -> None:
    run = Run(formats).play(LOG)
    rows = [*run.rows, *(formats.Planted(ONE[0], run.clock + i, run.clock + i + 1) for i in range(3))]
    formats.write("G2", tmp_path, PID, rows)
    found = collect(tmp_path, [InvocationLog(PID, LOG.segments, interrupted="a")])
    assert got(found, "a") == run.samples("a")


def test_copies_are_counted(formats: ModuleType, tmp_path: Path) -> None:
    formats.write("G2", tmp_path, PID, Run(formats).play(LOG).rows)
    formats.write_copies(tmp_path, str(PID), 7)
    assert dict(collect(tmp_path, [LOG]).foreign) == {"memory copy": 7}


def test_a_folder_without_kernels_raises_with_its_causes(formats: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"nothing written.*likely causes"):
        collect(tmp_path, [LOG])
    formats.write_copies(tmp_path, str(PID), 7)
    with pytest.raises(TraceError, match=r"no kernels recorded: there are memory copies only"):
        collect(tmp_path, [LOG])

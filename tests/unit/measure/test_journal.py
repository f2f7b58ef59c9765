"""The journal survives what can happen to a file between two writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ireebench.measure import journal, progress
from ireebench.measure.journal import Item, Journal, Tail
from ireebench.outcome import Failure, Stage, Status

TURN = Item("a", "round", "hot", 3)


def write(folder: Path, *events: tuple[str, Item | None]) -> None:
    book = Journal(folder)
    for name, item in events:
        book.write(name, item)
    book.close()


def test_events_are_read_back_as_written(tmp_path: Path) -> None:
    book = Journal(tmp_path)
    book.write("begin", TURN)
    book.write("end", TURN, launches=7)
    book.close()
    begin, end = journal.read(tmp_path)
    assert (begin.name, begin.item) == ("begin", TURN)
    assert end.data["launches"] == 7
    assert end.data["monotonic_ns"] >= begin.data["monotonic_ns"]


def test_a_torn_last_line_is_dropped_and_not_continued(tmp_path: Path) -> None:
    write(tmp_path, ("begin", TURN))
    with (tmp_path / journal.JOURNAL).open("a") as file:
        file.write('{"event": "end", "entry": "a", "pha')
    assert [e.name for e in journal.read(tmp_path)] == ["begin"]
    write(tmp_path, ("session", None))
    assert [e.name for e in journal.read(tmp_path)] == ["begin", "session"]


def test_garbage_lines_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / journal.JOURNAL).write_text('null\n[1]\n\x00\x00\n{"no": "event"}\n')
    write(tmp_path, ("session", None))
    assert [e.name for e in journal.read(tmp_path)] == ["session"]


def test_a_tail_gives_each_whole_line_once(tmp_path: Path) -> None:
    write(tmp_path, ("session", None))
    tail = Tail(tmp_path)
    assert list(tail.events()) == []
    with (tmp_path / journal.JOURNAL).open("a") as file:
        file.write('{"event": "do')
        file.flush()
        assert list(tail.events()) == []
        file.write('ne"}\n')
    assert [e.name for e in tail.events()] == ["done"]
    assert list(tail.events()) == []


def test_samples_are_read_back_bit_for_bit(tmp_path: Path) -> None:
    columns = [np.array([1, 2**62, 3], np.int64), np.array([], np.int64), np.array([9], np.int64)]
    book = Journal(tmp_path)
    book.write_samples([np.array([5, 5], np.int64)])
    reference = book.write_samples(columns)
    book.close()
    restored = journal.read_samples(tmp_path, json.loads(json.dumps(reference)))
    assert restored is not None
    assert [c.tolist() for c in restored] == [[1, 2**62, 3], [], [9]]


@pytest.mark.parametrize("damage", ["shorter", "altered"])
def test_damaged_samples_are_noticed(tmp_path: Path, damage: str) -> None:
    book = Journal(tmp_path)
    reference = book.write_samples([np.array([100, 200], np.int64)])
    book.close()
    path = tmp_path / journal.SAMPLES
    content = bytearray(path.read_bytes())
    if damage == "shorter":
        del content[-1]
    else:
        content[0] ^= 1
    path.write_bytes(content)
    assert journal.read_samples(tmp_path, reference) is None


def test_what_had_begun_and_not_ended_is_in_flight(tmp_path: Path) -> None:
    write(tmp_path, ("begin", Item("a", "load")), ("end", Item("a", "load")), ("begin", TURN))
    assert progress.read(tmp_path).in_flight == TURN


def test_nothing_is_in_flight_once_a_fresh_worker_started(tmp_path: Path) -> None:
    write(tmp_path, ("begin", TURN), ("session", None))
    state = progress.read(tmp_path)
    assert state.in_flight is None
    assert state.begins == {TURN: 1}


def test_a_failure_is_over_but_something_unavailable_is_looked_for_again(tmp_path: Path) -> None:
    book = Journal(tmp_path)
    for key, status in (("a", Status.RUN_FAILED), ("b", Status.UNAVAILABLE)):
        failure = Failure(status, "why", Stage.COMPILED)
        book.write("failed", Item(key, "load"), **progress.failure_data(failure))
    book.close()
    state = progress.read(tmp_path)
    assert state.failures == {"a": Failure(Status.RUN_FAILED, "why", Stage.COMPILED)}
    assert state.over("a")
    assert not state.over("b")

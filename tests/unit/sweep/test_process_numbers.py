"""Processes of results files get numbers of their own where the store holds others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ireebench.measure.result import EntryResult, RunResult
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.process_numbers import Numbering
from ireebench.sweep.stages import store_results
from ireebench.variants import Ship

PROBLEM = Problem("p", "argmax", (1, 1024), "f32")
ENVIRONMENT = Environment("d", "local-task", None, "3.13.0", "3.13.0", "0.1.0", "host", "3.11.0", "")
MORE = {"form": "native", "ship": Ship.NONE, "config": Config(), "status": Status.OK, "stage": Stage.COMPILED}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.db", write=True) as opened:
        yield opened


def result(entry: str, process: int, ns: int) -> EntryResult:
    samples = np.array([ns, ns + 1], np.int64)
    return EntryResult(
        entry, None, (RunResult(entry, process, "hot", "host", samples, samples, np.zeros(2, np.int64)),), None
    )


def put(store: Store, numbering: Numbering, file: str, *results: EntryResult) -> None:
    place = store.put_environment(ENVIRONMENT)
    trials = {
        n: Trial(f"key of {n}", PROBLEM, "cpu", "vd", None, environment=place, **MORE)  # type: ignore[arg-type]
        for n in ("a", "b", "c")
    }
    for _ in store_results(trials, numbering.number(Path(file), results, trials, place), store):
        pass


def held(store: Store, entry: str) -> dict[int, int]:
    """Process -> the first sample."""
    return {r.process: int(r.kernel_ns[0]) for r in store.samples(f"key of {entry}")}


def noise(store: Store) -> dict[int, float]:
    return {key[3]: value for key, value in store.noise_by_process(1).items()}


def test_all_that_one_process_measured_gets_one_number(store: Store) -> None:
    put(store, Numbering(store), "run1/results-1.zip", result("a", 1, 100))
    second = Numbering(store)
    # `b` is new: it alone would be process 1 still. The file after it holds more of the same process.
    put(store, second, "run2/results-1.zip", result("b", 1, 50), result("a", 1, 101))
    put(store, second, "run2/results-2.zip", result("c", 1, 70))
    assert [held(store, e) for e in "abc"] == [{1: 100, 2: 101}, {2: 50}, {2: 70}]
    assert second.told == [("run2/results-1.zip", 1, 2), ("run2/results-2.zip", 1, 2)]


def test_a_second_search_never_becomes_a_final_process(store: Store) -> None:
    for run, ns in (("run1", 10), ("run2", 20), ("run3", 30)):
        put(store, Numbering(store), f"{run}/results-0.zip", result("a", 0, ns))
    assert held(store, "a") == {0: 10, -1: 20, -2: 30}
    (trial,) = store.trials()
    timing = trial.timing("hot")
    assert timing is not None
    assert (timing.final, timing.processes) == (False, 3)


def test_files_of_two_runs_in_one_folder_are_told_apart_by_their_samples(store: Store) -> None:
    numbering = Numbering(store)
    put(store, numbering, "results/h200-a.zip", result("a", 1, 100), result("b", 1, 200))
    put(store, numbering, "results/h200-b.zip", result("a", 1, 101), result("b", 1, 201))
    put(store, numbering, "results/h200-a.zip", result("a", 1, 100), result("b", 1, 200))
    assert (held(store, "a"), held(store, "b")) == ({1: 100, 2: 101}, {1: 200, 2: 201})
    assert numbering.repeated == 2


def test_an_import_that_was_cut_short_goes_on_under_the_number_it_had(store: Store) -> None:
    put(store, Numbering(store), "run1/results-1.zip", result("a", 1, 100), result("b", 1, 200))
    file = (result("a", 1, 101), result("b", 1, 201), result("c", 1, 301))
    put(store, Numbering(store), "run2/results-1.zip", *file[:1])
    put(store, Numbering(store), "run2/results-1.zip", *file)
    assert [held(store, e) for e in "abc"] == [{1: 100, 2: 101}, {1: 200, 2: 201}, {2: 301}]


def test_a_noise_figure_is_kept_where_the_winners_differ(store: Store) -> None:
    put(store, Numbering(store), "run1/results-1.zip", result("a", 1, 100), result("a#aa", 1, 104))
    again = (result("b", 1, 200), result("b#aa", 1, 204))
    put(store, Numbering(store), "run2/results-1.zip", *again)
    # Medians are half a ns above the first sample: 4 / 100.5 and 4 / 200.5.
    assert noise(store) == {1: pytest.approx(4 / 100.5), 2: pytest.approx(4 / 200.5)}
    assert (held(store, "a"), held(store, "b")) == ({1: 100}, {2: 200})
    put(store, Numbering(store), "run2/results-1.zip", *again)
    assert (held(store, "b"), len(noise(store))) == ({2: 200}, 2)


def test_a_failure_has_no_number(store: Store) -> None:
    failed = EntryResult("a", None, (), Failure(Status.RUN_FAILED, "crashed", Stage.CHECKED))
    numbering = Numbering(store)
    put(store, numbering, "run1/results-1.zip", failed, result("b", 1, 5))
    assert (held(store, "a"), held(store, "b"), numbering.told) == ({}, {1: 5}, [])

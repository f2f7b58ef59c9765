from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ireebench.compiler.artifact import KernelEvidence
from ireebench.errors import StoreError
from ireebench.isa.emulate.report import Counts
from ireebench.measure.result import KernelSamples, RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store, backup
from ireebench.store.trial import Environment, Trial
from ireebench.variants import Ship

PROBLEM = Problem("llama3-8b", "argmax", (1, 131072), "bf16", model="LLaMA-3-8B", source="test")
ENVIRONMENT = Environment("card", "cuda://0", "580.1", "3.13.0", "3.13.0", "0.1.0", "x86_64, 2 cores", "3.11", "{}")


def a_trial(key: str = "k1", **changes: object) -> Trial:
    base = Trial(
        key=key,
        problem=PROBLEM,
        target="sm_89",
        variant="vd",
        baseline=None,
        form="collapse",
        ship=Ship.IR_REWRITE,
        config=Config(sg=4, pr=2048, th=8),
        status=Status.OK,
        stage=Stage.TIMED,
        applied=True,
        check=CheckResult(ok=True, first_index=False),
        kernels=(KernelEvidence("argmax_dispatch_0", vgpr=24, workgroup_size=(256, 1, 1), input_shape=(131072,)),),
        compile_key="c1",
        command="iree-compile module.mlir",
        mlir="func.func @argmax() { return }",
        timer="cupti",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def a_run(values: list[int], process: int = 0, cache: str = "hot") -> RunResult:
    ns = np.array(values, np.int64)
    kernel = KernelSamples("argmax_dispatch_0", ns, registers=24, shared_bytes=512, grid=(1, 1, 1), block=(256, 1, 1))
    return RunResult("k1", process, cache, "cupti", ns, ns + 100, np.zeros_like(ns), (kernel,), (("fill", 2),))  # type: ignore[arg-type]


def test_a_trial_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        trial = a_trial(environment=store.put_environment(ENVIRONMENT))
        store.put_runs(trial, [a_run([2000, 2100, 1900])])
        (back,) = store.trials(sources=True)
    assert replace(back, runs=()) == trial
    (run,) = back.runs
    assert (run.samples, run.median_ns, run.q1_ns, run.q3_ns, run.span_ns) == (3, 2000.0, 1950.0, 2050.0, 2100.0)
    assert run.kernels[0].registers == 24
    assert run.foreign == (("fill", 2),)


def test_what_the_emulator_executed_comes_back(tmp_path: Path) -> None:
    counts = (Counts("k", 1, 4, {"scalar": 7, "vector int": 90}, 12, {"global load b128": 16384}, 128, 0, 4, 0),)
    with Store.open(tmp_path / "t.db", write=True) as store:
        store.put_trials([a_trial(counts=counts), a_trial("k2")])
        first, second = store.trials()
    assert tuple(first.counts) == counts
    assert first.counts[0].total == 97
    assert not second.counts


def test_raw_samples_come_back_exactly(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        trial = a_trial()
        store.put_runs(trial, [a_run([5, 6, 7], process=1), a_run([9], process=2)])
        first, second = store.samples(trial.key)
    assert first.kernel_ns.tolist() == [5, 6, 7]
    assert first.span_ns.tolist() == [105, 106, 107]
    assert first.kernels[0].block == (256, 1, 1)
    assert second.process == 2


def test_measuring_a_process_again_replaces_its_samples(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        trial = a_trial()
        store.put_runs(trial, [a_run([5])])
        store.put_runs(trial, [a_run([7])])
        assert [r.median_ns for r in store.trials()[0].runs] == [7.0]
        assert store._db.execute("SELECT count(*) FROM samples").fetchone() == (1,)


def test_a_finalists_figure_leaves_out_the_search_process() -> None:
    from ireebench.store.trial import summarise

    runs = tuple(summarise(a_run([n], process=p)) for p, n in ((0, 10), (1, 30), (2, 40), (3, 50)))
    timing = a_trial(runs=runs).timing("hot")
    assert timing is not None
    assert (timing.median_ns, timing.processes, timing.gap_ns) == (40.0, 3, 100.0)


def test_resuming_knows_which_processes_are_measured(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        store.put_runs(a_trial(), [a_run([5], process=1), a_run([5], process=1, cache="cold")])
        store.put_trials([a_trial("k2", status=Status.COMPILE_FAILED, stage=Stage.COMPILED, reason="no")])
        assert store.finished() == {
            "k1": ("ok", frozenset({(1, "hot"), (1, "cold")})),
            "k2": ("compile_failed", frozenset()),
        }


def test_a_missing_store_is_named() -> None:
    with pytest.raises(StoreError, match=r"nowhere\.db: no such store"):
        Store.open(Path("nowhere.db"))


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("this is not a database, just some text")
    with pytest.raises(StoreError, match="not a database"):
        Store.open(path, write=True)
    assert path.read_text() == "this is not a database, just some text"


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(StoreError, match="not one of ireebench's"):
        Store.open(path)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Store.open(path, write=True).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="newer ireebench"):
        Store.open(path)


def first_version(path: Path) -> Path:
    """A store as the first version wrote it, with one trial."""
    with Store.open(path, write=True) as store:
        store.put_runs(a_trial(), [a_run([5, 6, 7])])
    db = sqlite3.connect(path)
    for column in ("counts", "figure_ns"):
        db.execute(f"ALTER TABLE trial DROP COLUMN {column}")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
    return path


def schema(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def test_a_store_of_the_first_version_is_read_as_it_is_and_brought_up_to_date_by_a_writer(tmp_path: Path) -> None:
    path = first_version(tmp_path / "old.db")
    before = path.read_bytes()
    for write, version in ((False, 1), (True, 3)):
        with Store.open(path, write=write) as store:
            (trial,) = store.trials()
            assert trial.runs[0].median_ns == 6.0
            assert not trial.counts
        assert schema(path) == version
        assert (path.read_bytes() == before) is not write


def test_reading_a_store_changes_no_byte_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "committed.db"
    with Store.open(tmp_path / "t.db", write=True) as store:
        store.put_runs(a_trial(), [a_run([5, 6, 7])])
        backup(store, path)
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    with Store.open(path) as store:
        assert len(store.trials()) == 1
        with pytest.raises(StoreError):
            store.put_trials([a_trial("k2")])
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


def test_a_sweeps_store_is_read_where_nothing_may_be_written_beside_it(tmp_path: Path) -> None:
    """As somebody without rights: root may write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "t.db"
        with Store.open(path, write=True) as store:
            store.put_runs(a_trial(), [a_run([5, 6, 7])])
        shutil.copy(path, folder / "busy.db")
        (folder / "busy.db-wal").touch()  # a journal that may hold more than the file
        path.chmod(0o444)
        folder.chmod(0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            with Store.open(path) as store:
                assert len(store.trials()) == 1
            with pytest.raises(StoreError, match=r"busy\.db-wal beside it holds more; copy both to a folder"):
                Store.open(folder / "busy.db")
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)


def test_a_truncated_store_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with Store.open(path, write=True) as store:
        store.put_trials([a_trial(f"k{i}", mlir="x" * 2000 + str(i)) for i in range(200)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="damaged"), Store.open(path) as store:
        store.trials(sources=True)


def test_a_locked_store_says_who_to_wait_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.db"
    with Store.open(path, write=True) as store:
        store._db.execute("PRAGMA busy_timeout = 50")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another ireebench holds the store"):
            store.put_trials([a_trial()])
        other.execute("ROLLBACK")
        other.close()
        store.put_trials([a_trial()])
        assert len(store.trials()) == 1


def test_noise_and_ceiling_are_kept_per_environment(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        env = store.put_environment(ENVIRONMENT)
        assert store.put_environment(ENVIRONMENT) == env
        store.put_noise(PROBLEM, env, "cupti", ("hot", 1, 0.004))
        store.put_noise(PROBLEM, env, "cupti", ("hot", 2, 0.006))
        store.put_ceiling(env, "{}")
        assert store.noise() == {(PROBLEM, env, "hot"): (0.004, 0.006)}
        assert store.ceiling(env) == "{}"
        assert store.environments() == {env: ENVIRONMENT}


def test_a_backup_is_one_plain_file(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db", write=True) as store:
        store.put_trials([a_trial()])
        backup(store, tmp_path / "copy.db")
    assert sorted(p.name for p in tmp_path.glob("copy*")) == ["copy.db"]
    with Store.open(tmp_path / "copy.db") as copy:
        assert len(copy.trials()) == 1

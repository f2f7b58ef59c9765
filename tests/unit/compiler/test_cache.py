"""Entries are whole or not there, whoever else uses the cache."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ireebench.compiler.cache import Cache, Member
from ireebench.compiler.spawner import Exit, Limits
from ireebench.errors import OutputError

KEY = "ab" + "0" * 62
ENDED = Exit(0, False, 0.25, 1000)


def filled(cache: Cache, text: str = "code") -> Path:
    """Publishes an entry with one file and gives its folder."""
    with cache.lock(KEY), cache.scratch(KEY) as folder:
        (folder / "dump").mkdir()
        (folder / "module.vmfb").write_text(text)
        (folder / "dump" / "a.rocmasm").write_text("asm")
        return cache.publish(KEY, folder, ENDED, Limits()).folder


def test_what_is_published_can_be_loaded_by_another(tmp_path: Path) -> None:
    folder = filled(Cache(tmp_path))
    entry = Cache(tmp_path).load(KEY)
    assert entry is not None
    assert (entry.folder, entry.exit, entry.limits) == (folder, ENDED, Limits())
    assert (folder / "module.vmfb").read_text() == "code"


def test_an_empty_cache_knows_nothing(tmp_path: Path) -> None:
    assert Cache(tmp_path).load(KEY) is None
    assert Cache(tmp_path).member(KEY) is None


@pytest.mark.parametrize("file", ["module.vmfb", "dump/a.rocmasm"])
def test_a_changed_file_makes_the_entry_worthless(tmp_path: Path, file: str) -> None:
    folder = filled(Cache(tmp_path))
    (folder / file).write_text("cut sh")
    assert Cache(tmp_path).load(KEY) is None


def test_a_missing_file_makes_the_entry_worthless(tmp_path: Path) -> None:
    (filled(Cache(tmp_path)) / "module.vmfb").unlink()
    assert Cache(tmp_path).load(KEY) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}', '{"schema": 1}'])
def test_a_broken_manifest_makes_the_entry_worthless(tmp_path: Path, text: str) -> None:
    (filled(Cache(tmp_path)) / "entry.json").write_text(text)
    assert Cache(tmp_path).load(KEY) is None


def test_publishing_replaces_a_broken_entry(tmp_path: Path) -> None:
    (filled(Cache(tmp_path)) / "module.vmfb").write_text("broken")
    filled(Cache(tmp_path), "new code")
    entry = Cache(tmp_path).load(KEY)
    assert entry is not None
    assert (entry.folder / "module.vmfb").read_text() == "new code"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_compile_that_does_not_end_leaves_no_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def killed() -> None:
        with cache.scratch(KEY) as folder:
            (folder / "module.vmfb").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed()
    assert cache.load(KEY) is None
    assert list((tmp_path / "scratch").iterdir()) == []


def test_what_a_killed_run_left_goes_after_a_day(tmp_path: Path) -> None:
    import os

    Cache(tmp_path)
    old, new = tmp_path / "scratch" / "old", tmp_path / "scratch" / "new"
    old.mkdir()
    new.mkdir()
    yesterday = time.time() - 90_000
    os.utime(old, (yesterday, yesterday))
    Cache(tmp_path)
    assert [p.name for p in (tmp_path / "scratch").iterdir()] == ["new"]


def test_members_are_remembered(tmp_path: Path) -> None:
    Cache(tmp_path).note_member(KEY, Member("cd" * 32, "argmax_3"))
    assert Cache(tmp_path).member(KEY) == Member("cd" * 32, "argmax_3")


def test_two_processes_take_turns_on_a_key(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from ireebench.compiler.cache import Cache\n"
        "with Cache(Path(sys.argv[1])).lock(sys.argv[2]): print('held', flush=True); time.sleep(0.8)\n"
        "print(time.time())"
    )
    argv = [sys.executable, "-c", script, str(tmp_path), KEY]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        before = time.monotonic()
        with Cache(tmp_path).lock(KEY):
            assert time.monotonic() - before > 0.5


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write the cache folder .*file"):
        Cache(tmp_path / "file")


def test_the_manifest_is_plain_json(tmp_path: Path) -> None:
    record = json.loads((filled(Cache(tmp_path)) / "entry.json").read_text())
    assert sorted(record["files"]) == ["dump/a.rocmasm", "module.vmfb"]
    assert record["exit"] == {"code": 0, "timed_out": False, "wall_s": 0.25, "max_rss_bytes": 1000}

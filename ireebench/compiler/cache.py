"""The content-addressed cache of compiles: one folder an entry, published whole or not at all.

    <root>/entries/ab/abcd.../   module.mlir [spec.mlir] [module.vmfb] [dump/] stderr.txt entry.json
    <root>/members/ab/abcd....json   where a program that was compiled in a batch is
    <root>/locks/  <root>/scratch/

`entry.json` is written last and holds a hash of every other file: an entry cut short by a crash, or changed since, is
seen and compiled again. Two sweeps may share a cache: each key has a lock.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from ireebench.compiler.spawner import Exit, Limits
from ireebench.errors import OutputError

SCHEMA = 1
MANIFEST = "entry.json"
_STALE_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished compile, good or bad: where it is, how the compiler ended and under which limits."""

    folder: Path
    exit: Exit
    limits: Limits


@dataclass(frozen=True, slots=True)
class Member:
    """A program's place in a batch: the batch's key and the name that its function has there."""

    entry: str
    function: str


def default_cache() -> Path:
    """Where compiles are kept unless the user says otherwise."""
    import platformdirs

    return platformdirs.user_cache_path("ireebench", appauthor=False) / "compiled"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hashes(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != MANIFEST)
    return {str(p.relative_to(folder)): _sha256(p) for p in files}


class Cache:
    """A cache folder. Raises OutputError when it cannot be written."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._intact: set[str] = set()
        try:
            for name in ("entries", "members", "locks", "scratch"):
                (self._root / name).mkdir(parents=True, exist_ok=True)
            self._drop_stale()
        except OSError as e:
            raise OutputError(f"cannot write the cache folder {root}: {e.strerror or e}; name another place") from e

    def _drop_stale(self) -> None:
        """Removes what killed runs have left, a day later."""
        for left in (self._root / "scratch").iterdir():
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _STALE_S:
                    shutil.rmtree(left)

    def _entry(self, key: str) -> Path:
        return self._root / "entries" / key[:2] / key

    def _member(self, key: str) -> Path:
        return self._root / "members" / key[:2] / f"{key}.json"

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Holds the key against other threads and other processes."""
        with FileLock(self._root / "locks" / f"{key}.lock"):
            yield

    def load(self, key: str) -> Entry | None:
        """The entry of `key`; None where there is none, or it is not what was once published."""
        folder = self._entry(key)
        try:
            record = json.loads((folder / MANIFEST).read_text())
            if record["schema"] != SCHEMA or (key not in self._intact and record["files"] != _hashes(folder)):
                return None
            entry = Entry(folder, Exit(**record["exit"]), Limits(**record["limits"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        self._intact.add(key)
        return entry

    @contextmanager
    def scratch(self, key: str) -> Iterator[Path]:
        """A fresh folder to compile `key` in; removed at the end unless it was published."""
        folder = Path(tempfile.mkdtemp(prefix=f"{key[:12]}-", dir=self._root / "scratch"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, key: str, folder: Path, ended: Exit, limits: Limits) -> Entry:
        """Makes `folder` the entry of `key`, in one step. The caller holds the key's lock."""
        record = {"schema": SCHEMA, "exit": asdict(ended), "limits": asdict(limits), "files": _hashes(folder)}
        (folder / MANIFEST).write_text(json.dumps(record, indent=1))
        place = self._entry(key)
        place.parent.mkdir(exist_ok=True)
        if place.exists():
            with self.scratch(key) as bin_:
                place.rename(bin_ / "replaced")
        folder.rename(place)
        self._intact.add(key)
        return Entry(place, ended, limits)

    def member(self, key: str) -> Member | None:
        """Where the program of `key` is, if it was compiled in a batch."""
        try:
            return Member(**json.loads(self._member(key).read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def note_member(self, key: str, member: Member) -> None:
        """Remembers a program's place in a batch."""
        path = self._member(key)
        path.parent.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(asdict(member)))
        part.replace(path)

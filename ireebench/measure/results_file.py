"""Results as files that travel: zip archives of one JSON line an entry and one blob of samples a run."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ireebench.measure.result import EntryResult, RunResult
from ireebench.measure.samples import pack_samples, unpack_samples
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.check import CheckResult

LINES = "results.jsonl"
ENVIRONMENT = "environment.json"
# Files above this size are not taken by some ways of bringing results home.
MOST_BYTES = 12 * 1024 * 1024
MOST_UNPACKED = 512 * 1024 * 1024


def _document(result: EntryResult, blobs: list[str]) -> dict[str, Any]:
    return {
        "entry": result.entry,
        "check": asdict(result.check) if result.check else None,
        "failure": asdict(result.failure) if result.failure else None,
        "runs": [
            {"process": r.process, "cache": r.cache, "timer": r.timer, "foreign": r.foreign, "samples": blob}
            for r, blob in zip(result.runs, blobs, strict=True)
        ],
    }


class ResultsWriter:
    """Writes results to `folder`/results-0.zip, results-1.zip ... none above 12 MB. Use as a context manager."""

    def __init__(self, folder: Path, environment: Mapping[str, Any]) -> None:
        self._folder = folder
        self._environment = environment
        self._lines: list[str] = []
        self._bytes = 0
        self._number = 0
        self._process = 0
        self._zip: zipfile.ZipFile | None = None
        self.paths: list[Path] = []

    def __enter__(self) -> ResultsWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()

    def add(self, result: EntryResult) -> None:
        """Appends one entry's outcome."""
        packed = [pack_samples(r) for r in result.runs]
        size = sum(map(len, packed))
        process = result.runs[0].process if result.runs else self._process
        # A file a process: one that is killed later leaves the finished ones whole.
        if self._zip is None or self._bytes + size > MOST_BYTES or process != self._process:
            self._finish()
            self._begin()
            self._process = process
        assert self._zip is not None
        blobs = []
        for body in packed:
            name = f"samples/{self._number}.npz"
            self._zip.writestr(name, body, zipfile.ZIP_STORED)
            self._number += 1
            blobs.append(name)
        self._bytes += size
        self._lines.append(json.dumps(_document(result, blobs)))

    def tell(self) -> None:
        """Writes a further file that holds the environment alone, as it is known when all results are written."""
        self._begin()
        self._finish()

    def _begin(self) -> None:
        path = self._folder / f"results-{len(self.paths)}.zip"
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._bytes = 0
        self.paths.append(path)

    def _finish(self) -> None:
        if self._zip is None:
            return
        self._zip.writestr(LINES, "\n".join(self._lines))
        self._zip.writestr(ENVIRONMENT, json.dumps(self._environment))
        self._zip.close()
        self._zip = None
        self._lines = []


# What reading a record raises that was damaged, or made to do harm.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, OSError, zipfile.BadZipFile, RecursionError)


def read_results(path: Path) -> tuple[Mapping[str, Any], Iterator[EntryResult]]:
    """The environment and the results of one file. Nothing is unpacked to disk; names and sizes are checked.

    Raises ValueError that names the file when it is no results file or is made to do harm.
    """
    try:
        archive = zipfile.ZipFile(path)
        if sum(i.file_size for i in archive.infolist()) > MOST_UNPACKED:
            raise ValueError(f"{path}: unpacks to more than {MOST_UNPACKED >> 20} MB")
        environment = json.loads(archive.read(ENVIRONMENT))
        lines = archive.read(LINES).decode().splitlines()
    except (KeyError, OSError, zipfile.BadZipFile, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as e:
        raise ValueError(f"{path}: not a results file: {e}") from e
    return environment, _results(path, archive, lines)


def _results(path: Path, archive: zipfile.ZipFile, lines: Iterable[str]) -> Iterator[EntryResult]:
    with archive:
        for line in lines:
            try:
                yield _result(archive, json.loads(line))
            except _DAMAGE as e:
                raise ValueError(f"{path}: damaged result: {e}") from e


def _result(archive: zipfile.ZipFile, data: Mapping[str, Any]) -> EntryResult:
    runs: list[RunResult] = []
    for r in data["runs"]:
        blob = unpack_samples(archive.read(r["samples"]), r["process"], r["cache"], r["timer"])
        foreign = tuple((str(c), int(n)) for c, n in r["foreign"])
        runs.append(
            RunResult(
                data["entry"],
                blob.process,
                blob.cache,
                blob.timer,
                blob.kernel_ns,
                blob.span_ns,
                blob.rounds,
                blob.kernels,
                foreign,
            )
        )
    f = data["failure"]
    failure = None if f is None else Failure(Status(f["status"]), f["reason"], Stage(f["stage"]), f["known"])
    check = None if data["check"] is None else CheckResult(**data["check"])
    return EntryResult(data["entry"], check, tuple(runs), failure)

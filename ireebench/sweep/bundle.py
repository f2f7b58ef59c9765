"""Bundles: compile here, measure on a machine with no compiler, bring the trials home."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ireebench
from ireebench import __version__
from ireebench.errors import BadFileError, OutputError, UserError
from ireebench.measure.bundle import CAMPAIGN, MANIFEST, TRIALS, campaign_document, damaged_files
from ireebench.measure.ceiling_table import CeilingTable
from ireebench.measure.job import Group
from ireebench.measure.result import EntryResult
from ireebench.measure.results_file import read_results
from ireebench.outcome import Status
from ireebench.store import codec
from ireebench.store.database import Store
from ireebench.store.documents import trial_document, trial_from
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.ceiling import put_ceiling
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.stages import Compiled, MeasureWork, store_results

# What a measuring machine needs of the package.
_CARRIED = ("__init__.py", "py.typed", "errors.py", "outcome.py", "procs.py", "targets.py", "problems", "measure")
_LEFT_OUT = ("__pycache__", "data")

_RUN = '''"""Measures this bundle: python3 run.py [--devices cuda://0]. Needs iree-base-runtime, numpy, ml_dtypes."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))

from ireebench.measure.bundle import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(HERE, sys.argv[1:]))
'''


@dataclass(frozen=True, slots=True)
class Size:
    """What a bundle holds."""

    candidates: int
    artifacts: int
    bytes: int


def create_bundle(work: MeasureWork, folder: Path) -> Size:
    """Writes a bundle of everything compiled to an empty or absent folder; raises OutputError for another one."""
    if folder.exists() and any(folder.iterdir()):
        raise OutputError(f"{folder} is not empty; name a new folder with -o")
    try:
        (folder / "artifacts").mkdir(parents=True)
        _write(work, folder)
    except OSError as e:
        raise OutputError(f"cannot write the bundle {folder}: {e.strerror or e}") from e
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    digests = {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    (folder / MANIFEST).write_text(json.dumps({"schema_version": 1, "files": digests}, indent=1))
    artifacts = len(list((folder / "artifacts").iterdir()))
    return Size(len(work.compiled), artifacts, sum(p.stat().st_size for p in files))


def _write(work: MeasureWork, folder: Path) -> None:
    carried = {key: _carry(c, folder) for key, c in work.compiled.items()}
    campaign = work.campaign()
    groups = tuple(
        Group(g.problem, tuple(replace(e, vmfb=carried[e.key]) if e.vmfb else e for e in g.entries))
        for g in campaign.groups
    )
    document = campaign_document(replace(campaign, groups=groups))
    (folder / CAMPAIGN).write_text(json.dumps(document, indent=1))
    trials = [trial_document(t) for t in work.trials().values()]
    (folder / TRIALS).write_text(json.dumps({"schema_version": 1, "trials": trials}, indent=0))
    (folder / "run.py").write_text(_RUN)
    package = Path(ireebench.__file__).parent
    for name in _CARRIED:
        source, target = package / name, folder / "ireebench" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        else:
            shutil.copyfile(source, target)


def _carry(compiled: Compiled, folder: Path) -> str:
    """Copies an artifact by its content; equal ones are carried once. Returns its path inside the bundle."""
    body = compiled.artifact.vmfb.read_bytes()
    name = f"artifacts/{hashlib.sha256(body).hexdigest()[:16]}.vmfb"
    path = folder / name
    if not path.exists():
        path.write_bytes(body)
    return name


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought: trials with samples, and failures."""

    measured: int
    failed: int
    device: str


def import_results(folder: Path, files: Iterable[Path], store: Store) -> Imported:
    """Stores the results of a bundle. Nothing outside `folder` is read but `files`, and nothing is unpacked.

    Raises BadFileError for a bundle whose files differ from its manifest, and for a damaged results file.
    """
    try:
        damaged = list(damaged_files(folder))
        raw = json.loads((folder / TRIALS).read_text())["trials"]
        trials = {t.key: t for t in map(trial_from, raw)}
    except (OSError, LookupError, TypeError, AttributeError, ValueError, RecursionError, UserError) as e:
        raise BadFileError(f"{folder}: not a bundle: {_said(e)}") from e
    if damaged:
        raise BadFileError(f"{folder}: its files are not those it was made with: {', '.join(damaged[:3])}")
    counts = [0, 0]
    device = "unknown"
    for file in files:
        try:
            told, results = read_results(file)
            here = _environment(told)
            device = here.device
            place = store.put_environment(here)
            if "ceiling" in told:
                put_ceiling(store, place, CeilingTable.from_json(told["ceiling"]))
            for session in told.get("sessions", ()):
                store.put_session(place, codec.to_json(session))
            for measured in _store(trials, results, here, store):
                counts[not measured] += 1
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as e:
            raise BadFileError(_said(e) if str(file) in str(e) else f"{file}: {_said(e)}") from e
    return Imported(counts[0], counts[1], device)


def _said(error: Exception) -> str:
    """An error in words: a KeyError alone says just the key."""
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _environment(data: Any) -> Environment:
    """The environment that a results file tells, beside the versions that compiled here."""
    mine = current_environment(None)
    device = data["device"]
    versions = data.get("versions", {})
    return Environment(
        device=str(device["name"]),
        device_uri=str(device["uri"]),
        driver=str(versions.get("driver") or device["driver"]),
        runtime_version=versions.get("iree-base-runtime"),
        compiler_version=mine.compiler_version,
        ireebench_version=__version__,
        host=str(versions.get("host", "unknown")),
        python=str(versions.get("python", "unknown")),
        protocol="",
    )


def _store(
    trials: dict[str, Trial], results: Iterator[EntryResult], environment: Environment, store: Store
) -> Iterator[bool]:
    """Stores results under keys of the machine that measured them; yields whether each was measured."""
    place = store.put_environment(environment)
    here = identity(environment)
    placed = {key: replace(t, key=codec.digest(f"{key} {here}"), environment=place) for key, t in trials.items()}
    for trial in store_results(placed, results, store):
        yield trial.status is Status.OK

"""Bundles: what was compiled here, in a folder that measures itself on a machine with no compiler."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import ireebench
from ireebench.errors import BadFileError, OutputError, UsageError, UserError
from ireebench.measure.bundle import CAMPAIGN, MANIFEST, TRIALS, campaign_document, damaged_files, read_campaign, said
from ireebench.measure.campaign import Campaign
from ireebench.measure.job import Entry, Group
from ireebench.problems.problem import Problem
from ireebench.store.documents import trial_document, trial_from
from ireebench.store.trial import Trial
from ireebench.sweep.stages import MeasureWork

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

try:
    from ireebench.errors import UserError
    from ireebench.measure.bundle import main
except ModuleNotFoundError as e:
    sys.exit(f"error: {e.name} is missing here; pip install iree-base-runtime numpy ml_dtypes")

if __name__ == "__main__":
    try:
        status = main(HERE, sys.argv[1:])
    except (UserError, OSError, ValueError) as e:
        print(f"error: {e}", file=sys.stderr)
        status = getattr(e, "exit_code", 2)
    except KeyboardInterrupt:
        print("interrupted; what is measured is kept", file=sys.stderr)
        status = 130
    sys.exit(status)
'''


@dataclass(frozen=True, slots=True)
class Size:
    """What a bundle holds."""

    candidates: int
    artifacts: int
    bytes: int


def create_bundle(work: MeasureWork, folder: Path) -> Size:
    """Writes a bundle of everything compiled to an empty or absent folder; raises OutputError for another one."""
    with _new_folder(folder):
        carried = {key: _carry(c.artifact.vmfb, folder) for key, c in work.compiled.items()}
        campaign = work.campaign()
        groups = tuple(
            Group(g.problem, tuple(replace(e, vmfb=carried[e.key]) if e.vmfb else e for e in g.entries))
            for g in campaign.groups
        )
        return _finish(folder, replace(campaign, groups=groups), work.trials().values())


def join_bundles(parts: Sequence[Path], folder: Path) -> Size:
    """Writes one bundle that measures what `parts` would, so that what a process pays once is paid once.

    Raises UsageError for fewer than two parts, BadFileError for one that is damaged or is measured by other rules than
    the first; OutputError as `create_bundle`.
    """
    if len(parts) < 2:
        raise UsageError(f"bundle join makes one bundle of several: name another beside {', '.join(map(str, parts))}")
    trials = {key: trial for part in parts for key, trial in read_trials(part).items()}
    campaigns = [_read_campaign(part) for part in parts]
    rules = replace(campaigns[0], groups=())
    groups: dict[Problem, dict[str, Entry]] = {}
    for part, campaign in zip(parts, campaigns, strict=True):
        alone = replace(campaign, groups=())
        other = [f.name for f in fields(rules) if getattr(alone, f.name) != getattr(rules, f.name)]
        if other:
            raise BadFileError(f"{part}: differs from {parts[0]} in {', '.join(other)}; create both alike")
        for group in campaign.groups:
            groups.setdefault(group.problem, {}).update((e.key, e) for e in group.entries)
    joined = tuple(Group(problem, tuple(entries.values())) for problem, entries in groups.items())
    with _new_folder(folder):
        for part, campaign in zip(parts, campaigns, strict=True):
            for name in {e.vmfb for g in campaign.groups for e in g.entries if e.vmfb}:
                _carry(part / name, folder)
        return _finish(folder, replace(rules, groups=joined), trials.values())


def read_trials(folder: Path) -> dict[str, Trial]:
    """A bundle's trials by key; raises BadFileError when it is none or is damaged."""
    try:
        damaged = list(damaged_files(folder))
    except (OSError, ValueError) as e:
        raise BadFileError(_once(folder, e)) from e
    if damaged:
        raise BadFileError(f"{folder}: its files are not those it was made with: {', '.join(damaged[:3])}")
    try:
        return {t.key: t for t in map(trial_from, json.loads((folder / TRIALS).read_text())["trials"])}
    except (OSError, LookupError, TypeError, AttributeError, ValueError, RecursionError, UserError) as e:
        raise BadFileError(f"{folder}: not a bundle: its {TRIALS}: {said(e)}") from e


def _read_campaign(folder: Path) -> Campaign:
    try:
        return read_campaign(folder / CAMPAIGN)
    except (OSError, ValueError) as e:
        raise BadFileError(_once(folder, e)) from e


def _once(path: Path, error: Exception) -> str:
    """An error in words that name the path, once."""
    return said(error) if str(path) in said(error) else f"{path}: {said(error)}"


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Makes `folder` for what is written inside; raises OutputError for one that is not empty or cannot be written."""
    if folder.exists() and any(folder.iterdir()):
        raise OutputError(f"{folder} is not empty; name a new folder with -o")
    try:
        (folder / "artifacts").mkdir(parents=True)
        yield
    except OSError as e:
        raise OutputError(f"cannot write the bundle {folder}: {e.strerror or e}") from e


def _finish(folder: Path, campaign: Campaign, trials: Iterable[Trial]) -> Size:
    """Writes everything beside the artifacts, which are there."""
    (folder / CAMPAIGN).write_text(json.dumps(campaign_document(campaign), indent=1))
    document = {"schema_version": 1, "trials": [trial_document(t) for t in trials]}
    (folder / TRIALS).write_text(json.dumps(document, indent=0))
    (folder / "run.py").write_text(_RUN)
    package = Path(ireebench.__file__).parent
    for name in _CARRIED:
        source, target = package / name, folder / "ireebench" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        else:
            shutil.copyfile(source, target)
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    digests = {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    (folder / MANIFEST).write_text(json.dumps({"schema_version": 1, "files": digests}, indent=1))
    candidates = sum(e.vmfb is not None for g in campaign.groups for e in g.entries)
    artifacts = len(list((folder / "artifacts").iterdir()))
    return Size(candidates, artifacts, sum(p.stat().st_size for p in files))


def _carry(vmfb: Path, folder: Path) -> str:
    """Copies an artifact by its content; equal ones are carried once. Returns its path inside the bundle."""
    body = vmfb.read_bytes()
    name = f"artifacts/{hashlib.sha256(body).hexdigest()[:16]}.vmfb"
    path = folder / name
    if not path.exists():
        path.write_bytes(body)
    return name

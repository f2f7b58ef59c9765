"""Brings a bundle's results home: from results files to trials in a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ireebench import __version__
from ireebench.errors import BadFileError
from ireebench.measure.bundle import said
from ireebench.measure.campaign import AA_SUFFIX
from ireebench.measure.ceiling_table import CeilingTable
from ireebench.measure.result import EntryResult
from ireebench.measure.results_file import read_results
from ireebench.outcome import Status
from ireebench.store import codec
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.bundle import read_trials
from ireebench.sweep.ceiling import put_ceiling
from ireebench.sweep.environment import current_environment, identity
from ireebench.sweep.process_numbers import Numbering, Told
from ireebench.sweep.stages import store_results


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought: results with samples, of which `repeated` were there, failures, renumbered processes."""

    measured: int
    failed: int
    device: str
    repeated: int = 0
    renumbered: tuple[Told, ...] = ()


def import_results(folder: Path, files: Iterable[Path], store: Store) -> Imported:
    """Stores the results of a bundle. Nothing outside `folder` is read but `files`, and nothing is unpacked.

    A bundle may be run more than once: what the store holds is kept, and a further process gets a number of its own
    (`Numbering`). The same file again adds nothing.
    Raises BadFileError for a bundle whose files differ from its manifest, and for results that are damaged or another
    bundle's.
    """
    trials = read_trials(folder)
    counts = [0, 0]
    device = "unknown"
    numbering = Numbering(store)
    for file in files:
        try:
            told, found = read_results(file)
            results = list(found)
            _require_own(results, trials, file, folder)
            here = _environment(told)
            device = here.device
            place = store.put_environment(here)
            if "ceiling" in told:
                put_ceiling(store, place, CeilingTable.from_json(told["ceiling"]))
            for session in told.get("sessions", ()):
                store.put_session(place, codec.to_json(session))
            placed = _placed(trials, here, place)
            for trial in store_results(placed, numbering.number(file, results, placed, place), store):
                counts[trial.status is not Status.OK] += 1
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as e:
            raise BadFileError(said(e) if str(file) in str(e) else f"{file}: {said(e)}") from e
    return Imported(counts[0], counts[1], device, numbering.repeated, tuple(numbering.told))


def _require_own(results: Sequence[EntryResult], trials: Mapping[str, Trial], file: Path, folder: Path) -> None:
    strangers = sum(r.entry.removesuffix(AA_SUFFIX) not in trials for r in results)
    if strangers:
        raise BadFileError(
            f"{file}: {strangers} of its {len(results)} results are not of {folder}; name the bundle that was measured"
        )


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
        details=tuple((str(name), str(told)) for name, told in data.get("details", {}).items()),
    )


def _placed(trials: Mapping[str, Trial], environment: Environment, place: int) -> dict[str, Trial]:
    """The bundle's trials under keys of the machine that measured them, by entry."""
    here = identity(environment)
    return {key: replace(t, key=codec.digest(f"{key} {here}"), environment=place) for key, t in trials.items()}

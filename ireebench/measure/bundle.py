"""Runs a bundle on a machine that has the runtime and no compiler: `python3 run.py` in the unpacked folder.

Imports what `measure` may import; it is copied into the bundle with the rest of `measure`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ireebench.measure import bundle_arguments
from ireebench.measure.campaign import Campaign, Progress, run_on_devices
from ireebench.measure.ceiling import default_sizes, readable, sweep_ceiling, timer_name
from ireebench.measure.ceiling_again import MOST_S, Figures, measure_again, measured_on, problem_sizes
from ireebench.measure.ceiling_table import CeilingTable, excess_lines
from ireebench.measure.device import describe
from ireebench.measure.job import Entry, Group, Job
from ireebench.measure.library_versions import library_versions
from ireebench.measure.profiled import run_job
from ireebench.measure.result import EntryResult
from ireebench.measure.results_file import ResultsWriter
from ireebench.measure.spent import Spent
from ireebench.measure.timers.table import load, resolve
from ireebench.measure.watch import Session, watched

CAMPAIGN = "campaign.json"
MANIFEST = "manifest.json"
TRIALS = "trials.json"
SCHEMA_VERSION = 1
CEILING_SHARE = 0.25  # of a time limit: the most that the ceiling takes before the campaign
AGAIN_S, AGAIN_SHARE = 15.0, 0.05  # kept for it after the campaign: seconds, and of a shorter limit this share


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """A campaign as JSON values."""
    return {"schema_version": SCHEMA_VERSION, **asdict(campaign)}


def read_campaign(path: Path) -> Campaign:
    """The reverse of `campaign_document`; raises ValueError that names the file once."""
    try:
        data = json.loads(path.read_text())
        if data["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version {data['schema_version']}, this ireebench reads {SCHEMA_VERSION}")
        # A job has the same parts, and reads them back with the same checks.
        parts = {"device": data["device"], "timer": data["timer"], "groups": data["groups"], "options": []}
        parts |= {"process": 0, "cache_bytes": data["cache_bytes"], "schema_version": 1}
        final = Job.of(parts | {"protocol": data["protocol"]})
        search = Job.of(parts | {"protocol": data["search"]})
    except (LookupError, TypeError, AttributeError, OSError, json.JSONDecodeError, RecursionError) as e:
        raise ValueError(f"{path}: not a campaign: {said(e)}") from e
    return Campaign(
        final.device,
        final.timer,
        search.protocol,
        final.protocol,
        final.groups,
        int(data["processes"]),
        int(data["finalists"]),
        final.cache_bytes,
    )


def said(error: Exception) -> str:
    """An error in words: a KeyError alone says just the key, an OSError a number and the path that is named anyway."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def damaged_files(folder: Path) -> Iterator[str]:
    """Names of files that the manifest lists and that are missing, differ, or lie outside the folder.

    Raises ValueError, which names the folder, for one that has no manifest.
    """
    try:
        manifest: Mapping[str, str] = dict(json.loads((folder / MANIFEST).read_text())["files"])
    except FileNotFoundError as e:
        raise ValueError(f"{folder}: not a bundle: it has no {MANIFEST}") from e
    except (OSError, LookupError, TypeError, AttributeError, ValueError, RecursionError) as e:
        raise ValueError(f"{folder}: not a bundle: its {MANIFEST}: {said(e)}") from e
    root = folder.resolve()
    for name, digest in manifest.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(root):
            yield f"{name} (outside the bundle)"
        elif not path.is_file():
            yield f"{name} (missing)"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield f"{name} (changed)"


def _placed(entry: Entry, folder: Path) -> Entry:
    if entry.vmfb is None:
        return entry
    path = (folder / entry.vmfb).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{folder / CAMPAIGN}: artifact '{entry.vmfb}' lies outside the bundle")
    return replace(entry, vmfb=str(path))


def placed(campaign: Campaign, folder: Path, problems: frozenset[str] | None) -> Campaign:
    """The campaign with absolute paths, and with the groups of `problems` (ids) alone where that is given."""
    groups = [
        Group(g.problem, tuple(_placed(e, folder) for e in g.entries))
        for g in campaign.groups
        if problems is None or g.problem.id in problems
    ]
    return replace(campaign, groups=tuple(groups))


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds in seconds on a bundle's run; None: no bound. `ceiling_s` 0 leaves the ceiling unmeasured.

    With both, the ceiling takes at most a quarter of the run, and the campaign ends 15 s (5% of a shorter run) before
    the run does: that is for measuring again where a checked kernel beats the ceiling.
    """

    run_s: float | None = None
    ceiling_s: float = 0.0

    @property
    def first_s(self) -> float:
        """What the ceiling may take before the campaign."""
        return self.ceiling_s if self.run_s is None else min(self.ceiling_s, CEILING_SHARE * self.run_s)

    @property
    def again_s(self) -> float:
        """What is kept for the ceiling after the campaign."""
        return min(AGAIN_S, AGAIN_SHARE * self.run_s) if self.run_s is not None and self.ceiling_s > 0 else 0.0


def run_bundle(campaign: Campaign, devices: Sequence[str], out: Path, limits: Limits) -> list[Path]:
    """Runs a placed campaign; returns the result files. What was measured is written even when it is interrupted.

    After `limits.run_s` (or as much earlier as the ceiling needs) the running process is ended; what is done is kept.
    """
    started = time.monotonic()
    info = describe(campaign.device)
    timer = resolve(campaign.timer, campaign.device)
    cache_bytes = campaign.cache_bytes or info.cache_bytes
    campaign = replace(campaign, timer=timer, cache_bytes=cache_bytes)
    environment: dict[str, Any] = {"device": asdict(info), "versions": _versions(), "timer": timer}
    environment["details"] = library_versions(campaign.device)
    table = _ceiling(campaign, limits) if limits.ceiling_s > 0 else None
    if table is not None:
        environment["ceiling"] = table.to_json()
    sessions: list[dict[str, Any]] = []
    environment["sessions"] = sessions  # written with each file, so that a file tells of the processes before it

    def keep(session: Session) -> None:
        sessions.append(asdict(session))
        if session.throttled:
            _say(f"{session.device}: throttled ({session.throttled}) at the end of process {session.process}")

    with ResultsWriter(out, environment) as writer:
        deadline = None if limits.run_s is None else started + limits.run_s - limits.again_s
        run = watched(partial(_run_job, deadline=deadline), keep)
        limit = None if deadline is None else max(0.0, deadline - time.monotonic())
        results = run_on_devices(campaign, devices, out / "work", run, Progress({}), time_limit_s=limit)
        figures = Figures(campaign.groups)
        for done, result in enumerate(results, start=1):
            writer.add(result)
            figures.add(result)
            if done % 50 == 0 or result.failure is not None:
                note = f": {result.entry} {result.failure.status} {result.failure.reason}" if result.failure else ""
                _say(f"{done} results, {time.monotonic() - started:.0f} s{note}")
    if table is not None:  # what was measured is safe in its files by now
        left_s = MOST_S if limits.run_s is None else limits.run_s - (time.monotonic() - started)
        measure = measured_on(campaign.device, table.timer)
        better = measure_again(table, figures.fastest(), measure, _say, most_s=min(MOST_S, left_s))
        if better != table:
            environment["ceiling"] = better.to_json()
            writer.tell()
        for line in excess_lines(better):
            _say(line)
    return writer.paths


def _ceiling(campaign: Campaign, limits: Limits) -> CeilingTable:
    """The ceiling at the usual sizes and at those of the campaign's large problems, in its seconds together."""
    usual = default_sizes(campaign.device)
    own = readable(problem_sizes((g.problem for g in campaign.groups), usual), campaign.device)
    less = f", a quarter of the time limit, not {limits.ceiling_s:g}" if limits.first_s < limits.ceiling_s else ""
    _say(f"ceiling: {len(usual) + len(own)} sizes, {limits.first_s:g} s{less}")
    timer = load(timer_name(campaign.timer, campaign.device))
    return sweep_ceiling(campaign.device, timer, (*usual, *own), limits.first_s, say=_say)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _versions() -> dict[str, str | None]:
    """What a figure depends on beside the device."""
    return {
        "iree-base-runtime": version("iree-base-runtime"),
        "python": platform.python_version(),
        "host": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}",
    }


def _run_job(job: Job, folder: Path, deadline: float | None = None) -> Iterator[EntryResult]:
    """Runs a process's job until the deadline at most, and says where its time went."""
    spent = Spent()
    yield from run_job(job, folder, spent.take, deadline)
    _say(f"{job.device} process {job.process}: {spent}")


def main(folder: Path, arguments: list[str]) -> int:
    """The command line of `run.py`. Exit codes: 0 good, 1 a damaged bundle, no device or no result, 2 wrong arguments.

    Raises UserError, ValueError and OSError, whose text is one line.
    """
    asked = bundle_arguments.parse(folder, arguments)
    damaged = list(damaged_files(folder))
    if damaged:
        _say(f"error: {folder}: damaged bundle: {', '.join(damaged[:3])}; unpack it again")
        return 1
    campaign = read_campaign(folder / CAMPAIGN)
    devices = asked.devices or (campaign.device,)
    bundle_arguments.require_problems(asked.problems, campaign, folder)
    bundle_arguments.require_alike(devices, campaign)
    changes = {k: v for k in ("timer", "processes") if (v := getattr(asked, k)) is not None}
    wanted = None if asked.problems is None else frozenset(asked.problems)
    campaign = placed(replace(campaign, device=devices[0], **changes), folder, wanted)
    paths = run_bundle(campaign, devices, asked.out, Limits(asked.time_limit_s, asked.ceiling_s))
    for path in paths:
        print(path)  # noqa: T201
    if not paths:
        _say("error: nothing was measured: no entry ended in time; give --time-limit more seconds")
    return 0 if paths else 1

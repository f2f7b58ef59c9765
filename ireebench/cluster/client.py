"""A Dask cluster as a compiler and as a place to measure. Only this side writes the store and the cache."""

from __future__ import annotations

import hashlib
import logging
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ireebench import __version__
from ireebench.cluster.tasks import Measurer, Packed, compile_source, examine, measure
from ireebench.compiler.cache import Entry as CacheEntry
from ireebench.compiler.driver import Compiled, Compiler, Source
from ireebench.compiler.spawner import HelperDiedError, Limits
from ireebench.errors import MissingToolError, UsageError
from ireebench.measure.job import Entry, Group, Job
from ireebench.measure.result import EntryResult
from ireebench.outcome import Failure, Stage, Status
from ireebench.store.trial import Environment
from ireebench.sweep.environment import identity
from ireebench.sweep.request import Measuring

# Workers that are to measure are started with `--resources GPU=1`, one a GPU.
RESOURCE = "GPU"
CONNECT_S = 20


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as e:
        raise MissingToolError(
            "--cluster spreads a sweep over machines with Dask; install it with: pip install 'ireebench[cluster]'"
        ) from e
    return distributed


_ADDRESS = re.compile(r"[a-z]+://[^\s/:]+:\d{1,5}|[a-z]+://\[[0-9a-f:]+\]:\d{1,5}|inproc://\S+")


@dataclass(frozen=True, slots=True)
class Workers:
    """The cluster's workers: addresses of those that measure, and compilers that all of them run at once."""

    measuring: tuple[str, ...]
    threads: int


class Cluster:
    """A connection to a Dask scheduler; a context manager. Raises UsageError when none answers at `address`."""

    def __init__(self, address: str) -> None:
        # Dask itself takes 40 s and a traceback to say that an address is none.
        if not _ADDRESS.fullmatch(address):
            raise UsageError(f"--cluster {address}: no scheduler's address; write tcp://HOST:PORT (docs/cluster.md)")
        distributed = _distributed()
        self.address = address
        logging.getLogger("distributed").setLevel(logging.ERROR)
        try:
            self._client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as e:
            raise UsageError(f"no Dask scheduler answers at {address} ({e}); see docs/cluster.md") from e

    def workers(self) -> Workers:
        """Who is there now. Raises UsageError when nobody is."""
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        if not found:
            raise UsageError(f"the cluster at {self.address} has no workers; start some: dask worker {self.address}")
        measuring = tuple(a for a, w in found.items() if w.get("resources", {}).get(RESOURCE, 0) >= 1)
        return Workers(measuring, sum(int(w["nthreads"]) for w in found.values()))

    def place(self, measuring: Measuring) -> tuple[Environment, Measuring]:
        """Where the cluster measures, and the request with the timer that its workers resolved.

        Raises UsageError when no worker measures or two differ, MissingToolError when one lacks something.
        """
        addresses = self.workers().measuring
        if not addresses:
            raise UsageError(
                f"no worker at {self.address} declares a {RESOURCE}; start those that are to measure with "
                f"--resources {RESOURCE}=1, or sweep with --compile-only"
            )
        told: dict[str, Measurer] = self._client.run(examine, measuring, workers=list(addresses))
        first = told[addresses[0]].environment
        for address, measurer in told.items():
            here = measurer.environment
            if measurer.missing is not None or here is None or first is None:
                raise MissingToolError(f"worker {address}: {measurer.missing}")
            if here.ireebench_version != __version__:
                raise UsageError(f"worker {address} has ireebench {here.ireebench_version}, this is {__version__}")
            if identity(here) != identity(first) or measurer.timer != told[addresses[0]].timer:
                raise UsageError(
                    f"workers {addresses[0]} ({first.device}, driver {first.driver}, {first.host}) and {address} "
                    f"({here.device}, driver {here.driver}, {here.host}) differ; a sweep needs one kind"
                )
        assert first is not None
        return first, replace(measuring, timer=told[addresses[0]].timer)

    def submit(self, function: Any, *arguments: Any, measures: bool = False) -> Any:
        """A task's future. A worker that is lost gives the task back, and another one runs it."""
        resources = {RESOURCE: 1} if measures else None
        with warnings.catch_warnings():
            # Artifacts travel with the task on purpose: what only one worker holds would be lost with it.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self._client.submit(function, *arguments, pure=False, resources=resources)

    def run_job(self, job: Job, folder: Path) -> Iterator[EntryResult]:
        """As `measure.client.run_job`, a task a problem: workers that declare a GPU take one at a time.

        `folder` is not used: a task that was lost begins anew. A task that takes its workers with it fails its entries.
        """
        del folder
        distributed = _distributed()
        parts = {}
        for group in job.groups:
            own, artifacts = _carried(group)
            parts[self.submit(measure, replace(job, groups=(own,)), artifacts, measures=True)] = own
        try:
            for future in distributed.as_completed(list(parts), loop=self._client.loop):
                if future.status == "finished":
                    yield from future.result()
                else:
                    reason = f"the cluster gave its task up: {_one_line(future.exception())}"
                    failure = Failure(Status.RUN_FAILED, reason, Stage.COMPILED)
                    yield from (EntryResult(e.key, None, (), failure) for e in parts[future].entries)
        finally:
            self._client.cancel(list(parts))

    def close(self) -> None:
        """Leaves the cluster; its workers stay."""
        self._client.close(timeout=5)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _one_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines() if error else []
    return lines[0] if lines else type(error).__name__


def _carried(group: Group) -> tuple[Group, dict[str, bytes]]:
    """A group whose entries name their artifacts by content, and those artifacts; equal ones travel once."""
    artifacts: dict[str, bytes] = {}
    names: dict[str, str] = {}

    def carried(entry: Entry) -> Entry:
        if entry.vmfb is None:
            return entry
        if entry.vmfb not in names:
            body = Path(entry.vmfb).read_bytes()
            names[entry.vmfb] = f"{hashlib.sha256(body).hexdigest()[:16]}.vmfb"
            artifacts[names[entry.vmfb]] = zlib.compress(body, 1)
        return replace(entry, vmfb=names[entry.vmfb])

    return replace(group, entries=tuple(map(carried, group.entries))), artifacts


class ClusterCompiler(Compiler):
    """The local driver, cache included, whose compiler processes run on the cluster's workers."""

    def __init__(self, cluster: Cluster, cache: Path, limits: Limits | None = None, *, by_call: bool = False) -> None:
        super().__init__(cache, limits, jobs=max(2, cluster.workers().threads), by_call=by_call)
        self._cluster = cluster
        self._pending: set[Any] = set()

    def _run(self, key: str, source: Source) -> Compiled:
        future = self._cluster.submit(compile_source, source, self.limits)
        self._pending.add(future)
        try:
            packed: Packed = future.result()
        except Exception as e:
            # Whatever it was, it costs these programs: a task that kills its workers, a worker without a compiler.
            raise HelperDiedError(f"the cluster gave its task up: {_one_line(e)}") from e
        finally:
            self._pending.discard(future)
        if packed.key != key:  # another compiler or another kind of CPU: its code is not ours
            return super()._run(key, source)
        with self._cache.scratch(key) as folder:
            _unpack(packed, folder)
            entry: CacheEntry = self._cache.publish(key, folder, packed.exit, packed.limits)
        return self._judge(key, entry, source, fresh=True)

    def _stop(self) -> None:
        for future in tuple(self._pending):
            future.cancel()
        super()._stop()


def _unpack(packed: Packed, folder: Path) -> None:
    """Writes a worker's files; raises HelperDiedError for a name that leads out of `folder`."""
    for name, body in packed.files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise HelperDiedError(f"a worker sent a file named {name!r}, outside its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(body))

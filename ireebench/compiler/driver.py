"""The compiler as the rest of ireebench sees it: programs in, artifacts or failures out."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.cache import Cache, Entry, Member
from ireebench.compiler.diagnose import Ending, classify, reason
from ireebench.compiler.evidence import applied, read_evidence
from ireebench.compiler.flags import DUMP, MODULE, SPEC, VMFB, compiler_flags, find_compiler
from ireebench.compiler.known_issues import explain
from ireebench.compiler.spawner import Exit, HelperDiedError, Limits, Spawner
from ireebench.errors import MissingToolError, OutputError
from ireebench.ir.batch import merge
from ireebench.ir.program import Program
from ireebench.ir.verify import verify
from ireebench.outcome import Failure, Stage, Status

STDERR = "stderr.txt"
REPRODUCER = "reproducer.mlir"
_STATUS = {Ending.TIMEOUT: Status.COMPILE_TIMEOUT}
BATCH = 8  # programs a module: larger ones gain little and lose more when one fails (docs/compiling.md)
_PROBE_BYTES = 256 * 1024  # more than a module of ours and its dumps, so that no cut file passes for a whole one
_MOST_OUTPUT = 1 << 20  # characters of the compiler's output that are searched: "see current operation" can be huge


Outcome = tuple[Program, Artifact | Failure]


@dataclass(frozen=True, slots=True)
class Source:
    """What goes into one compiler process: a module, the text of a tuning spec or None, and all flags in order."""

    mlir: str
    spec: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came out. `failure` is None when `folder`/module.vmfb is there; `fresh`: not from the cache."""

    key: str
    folder: Path
    exit: Exit
    failure: Failure | None
    fresh: bool


def source_of(program: Program) -> Source:
    """A program's compiler input."""
    spec = SPEC if program.spec else None
    return Source(program.mlir, program.spec, compiler_flags(program.candidate.target, program.flags, spec))


def may_share(program: Program, by_call: bool = False) -> bool:
    """Whether a program may be compiled as one function of a larger module.

    A tuning spec speaks to every op of its type in the module, so two specs can't share one; a program that asks for
    nothing leaves the choice to the compiler, which may take for ever: it must not take others with it.

    On CPUs nothing says how many dispatches a function has, so that one that it shares with another function may go
    unnoticed. That is harmless to a timer that times whole calls (`by_call`), and to no other.
    """
    if program.spec is not None:
        return False
    return bool(program.asked) or (by_call and program.candidate.target.backend == "cpu" and _is_tuned(program))


def _is_tuned(program: Program) -> bool:
    return program.candidate.variant.name != "default"


def _invalid(program: Program) -> Failure | None:
    """Why a program's IR does not parse or verify, told before a module full of others fails with it."""
    problem = verify(program.mlir)
    return Failure(Status.COMPILE_FAILED, f"the IR is not valid: {problem}") if problem else None


def _is_whole(artifact: Artifact, program: Program) -> bool:
    """Whether every dispatch of a batch's member is there under its own name, in the dumps and in the code."""
    kernels = artifact.kernels
    if program.candidate.target.backend == "cpu":  # timed by whole calls, see `may_share`
        return True
    return len(kernels) >= len(program.asked) and all(k.assembly for k in kernels)


def default_jobs() -> int:
    """Compilers to run at once: one a core that this process may use, and one each 3 GB of available memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        told = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return cores
    return max(1, min(cores, int(told[1]) * 1024 // 3_000_000_000)) if told else cores


def _host() -> str:
    """What `--iree-llvmcpu-target-cpu=host` depends on: code for one CPU must not be served to another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.platform()
    return "\n".join(sorted({s for s in lines if s.startswith(("model name", "flags", "Features", "CPU part"))}))


class Compiler:
    """The real `iree-compile` under limits, with a cache. Use as a context manager, or call `close`.

    `jobs` processes run at once, each on up to `batch` programs (1: each alone). `by_call`: what comes out is timed by
    whole calls, see `may_share`. Raises MissingToolError when there is no compiler, OutputError for a bad cache folder.
    """

    def __init__(
        self, cache: Path, limits: Limits | None = None, jobs: int = 1, batch: int = BATCH, *, by_call: bool = False
    ) -> None:
        self.limits = limits or Limits()
        self.jobs = jobs
        self.batch = batch
        self.by_call = by_call
        self._binary = find_compiler()
        self.version = self._ask_version()
        self._cache = Cache(cache)
        self._spawner = Spawner()

    def _ask_version(self) -> str:
        try:
            answer = subprocess.run([self._binary, "--version"], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError) as e:
            raise MissingToolError(f"the IREE compiler {self._binary} does not run: {e}") from e
        return " ".join(answer.stdout.split())

    def key(self, source: Source) -> str:
        """The content address: sha256 of compiler version, flags in order, spec and MLIR."""
        host = _host() if any(f.endswith("=host") for f in source.flags) else ""
        parts = (self.version, host, "\n".join(source.flags), source.spec or "", source.mlir)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(f"{len(part)}:{part}".encode())
        return digest.hexdigest()

    def compile_key(self, program: Program) -> str:
        """The key of a program, however it is compiled: alone or in a batch."""
        return self.key(source_of(program))

    def compile(self, program: Program) -> Artifact | Failure:
        """Compiles one program, or takes it from the cache."""
        ((_, outcome),) = self._compile_group((program,))
        return outcome

    def compile_many(self, programs: Iterable[Program]) -> Iterator[tuple[Program, Artifact | Failure]]:
        """Compiles programs, `jobs` at a time, and yields each as it ends."""
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="compile") as pool:
            running: set[Future[list[Outcome]]] = set()
            try:
                for group in self._groups(programs):
                    running.add(pool.submit(self._compile_group, group))
                    if len(running) > self.jobs:  # one ahead of the compilers is enough
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        for future in done:
                            yield from future.result()
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield from future.result()
            finally:
                if running:  # the caller has stopped: so do the compilers
                    self._stop()
                    pool.shutdown(cancel_futures=True)
                    self._spawner = Spawner()

    def _groups(self, programs: Iterable[Program]) -> Iterator[tuple[Program, ...]]:
        """What is compiled by one process: programs that may share a module, up to `batch` of them."""
        waiting: dict[tuple[str, tuple[str, ...]], list[Program]] = {}
        for program in programs:
            if self.batch == 1 or not may_share(program, self.by_call):
                yield (program,)
                continue
            bucket = (program.candidate.target.name, program.flags)
            waiting.setdefault(bucket, []).append(program)
            if len(waiting[bucket]) == self.batch:
                yield tuple(waiting.pop(bucket))
        for rest in waiting.values():  # too few for full modules: a share for each process
            size = max(1, math.ceil(len(rest) / self.jobs))
            yield from (tuple(rest[i : i + size]) for i in range(0, len(rest), size))

    def _compile_group(self, group: tuple[Program, ...]) -> list[Outcome]:
        """A group's outcomes. Should the exec helper be killed, what it was doing fails and the sweep goes on."""
        outcomes: list[Outcome] = []
        try:
            for outcome in self._outcomes(group):
                outcomes.append(outcome)
        except HelperDiedError as e:
            left = list(group)
            for program, _ in outcomes:
                left.remove(program)
            outcomes += [(program, Failure(Status.COMPILE_FAILED, str(e))) for program in left]
        return outcomes

    def _outcomes(self, group: tuple[Program, ...]) -> Iterator[Outcome]:
        """From the cache, then together, and alone where together does not do."""
        left: list[Program] = []
        for program in group:
            known = self._cached(program) or _invalid(program)
            if known is None:
                left.append(program)
            else:
                yield program, known
        if len(left) > 1:
            together = self._compile_together(left)
            if isinstance(together, Failure) and together.status is Status.COMPILE_FAILED and len(left) > 2:
                # A module fails as a whole: look for the culprit in each half.
                middle = len(left) // 2
                yield from self._outcomes(tuple(left[:middle]))
                yield from self._outcomes(tuple(left[middle:]))
                return
            if not isinstance(together, Failure):
                yield from ((p, a) for p, a in zip(left, together, strict=True) if a is not None)
                left = [p for p, a in zip(left, together, strict=True) if a is None]
        for program in left:
            yield program, self._artifact(program, self.compile_source(source_of(program)))

    def _cached(self, program: Program) -> Artifact | Failure | None:
        """What the cache holds of a program, compiled alone or in a batch."""
        key = self.compile_key(program)
        alone = self._load(key, source_of(program))
        if alone is not None:
            return self._artifact(program, alone)
        member = self._cache.member(key) if may_share(program, self.by_call) else None
        entry = self._cache.load(member.entry) if member else None
        if member is None or entry is None or self._ending(entry.folder, entry.exit, entry.limits) is not Ending.OK:
            return None
        batch = Compiled(member.entry, entry.folder, entry.exit, None, fresh=False)
        return self._artifact(program, batch, member.function)

    def _compile_together(self, programs: list[Program]) -> list[Artifact | None] | Failure:
        """Compiles programs as functions of one module; None for those that have to be compiled alone after all.

        IREE gives equal dispatches of two functions one name, the first's. A function that lacks a dispatch of its own
        is compiled alone, so that a profiler's kernel names are never shared by two artifacts.
        """
        mlir, names = merge(programs)
        flags = compiler_flags(programs[0].candidate.target, programs[0].flags, None)
        compiled = self.compile_source(Source(mlir, None, flags))
        if compiled.failure is not None:
            return compiled.failure
        share = replace(compiled, exit=replace(compiled.exit, wall_s=compiled.exit.wall_s / len(programs)))
        settled: list[Artifact | None] = []
        for program, name in zip(programs, names, strict=True):
            artifact = self._artifact(program, share, name)
            whole = isinstance(artifact, Artifact) and _is_whole(artifact, program)
            if whole:
                self._cache.note_member(self.compile_key(program), Member(compiled.key, name))
            settled.append(artifact if isinstance(artifact, Artifact) and whole else None)
        return settled

    def compile_source(self, source: Source) -> Compiled:
        """Compiles one module under the limits, or takes it from the cache.

        Raises HelperDiedError (see Spawner), and OutputError where the cache cannot be written any more.
        """
        key = self.key(source)
        try:
            with self._cache.lock(key):
                return self._load(key, source) or self._run(key, source)
        except OSError as e:
            raise OutputError(f"cannot write the cache of compiles: {e}") from e

    def _load(self, key: str, source: Source) -> Compiled | None:
        """A cached outcome, if it is worth anything under today's limits."""
        entry = self._cache.load(key)
        if entry is None or not self._still_holds(entry):
            return None
        return self._judge(key, entry, source, fresh=False)

    def _run(self, key: str, source: Source) -> Compiled:
        with self._cache.scratch(key) as folder:
            (folder / MODULE).write_text(source.mlir)
            if source.spec:
                (folder / SPEC).write_text(source.spec)
            ended = self._spawn(folder, source.flags)
            _ensure_space(folder)
            if self._ending(folder, ended, self.limits) is Ending.CRASH:
                self._spawn(folder, (*source.flags, f"--mlir-pass-pipeline-crash-reproducer={REPRODUCER}"), "crash.txt")
            entry = self._cache.publish(key, folder, ended, self.limits)
        return self._judge(key, entry, source, fresh=True)

    def _spawn(self, folder: Path, flags: tuple[str, ...], stderr: str = STDERR) -> Exit:
        # Threads inside a compiler cost more than they give when several compilers run (docs/compiling.md).
        threads = () if self.jobs == 1 else ("--mlir-disable-threading",)
        argv = [str(self._binary), MODULE, *flags, *threads, f"--iree-hal-dump-executable-files-to={DUMP}", "-o", VMFB]
        return self._spawner.run(argv, folder, folder / stderr, self.limits)

    def _ending(self, folder: Path, ended: Exit, limits: Limits) -> Ending:
        return classify(ended, _output(folder), limits, (folder / VMFB).is_file())

    def _judge(self, key: str, entry: Entry, source: Source, fresh: bool) -> Compiled:
        ending = self._ending(entry.folder, entry.exit, entry.limits)
        if ending is Ending.OK:
            return Compiled(key, entry.folder, entry.exit, None, fresh)
        output = _output(entry.folder)
        why = reason(ending, entry.exit, output, entry.limits)
        status = _STATUS.get(ending, Status.COMPILE_FAILED)
        known = explain(
            self.version, status, f"{why}\n{output}", _failed_dispatches(entry.folder, output), " ".join(source.flags)
        )
        reproducer = entry.folder / REPRODUCER
        failure = Failure(status, why, Stage.PLANNED, known, str(reproducer) if reproducer.is_file() else None)
        return Compiled(key, entry.folder, entry.exit, failure, fresh)

    def _still_holds(self, entry: Entry) -> bool:
        """Whether a cached outcome is worth anything under today's limits."""
        match self._ending(entry.folder, entry.exit, entry.limits):
            case Ending.TIMEOUT:
                return entry.limits.time_s >= self.limits.time_s
            case Ending.MEMORY:
                return entry.limits.memory_bytes >= self.limits.memory_bytes
            case Ending.KILLED:
                return False
            case _:
                return True

    def _artifact(self, program: Program, compiled: Compiled, function: str | None = None) -> Artifact | Failure:
        if compiled.failure is not None:
            return compiled.failure
        name = function or program.function
        kernels = read_evidence(compiled.folder, name)
        used, difference = applied(program, kernels)
        return Artifact(
            compile_key=self.compile_key(program),
            folder=compiled.folder,
            vmfb=compiled.folder / VMFB,
            function=name,
            kernels=kernels,
            applied=used,
            not_applied_reason=difference,
            compile_s=compiled.exit.wall_s if compiled.fresh else 0.0,
            command=("iree-compile", MODULE, *source_of(program).flags, "-o", VMFB),
        )

    def _stop(self) -> None:
        """Ends the compilers that run; what waits for them fails with HelperDiedError."""
        self._spawner.close()

    def close(self) -> None:
        """Ends whatever still runs."""
        self._stop()

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _failed_dispatches(folder: Path, output: str) -> str:
    """The configured dispatches that the output complains about; all of them where it names none."""
    named = set(re.findall(rf"{DUMP}/(configured_\S+?\.mlir):\d", output))
    files = sorted((folder / DUMP).glob("configured_*.mlir"))
    return "\n".join(f.read_text() for f in files if not named or f.name in named)


def _ensure_space(folder: Path) -> None:
    """Raises OSError where the compiler may not have written what it wanted to: the disk's fault, no program's."""
    if os.strerror(errno.ENOSPC) in _output(folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    probe = folder / "probe"
    probe.write_bytes(bytes(_PROBE_BYTES))
    probe.unlink()


def _output(folder: Path) -> str:
    try:
        with (folder / STDERR).open(errors="replace") as f:
            return f.read(_MOST_OUTPUT)
    except OSError:
        return ""

"""The compiler as the rest of ireebench sees it: programs in, artifacts or failures out."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ireebench.compiler.artifact import Artifact
from ireebench.compiler.cache import Cache, Entry
from ireebench.compiler.diagnose import Ending, classify, reason
from ireebench.compiler.evidence import applied, read_evidence
from ireebench.compiler.flags import DUMP, MODULE, SPEC, VMFB, compiler_flags, find_compiler
from ireebench.compiler.known_issues import explain
from ireebench.compiler.spawner import Exit, HelperDied, Limits, Spawner
from ireebench.errors import MissingToolError
from ireebench.ir.program import Program
from ireebench.outcome import Failure, Stage, Status

STDERR = "stderr.txt"
REPRODUCER = "reproducer.mlir"
_STATUS = {Ending.TIMEOUT: Status.COMPILE_TIMEOUT}
_MOST_OUTPUT = 1 << 20  # characters of the compiler's output that are searched: "see current operation" can be huge


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


def default_jobs() -> int:
    """Compilers to run at once: one a core that this process may use, and one each 3 GB of available memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return cores
    return max(1, min(cores, int(available // 3_000_000_000)))


def _host() -> str:
    """What `--iree-llvmcpu-target-cpu=host` depends on: code for one CPU must not be served to another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.platform()
    return "\n".join(sorted({s for s in lines if s.startswith(("model name", "flags", "Features", "CPU part"))}))


class Compiler:
    """The real `iree-compile` under limits, with a cache. Use as a context manager, or call `close`.

    `jobs` processes run at once. Raises MissingToolError when there is no compiler, OutputError for a bad cache folder.
    """

    def __init__(self, cache: Path, limits: Limits | None = None, jobs: int = 1) -> None:
        self.limits = limits or Limits()
        self.jobs = jobs
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
        return self._artifact(program, self.compile_source(source_of(program)))

    def compile_many(self, programs: Iterable[Program]) -> Iterator[tuple[Program, Artifact | Failure]]:
        """Compiles programs, `jobs` at a time, and yields each as it ends."""
        for program in programs:
            yield program, self.compile(program)

    def compile_source(self, source: Source) -> Compiled:
        """Compiles one module under the limits, or takes it from the cache."""
        key = self.key(source)
        with self._cache.lock(key):
            entry = self._cache.load(key)
            if entry is not None:
                compiled = self._judge(key, entry, source, fresh=False)
                if self._still_holds(entry, compiled):
                    return compiled
            try:
                return self._run(key, source)
            except HelperDied as e:
                failure = Failure(Status.COMPILE_FAILED, str(e), Stage.PLANNED)
                return Compiled(key, Path(), Exit(-9, False, 0.0, 0), failure, True)

    def _run(self, key: str, source: Source) -> Compiled:
        with self._cache.scratch(key) as folder:
            (folder / MODULE).write_text(source.mlir)
            if source.spec:
                (folder / SPEC).write_text(source.spec)
            ended = self._spawn(folder, source.flags)
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
        configured = "\n".join(p.read_text() for p in sorted((entry.folder / DUMP).glob("configured_*.mlir")))
        known = explain(self.version, status, f"{why}\n{output}", configured, " ".join(source.flags))
        reproducer = entry.folder / REPRODUCER
        failure = Failure(status, why, Stage.PLANNED, known, str(reproducer) if reproducer.is_file() else None)
        return Compiled(key, entry.folder, entry.exit, failure, fresh)

    def _still_holds(self, entry: Entry, compiled: Compiled) -> bool:
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

    def close(self) -> None:
        """Ends whatever still runs."""
        self._spawner.close()

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _output(folder: Path) -> str:
    try:
        with (folder / STDERR).open(errors="replace") as f:
            return f.read(_MOST_OUTPUT)
    except OSError:
        return ""

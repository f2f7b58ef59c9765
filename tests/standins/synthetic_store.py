"""Stores made up for tests of reports: invented figures on an invented device, drawn with a seed; never measured."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import KernelEvidence
from ireebench.measure.ceiling_device import Reader
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable
from ireebench.measure.job import CachePolicy
from ireebench.measure.result import KernelSamples, RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem
from ireebench.report.evidence import Evidence
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial, summarise
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS, Ship

PROBLEMS = (
    Problem("llama2-7b", "argmax", (32768,), "f16", shape_kind="padded", model="llama2-7b", source="test"),
    Problem("llama3-8b-batch", "argmax", (32, 131072), "bf16", shape_kind="padded", model="llama3-8b", source="test"),
    Problem("resnet50", "argmax", (32, 1024), "f32", shape_kind="padded", model="resnet50", source="test"),
    Problem("bert-base", "argmax", (8, 512, 32768), "f32", shape_kind="padded", model="bert-base", source="test"),
)
ENVIRONMENT = Environment(
    device="synthetic device",
    device_uri="hip://0",
    driver="0.0",
    runtime_version="3.13.0",
    compiler_version="3.13.0",
    ireebench_version="0.1.0",
    host="x86_64, 2 cores, Linux 6.1",
    python="3.11.0",
    protocol='{"invocations": 100, "warmup": 10}',
)
BASELINES = ("hipcub", "torch")
_RATE = 4000.0  # bytes a ns: an invented device
_FLOOR_NS = 2000.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to make up. `slower` multiplies every time of a problem; `many` adds candidates up to so many trials."""

    seed: int = 0
    problems: tuple[Problem, ...] = PROBLEMS
    slower: Mapping[str, float] = field(default_factory=dict)
    environment: Environment = ENVIRONMENT
    processes: int = 3
    samples: int = 60
    many: int | None = None
    ceiling: bool = True


def make_store(path: Path, recipe: Recipe | None = None) -> Path:
    """Writes a store and returns its path. The same recipe gives the same trials."""
    r = recipe or Recipe()
    with Store.open(path, write=True) as store:
        environment = store.put_environment(r.environment)
        if r.ceiling:
            store.put_ceiling(environment, json.dumps(_ceiling().to_json()))
        silent: list[Trial] = []
        for trial, runs in _measured(r, environment):
            if runs:
                store.put_runs(trial, runs)
            else:
                silent.append(trial)
        for (problem, cache), floors in _noise(r).items():
            for process, relative in enumerate(floors, start=1):
                store.put_noise(problem, environment, "rocprofv3", (cache, process, relative))
        store.put_trials(silent)
    return path


def make_evidence(recipe: Recipe) -> Evidence:
    """As `make_store`, without a store: fast enough for thousands of trials."""
    measured = list(_measured(recipe, 1))
    runs = {t.key: found for t, found in measured}
    trials = tuple(replace(t, runs=tuple(map(summarise, found))) for t, found in measured)

    def samples(key: str, _cache: str, by: str) -> list[np.ndarray]:
        final = [r for r in runs[key] if r.process > 0] or runs[key]
        return [r.kernel_ns if by == "kernel" else r.span_ns for r in final]

    return Evidence(trials, _noise(recipe), samples, recipe.environment, _ceiling().best_for)


def _measured(r: Recipe, environment: int) -> Iterator[tuple[Trial, list[RunResult]]]:
    each = None if r.many is None else -(-r.many // len(r.problems))
    for problem in r.problems:
        for number, (trial, true_ns) in enumerate(_trials(problem, environment, each)):
            if true_ns is None:
                yield trial, []
                continue
            slow = true_ns * r.slower.get(problem.id, 1.0)
            searched = r.many is not None and number > 30
            yield trial, _runs(trial, slow, r, 0 if searched else r.processes)


def _noise(r: Recipe) -> dict[tuple[Problem, CachePolicy], tuple[float, ...]]:
    """A/A differences of each problem, one a process."""
    found: dict[tuple[Problem, CachePolicy], tuple[float, ...]] = {}
    for problem in r.problems:
        rng = _rng(r.seed, problem.id, "noise")
        found[problem, "hot"] = tuple(abs(float(rng.normal(0, 0.003))) for _ in range(r.processes))
    return found


def _rng(*parts: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(" ".join(map(str, parts)).encode()))


def _runs(trial: Trial, true_ns: float, recipe: Recipe, processes: int) -> list[RunResult]:
    """Process 0 searches; the later ones time finalists again."""
    runs = []
    for process in range(processes + 1):
        rng = _rng(recipe.seed, trial.key, process)
        place = 1 + rng.normal(0, 0.002)  # where buffers happen to lie: a process is never quite like another
        ns = np.rint(true_ns * place * (1 + np.abs(rng.normal(0, 0.01, recipe.samples)))).astype(np.int64)
        split = bool(trial.variant and VARIANTS[trial.variant].split)
        gap = 300 if split else 0
        names = [f"{trial.problem.op}_dispatch_{i}" for i in range(2 if split else 1)]
        share = [ns - ns // 4, ns // 4] if split else [ns]
        kernels = tuple(KernelSamples(n, s) for n, s in zip(names, share, strict=True))
        rounds = np.arange(len(ns), dtype=np.int64) % 3
        runs.append(RunResult(trial.key, process, "hot", "rocprofv3", ns, ns + gap, rounds, kernels))
    return runs


def _trials(problem: Problem, environment: int, each: int | None) -> Iterator[tuple[Trial, float | None]]:
    floor = _FLOOR_NS + op_of(problem).bytes_moved(problem) / _RATE
    for name, factor in zip(BASELINES, (1.3, 2.4), strict=True):
        yield _baseline(problem, environment, name), floor * factor
    for made, (variant, form, config, factor) in enumerate(_space(problem, each)):
        candidate = Candidate(problem, VARIANTS[variant], FORMS[form], config, find_target("gfx942"))
        yield _candidate(candidate, environment, made), floor * factor
    yield from ((t, None) for t in _failures(problem, environment))


def _space(problem: Problem, each: int | None) -> Iterator[tuple[str, str, Config, float]]:
    """(variant, form, config, how many times slower than the floor): invented, smooth, with one minimum."""
    flat = len(problem.shape) == 1
    whole = "native" if flat else "rows"
    load = 4 if problem.dtype == "f32" else 8
    yield "default", "native", Config(), 2.0
    for sg in (1, 2, 4, 8, 16):
        for pr in (512, 1024, 2048, 4096):
            if pr <= problem.reduction and pr % (sg * 64 * load) == 0:
                away = abs(np.log2(sg) - 2) * 0.06 + abs(np.log2(pr) - 11) * 0.04
                yield "vd", whole, Config(sg=sg, pr=pr, th=load), 1.2 + float(away)
                if (sg, pr) == (4, 2048):
                    yield "vd_shuffle", whole, Config(sg=sg, pr=pr, th=load), 1.9
    if problem.reduction >= 8192:
        for st in (1024, 2048, 4096):
            config = Config(sg=1, pr=min(st, 512), st=st, th=load, sg2=1, pr2=problem.reduction // st, th2=1)
            form = "split_attr" if not flat else "two_stage"
            yield "vd_split", form, config, 1.02 + abs(float(np.log2(st)) - 11) * 0.03
            yield "vd_split_shuffle", form, config, 1.25 + abs(float(np.log2(st)) - 11) * 0.03
    if each is not None:
        for n in range(max(0, each - 40)):
            yield "vd", whole, Config(sg=2 ** (n % 5), pr=512 * (1 + n // 5), th=load, wpe=1 + n % 4), 1.5 + n % 97 / 50


def _mlir(candidate: Candidate) -> str:
    """A text of the length and sameness of real IR: reports only show it."""
    c = candidate
    sizes = "x".join(map(str, c.problem.shape))
    body = "\n".join(f"  %v{i} = arith.constant {i} : index // {c.form.name}" for i in range(60))
    return f"// {c}\nfunc.func @{c.problem.op}(%in: tensor<{sizes}x{c.problem.dtype}>) {{\n{body}\n  return\n}}\n"


def _candidate(c: Candidate, environment: int, number: int) -> Trial:
    config = c.config
    threads = (config.sg or 4) * 64
    kernel = KernelEvidence(
        symbol=f"{c.problem.op}_dispatch_0",
        pipeline="VectorDistribute",
        workgroup_size=(threads, 1, 1),
        subgroup_size=64,
        subgroups=threads // 64,
        thread_loads=config.th,
        partial_reduction=config.pr,
        elements_per_workgroup=config.pr,
        iterations=c.problem.reduction // config.pr if config.pr else None,
        input_shape=c.problem.shape,
        vgpr=24 + number % 40,
        sgpr=20,
        lds_bytes=0,
        scratch_bytes=0,
        vgpr_spills=0,
    )
    return Trial(
        key=f"{c}",
        problem=c.problem,
        target=c.target.name,
        variant=c.variant.name,
        baseline=None,
        form=c.form.name,
        ship=c.ship,
        config=config,
        status=Status.OK,
        stage=Stage.TIMED,
        applied=None if config.is_default else True,
        check=CheckResult(ok=True, first_index=True),
        kernels=(kernel,),
        compile_key=f"{zlib.crc32(str(c).encode()):08x}",
        measure_key=f"m{zlib.crc32(str(c).encode()):08x}",
        compile_s=0.4,
        command=f"iree-compile module.mlir --iree-rocm-target={c.target.name} -o module.vmfb",
        mlir=_mlir(c),
        spec=f"// spec of {config}\n" if c.form.name == "split_attr" else None,
        timer="rocprofv3",
        environment=environment,
    )


def _baseline(problem: Problem, environment: int, name: str) -> Trial:
    return Trial(
        key=f"{problem.id} {problem.op} {problem.shape_text} {name}",
        problem=problem,
        target="gfx942",
        variant=None,
        baseline=name,
        form=None,
        ship=Ship.NONE,
        config=Config(),
        status=Status.OK,
        stage=Stage.TIMED,
        check=CheckResult(ok=True, first_index=False),
        timer="rocprofv3",
        environment=environment,
    )


def _failures(problem: Problem, environment: int) -> Iterator[Trial]:
    known = "IREE <= 3.13 can't put several subgroups on a reduction of rank 2 (iree-org/iree#23005)"
    rank2 = (Status.COMPILE_FAILED, "'func.func' op failed to distribute", known, Stage.PLANNED)
    wrong = (Status.WRONG_RESULT, "row 3: index 17, but element 9 is larger", None, Stage.COMPILED)
    slow = (Status.COMPILE_TIMEOUT, "still compiling after 60 s", None, Stage.PLANNED)
    kept = (Status.REJECTED, "fits: more than 1024 threads a workgroup", None, Stage.PLANNED)
    for i, (status, reason, issue, stage) in enumerate((rank2, wrong, slow, kept)):
        config = Config(sg=16 if i < 3 else 32, pr=512 << i, th=8, wpe=9)
        yield Trial(
            key=f"{problem.id} {problem.shape_text} failure {i}",
            problem=problem,
            target="gfx942",
            variant="vd",
            baseline=None,
            form="native",
            ship=Ship.SPEC,
            config=config,
            status=status,
            stage=stage,
            reason=reason,
            known=issue,
            command="iree-compile module.mlir -o module.vmfb",
            environment=environment,
        )


def _ceiling() -> CeilingTable:
    """As fast as the floor of the candidates allows, less a little: nothing of ours is implausible."""
    rows = tuple(_read(64 * 1024 * 4**i) for i in range(9))
    return CeilingTable("synthetic device", "rocprofv3", None, 1500.0, rows)


def _read(size: int) -> CeilingRow:
    ns = 1800.0 + size / (1.05 * _RATE)
    return CeilingRow(size, "hot", Reader(304, 256), ns, ns, ns, 40, 1, 1)

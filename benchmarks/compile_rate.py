"""Candidates a minute of `ireebench.compiler`, against a loop over the plain `iree-compile` script.

    python benchmarks/compile_rate.py [--candidates 48] [--jobs 2]

Every row compiles the same candidates for gfx942, with dumps, into an empty cache.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiler
from ireebench.compiler.flags import MODULE, plain_command
from ireebench.ir.build import build_program
from ireebench.ir.program import Program
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS


def candidates(count: int) -> list[Program]:
    """vd candidates of llama3-8b-batch, form rows: one kernel each, all different."""
    problem = Problem("llama3-8b-batch", "argmax", (32, 131072), "bf16")
    knobs = itertools.product((1, 2, 4, 8, 16), (2, 4, 8), (1, 2, 4, 8))
    configs = [Config(sg=sg, th=th, pr=sg * 64 * th * k) for sg, th, k in knobs if sg * 64 * th * k <= 8192]
    target = find_target("gfx942")
    return [
        build_program(Candidate(problem, VARIANTS["vd"], FORMS["rows"], config, target)) for config in configs[:count]
    ]


def plain_loop(programs: list[Program]) -> None:
    """What a shell loop does: the script, one after the other."""
    script = str(Path(sysconfig.get_path("scripts")) / "iree-compile")
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / MODULE).write_text(program.mlir)
            line = [script, *shlex.split(plain_command(program))[1:]]
            subprocess.run(line, cwd=folder, check=True)


def ours(jobs: int, batch: int) -> Callable[[list[Program]], None]:
    """The driver, into an empty cache."""

    def compile_all(programs: list[Program]) -> None:
        with tempfile.TemporaryDirectory() as folder, Compiler(Path(folder), jobs=jobs, batch=batch) as compiler:
            outcomes = [outcome for _, outcome in compiler.compile_many(programs)]
        assert len(outcomes) == len(programs)
        assert all(isinstance(o, Artifact) and o.applied for o in outcomes)

    return compile_all


def cpu_s() -> float:
    """CPU seconds of all processes started so far that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    programs = candidates(args.candidates)
    ways = [("plain `iree-compile` in a loop", plain_loop), ("ireebench, jobs 1, alone", ours(1, 1))]
    for batch in (1, 4, 8, 12, 24):
        ways.append(
            (f"ireebench, jobs {args.jobs}, {'alone' if batch == 1 else f'{batch} a module'}", ours(args.jobs, batch))
        )
    print(f"| {len(programs)} candidates | seconds | candidates a minute | CPU seconds a candidate |")
    print("| --- | ---: | ---: | ---: |")
    for name, way in ways:
        begin, cpu = time.monotonic(), cpu_s()
        way(programs)
        seconds, used = time.monotonic() - begin, cpu_s() - cpu
        rate = 60 * len(programs) / seconds
        print(f"| {name} | {seconds:.1f} | {rate:.0f} | {used / len(programs):.2f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

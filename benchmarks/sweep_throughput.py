"""The same candidates through `ireebench sweep` and through the plain loop that people write, side by side.

    python benchmarks/sweep_throughput.py [--limit 99] [--problems 4] [--processes 3]

The plain loop compiles one candidate after the other with the `iree-compile` script, then runs `iree-benchmark-module`
on each, one after the other: no check, no evidence, no samples, no store. ireebench starts with an empty cache and does
everything that it does by default: check against a reference, search, finals in fresh processes, A/A pair, tables.
Half of the plain loop runs before it and half after it, so that what else the machine does weighs on both.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ireebench.compiler.flags import compiler_flags
from ireebench.ir.build import build_program
from ireebench.ir.program import Program
from ireebench.problems.problem import Problem
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant

TARGET = find_target("cpu")
VARIANTS = ("vd", "vd_split", "generic", "two_pass")
SHAPES = ((1, 65536), (2, 32768), (4, 32768), (8, 16384))
SCRIPTS = Path(sysconfig.get_path("scripts"))


@dataclass(frozen=True, slots=True)
class Side:
    """One way through one problem: wall seconds, and where they went."""

    seconds: float
    parts: Counter[str] = field(default_factory=Counter)


def problems_of(count: int) -> list[Problem]:
    """The first `count` problems of the benchmark."""
    return [Problem("x".join(map(str, s)), "argmax", s, "f32") for s in SHAPES[:count]]


def programs_of(problems: list[Problem], limit: int) -> list[Program]:
    """The candidates that `ireebench sweep --limit` takes of a problem and variant."""
    spaces = (
        enumerate_space(p, find_variant(name), TARGET, limit=limit, seed=0) for p in problems for name in VARIANTS
    )
    return [build_program(c) for space in spaces for c in space.accepted]


def plain(programs: list[Program], folder: Path) -> Side:
    """The loop: compile all, then benchmark all."""
    parts: Counter[str] = Counter()
    begin = time.monotonic()
    for number, program in enumerate(programs):
        (folder / f"{number}.mlir").write_text(program.mlir)
        flags = compiler_flags(TARGET, program.flags, None)
        line = [str(SCRIPTS / "iree-compile"), f"{number}.mlir", *flags, "-o", f"{number}.vmfb"]
        subprocess.run(line, cwd=folder, check=True, capture_output=True)
    parts["compile"] = time.monotonic() - begin
    for number, program in enumerate(programs):
        p = program.candidate.problem
        line = [
            str(SCRIPTS / "iree-benchmark-module"),
            f"--module={number}.vmfb",
            "--device=local-task",
            f"--function={program.function}",
            f"--input={p.shape_text}x{p.dtype}",
        ]
        subprocess.run(line, cwd=folder, check=True, capture_output=True)
    seconds = time.monotonic() - begin
    parts["benchmark"] = seconds - parts["compile"]
    return Side(seconds, parts)


def ours(problems: list[Problem], limit: int, folder: Path, processes: int) -> tuple[Side, int]:
    """`ireebench sweep` with its own empty cache; how many candidates it timed, too."""
    listed = [f'[[problem]]\nid = "{p.id}"\nop = "argmax"\nshape = {list(p.shape)}\ndtype = "f32"' for p in problems]
    (folder / "p.toml").write_text("\n".join(listed))
    options = ["--baselines", "none", "--processes", str(processes), "--format", "json"]
    command = f"sweep argmax --problems p.toml --target cpu --variants {','.join(VARIANTS)} --limit {limit}"
    line = [sys.executable, "-m", "ireebench.cli.main", *shlex.split(command), *options]
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data")}
    begin, started = time.monotonic(), time.monotonic_ns()
    done = subprocess.run(line, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    trials = json.loads(done.stdout)["trials"]
    ended = [t for t in trials if t["status"] == "ok" and t["median_ns"]]
    parts = _phases(folder / "ireebench-out" / "work", started)
    parts["other"] = seconds - sum(parts.values())
    return Side(seconds, parts), len(ended)


def _events(folder: Path) -> Iterator[dict[str, object]]:
    for journal in sorted(folder.glob("**/journal.jsonl")):
        for line in journal.read_text().splitlines():
            yield json.loads(line)


def _phases(folder: Path, started_ns: int) -> Counter[str]:
    """Seconds of each phase of the workers, from their journals; before the first worker: plan and compile."""
    words = {"prepare": "inputs and reference", "load": "load", "check": "check", "recheck": "check"}
    parts: Counter[str] = Counter()
    begun: dict[str, int] = {}
    first = None
    for event in _events(folder):
        at, what = int(str(event["monotonic_ns"])), str(event["event"])
        first = at if first is None else first
        if what == "begin":
            begun = {"at": at}
        elif what == "end" and begun:
            parts[words.get(str(event["phase"]), "measure")] += (at - begun["at"]) / 1e9
    if first is not None:
        parts["plan and compile"] = (first - started_ns) / 1e9
    return parts


def main() -> None:
    """Prints Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=99, help="candidates a problem and variant")
    parser.add_argument("--problems", type=int, default=len(SHAPES))
    parser.add_argument("--processes", type=int, default=3)
    args = parser.parse_args()
    problems = problems_of(args.problems)
    programs = programs_of(problems, args.limit)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as own:
        # Every other candidate, so that both halves hold the same kinds.
        halves = [plain(programs[0::2], Path(folder))]
        mine, timed = ours(problems, args.limit, Path(own), args.processes)
        halves.append(plain(programs[1::2], Path(folder)))
    assert timed == len(programs), f"{timed} of {len(programs)} were timed"
    theirs = sum(h.seconds for h in halves)
    count = len(programs)
    print(f"| {count} candidates of {len(problems)} problems | seconds | candidates a minute | times the plain loop |")
    print("| --- | ---: | ---: | ---: |")
    for name, seconds in (("plain loop", theirs), ("ireebench sweep", mine.seconds)):
        print(f"| {name} | {seconds:.0f} | {60 * count / seconds:.0f} | {theirs / seconds:.1f} |")
    before, after = (h.seconds for h in halves)
    print(f"\nThe plain loop's halves took {before:.0f} and {after:.0f} s.")
    print("\n| where the time goes | seconds | share |\n| --- | ---: | ---: |")
    for name, parts, total in (
        ("plain loop", halves[0].parts + halves[1].parts, theirs),
        ("ireebench", mine.parts, mine.seconds),
    ):
        for part, seconds in parts.most_common():
            print(f"| {name}: {part} | {seconds:.1f} | {100 * seconds / total:.0f}% |")


if __name__ == "__main__":
    main()

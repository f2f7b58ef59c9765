"""Parsers on damaged and random text: each gives a value or one of the errors that it documents, and soon.

`make fuzz` (IREEBENCH_FUZZ=1) runs many times as many examples.
"""

from __future__ import annotations

import os
import string
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ireebench.cli.replay import _budget
from ireebench.compiler.configured import read_dispatch
from ireebench.compiler.diagnose import first_diagnostic
from ireebench.compiler.known_issues import parse_version
from ireebench.errors import UserError
from ireebench.isa.parse import parse_assembly
from ireebench.isa.summary import summarise
from ireebench.isa.where import parse_where
from ireebench.measure import journal
from ireebench.measure.bundle import damaged_files, read_campaign
from ireebench.measure.job import Job
from ireebench.measure.results_file import read_results
from ireebench.measure.rocprof.reading import read
from ireebench.problems.select import parse_shape
from ireebench.problems.userfile import read_problems
from ireebench.report.gain import read_speedups
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.sweep.definition import load_definition

DATA = Path(__file__).parents[2] / "data"
LONG = bool(os.environ.get("IREEBENCH_FUZZ"))
fuzz = settings(
    max_examples=2000 if LONG else 40,
    derandomize=not LONG,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

JOB = """{"schema_version": 1, "device": "local-task", "timer": "host", "process": 0, "cache_bytes": null,
"options": [],
"protocol": {"warmup": 1, "cache": ["hot"]}, "groups": [{"problem": {"id": "a", "op": "argmax", "shape": [4, 8],
"dtype": "f32"}, "entries": [{"key": "k", "kernels": []}]}]}"""
TRACE = """"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",\
"Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y",\
"Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",1,1,1,1,1,"argmax_dispatch_0",1,1000,2000,0,0,64,1,1,64,1,1
"KERNEL_DISPATCH",1,1,1,2,1,"argmax_dispatch_0",2,3000,4500,0,0,64,1,1,64,1,1
"""


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser of files: what it raises on purpose, and a file that it takes."""

    parse: Callable[[Path], object]
    name: str
    seed: str
    errors: tuple[type[Exception], ...] = (UserError,)


def of_text(parse: Callable[[str], object]) -> Callable[[Path], object]:
    """A parser of text as one of files."""
    return lambda path: parse(path.read_text(errors="replace"))


def stored(path: Path) -> object:
    with Store.open(path) as store:
        return store.trials()


RESULTS = '{"rocprofiler-sdk-tool": [{"buffer_records": {}}]}'
PROBLEMS = '[[problem]]\nid = "a"\nop = "argmax"\nshape = [4, 8]\ndtype = "f32"\n'
BEGIN = '{"event": "begin", "entry": "k", "phase": "load", "cache": 1, "round": null}'
MANIFEST = '{"files": {"a": "b"}}'
PARSERS = {
    "assembly": Parser(of_text(parse_assembly), "k.s", (DATA / "isa" / "q_inline_dpp.s").read_text()),
    "summary": Parser(of_text(summarise), "k.s", (DATA / "isa" / "lints" / "full-wait.hit.s").read_text()),
    "dispatch": Parser(of_text(read_dispatch), "d.mlir", "func.func @f() attributes {translation_info = #a<b>} {\n}"),
    "diagnostic": Parser(of_text(first_diagnostic), "e.txt", "m.mlir:3:1: error: 'func.func' op failed\n"),
    "trace csv": Parser(lambda p: read([str(p)]), "out_kernel_trace.csv", TRACE),
    "trace json": Parser(lambda p: read([str(p)]), "out_results.json", RESULTS),
    "problems": Parser(read_problems, "p.toml", PROBLEMS),
    "sweep": Parser(load_definition, "s.toml", 'op = "argmax"\nshapes = ["4x4096"]\ndtype = "f32"\nlimit = 3\n'),
    "speedups": Parser(of_text(lambda t: read_speedups(t, "s.csv")), "s.csv", "level,speedup,low,high\na,1.5,1,2\n"),
    "job": Parser(Job.read, "job.json", JOB, (ValueError,)),
    "campaign": Parser(read_campaign, "campaign.json", JOB, (ValueError,)),
    "results": Parser(read_results, "r.zip", "PK\x05\x06" + "\0" * 18, (ValueError,)),
    "journal": Parser(of_text(journal.parse), "j.jsonl", BEGIN),
    "store": Parser(stored, "s.db", "SQLite format 3\0" + "\0" * 200),
    "manifest": Parser(lambda p: list(damaged_files(p.parent)), "manifest.json", MANIFEST, (ValueError,)),
}  # fmt: skip

pieces = st.one_of(
    st.text(max_size=8),
    st.text(string.punctuation + string.digits, max_size=12),
    st.sampled_from(['"', "[" * 3000, "{" * 3000, "9" * 5000, "\0", "\r", "-1", "nan", "1e999", "../", "%", "\ud7ff"]),
)
changes = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), pieces), max_size=6)


def damaged(text: str, edits: list[tuple[float, int, str]]) -> bytes:
    """`text` with some characters after a place replaced by others, a few times."""
    for place, cut, piece in edits:
        at = int(place * len(text))
        text = text[:at] + piece + text[at + cut :]
    return text.encode(errors="replace")


@pytest.mark.parametrize("which", PARSERS)
@fuzz
@given(edits=changes)
def test_fuzz_a_damaged_file_gives_a_value_or_an_error(which: str, edits: list[tuple[float, int, str]]) -> None:
    parser = PARSERS[which]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / parser.name
        path.write_bytes(damaged(parser.seed, edits))
        try:
            parser.parse(path)
        except parser.errors as e:
            said = str(e)
        else:
            return
    assert said


WORDS: dict[str, Callable[[str], object]] = {
    "configuration": Config.parse,
    "shape": parse_shape,
    "budget": _budget,
    "filter": lambda t: parse_where(t, ("vgpr", "occupancy")),
    "version": parse_version,
}


@pytest.mark.parametrize("which", WORDS)
@fuzz
@given(
    text=st.one_of(
        st.text(max_size=60),
        st.text("SGPRTHx=,0123456789 <>!()and or%.\"'[]{}", max_size=60),
        st.sampled_from(["(" * 5000, "x".join(["9"] * 3000), "SG=" + "9" * 6000, "1e400%", "٣x٤", "SG=²"]),
    )
)
def test_fuzz_a_word_gives_a_value_or_a_usage_error(which: str, text: str) -> None:
    try:
        WORDS[which](text)
    except UserError as e:
        said = str(e)
    else:
        return
    assert said


@fuzz
@given(st.builds(Config, **{n: st.none() | st.integers(1, 1 << 40) for n in ("sg", "pr", "st", "th", "wpe", "vec")}))  # type: ignore[arg-type]
def test_fuzz_a_configuration_reads_back_what_it_prints(config: Config) -> None:
    assert Config.parse(str(config)) == config

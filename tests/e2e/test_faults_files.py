"""Files made to do harm: each costs one line and an exit code; none costs time, memory or a file elsewhere."""

from __future__ import annotations

import hashlib
import io
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ireebench.cli.main import main

Answer = tuple[int, str]
Refuse = Callable[..., str]

DEEP = 100_000
PROBLEM = '[[problem]]\nid = "{id}"\nop = "argmax"\nshape = [{size}, 4096]\ndtype = "f32"\n'
LAUGHS = "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))

FILES: dict[str, str | bytes] = {
    "deep.toml": "a = " + "[" * DEEP,
    "long-key.toml": ".".join("a" * 2000) + " = 1",
    "digits.toml": PROBLEM.format(id="a", size="9" * 5000),
    "path.toml": PROBLEM.format(id="../../escaped", size=4),
    "bytes.toml": b"\x00\xff\xfe",
    "deep.json": "[" * DEEP,
    "digits.json": '{"rocprofiler-sdk-tool": [' + "9" * 100_000 + "]}",
    "quote.csv": '"' * 200_001,
    "wide.csv": ",".join(f"c{i}" for i in range(50_000)) + "\n",
    "bytes.csv": b"level,speedup\x00\n" + b"\xff" * 1000,
    "formula.csv": "level,speedup\n=cmd|calc,nan\n",
    "deep.mlir": "(" * DEEP,
    "digits.mlir": f"func.func @f(%a: tensor<{'9' * 400}xf32>) {{ return }}",
    "deep.s": ".amdgpu_metadata\n" + "[" * DEEP + "\n.end_amdgpu_metadata\n",
    "code.s": '.amdgpu_metadata\n---\n!!python/object/apply:os.system ["touch pwned"]\n.end_amdgpu_metadata\n',
    "laughs.s": f".amdgpu_metadata\n---\na: &a [l,l,l,l,l,l,l,l,l]\n{LAUGHS}.end_amdgpu_metadata\n",
    "long.s": "v_add_f32 " + "v0, " * 100_000,
    "damaged.db": b"SQLite format 3\x00" + b"\xff" * 5000,
}
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("sweep", "argmax", "--target", "cpu", "--dry-run", "--problems", f) for f in FILES if f.endswith(".toml")),
    *(("sweep", "--dry-run", "--file", f) for f in FILES if f.endswith(".toml")),
    *(("trace", f) for f in ("deep.json", "digits.json", "quote.csv", "wide.csv", "bytes.csv", "damaged.db")),
    *(("gain", "--instruction", "2", "--csv", f) for f in FILES if f.endswith(".csv")),
    *(("compile", f, "--target", "cpu") for f in FILES if f.endswith(".mlir")),
    *(("isa", f) for f in FILES if f.endswith(".s")),
    *((command, "damaged.db") for command in ("replay", "report", "best")),
)


@pytest.fixture
def refuse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Refuse:
    """Runs the real entry point on bad input: its one line. Counts seconds, memory and files, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["ireebench", *arguments])
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert time.process_time() - begin < 20
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kB
        assert end.value.code in (1, 2), out + err
        assert out == ""
        (line,) = err.strip().splitlines()
        assert line.startswith("error: ")
        return line

    return call


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_harmful_file_is_refused_in_one_line(refuse: Refuse, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = next(a for a in arguments if a in FILES)
    body = FILES[file]
    (tmp_path / file).write_bytes(body if isinstance(body, bytes) else body.encode())
    line = refuse(*arguments)
    assert file in line or file == "formula.csv"
    assert {p.name for p in tmp_path.iterdir()} <= {file, "cache", "ireebench-out"}
    assert not (tmp_path.parent / "escaped").exists()


def bundle(folder: Path, manifest: object = None, trials: str = '{"trials": []}') -> Path:
    """The files that an import looks at."""
    folder.mkdir()
    (folder / "trials.json").write_text(trials)
    digest = hashlib.sha256(trials.encode()).hexdigest()
    listed = {"files": {"trials.json": digest}} if manifest is None else manifest
    (folder / "manifest.json").write_text(listed if isinstance(listed, str) else json.dumps(listed))
    return folder


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"files": {"../../../../etc/passwd": "0"}}, "outside the bundle"),
        ({"files": {"/etc/passwd": "0"}}, "outside the bundle"),
        ({"files": {"artifacts/absent.vmfb": "0"}}, "missing"),
        ({"files": ["trials.json"]}, "not a bundle"),
        ("[" * DEEP, "not a bundle"),
        ('{"files": ' + "9" * 5000 + "}", "not a bundle"),
    ],
)
def test_a_bundle_with_a_harmful_manifest_is_refused(
    refuse: Refuse, tmp_path: Path, manifest: object, message: str
) -> None:
    bundle(tmp_path / "b", manifest)
    (tmp_path / "r.zip").write_bytes(b"")
    assert message in refuse("bundle", "import", "b", "r.zip", "--db", "s.db")


def results(path: Path, environment: str, lines: str, samples: bytes = b"") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("environment.json", environment)
        z.writestr("results.jsonl", lines)
        z.writestr("s.npz", samples)


PLACE = json.dumps({"device": {"name": "card", "uri": "cuda://0", "driver": "1"}})


def bomb() -> bytes:
    """An .npz of a few hundred kilobytes that unpacks to 384 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z, z.open("kernel_ns.npy", "w", force_zip64=True) as f:
        np.lib.format.write_array_header_1_0(f, {"descr": "<i8", "fortran_order": False, "shape": (48 << 20,)})
        for _ in range(48):
            f.write(bytes(8 << 20))
    return out.getvalue()


def pickled() -> bytes:
    """An .npz whose array is a pickle that runs code when it is loaded."""

    class Harm:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (eval, ("open('pwned', 'w')",))

    out = io.BytesIO()
    array = np.array([Harm()], dtype=object)
    np.savez(out, allow_pickle=True, meta=array, kernel_ns=array, span_ns=array, rounds=array)
    return out.getvalue()


def test_a_results_file_that_unpacks_to_gigabytes_is_refused(refuse: Refuse, tmp_path: Path) -> None:
    bundle(tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as z:
        with z.open("results.jsonl", "w", force_zip64=True) as f:
            for _ in range(160):
                f.write(bytes(4 << 20))
        z.writestr("environment.json", PLACE)
    assert "unpacks to more than" in refuse("bundle", "import", "b", "r.zip", "--db", "s.db")


@pytest.mark.parametrize(
    ("environment", "lines", "samples"),
    [
        ("[" * DEEP, "", b""),
        ("[]", "", b""),
        ("{}", "", b""),
        (PLACE, "[" * DEEP, b""),
        (PLACE, "[1, 2]", b""),
        (PLACE, '{"entry": "unknown", "runs": [], "check": null, "failure": null}', b""),
        (PLACE, '{"entry": "x", "runs": [{"samples": "../s.npz"}], "check": null, "failure": null}', b""),
    ],
)
def test_a_damaged_results_file_is_refused(
    refuse: Refuse, tmp_path: Path, environment: str, lines: str, samples: bytes
) -> None:
    bundle(tmp_path / "b")
    results(tmp_path / "r.zip", environment, lines, samples)
    assert "r.zip" in refuse("bundle", "import", "b", "r.zip", "--db", "s.db")


@pytest.mark.parametrize("samples", [bomb, pickled], ids=["bomb", "pickle"])
def test_samples_that_unpack_to_gigabytes_or_run_code_are_refused(
    refuse: Refuse, tmp_path: Path, samples: Callable[[], bytes]
) -> None:
    bundle(tmp_path / "b")
    run = {"samples": "s.npz", "process": 0, "cache": "hot", "timer": "cupti", "foreign": []}
    line = json.dumps({"entry": "x", "runs": [run], "check": None, "failure": None})
    results(tmp_path / "r.zip", PLACE, line, samples())
    assert "r.zip" in refuse("bundle", "import", "b", "r.zip", "--db", "s.db")
    assert not (tmp_path / "pwned").exists()

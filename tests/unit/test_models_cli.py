"""`ireebench models` and `ireebench decode` as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ireebench.cli.main import main
from ireebench.measure.result import RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.variants import Ship

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the real entry point in this process: stdout of a good run, stderr of a failed one (exit code `code`)."""

    def call(*args: str, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["ireebench", *args])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert (end.value.code, "Traceback" in err) == (code, False), err
        if code:
            assert out == ""
            assert len(err.strip().splitlines()) == 1
        return err.strip() if code else out

    return call


def test_models_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "models", "argmin", "--format", "csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["id", "knn", "vq-codebook", "image-retrieval"]
    assert done.stderr == ""


def test_models_json_has_the_documented_keys(run: Run) -> None:
    document = json.loads(run("models", "--format", "json"))
    assert document["schema_version"] == 1
    keys = {"id", "model", "op", "shape", "padded_shape", "dtype", "index_dtype", "source"}
    assert all(keys <= set(p) for p in document["problems"])
    found = {(p["op"], p["id"]): p for p in document["problems"]}
    assert len(found) == len(document["problems"])
    llama = found["argmax", "llama3-8b-batch"]
    assert (llama["shape"], llama["padded_shape"], llama["dtype"]) == ([32, 128000], [32, 131072], "bf16")
    assert found["argmin", "knn"]["padded_shape"] == [1024, 65536]
    assert found["gemv", "llama3-8b-qkv"]["shape"] == [1, 6144, 4096]
    assert found["gemv", "llama3-8b-qkv"]["index_dtype"] is None


def test_models_lists_one_op_and_filters_by_name_and_suite(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("models", "argmin", "--format", "csv"))))
    assert [r["id"] for r in rows] == ["knn", "vq-codebook", "image-retrieval"]
    text = run("models", "argmax", "--models", "llama3,gpt-oss*")
    assert max(map(len, text.splitlines())) <= 160
    table, _, sources = text.partition("\n\n")
    assert [line.split()[0] for line in table.splitlines()[2:]] == [
        "llama3-8b", "llama3-8b-batch", "gpt-oss-20b", "gpt-oss-20b-batch",
    ]  # fmt: skip
    assert [line.split()[-1] for line in table.splitlines()[2:]] == ["[1]", "[1]", "[2]", "[3]"]
    assert [line.split()[0] for line in sources.splitlines()[2:]] == ["[1]", "[2]", "[3]"]
    assert "indices 199998 to 201087 are in range but no token" in sources
    assert len(json.loads(run("models", "--suite", "published", "--format", "json"))["problems"]) == 21


def test_models_writes_a_file(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "models.md"
    assert run("models", "argmin", "--format", "markdown", "-o", str(path)) == ""
    assert path.read_text().startswith("| id | op |")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("models", "--models", "lamma3"), "error: no model matches 'lamma3'; nearest: llama3-8b, llama3.1-8b"),
        (("models", "--suite", "publishd"), "error: no suite matches 'publishd'; nearest: published"),
        (("models", "sum"), "error: Invalid value for '[argmax|argmin|gemv]': 'sum' is not one of"),
        (("decode",), "error: name a model: --model llama3-8b; or project a rate"),
        (("decode", "--model", "deepseek-v3"), "error: deepseek-v3: no decode bound: dense and expert layers mix"),
        (("decode", "--model", "llama3-8b", "--weights", "int8"), "error: no weight format matches 'int8'"),
        (("decode", "--model", "llama3-8b", "--ceiling", "0"), "error: --ceiling is 0 GB/s; it is above 0"),
        (("decode", "--model", "llama3-8b", "--target", "gfx9000"), "error: no target matches 'gfx9000'"),
        (("decode", "--model", "llama3-8b", "--db", "nowhere.db"), "error: nowhere.db: no such store"),
        (("decode", "--measured", "2.1"), "error: a projection needs all of --measured 2.1 --efficiency 49 --at 91"),
        (("decode", "--measured", "2", "--efficiency", "49", "--at", "x"), "error: --at 'x': percentages joined"),
        (("decode", "--measured", "2", "--efficiency", "149", "--at", "9"), "error: efficiency is 149%"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(args: tuple[str, ...], message: str, run: Run) -> None:
    assert run(*args, code=2).startswith(message)


def test_help_has_three_examples(run: Run) -> None:
    for command in ("models", "decode"):
        text = run(command, "--help")
        assert text.count(f"    ireebench {command} ") == 3


def test_models_starts_without_numpy() -> None:
    code = "import sys, ireebench.cli.models; print([m for m in ('numpy', 'pandas', 'pydantic') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_decode_names_the_bytes_it_counts_and_keeps_spec_and_ceiling_apart(run: Run) -> None:
    text = run("decode", "--model", "llama3-8b", "--weights", "nf4", "--ceiling", "4822", "--target", "gfx942")
    assert "4.229 GB (3.939 GiB) a token" in text
    assert "counted, GB: weights 3.752, scales 0.469, activations 0.002, results 0.006" in text
    assert "not counted: attention over the KV cache" in text
    assert "bandwidth alone (ceiling as given)   4822" in text
    assert "bandwidth alone (gfx942 spec sheet)  5300" in text


def test_decode_projects_a_measured_rate(run: Run) -> None:
    text = run("decode", "--measured", "2.1", "--efficiency", "49", "--at", "91,100", "--format", "json")
    rates = [p["tokens_per_second"] for p in json.loads(text)["projections"]]
    assert rates == [pytest.approx(3.9, rel=0.02), pytest.approx(4.3, rel=0.02)]


def test_decode_without_a_bandwidth_says_how_to_get_a_bound(run: Run) -> None:
    document = json.loads(run("decode", "--model", "llama3-8b", "--format", "json"))
    assert document["bounds"] == []
    assert document["bytes_counted"]["weights"] == 15_009_316_864
    assert "give --from DB, --ceiling GB/S or --target for a bound" in run("decode", "--model", "llama3-8b")


def store_trials(path: Path, device: str, target: str, times_us: dict[tuple[int, int], float]) -> None:
    """Writes one checked, cold trial a shape, of vd with SG=4, as a sweep would."""
    with Store.open(path, write=True) as store:
        place = Environment(device, "cuda://0", None, "3.13.0", "3.13.0", "0.1.0", "x86_64", "3.11", "{}")
        environment = store.put_environment(place)
        for (n, k), us in times_us.items():
            trial = Trial(
                key=f"{device}{n}x{k}",
                problem=Problem(f"p-{n}x{k}", "gemv", (1, n, k), "bf16", None, "f32", "nk"),
                target=target,
                variant="vd",
                baseline=None,
                form="native",
                ship=Ship.SPEC,
                config=Config(sg=4),
                status=Status.OK,
                stage=Stage.TIMED,
                check=CheckResult(True),
                environment=environment,
            )
            store.put_trials([trial])
            ns = np.full(20, us * 1000, np.int64)
            store.put_runs(trial, [RunResult(trial.key, 0, "cold", "cupti", ns, ns, np.zeros(20, np.int64))])


LLAMA3 = {(6144, 4096): 12.0, (4096, 4096): 9.0, (28672, 4096): 55.0, (4096, 14336): 28.0, (128256, 4096): 230.0}


def test_decode_adds_up_stored_times(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "trials.db"
    store_trials(path, "H200", "sm_89", LLAMA3)
    document = json.loads(run("decode", "--model", "llama3-8b", "--db", str(path), "--format", "json"))
    # 32 x (12 + 9 + 55 + 28) + 230 = 3558 us
    assert document["measured_tokens_per_second"] == pytest.approx(1e6 / 3558)
    assert {g["projection"]: g["span_us"] for g in document["gemvs"]}["down"] == 28.0
    text = run("decode", "--model", "llama3-8b", "--db", str(path), "--ceiling", "4500")
    assert "vd/native SG=4" in text
    assert "measured GEMVs, one by one" in text
    assert "281.1" in text
    assert "(search alone: qkv, o, gate_up, down, lm_head)" in text
    assert text.count("  search  ") == 5
    assert [g["final"] for g in document["gemvs"]] == [False] * 5
    hot = run("decode", "--model", "llama3-8b", "--db", str(path), "--cache", "hot")
    assert "measured GEMVs (not measured: qkv, o, gate_up, down, lm_head)" in hot


@pytest.mark.parametrize(
    ("store", "options", "note"),
    [
        ("gemv", ("--cache", "hot"), "no bf16 GEMV of Llama-3-8B was timed hot; "
         "there is: --weights bf16 --cache cold --target sm_89; --weights f16 --cache cold --target sm_89"),
        ("gemv", ("--weights", "nf4", "--target", "gfx942"), "no nf4 GEMV of Llama-3-8B was timed cold on gfx942; "
         "there is: --weights bf16 --cache cold --target sm_89; --weights f16 --cache cold --target sm_89"),
        ("padded", (), "no bf16 GEMV of Llama-3-8B was timed cold; its trials are of argmax, argmin"),
    ],
)  # fmt: skip
def test_decode_says_what_a_store_without_the_models_gemvs_holds(
    store: str, options: tuple[str, ...], note: str
) -> None:
    recorded = str(Path(__file__).parents[2] / "docs" / "results" / "h200" / f"{store}.db")
    command = [sys.executable, "-m", "ireebench.cli.main", "decode", "--model", "llama3-8b", "--from", recorded]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"note: {recorded}: {note}\n")


def test_decode_names_other_gemvs_where_a_store_has_none_of_the_models(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    store_trials(path, "H200", "sm_89", {(n, 64): 1.0 for n in (64, 128, 256, 512, 1024)})
    command = [sys.executable, "-m", "ireebench.cli.main", "decode", "--model", "llama3-8b", "--from", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.endswith("; there are other GEMVs: p-64x64, p-128x64, p-256x64 and 2 more\n")


def test_decode_holds_the_recorded_h200_times_against_its_recorded_ceiling(run: Run) -> None:
    store = str(Path(__file__).parents[2] / "docs" / "results" / "h200" / "gemv.db")
    document = json.loads(run("decode", "--model", "llama3-8b", "--from", store, "--format", "json"))
    # The best read of 4 GiB took 927.7605 us; a token reads 15.017 GB.
    (bound,) = document["bounds"]
    assert bound["gb_per_s"] == pytest.approx(4 * 2**30 / 927760.5, rel=1e-6)
    assert bound["tokens_per_second"] == pytest.approx(4629.392e9 / 15017047040, rel=1e-6)
    # 32 x (12.640 + 9.055 + 51.968 + 27.328) + 229.600 us
    assert document["measured_tokens_per_second"] == pytest.approx(1e6 / 3461.312, rel=1e-6)
    given = json.loads(run("decode", "--model", "llama3-8b", "--db", store, "--ceiling", "4000", "--format", "json"))
    assert [b["gb_per_s"] for b in given["bounds"]] == [4000.0]


def test_decode_never_mixes_devices(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "trials.db"
    store_trials(path, "H200", "sm_89", LLAMA3)
    store_trials(path, "MI300X", "gfx942", LLAMA3)
    message = run("decode", "--model", "llama3-8b", "--db", str(path), code=2)
    assert "trials of several devices (gfx942 on MI300X; sm_89 on H200); choose with --target" in message
    document = json.loads(
        run("decode", "--model", "llama3-8b", "--db", str(path), "--target", "gfx942", "--format", "json")
    )
    assert document["measured_tokens_per_second"] == pytest.approx(1e6 / 3558)

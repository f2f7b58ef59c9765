from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import pytest

from ireebench.errors import MissingToolError
from ireebench.measure import cuda_driver
from ireebench.measure.baselines import native_build


def write_compiler(path: Path, version: str, body: str) -> None:
    """A compiler at the border of the process: answers --version, counts its runs, else does `body`."""
    path.write_text(
        f'#!/bin/bash\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n'
        f'echo run >> "{path}.runs"\n'
        'while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out=$2; fi; shift; done\n' + body
    )
    path.chmod(0o755)


def runs(path: Path) -> int:
    log = Path(f"{path}.runs")
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fake-nvcc"
    write_compiler(path, "release 13.0", 'sleep 0.2; echo library > "$out"\n')
    monkeypatch.setenv("IREEBENCH_NVCC", str(path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def test_a_library_is_built_once_and_found_again(compiler: Path) -> None:
    first = native_build.build("ceiling.cu", "cuda")
    assert first.read_text() == "library\n"
    assert native_build.build("ceiling.cu", "cuda") == first
    assert runs(compiler) == 1


def test_a_new_compiler_builds_anew(compiler: Path) -> None:
    first = native_build.build("ceiling.cu", "cuda")
    write_compiler(compiler, "release 13.1", 'echo newer > "$out"\n')
    assert native_build.build("ceiling.cu", "cuda") != first
    assert runs(compiler) == 2


def test_an_edited_source_or_header_builds_anew(
    compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "native"
    shutil.copytree(native_build.SOURCES, sources)
    monkeypatch.setattr(native_build, "SOURCES", sources)
    built = {native_build.build("ceiling.cu", "cuda")}
    for name in ("ceiling.cu", "gpu_alias.hpp"):
        with (sources / name).open("a") as file:
            file.write("// edited\n")
        built.add(native_build.build("ceiling.cu", "cuda"))
    assert len(built) == 3


def test_another_card_builds_anew(compiler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = native_build.build("ceiling.cu", "cuda")
    card = cuda_driver.CudaDevice(0, (12, 0), 1, 1)
    monkeypatch.setattr(cuda_driver, "find_device", lambda ordinal: card)
    assert native_build.cuda_arch(0) == "sm_120"
    assert native_build.build("ceiling.cu", "cuda") != first


def _build_in_child(queue: multiprocessing.Queue[str]) -> None:
    queue.put(str(native_build.build("ceiling.cu", "cuda")))


def test_processes_that_start_together_build_once(compiler: Path) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_build_in_child, args=(queue,)) for _ in range(3)]
    for child in children:
        child.start()
    built = {queue.get(timeout=60) for _ in children}
    for child in children:
        child.join()
    assert len(built) == 1
    assert runs(compiler) == 1


def test_a_failing_build_quotes_the_first_error_and_keeps_its_log(compiler: Path) -> None:
    write_compiler(compiler, "release 13.0", 'echo "ceiling.cu(3): error: no such thing" >&2; exit 2\n')
    with pytest.raises(MissingToolError, match=r"ceiling\.cu\(3\): error: no such thing \(log: ") as failure:
        native_build.build("ceiling.cu", "cuda")
    log = Path(str(failure.value).split("log: ")[1].rstrip(")"))
    assert "no such thing" in log.read_text()


def test_a_compiler_that_writes_nothing_is_a_failure(compiler: Path) -> None:
    write_compiler(compiler, "release 13.0", "exit 0\n")
    with pytest.raises(MissingToolError, match="failed on"):
        native_build.build("ceiling.cu", "cuda")


def test_a_library_that_cannot_be_loaded_says_which(compiler: Path) -> None:
    with pytest.raises(MissingToolError, match=r"ceiling-cuda-.*\.so cannot be loaded"):
        native_build.load("ceiling.cu", "cuda")


def test_no_compiler_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IREEBENCH_NVCC", "/nowhere/nvcc")
    assert "nvcc not found; install the CUDA toolkit" in (native_build.missing_compiler("cuda") or "")
    with pytest.raises(MissingToolError, match=r"argreduce\.cu cannot be built: nvcc not found"):
        native_build.build("argreduce.cu", "cuda")

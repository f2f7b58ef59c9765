"""CUDA mode of the native sources: compiled for an H200, not run."""

from __future__ import annotations

import ctypes

import pytest

from ireebench.measure.baselines import native_build

pytestmark = pytest.mark.skipif(
    native_build.missing_compiler("cuda") is not None, reason="nvcc is not installed: CUDA mode cannot be compiled"
)


@pytest.mark.parametrize(("source", "symbol"), [("argreduce.cu", "argreduce_create"), ("ceiling.cu", "ceiling_launch")])
def test_the_source_compiles_with_nvcc_and_exports_its_functions(source: str, symbol: str) -> None:
    library = ctypes.CDLL(str(native_build.build(source, "cuda")))
    assert getattr(library, symbol)


def test_the_headers_tell_cubs_version() -> None:
    version = native_build.cub_version()
    assert version is not None
    assert version >= 200_000  # CUB 2.0.0, the first with 64-bit counts

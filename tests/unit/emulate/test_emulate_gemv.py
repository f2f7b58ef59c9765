"""GEMVs of 4 rows of 4096 (f16, bf16, 4-bit in blocks of 32) on the emulator, against float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

ROWS, LENGTH, BLOCK = 4, 4096, 32


def matvec(name: str, dtype: str) -> str:
    return f"""
  func.func @{name}(%w: tensor<{ROWS}x{LENGTH}x{dtype}>, %x: tensor<{LENGTH}x{dtype}>) -> tensor<{ROWS}xf32> {{
    %c0 = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<{ROWS}xf32>
    %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<{ROWS}xf32>) -> tensor<{ROWS}xf32>
    %r = linalg.matvec ins(%w, %x : tensor<{ROWS}x{LENGTH}x{dtype}>, tensor<{LENGTH}x{dtype}>)
        outs(%z : tensor<{ROWS}xf32>) -> tensor<{ROWS}xf32>
    return %r : tensor<{ROWS}xf32>
  }}"""


QUANTISED = """
  func.func @q4(%w: tensor<4x128x32xi4>, %s: tensor<4x128xf16>, %x: tensor<128x32xf16>) -> tensor<4xf32> {
    %c0 = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [
          affine_map<(n, b, k) -> (n, b, k)>, affine_map<(n, b, k) -> (n, b)>, affine_map<(n, b, k) -> (b, k)>,
          affine_map<(n, b, k) -> (n)>], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%w, %s, %x : tensor<4x128x32xi4>, tensor<4x128xf16>, tensor<128x32xf16>) outs(%z : tensor<4xf32>) {
    ^bb0(%q: i4, %scale: f16, %a: f16, %o: f32):
      %i = arith.extsi %q : i4 to i32
      %f = arith.sitofp %i : i32 to f32
      %s32 = arith.extf %scale : f16 to f32
      %w32 = arith.mulf %f, %s32 : f32
      %a32 = arith.extf %a : f16 to f32
      %p = arith.mulf %w32, %a32 : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }"""


@pytest.fixture(scope="module")
def built(build: Callable[..., Any]) -> Any:
    return build("module {" + matvec("f16", "f16") + matvec("bf16", "bf16") + QUANTISED + "\n}\n")


def relative_error(got: Any, expected: Any) -> float:
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize(("name", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_a_matrix_vector_product_is_within_float32_of_float64(built: Any, name: str, dtype: Any) -> None:
    rng = np.random.default_rng(11)
    w, x = (rng.standard_normal(s, np.float32).astype(dtype) for s in ((ROWS, LENGTH), (LENGTH,)))
    result = built.run(name, [w, x])
    assert result.reports == ()
    # f32 accumulation of 4096 exact products: far below 4096 roundings of 2^-24.
    assert relative_error(result.outputs[0], w.astype(np.float64) @ x.astype(np.float64)) < 1e-6


def test_a_4_bit_product_is_within_float32_of_float64(built: Any) -> None:
    rng = np.random.default_rng(12)
    codes = rng.integers(-8, 8, (ROWS, LENGTH // BLOCK, BLOCK))
    nibbles = (codes & 15).astype(np.uint8)
    packed = nibbles[..., 0::2] | (nibbles[..., 1::2] << 4)  # low nibble first
    scales = (rng.standard_normal((ROWS, LENGTH // BLOCK)) * 0.1).astype(np.float16)
    x = rng.standard_normal((LENGTH // BLOCK, BLOCK)).astype(np.float16)
    weights = codes * scales.astype(np.float64)[..., None]
    result = built.run("q4", [packed.astype(np.uint8), scales, x])
    assert result.reports == ()
    assert relative_error(result.outputs[0], (weights * x.astype(np.float64)).sum(axis=(1, 2))) < 1e-6

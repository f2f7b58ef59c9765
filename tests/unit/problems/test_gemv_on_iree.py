"""The 4-bit layout is the one that IREE reads: a plain dequantising GEMV, compiled for the CPU, agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ireebench.problems.ops import gemv
from ireebench.problems.ops.quantise import NF4_TABLE
from ireebench.problems.problem import Problem

MODULE = """
#w = affine_map<(n, b, k) -> (n, b, k)>
#s = affine_map<(n, b, k) -> (n, b)>
#x = affine_map<(n, b, k) -> (b, k)>
#y = affine_map<(n, b, k) -> (n)>
func.func @mv(%w: {w}, %s: {s}, %flat: {x}) -> tensor<64xf32> {{
  {table}
  %zero = arith.constant 0.0 : f32
  %x = tensor.expand_shape %flat [[0, 1]] output_shape [{blocks}, {block}] : {x} into tensor<{blocks}x{block}xf16>
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {{
      indexing_maps = [#w, #s, #x, #y], iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%w, %s, %x : {w}, {s}, tensor<{blocks}x{block}xf16>) outs(%init : tensor<64xf32>) {{
  ^bb0(%code: i4, %scale: {scale}, %act: f16, %sum: f32):
    {value}
    %a = arith.extf %act : f16 to f32
    %p = arith.mulf %v, %a : f32
    %next = arith.addf %sum, %p : f32
    linalg.yield %next : f32
  }} -> tensor<64xf32>
  return %y : tensor<64xf32>
}}
"""
Q4_0 = """%c = arith.sitofp %code : i4 to f32
    %wide = arith.extf %scale : f16 to f32
    %v = arith.mulf %c, %wide : f32"""
NF4 = """%position = arith.extui %code : i4 to i32
    %at = arith.index_cast %position : i32 to index
    %c = tensor.extract %table[%at] : tensor<16xf32>
    %v = arith.mulf %c, %scale : f32"""


@pytest.mark.parametrize(("dtype", "scale", "block", "value"), [("q4_0", "f16", 32, Q4_0), ("nf4", "f32", 64, NF4)])
def test_iree_reads_packed_weights_as_they_are_meant(dtype: str, scale: str, block: int, value: str) -> None:
    import iree.compiler
    import iree.runtime as rt

    problem = Problem("t", "gemv", (1, 64, 128), dtype, None, "f32", "nk")
    weights, scales, x = gemv.make_inputs(problem, 0)
    w_spec, s_spec, x_spec = gemv.input_specs(problem)
    table = "" if dtype == "q4_0" else f"%table = arith.constant dense<{NF4_TABLE.tolist()}> : tensor<16xf32>"
    types: dict[str, Any] = {"w": w_spec.mlir_type, "s": s_spec.mlir_type, "x": x_spec.mlir_type}
    text = MODULE.format(table=table, scale=scale, block=block, blocks=128 // block, value=value, **types)
    vmfb = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])
    config = rt.Config("local-sync")
    context = rt.SystemContext(config=config)
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, vmfb))
    buffer = config.device.allocator.allocate_buffer_copy(
        memory_type=rt.MemoryType.DEVICE_LOCAL,
        allowed_usage=rt.BufferUsage.DEFAULT,
        device=config.device,
        buffer=weights,
    )
    packed = rt.DeviceArray(config.device, rt.HalBufferView(buffer, list(w_spec.shape), rt.HalElementType.INT_4))
    y = np.asarray(context.modules.module.mv(packed, scales, x).to_host())
    result = gemv.check(problem, (weights, scales, x), (y,))
    assert result.ok, result.reason
    assert result.relative_error is not None
    assert result.relative_error < 1e-6

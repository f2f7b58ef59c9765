"""Layouts as IREE attributes, built with the compiler's Python bindings: no attribute is put together from strings."""

from __future__ import annotations

from functools import cache
from typing import Any

from ireebench.ir.layout import Layout


def _ints(values: tuple[int, ...]) -> Any:
    from iree.compiler import ir

    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, v) for v in values])


def _basis(counts: tuple[int, ...]) -> Any:
    """A basis: how many along each dimension, and which dimension of the iteration space each belongs to."""
    from iree.compiler import ir

    return ir.ArrayAttr.get([_ints(counts), _ints(tuple(range(len(counts))))])


def lowering_config(layout: Layout) -> Any:
    """`layout` as an `#iree_gpu.lowering_config`, without the tiles that it leaves empty; call it inside a context."""
    from iree.compiler import ir
    from iree.compiler.dialects import iree_gpu

    tiles = {
        "workgroup": layout.workgroup,
        "partial_reduction": layout.partial_reduction,
        "thread": layout.thread,
    }
    bases = {"subgroup_basis": layout.subgroup_basis, "lane_basis": layout.lane_basis}
    entries = {name: _ints(sizes) for name, sizes in tiles.items() if sizes}
    entries |= {name: _basis(counts) for name, counts in bases.items()}
    return iree_gpu.LoweringConfigAttr.get(ir.DictAttr.get(entries))


def compilation_info(layout: Layout) -> Any:
    """`layout` as an `#iree_codegen.compilation_info` attribute; call it inside an MLIR context."""
    from iree.compiler import ir
    from iree.compiler.dialects import iree_codegen, iree_gpu

    hints = None
    if layout.waves_per_eu is not None:
        waves = ir.DictAttr.get({"amdgpu-waves-per-eu": ir.StringAttr.get(str(layout.waves_per_eu))})
        hints = ir.DictAttr.get({"llvm_func_attrs": waves})
    translation = iree_codegen.TranslationInfoAttr.get(
        iree_gpu.PipelineAttr.get(iree_gpu.LoweringPipeline.VectorDistribute),
        None,
        [layout.threads, 1, 1],
        layout.subgroup_size,
        hints,
    )
    return iree_codegen.CompilationInfoAttr.get(lowering_config(layout), translation)


@cache
def compilation_info_text(layout: Layout) -> str:
    """`layout` as the text of a `compilation_info` attribute, for the attribute route."""
    from iree.compiler import ir

    with ir.Context():
        return str(compilation_info(layout))


@cache
def lowering_config_text(layout: Layout) -> str:
    """`layout` as the text of a lowering configuration alone: for a dispatch's other ops, which follow its root."""
    from iree.compiler import ir

    with ir.Context():
        return str(lowering_config(layout))


@cache
def cpu_compilation_info(
    distribution: tuple[int, ...], vector_parallel: tuple[int, ...], vector_reduction: tuple[int, ...]
) -> str:
    """CPU tiles by loop dimension (0: not tiled) as the text of a `compilation_info` attribute.

    IREE 3.13 has no Python binding for the CPU's lowering configuration, so that one attribute is parsed.
    """
    from iree.compiler import ir
    from iree.compiler.dialects import iree_codegen

    tiles = {
        "distribution": distribution,
        "vector_common_parallel": vector_parallel,
        "vector_reduction": vector_reduction,
    }
    text = ", ".join(f"{name} = {list(sizes)}" for name, sizes in tiles.items())
    with ir.Context():
        lowering = ir.Attribute.parse(f"#iree_cpu.lowering_config<{text}>")
        pipeline = ir.Attribute.parse("#iree_cpu.pipeline<DoubleTilingExpert>")
        info = iree_codegen.TranslationInfoAttr.get(pipeline)
        return str(iree_codegen.CompilationInfoAttr.get(lowering, info))

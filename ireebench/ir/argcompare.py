"""argmax and argmin: what the templates of each form are filled with."""

from __future__ import annotations

from ireebench.candidate import Candidate
from ireebench.ir.attributes import compilation_info_text, cpu_compilation_info
from ireebench.ir.layout import Layout, tensor_type
from ireebench.problems.dtypes import find_float
from ireebench.space.geometry import partials, stage_shapes
from ireebench.variants import Comparator

# `a` is the candidate and `b` the winner so far. IREE recognises "ogt %a, %b" and lowers it to DPP and ballot on AMD
# GPUs; the swapped spelling means the same, is not recognised, and goes through shuffles.
BETTER: dict[tuple[str, Comparator], str] = {
    ("argmax", "ballot"): "arith.cmpf ogt, %a, %b",
    ("argmax", "shuffle"): "arith.cmpf olt, %b, %a",
    ("argmin", "ballot"): "arith.cmpf olt, %a, %b",
    ("argmin", "shuffle"): "arith.cmpf ogt, %b, %a",
}
EXTREMUM = {"argmax": "arith.maximumf %a, %b", "argmin": "arith.minimumf %a, %b"}


def template_name(candidate: Candidate) -> str:
    """The template that carries the candidate; the padded form has one for one dispatch and one for two.

    Stock IREE splits the plain op by a flag: no attribute, so no tile of ours.
    """
    if candidate.form.name == "split_attr" and not candidate.variant.tuned:
        return "native.mlir.j2"
    if candidate.form.name == "inner_pad" and candidate.variant.split:
        return "inner_pad_split.mlir.j2"
    if candidate.form.name == "two_pass" and candidate.problem.reduction % (candidate.config.st or 1):
        return "two_pass_tail.mlir.j2"
    return candidate.form.template


def template_values(candidate: Candidate, function: str, layouts: tuple[Layout, ...]) -> dict[str, object]:
    """The values of every name that the argmax and argmin templates use."""
    problem = candidate.problem
    element, index = problem.dtype, problem.index_dtype or "i64"
    float_type = find_float(element)
    outer, reduction, rows = problem.shape[:-1], problem.reduction, problem.rows
    dimension = len(outer)
    count = partials(candidate)
    stages = stage_shapes(candidate)
    attributes = [f" {{compilation_info = #config{n}}}" for n in range(1, len(layouts) + 1)] or [""]
    return {
        "title": f"{problem.op} {problem.shape_text}x{element} -> {index}: {candidate.form.name} {candidate.config}",
        "function": function,
        "aliases": "".join(f"#config{n} = {compilation_info_text(a)}\n" for n, a in enumerate(layouts, 1)),
        "attributes": attributes[0],
        "attributes2": attributes[-1],
        "element": element,
        "index": index,
        "neutral": float_type.neg_inf if problem.op == "argmax" else float_type.pos_inf,
        "better": BETTER[problem.op, candidate.variant.comparator],
        "extremum": EXTREMUM[problem.op],
        "input": tensor_type(problem.shape, element),
        "values": tensor_type(outer, element),
        "indices": tensor_type(outer, index),
        "result_shape": list(outer),
        "dimension": dimension,
        "all_dimensions": list(range(dimension + 1)),
        "iterators": ", ".join(['"parallel"'] * dimension + ['"reduction"']),
        "input_map": _map(dimension + 1, dimension + 1),
        "output_map": _map(dimension + 1, dimension),
        "reduction": reduction,
        "rows": rows,
        "row": tensor_type((stages[0].length,), element),
        "unpadded_row": tensor_type((reduction,), element),
        "padding": stages[0].padding,
        "split": candidate.config.st,
        "partials": count,
        "matrix": tensor_type((rows, reduction), element),
        "column": tensor_type((rows,), element),
        "index_column": tensor_type((rows,), index),
        "partial": tensor_type((rows, count), element),
        "partial_index": tensor_type((rows, count), index),
        "chunk": tensor_type((stages[0].length,), element),
        "winners": tensor_type((stages[-1].length,), element),
        "winner_index": tensor_type((stages[-1].length,), index),
        "unpadded_winners": tensor_type((count,), element),
        "unpadded_winner_index": tensor_type((count,), index),
        "padding2": stages[-1].padding,
        **_reshapes(candidate),
        **_ordered_keys(candidate),
    }


def _map(dimensions: int, results: int) -> str:
    names = [f"d{n}" for n in range(dimensions)]
    return f"affine_map<({', '.join(names)}) -> ({', '.join(names[:results])})>"


def _ordered_keys(candidate: Candidate) -> dict[str, object]:
    """What the two-pass form is filled with: integers that order as the floats do, and its chunks."""
    problem = candidate.problem
    bits = find_float(problem.dtype).bits
    key, largest = f"i{bits}", 2 ** (bits - 1) - 1
    biggest = problem.op == "argmax"
    chunk = candidate.config.st or problem.reduction
    whole_chunks, tail = divmod(problem.reduction, chunk)
    return {
        **_tiles(candidate),
        "split": chunk,
        "key": key,
        "sign_bit": bits - 1,
        "magnitude_mask": largest,
        "worst_key": -largest - 1 if biggest else largest,
        "extremum_key": "arith.maxsi" if biggest else "arith.minsi",
        "better_key": "arith.cmpi sgt," if biggest else "arith.cmpi slt,",
        "chunked": tensor_type((problem.rows, whole_chunks, chunk), problem.dtype),
        "keys": tensor_type((problem.rows, whole_chunks), key),
        "key_column": tensor_type((problem.rows,), key),
        "place_column": tensor_type((problem.rows,), "i32"),
        "whole_chunks": whole_chunks,
        "whole_length": whole_chunks * chunk,
        "whole": tensor_type((problem.rows, whole_chunks * chunk), problem.dtype),
        "tail_length": tail,
        "tail": tensor_type((problem.rows, tail), problem.dtype),
        "last_place": problem.reduction - 1,
    }


def _tiles(candidate: Candidate) -> dict[str, object]:
    """The CPU tiles of the pass over all elements, where the configuration sets them."""
    c = candidate.config
    if c.dist is None or c.vec is None:
        return {"tile_alias": "", "tile_attribute": ""}
    # Rows, chunks, elements: a task takes DIST chunks of one row, a step VEC elements of each of up to 8 chunks.
    info = cpu_compilation_info((1, c.dist, 0), (1, min(c.dist, 8), 0), (0, 0, c.vec))
    return {"tile_alias": f"#tiles = {info}\n", "tile_attribute": " attrs = {compilation_info = #tiles}"}


def _reshapes(candidate: Candidate) -> dict[str, object]:
    """The lines that turn the problem's input into a matrix of rows, and the column of results into its outputs."""
    problem = candidate.problem
    element, index = problem.dtype, problem.index_dtype or "i64"
    outer = problem.shape[:-1]
    source, matrix = tensor_type(problem.shape, element), tensor_type((problem.rows, problem.reduction), element)
    if len(outer) == 1:
        values, indices = tensor_type(outer, element), tensor_type(outer, index)
        return {
            "matrix_name": "%input",
            "flatten": "",
            "restore": f"  return %best, %where : {values}, {indices}\n",
        }
    if not outer:
        shape = f"output_shape [1, {problem.reduction}]"
        flatten = f"  %matrix = tensor.expand_shape %input [[0, 1]] {shape} : {source} into {matrix}\n"
    else:
        groups = [list(range(len(outer))), [len(outer)]]
        flatten = f"  %matrix = tensor.collapse_shape %input {groups} : {source} into {matrix}\n"
    restore = ""
    for name, result, scalar in (("best", "values", element), ("where", "indices", index)):
        column, shaped = tensor_type((problem.rows,), scalar), tensor_type(outer, scalar)
        if outer:
            how = f"tensor.expand_shape %{name} [{list(range(len(outer)))}] output_shape {list(outer)}"
        else:
            how = f"tensor.collapse_shape %{name} []"
        restore += f"  %{result} = {how} : {column} into {shaped}\n"
    restore += f"  return %values, %indices : {tensor_type(outer, element)}, {tensor_type(outer, index)}\n"
    return {"matrix_name": "%matrix", "flatten": flatten, "restore": restore}

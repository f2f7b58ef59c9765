"""GEMV: what the templates are filled with, and how each dispatch is laid out."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

from ireebench.candidate import Candidate
from ireebench.ir.attributes import compilation_info_text
from ireebench.ir.gemv_pairs import pairs_values
from ireebench.ir.gemv_parts import part_layouts
from ireebench.ir.gemv_sums import sums_values
from ireebench.ir.layout import Layout, tensor_type
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.space.gemv import CODES_A_WORD, lanes_over_columns, lanes_over_k

# Where a 4-bit code is left in its word, so that OR-ing an exponent on top makes the float 2^(23-p) + code, and what
# moves it there: bits 8, 12 and 16 keep that float times an f16 scale exact in f32 (24 significant bits), and one shift
# serves several codes.
POSITIONS = (8, 12, 8, 12, 16, 8, 12, 16)
LEFT = (8, 8, 0, 0, 0, 0, 0, 0)
RIGHT = (0, 0, 0, 0, 0, 12, 12, 12)
# Flips the sign bit of all eight codes: two's complement becomes code + 8.
FLIP_SIGNS = 0x88888888 - 2**32
NF4_BITS = tuple(4 * n for n in range(CODES_A_WORD))


def nf4_table() -> tuple[float, ...]:
    """The 16 values of NF4."""
    from ireebench.problems.ops.quantise import NF4_TABLE

    return tuple(float(v) for v in NF4_TABLE)


def _f32(value: float) -> str:
    """A float as MLIR's exact hex constant."""
    return f"0x{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"


def template_name(candidate: Candidate) -> str:
    """The template that carries the candidate; the plain product has one for each way of storing and batching."""
    problem = candidate.problem
    if candidate.form.name != "matvec":
        return candidate.form.template
    if problem.shape[0] > 1:
        return "matvec_batch.mlir.j2"
    return "vecmat.mlir.j2" if problem.layout == "kn" else "matvec.mlir.j2"


def gemv_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    """The layout of each configured dispatch, in order; empty where the compiler chooses."""
    if candidate.config.is_default or candidate.target.backend == "cpu":
        return ()
    return {
        "matvec": _matvec_layouts,
        "matvec_split": _split_layouts,
        "dequant": _dequant_layouts,
        "dequant_words": _dequant_layouts,
        "dequant_pairs": part_layouts,
        "dequant_sums": part_layouts,
    }[candidate.form.name](candidate)


def _layout(candidate: Candidate, shape: tuple[int, ...], element: str, dims: Sequence[tuple[int, ...]]) -> Layout:
    """A layout from one tuple a loop: workgroup, partial reduction, thread, subgroups, lanes."""
    workgroup, partial, thread, subgroups, lanes = (tuple(d[i] for d in dims) for i in range(5))
    return Layout(
        op="linalg.generic",  # IREE has made one of every named op by the time it reads tuning specs
        operand=tensor_type(shape, element),
        input_shape=shape,
        workgroup=workgroup,
        partial_reduction=partial,
        thread=thread,
        subgroup_basis=subgroups,
        lane_basis=lanes,
        subgroup_size=candidate.target.subgroup_size,
        waves_per_eu=candidate.config.wpe,
    )


def _knobs(candidate: Candidate) -> tuple[int, int, int, int, int, int]:
    """RW, SR, SG, PR, TH, and the lanes that share a row."""
    c = candidate.config
    th = c.th or 1
    length = c.st or candidate.problem.reduction
    lanes = lanes_over_k(length, th, candidate.target.subgroup_size)
    return c.rw or 1, c.sr or 1, c.sg or 1, c.pr or 1, th, lanes


def _batch(candidate: Candidate) -> list[tuple[int, ...]]:
    """The loop over vectors, kept whole in every lane; none for one vector."""
    m = candidate.problem.shape[0]
    return [(m, 0, 0, 1, 1)] if m > 1 else []


def _matvec_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    m, n, k = candidate.problem.shape
    element = candidate.problem.dtype
    rw, sr, sg, pr, th, lanes = _knobs(candidate)
    size = candidate.target.subgroup_size
    if candidate.problem.layout == "kn":
        over = lanes_over_columns(candidate.config)
        columns: tuple[int, ...] = (rw, 0, th, sr, over)
        rows: tuple[int, ...] = (0, pr, min(pr * over // size, 4), sg, size // over)
        shape = (k,) if m == 1 else (k, n)
        return (_layout(candidate, shape, element, [columns, *_batch(candidate), rows]),)
    dims = [(rw, 0, 0, sr, size // lanes), *_batch(candidate), (0, pr, th, sg, lanes)]
    return (_layout(candidate, (n, k), element, dims),)


def _split_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    _, n, k = candidate.problem.shape
    st = candidate.config.st or k
    rw, sr, sg, pr, th, lanes = _knobs(candidate)
    size = candidate.target.subgroup_size
    parts = k // st
    first = [(rw, 0, 0, sr, size // lanes), (1, 0, 0, 1, 1), (0, pr, th, sg, lanes)]
    return (_layout(candidate, (n, parts, st), candidate.problem.dtype, first),)


def _dequant_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    _, n, k = candidate.problem.shape
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or 1
    rw, sr, sg, pr, th, lanes = _knobs(candidate)
    size = candidate.target.subgroup_size
    in_block = min(block // th, lanes)
    rows = (rw, 0, 0, sr, size // lanes)
    blocks = (0, max(pr // block, 1), 1, sg, lanes // in_block)
    head = [rows, *_batch(candidate), blocks]
    if candidate.form.name == "dequant":
        codes = (0, block, th, 1, in_block)
        return (_layout(candidate, (n, k // block, block), "f32", [*head, codes]),)
    words = (0, block // CODES_A_WORD, th // CODES_A_WORD, 1, in_block)
    codes = (0, CODES_A_WORD, CODES_A_WORD, 1, 1)
    shape = (n, k // block, block // CODES_A_WORD, CODES_A_WORD)
    return (_layout(candidate, shape, "f32", [*head, words, codes]),)


def template_values(candidate: Candidate, function: str, layouts: tuple[Layout, ...]) -> dict[str, object]:
    """The values of every name that the GEMV templates use."""
    problem = candidate.problem
    m, n, k = problem.shape
    out = problem.out_dtype or "f32"
    result = (n,) if m == 1 else (m, n)
    info = [f"compilation_info = #config{i}" for i in range(1, len(layouts) + 1)]
    activations = WEIGHT_FORMATS[problem.dtype].activation_dtype
    title = f"gemv {problem.shape_text} {problem.dtype} {problem.layout} -> {out}"
    return {
        "title": f"{title}: {candidate.form.name} {candidate.config}",
        "function": function,
        "aliases": "".join(f"#config{i} = {compilation_info_text(a)}\n" for i, a in enumerate(layouts, 1)),
        "attributes": f" {{{info[0]}}}" if info else "",
        "generic_attributes": f" attrs = {{{info[0]}}}" if info else "",
        "generic_attributes2": f" attrs = {{{info[1]}}}" if len(info) > 1 else "",
        "element": problem.dtype,
        "activations": tensor_type((k,) if m == 1 else (m, k), activations),
        "sums": tensor_type(result, "f32"),
        "result": tensor_type(result, out),
        **_narrowing(result, out),
        **(_float_values(candidate) if WEIGHT_FORMATS[problem.dtype].block is None else _block_values(candidate)),
    }


def _narrowing(shape: tuple[int, ...], out: str) -> dict[str, object]:
    """The lines that end a function: the f32 sums as they are, or rounded once to a narrower type."""
    sums, result = tensor_type(shape, "f32"), tensor_type(shape, out)
    if out == "f32":
        return {"narrow": f"  return %sums : {sums}\n", "narrow_inside": "", "returned": "%sums"}
    names = ["n"] if len(shape) == 1 else ["m", "n"]
    same = f"affine_map<({', '.join(names)}) -> ({', '.join(names)})>"
    kinds = ", ".join(['"parallel"'] * len(names))
    lines = [
        f"%room = tensor.empty() : {result}",
        f"%narrow = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}}",
        f"    ins(%sums : {sums}) outs(%room : {result}) {{",
        f"^bb0(%wide_sum: f32, %unused: {out}):",
        f"  %rounded = arith.truncf %wide_sum : f32 to {out}",
        f"  linalg.yield %rounded : {out}",
        f"}} -> {result}",
    ]
    return {
        "narrow": "".join(f"  {line}\n" for line in [*lines, f"return %narrow : {result}"]),
        "narrow_inside": "".join(f"    {line}\n" for line in lines),
        "returned": "%narrow",
    }


def _float_values(candidate: Candidate) -> dict[str, object]:
    problem = candidate.problem
    _, n, k = problem.shape
    st = candidate.config.st or k
    return {
        "weights": tensor_type((k, n) if problem.layout == "kn" else (n, k), problem.dtype),
        "weight_loops": "k, n" if problem.layout == "kn" else "n, k",
        "rows": n,
        "split": st,
        "splits": k // st,
        "weight_parts": tensor_type((n, k // st, st), problem.dtype),
        "activation_parts": tensor_type((k // st, st), problem.dtype),
        "partial": tensor_type((n, k // st), "f32"),
    }


def _block_values(candidate: Candidate) -> dict[str, object]:
    problem = candidate.problem
    m, n, k = problem.shape
    form = WEIGHT_FORMATS[problem.dtype]
    block = form.block or 1
    blocks, words = k // block, block // CODES_A_WORD
    batch = ["m"] if m > 1 else []
    lead = [m] if m > 1 else []
    first: list[list[int]] = [[0]] if m > 1 else []
    at = len(first)
    return {
        "weights": tensor_type((n, blocks, block), "i4"),
        "scale": form.scale_dtype,
        "scales": tensor_type((n, blocks), str(form.scale_dtype)),
        "wide_weights": tensor_type((n, blocks, block), "f32"),
        "block_groups": [*first, [at, at + 1]],
        "block_shape": [*lead, blocks, block],
        "activation_blocks": tensor_type((*lead, blocks, block), "f16"),
        "loops": ", ".join(["n", *batch, "b", "j"]),
        "activation_loops": ", ".join([*batch, "b", "j"]),
        "result_loops": ", ".join([*batch, "n"]),
        "iterators": ", ".join(['"parallel"'] * (1 + at) + ['"reduction"'] * 2),
        "words": tensor_type((n, blocks, words), "i32"),
        "wide_words": tensor_type((n, blocks, words, CODES_A_WORD), "f32"),
        "word_groups": [*first, [at, at + 1, at + 2]],
        "word_shape": [*lead, blocks, words, CODES_A_WORD],
        "activation_words": tensor_type((*lead, blocks, words, CODES_A_WORD), "f16"),
        "word_loops": ", ".join(["n", *batch, "b", "v", "u"]),
        "activation_word_loops": ", ".join([*batch, "b", "v", "u"]),
        "word_iterators": ", ".join(['"parallel"'] * (1 + at) + ['"reduction"'] * 3),
        "batch_words": ", vectors" if m > 1 else "",
        **_DECODINGS[candidate.form.name](candidate),
    }


def _table(name: str, indent: str) -> str:
    values = ", ".join(_f32(v) for v in nf4_table())
    return f"{indent}%{name} = arith.constant dense<[{values}]> : tensor<16xf32>\n"


def _block_decoding(candidate: Candidate) -> dict[str, object]:
    """A code of a block to f32, as a frontend would write it."""
    if candidate.problem.dtype == "q4_0":
        lines = [
            "%signed = arith.sitofp %code : i4 to f32",
            "%wide_scale = arith.extf %scale : f16 to f32",
            "%value = arith.mulf %signed, %wide_scale : f32",
        ]
        return {"table": "", "decode": "\n".join(f"    {line}" for line in lines)}
    lines = [
        "%place = arith.index_castui %code : i4 to index",
        "%entry = tensor.extract %table[%place] : tensor<16xf32>",
        "%value = arith.mulf %entry, %scale : f32",
    ]
    return {"table": _table("table", "  "), "decode": "\n".join(f"    {line}" for line in lines)}


def _words_decoding(candidate: Candidate) -> dict[str, object]:
    """A code of a word to f32: constants by a code's place in its word, and the instructions.

    The barrier keeps the exponents (nf4: the table) from becoming constants of the kernel: an AND and an OR with two
    immediates are two instructions on NVIDIA, with one they are one; constant memory serves one address at a time.
    """
    ints = f"tensor<{CODES_A_WORD}xi32>"
    if candidate.problem.dtype == "nf4":
        constants = [("shift", "i32", f"dense<{list(NF4_BITS)}> : {ints}")]
        outer = _table("entries", "  ") + "  %table = util.optimization_barrier %entries : tensor<16xf32>\n"
        lines = [
            "%low = arith.constant 15 : i32",
            "%near = arith.shrui %word, %shift : i32",
            "%code = arith.andi %near, %low : i32",
            "%place = arith.index_castui %code : i32 to index",
            "%entry = tensor.extract %table[%place] : tensor<16xf32>",
            "%value = arith.mulf %entry, %scale : f32",
        ]
        return _decoding(constants, [], outer, lines)
    exponents = [(127 + 23 - p) << 23 for p in POSITIONS]
    offsets = ", ".join(f"{-(2.0 ** (23 - p) + 8):.1f}" for p in POSITIONS)
    constants = [
        ("left", "i32", f"dense<{list(LEFT)}> : {ints}"),
        ("right", "i32", f"dense<{list(RIGHT)}> : {ints}"),
        ("mask", "i32", f"dense<{[0xF << p for p in POSITIONS]}> : {ints}"),
        ("offset", "f32", f"dense<[{offsets}]> : tensor<{CODES_A_WORD}xf32>"),
    ]
    outer = (
        f"  %some_exponents = arith.constant dense<{exponents}> : {ints}\n"
        f"  %exponents = util.optimization_barrier %some_exponents : {ints}\n"
    )
    lines = [
        f"%signs = arith.constant {FLIP_SIGNS} : i32",
        "%codes = arith.xori %word, %signs : i32",
        "%up = arith.shli %codes, %left : i32",
        "%down = arith.shrui %up, %right : i32",
        "%code = arith.andi %down, %mask : i32",
        "%bits = arith.ori %code, %exponent : i32",
        "%big = arith.bitcast %bits : i32 to f32",
        "%wide_scale = arith.extf %scale : f16 to f32",
        "%less = arith.mulf %offset, %wide_scale : f32",
        "%value = math.fma %big, %wide_scale, %less : f32",
    ]
    return _decoding(constants, [("exponent", "i32", ints)], outer, lines)


def _decoding(
    constants: list[tuple[str, str, str]], passed: list[tuple[str, str, str]], outer: str, lines: list[str]
) -> dict[str, object]:
    """Names, types and maps of what the unpacking generic reads besides words and scales."""
    names = [(f"%{name}s", scalar, f"tensor<{CODES_A_WORD}x{scalar}>") for name, scalar, _ in constants]
    names += [(f"%{name}s", scalar, kind) for name, scalar, kind in passed]
    arguments = [f"%{name}: {scalar}" for name, scalar, _ in (*constants, *passed)]
    return {
        "outer_constants": outer,
        "constants": "\n".join(f"    %{name}s = arith.constant {text}" for name, _, text in constants),
        "constant_names": ", ".join(name for name, _, _ in names),
        "constant_types": ", ".join(kind for _, _, kind in names),
        "constant_maps": ", ".join(["affine_map<(n, b, v, u) -> (u)>"] * len(names)),
        "constant_arguments": ", ".join(arguments),
        "decode": "\n".join(f"      {line}" for line in lines),
    }


# How each 4-bit form turns a code into a weight.
_DECODINGS: Mapping[str, Callable[[Candidate], dict[str, object]]] = {
    "dequant": _block_decoding,
    "dequant_words": _words_decoding,
    "dequant_pairs": pairs_values,
    "dequant_sums": sums_values,
}

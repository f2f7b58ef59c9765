"""Named constraints of argmax and argmin: what no form can do, and what one form can't do.

Facts about the compiler are those of IREE 3.13, each seen on the released wheels. Nothing else knows these rules.
"""

from __future__ import annotations

from collections.abc import Callable

from ireebench.candidate import Candidate
from ireebench.problems.dtypes import find_float
from ireebench.space.constraint import Constraint, Rejection, first_broken
from ireebench.space.gemv import GEMV_COMMON, GEMV_FORMS, GEMV_UNTUNED
from ireebench.space.geometry import (
    MAX_LOAD_BYTES,
    StageShape,
    is_power_of_two,
    lanes_used,
    next_power_of_two,
    partials,
    stage_shapes,
)

__all__ = ["Constraint", "Rejection", "common_constraints", "constraints_of", "first_broken", "form_constraints"]

# Elements that a lane may hold of one tile. More spills: each costs up to three registers (value, index).
MAX_ELEMENTS_PER_LANE = 64
# Workgroups along the second dimension of a grid, on CUDA and HIP alike (CUDA C++ guide, compute capabilities).
MAX_GRID_Y = 65_535


def _every_stage(holds: Callable[[Candidate, StageShape], bool]) -> Callable[[Candidate], bool]:
    return lambda c: all(holds(c, stage) for stage in stage_shapes(c))


def _first(holds: Callable[[Candidate, StageShape], bool]) -> Callable[[Candidate], bool]:
    return lambda c: holds(c, stage_shapes(c)[0])


def _second(holds: Callable[[Candidate, StageShape], bool]) -> Callable[[Candidate], bool]:
    return lambda c: not c.variant.split or holds(c, stage_shapes(c)[1])


def _threads(c: Candidate, s: StageShape) -> bool:
    return s.subgroups * s.rows_per_workgroup * c.target.subgroup_size <= c.target.max_threads


def _fills(c: Candidate, s: StageShape) -> bool:
    """A tile is a whole number of loads of every lane in use, and the lanes in use are a power of two."""
    lanes = lanes_used(c.target.subgroup_size, s.subgroups, s.partial_reduction, s.thread)
    return is_power_of_two(lanes) and s.partial_reduction % (s.subgroups * lanes * s.thread) == 0


def _registers(c: Candidate, s: StageShape) -> bool:
    lanes = lanes_used(c.target.subgroup_size, s.subgroups, s.partial_reduction, s.thread)
    return s.partial_reduction <= MAX_ELEMENTS_PER_LANE * s.subgroups * lanes


def _divides(s: StageShape) -> bool:
    return s.length % s.partial_reduction == 0


def _load_bytes(c: Candidate) -> int:
    return (c.config.th or 1) * find_float(c.problem.dtype).bytes


INDEX_HOLDS_SIZE = Constraint(
    "index_holds_size",
    "an index of type {p.index_dtype} can't count {p.reduction} elements",
    lambda c: c.problem.index_dtype != "i32" or c.problem.reduction <= 2**31 - 1,
)

GPU_COMMON = (
    Constraint(
        "split_needs_tile",
        "variant {c.variant.name} needs ST, the tile of its split",
        lambda c: not c.variant.split or c.config.st is not None,
    ),
    Constraint(
        "split_knobs",
        "ST, SG2, PR2 and TH2 belong to vd_split: variant {c.variant.name} has one stage",
        lambda c: c.variant.split or {"ST", "SG2", "PR2", "TH2"}.isdisjoint(c.config.as_dict()),
    ),
    Constraint(
        "known_knobs",
        "a GPU argmax takes SG, PR, TH, RW and WPE (a split also ST, SG2, PR2, TH2) and nothing else",
        lambda c: {"SR", "DIST", "VEC"}.isdisjoint(c.config.as_dict()) and not c.config.is_default,
    ),
    Constraint(
        "power_of_two_subgroups",
        "SG={k.sg} (or SG2, RW) is no power of two: IREE compiles it and returns wrong results on all-negative input",
        _every_stage(lambda _, s: is_power_of_two(s.subgroups) and is_power_of_two(s.rows_per_workgroup)),
    ),
    Constraint(
        "max_threads",
        "more than {t.max_threads} threads a workgroup: IREE compiles it, the device refuses it",
        _every_stage(_threads),
    ),
    Constraint(
        "load_width",
        "TH={k.th} {p.dtype} elements are no power of two of at most 16 bytes",
        lambda c: (
            is_power_of_two(c.config.th or 1)
            and is_power_of_two(c.config.th2 or 1)
            and max(_load_bytes(c), (c.config.th2 or 1) * find_float(c.problem.dtype).bytes) <= MAX_LOAD_BYTES
        ),
    ),
    Constraint(
        "tile_fills_lanes",
        "PR={k.pr} is no multiple of SG={k.sg} x {t.subgroup_size} lanes x TH={k.th}",
        _first(_fills),
    ),
    Constraint(
        "tile_within_reduction",
        "PR={k.pr} is larger than what a workgroup reduces",
        lambda c: (c.config.pr or 0) <= next_power_of_two(c.config.st or c.problem.reduction),
    ),
    Constraint(
        "tile_in_registers",
        f"a lane would hold more than {MAX_ELEMENTS_PER_LANE} elements of a tile at once and spill registers",
        _every_stage(_registers),
    ),
    Constraint(
        "shuffle_type",
        "on CUDA the shuffle comparator compiles for f32 only (nvvm.shfl.sync takes no {p.dtype})",
        lambda c: c.variant.comparator == "ballot" or c.target.backend != "cuda" or c.problem.dtype == "f32",
    ),
    Constraint(
        "split_shorter_than_row",
        "ST={k.st} leaves nothing to split of a row of {p.reduction}",
        lambda c: not c.variant.split or (c.config.st or 0) < c.problem.reduction,
    ),
    Constraint(
        "split_holds_tiles",
        "ST={k.st} is no multiple of PR={k.pr}",
        lambda c: not c.variant.split or (c.config.st or 0) % (c.config.pr or 1) == 0,
    ),
    Constraint(
        "second_stage_fills_lanes",
        "the second stage's PR2={k.pr2} is no multiple of SG2={k.sg2} x lanes x TH2={k.th2}",
        _second(_fills),
    ),
)

_DIVIDES = Constraint(
    "tile_divides_reduction",
    "PR={k.pr} does not divide the {p.reduction} elements of a row",
    _first(lambda _, s: _divides(s)),
)
_SPLIT_DIVIDES = Constraint(
    "split_divides_reduction",
    "ST={k.st} does not divide the {p.reduction} elements of a row",
    lambda c: c.problem.reduction % (c.config.st or 1) == 0,
)
_SECOND_DIVIDES = Constraint(
    "second_tile_divides_partials",
    "PR2={k.pr2} does not divide the partial winners of a row",
    _second(lambda _, s: _divides(s)),
)
_ONE_SUBGROUP_A_ROW = Constraint(
    "rank_one_for_subgroups",
    "IREE 3.13 can't put SG={k.sg} subgroups on a reduction of rank 2 or more (failed to distribute); "
    "forms 'collapse', 'rows' and 'two_stage' do it",
    lambda c: len(c.problem.shape) == 1 or (c.config.sg == 1 and (c.config.sg2 or 1) == 1),
)
_ROWS_FOR_SUBGROUPS = Constraint(
    "rows_for_subgroups",
    "RW={k.rw} does not divide the last dimension of rows",
    lambda c: c.config.rw is None or (len(c.problem.shape) > 1 and c.problem.shape[-2] % c.config.rw == 0),
)
_ONE_ROW_A_WORKGROUP = Constraint(
    "one_row_a_workgroup",
    "RW needs form native or split_attr: this form gives each workgroup one row",
    lambda c: c.config.rw is None,
)
_GRID = Constraint(
    "grid_rows", "more than 65535 rows don't fit a grid's second dimension", lambda c: c.problem.rows <= MAX_GRID_Y
)


def _stages_told_apart(c: Candidate) -> bool:
    """Whether a spec, which matches by the operand's type, can give the two stages of a split what each is to have."""
    first, second = stage_shapes(c)
    return first.length != second.length or first == second


def _some_tile_divides(c: Candidate) -> bool:
    """Whether the form that pads would pad at all."""
    if not c.variant.split:
        return c.problem.reduction % (c.config.pr or 1) == 0
    return c.problem.reduction % (c.config.st or 1) == 0 and partials(c) % (c.config.pr2 or 1) == 0


_NEEDS_PADDING = Constraint(
    "needs_padding", "the tiles divide the reduction: nothing to pad", lambda c: not _some_tile_divides(c)
)

GPU_FORMS: dict[str, tuple[Constraint, ...]] = {
    "native": (_ONE_SUBGROUP_A_ROW, _ROWS_FOR_SUBGROUPS, _DIVIDES),
    "collapse": (
        _ONE_ROW_A_WORKGROUP,
        Constraint("one_row", "more than one row", lambda c: len(c.problem.shape) > 1 and c.problem.rows == 1),
        _DIVIDES,
    ),
    "rows": (
        _ONE_ROW_A_WORKGROUP,
        Constraint("has_rows", "rank 1 has no rows", lambda c: len(c.problem.shape) > 1),
        _DIVIDES,
    ),
    "split_attr": (
        Constraint(
            "spec_is_read",
            "form 'split_attr' is configured by a tuning spec, which IREE 3.13 ignores on {t.name}",
            lambda c: c.target.backend == "hip",
        ),
        _ONE_SUBGROUP_A_ROW,
        _ROWS_FOR_SUBGROUPS,
        _SPLIT_DIVIDES,
        _SECOND_DIVIDES,
        Constraint(
            "stages_told_apart",
            "ST {k.st} makes both stages read {k.st} elements, and a spec gives ops of one type one configuration",
            _stages_told_apart,
        ),
    ),
    "two_stage": (_ONE_ROW_A_WORKGROUP, _SPLIT_DIVIDES, _SECOND_DIVIDES, _GRID),
    "inner_pad": (_ONE_ROW_A_WORKGROUP, _NEEDS_PADDING, _GRID),
}


# The CPU backend chooses its own tiles for arg_compare: only the split is ours.
CPU_COMMON = (
    Constraint(
        "known_knobs",
        "a CPU argmax takes ST where it splits (vd_split, generic) and nothing else",
        lambda c: (
            {name for name, _ in c.config.items()} <= {"ST"}
            and (not c.variant.split or c.config.st is not None)
            and (c.variant.split or c.variant.name == "generic" or c.config.is_default)
        ),
    ),
    GPU_COMMON[[c.name for c in GPU_COMMON].index("split_shorter_than_row")],
)
CPU_FORMS: dict[str, tuple[Constraint, ...]] = {
    "native": (),
    "collapse": GPU_FORMS["collapse"][1:2],
    "rows": GPU_FORMS["rows"][1:2],
    "split_attr": (_SPLIT_DIVIDES,),
    "two_stage": (_SPLIT_DIVIDES, _GRID),
    "inner_pad": (
        Constraint(
            "chunk_on_stack",
            "a padded chunk of ST={k.st} {p.dtype} is more than the 32 KiB of stack that IREE allows",
            lambda c: (c.config.st or 0) * find_float(c.problem.dtype).bytes <= 32_768,
        ),
        Constraint("splits", "without a split there is nothing to pad on a CPU", lambda c: c.variant.split),
        Constraint(
            "needs_padding",
            "ST divides the reduction: nothing to pad",
            lambda c: c.problem.reduction % (c.config.st or 1) != 0,
        ),
        _GRID,
    ),
}

UKERNEL_COMMON = (
    Constraint(
        "ukernel_target",
        "IREE's argmax micro-kernels are for AMD GPUs, not for {t.name}",
        lambda c: c.target.backend == "hip",
    ),
    Constraint(
        "ukernel_op", "IREE has micro-kernels for argmax only, none for {p.op}", lambda c: c.problem.op == "argmax"
    ),
    Constraint("untuned", "variant {c.variant.name} takes no configuration", lambda c: c.config.is_default),
)
UNTUNED_COMMON = UKERNEL_COMMON[2:]
GENERIC_COMMON = (
    Constraint(
        "known_knobs",
        "a generic argmax takes ST (the tile of IREE's own split) and nothing else",
        lambda c: {name for name, _ in c.config.items()} <= {"ST"},
    ),
    Constraint(
        "split_shorter_than_row",
        "ST={k.st} leaves nothing to split of a row of {p.reduction}",
        lambda c: c.config.st is None or c.config.st < c.problem.reduction,
    ),
    Constraint(
        "split_divides_reduction",
        "ST={k.st} does not divide the {p.reduction} elements of a row",
        lambda c: c.config.st is None or c.problem.reduction % c.config.st == 0,
    ),
    Constraint(
        "argmax_alone_is_split",
        "IREE splits a generic argmax and no argmin: leave ST={k.st} out",
        lambda c: c.config.st is None or c.problem.op == "argmax",
    ),
)

TWO_PASS_COMMON = (
    Constraint(
        "cpu_only",
        "variant two_pass is for CPUs: on a GPU the other forms read each row once",
        lambda c: c.target.backend == "cpu",
    ),
    Constraint(
        "known_knobs",
        "a two-pass argmax takes ST (elements of a chunk), DIST and VEC (both or neither) and nothing else",
        lambda c: (
            c.config.st is not None
            and {name for name, _ in c.config.items()} <= {"ST", "DIST", "VEC"}
            and (c.config.dist is None) == (c.config.vec is None)
        ),
    ),
    Constraint(
        "chunk_within_row",
        "ST={k.st} is longer than a row of {p.reduction}",
        lambda c: (c.config.st or 0) <= c.problem.reduction,
    ),
    Constraint(
        "tasks_divide_chunks",
        "DIST={k.dist} does not divide the whole chunks of a row",
        lambda c: c.problem.reduction // (c.config.st or 1) % (c.config.dist or 1) == 0,
    ),
    Constraint(
        "vector_divides_chunk",
        "VEC={k.vec} does not divide ST={k.st}",
        lambda c: (c.config.st or 0) % (c.config.vec or 1) == 0,
    ),
)


def constraints_of(candidate: Candidate) -> tuple[Constraint, ...]:
    """Every constraint that a candidate must satisfy, the general ones first."""
    return (*common_constraints(candidate), *form_constraints(candidate))


def common_constraints(candidate: Candidate) -> tuple[Constraint, ...]:
    """Constraints whatever the form."""
    if candidate.problem.op == "gemv":
        untuned = candidate.target.backend == "cpu" or not candidate.variant.tuned
        return GEMV_UNTUNED if untuned else GEMV_COMMON
    common: tuple[Constraint, ...]
    match candidate.variant.name:
        case "ukernel":
            common = UKERNEL_COMMON
        case "default":
            common = UNTUNED_COMMON
        case "generic":
            common = GENERIC_COMMON
        case "two_pass":
            common = TWO_PASS_COMMON
        case _:
            common = CPU_COMMON if candidate.target.backend == "cpu" else GPU_COMMON
    return (INDEX_HOLDS_SIZE, *common)


def form_constraints(candidate: Candidate) -> tuple[Constraint, ...]:
    """Constraints of the candidate's form."""
    if candidate.problem.op == "gemv":
        return GEMV_FORMS[candidate.form.name]
    if not candidate.variant.name.startswith("vd"):
        return ()
    forms = CPU_FORMS if candidate.target.backend == "cpu" else GPU_FORMS
    return forms[candidate.form.name]

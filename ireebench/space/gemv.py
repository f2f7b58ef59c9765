"""GEMV: geometry, named constraints and knobs of its GPU configurations."""

from __future__ import annotations

from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.constraint import Constraint
from ireebench.space.geometry import MAX_LOAD_BYTES, is_power_of_two
from ireebench.space.knob import UNSET, Knob, Place, Values, powers_of_two
from ireebench.variants import Variant

# Weights that a lane may hold of one tile; with the activations' copies of them more would spill. Twice as many where
# it keeps the words and sums each part of a block at once (eight rows of 32 codes: 80 registers on sm_90).
MAX_WEIGHTS_PER_LANE = 128
_SUMMED_BY_PARTS = ("dequant_pairs", "dequant_sums")
CODES_A_WORD = 8
# Entries of the table of form `dequant_pairs`, one for each byte of two codes, and copies of it: shared memory has 32
# banks of 4 bytes (CUDA C++ programming guide, compute capability 5.x and later; AMD CDNA3 ISA guide, section 11).
PAIRS = 256
PAIR_COPIES = 32


@dataclass(frozen=True, slots=True)
class GemvShape:
    """A GEMV as its configuration sees it: `length` weights are summed for a row, `block` of which share a scale."""

    batch: int
    rows: int
    length: int
    block: int | None
    contiguous_rows: bool

    @classmethod
    def of(cls, problem: Problem, split: int | None = None) -> GemvShape:
        """The shape of a problem, each row cut into parts of `split` if given."""
        batch, rows, k = problem.shape
        return cls(batch, rows, split or k, WEIGHT_FORMATS[problem.dtype].block, problem.layout != "kn")


def load_elements(dtype: str) -> int:
    """Weights of a 16-byte load."""
    return MAX_LOAD_BYTES * 8 // WEIGHT_FORMATS[dtype].bits


def lanes_over_k(length: int, thread: int, subgroup_size: int) -> int:
    """Lanes that share a row: as many as a whole number of loads allows; the others take other rows."""
    lanes = subgroup_size
    while lanes > 1 and length % (lanes * thread) != 0:
        lanes //= 2
    return lanes


def lanes_over_columns(config: Config) -> int:
    """Stored K x N: lanes side by side over the columns of a workgroup; the others share those columns and split K."""
    return max((config.rw or 1) // ((config.sr or 1) * (config.th or 1)), 1)


def _lanes(c: Candidate) -> int:
    return lanes_over_k(GemvShape.of(c.problem, c.config.st).length, c.config.th or 1, c.target.subgroup_size)


def _rows_of_subgroup(c: Candidate) -> int:
    """Rows that one step of all subgroups covers: SR subgroups, and the lanes that don't share a row."""
    return (c.config.sr or 1) * (c.target.subgroup_size // _lanes(c))


def _weights_per_lane(c: Candidate) -> int:
    k = c.config
    if c.problem.layout == "kn":
        return (k.th or 1) * (k.pr or 1) // max(c.target.subgroup_size // lanes_over_columns(k), 1)
    rows = (k.rw or 1) // max(_rows_of_subgroup(c), 1)
    return rows * (k.pr or 1) // ((k.sg or 1) * _lanes(c))


def _fits_registers(c: Candidate) -> bool:
    limit = MAX_WEIGHTS_PER_LANE * (2 if c.form.name in _SUMMED_BY_PARTS else 1)
    weights = _weights_per_lane(c)
    return weights * c.problem.shape[0] <= MAX_WEIGHTS_PER_LANE * 2 and weights <= limit


def _tile_fills(c: Candidate) -> bool:
    k = c.config
    if c.problem.layout == "kn":
        return (k.pr or 0) % max(c.target.subgroup_size // lanes_over_columns(k), 1) == 0
    return (k.pr or 0) % ((k.sg or 1) * _lanes(c) * (k.th or 1)) == 0


def _row_tile(c: Candidate) -> bool:
    k = c.config
    if c.problem.layout == "kn":
        lanes = lanes_over_columns(k)
        fits = is_power_of_two(lanes) and lanes <= c.target.subgroup_size
        return fits and (k.rw or 0) == (k.sr or 1) * lanes * (k.th or 1)
    return (k.rw or 0) % _rows_of_subgroup(c) == 0


def serves(problem: Problem, variant: Variant) -> bool:
    """Whether a variant has a form for the problem's weights at all."""
    four_bit = WEIGHT_FORMATS[problem.dtype].block is not None
    if variant.name == "vd_sums":
        return problem.dtype == "q4_0"
    if variant.name in ("vd_words", "vd_pairs"):
        return four_bit
    return not variant.split or (not four_bit and problem.layout == "nk" and problem.shape[0] == 1)


_SERVED = Constraint(
    "weight_format",
    "vd_words and vd_pairs serve 4-bit weights, vd_sums q4_0; vd_split f16 and bf16 stored N x K, one vector at a time",
    lambda c: serves(c.problem, c.variant),
)

# Seen on an H200 with IREE 3.13: both compile and return wrong sums.
_MISCOMPILED = (
    Constraint(
        "columns_one_subgroup",
        "stored K x N, IREE sums the part of one subgroup only: SG={k.sg} must be 1",
        lambda c: c.problem.layout != "kn" or c.config.sg == 1,
    ),
    Constraint(
        "batch_one_row_a_lane",
        "with several vectors IREE mixes up the rows of a lane: RW={k.rw} must give each lane one",
        lambda c: c.problem.shape[0] == 1 or c.problem.layout == "kn" or c.config.rw == _rows_of_subgroup(c),
    ),
    Constraint(
        "sixteen_subgroups_in_block",
        "with SG=16 IREE loses part of the sum where TH={k.th} lets four lanes or more share a block of 4-bit weights",
        lambda c: c.config.sg != 16 or (WEIGHT_FORMATS[c.problem.dtype].block or 0) < 4 * (c.config.th or 1),
    ),
)

GEMV_COMMON = (
    _SERVED,
    Constraint(
        "known_knobs",
        "a GPU gemv takes RW, SR, SG, PR, TH and WPE (vd_split also ST) and nothing else",
        lambda c: (
            {"RW", "SR", "SG", "PR", "TH"} <= c.config.as_dict().keys() <= {"RW", "SR", "SG", "PR", "TH", "WPE", "ST"}
        ),
    ),
    Constraint(
        "split_needs_tile",
        "variant vd_split needs ST, the part of K that one workgroup sums",
        lambda c: (c.config.st is None) != c.variant.split,
    ),
    Constraint(
        "power_of_two_subgroups",
        "SG={k.sg} or SR={k.sr} is no power of two",
        lambda c: is_power_of_two(c.config.sg or 1) and is_power_of_two(c.config.sr or 1),
    ),
    Constraint(
        "max_threads",
        "SG={k.sg} x SR={k.sr} subgroups are more than {t.max_threads} threads",
        lambda c: (c.config.sg or 1) * (c.config.sr or 1) * c.target.subgroup_size <= c.target.max_threads,
    ),
    Constraint(
        "load_width",
        "TH={k.th} {p.dtype} weights are no power of two of at most 16 bytes",
        lambda c: is_power_of_two(c.config.th or 1) and (c.config.th or 1) <= load_elements(c.problem.dtype),
    ),
    Constraint(
        "split_divides_k",
        "ST={k.st} does not divide K, or leaves nothing to split",
        lambda c: c.config.st is None or (c.problem.reduction % c.config.st == 0 and c.config.st < c.problem.reduction),
    ),
    Constraint("tile_fills_lanes", "PR={k.pr} is no whole number of loads of all lanes that share a row", _tile_fills),
    Constraint(
        "tile_divides_k",
        "PR={k.pr} does not divide the K={p.reduction} (or ST) weights of a row",
        lambda c: (c.config.st or c.problem.reduction) % (c.config.pr or 1) == 0,
    ),
    Constraint("row_tile", "RW={k.rw} is no whole number of rows for SR={k.sr} subgroups and their lanes", _row_tile),
    Constraint(
        "rows_divide",
        "RW={k.rw} does not divide the rows of the weight",
        lambda c: c.problem.shape[1] % (c.config.rw or 1) == 0,
    ),
    *_MISCOMPILED,
    Constraint(
        "tile_in_registers",
        f"a lane would hold more than {MAX_WEIGHTS_PER_LANE} weights at once (vd_pairs, vd_sums: twice that) and spill",
        _fits_registers,
    ),
)

_FLOAT_WEIGHTS = Constraint(
    "float_weights",
    "form '{c.form.name}' is for f16 and bf16 weights",
    lambda c: WEIGHT_FORMATS[c.problem.dtype].block is None,
)
_FOUR_BIT = Constraint(
    "four_bit_weights",
    "form '{c.form.name}' is for 4-bit weights",
    lambda c: WEIGHT_FORMATS[c.problem.dtype].block is not None,
)
_LOADS_IN_BLOCK = Constraint(
    "block_holds_loads",
    "TH={k.th} weights are more than a block, or no whole words of eight",
    lambda c: (
        c.config.th is None
        or ((c.config.th <= (WEIGHT_FORMATS[c.problem.dtype].block or 0)) and c.config.th % CODES_A_WORD == 0)
    ),
)
_LAYOUT_OF_GPU = Constraint(
    "gpu_layout",
    "form '{c.form.name}' says which lane sums what; {t.name} has no lanes",
    lambda c: c.target.backend != "cpu",
)
# IREE 3.13: on an H200 18 of 27 such kernels returned NaN; in the emulator (gfx942) those of several vectors were off
# by the surplus.
_HALVES_OF_BLOCK = Constraint(
    "halves_of_block",
    "form '{c.form.name}' is miscompiled where TH={k.th} lets four lanes or more share a block",
    lambda c: (WEIGHT_FORMATS[c.problem.dtype].block or 0) < 4 * (c.config.th or 1),
)
GEMV_FORMS: dict[str, tuple[Constraint, ...]] = {
    "matvec": (_FLOAT_WEIGHTS,),
    "matvec_split": (_FLOAT_WEIGHTS,),
    "dequant": (_FOUR_BIT, _LOADS_IN_BLOCK),
    "dequant_words": (_FOUR_BIT, _LOADS_IN_BLOCK),
    "dequant_pairs": (_FOUR_BIT, _LOADS_IN_BLOCK, _LAYOUT_OF_GPU),
    "dequant_sums": (_FOUR_BIT, _LOADS_IN_BLOCK, _LAYOUT_OF_GPU, _HALVES_OF_BLOCK),
}
GEMV_UNTUNED = (
    _SERVED,
    Constraint("known_knobs", "a gemv takes no configuration on {t.name}", lambda c: c.config.is_default),
    Constraint("split_on_gpu", "a CPU has no use for split K", lambda c: not c.variant.split),
)


def _split(place: Place, _: Config) -> Values:
    if not place.variant.split:
        return UNSET
    k = place.problem.reduction
    return tuple(k // n for n in (2, 4, 8, 16) if k % n == 0 and k // n >= 256) or (k,)


def _row_subgroups(place: Place, _: Config) -> Values:
    return (1, 2, 4)


def _k_subgroups(place: Place, config: Config) -> Values:
    return powers_of_two(1, min(16, place.target.max_threads // place.target.subgroup_size // (config.sr or 1)))


def _thread(place: Place, _: Config) -> Values:
    widest = load_elements(place.problem.dtype)
    return (widest, widest // 2, widest // 4)


def _row_tiles(place: Place, config: Config) -> Values:
    size, th, sr = place.target.subgroup_size, config.th or 1, config.sr or 1
    if place.problem.layout == "kn":
        return tuple(sr * th * lanes for lanes in (2, 4, 8, size))
    step = sr * (size // lanes_over_k(config.st or place.problem.reduction, th, size))
    return tuple(step * n for n in (1, 2, 4, 8))


def _tiles(place: Place, config: Config) -> Values:
    sg, th = config.sg or 1, config.th or 1
    length = config.st or place.problem.reduction
    if place.problem.layout == "kn":
        lanes = place.target.subgroup_size // min(lanes_over_columns(config), place.target.subgroup_size)
        return tuple(lanes * n for n in (1, 2, 4, 8))
    load = sg * lanes_over_k(length, th, place.target.subgroup_size) * th
    odd = tuple(load * n for n in (3, 5, 7, 9) if length % (load * n) == 0)
    return tuple(sorted({load, load * 2, load * 4, *odd}))


GEMV_KNOBS: tuple[Knob, ...] = (
    Knob("st", "part of K that one workgroup of the first stage sums", _split),
    Knob("sr", "subgroups over rows", _row_subgroups),
    Knob("sg", "subgroups that share a row", _k_subgroups),
    Knob("th", "weights that a thread loads at once, 16 bytes at most", _thread),
    Knob("rw", "rows of a workgroup (stored K x N: columns)", _row_tiles),
    Knob("pr", "elements of K that a workgroup reads of each row in one iteration", _tiles),
)


def preference(c: Candidate) -> tuple[float, ...]:
    """Small is promising: 16-byte loads, one an iteration, few rows a lane, about four subgroups over K.

    Rows of a lane: one for floats, two for 4-bit weights, which share the conversions of the activations, four where
    they share more. Where each workgroup fills a table first, eight subgroups in all: with four, the filling alone
    takes ptxas to 72 registers on sm_90; with eight, the kernel takes 42 to 48.
    """
    k = c.config
    if c.problem.layout == "kn":
        return (
            load_elements(c.problem.dtype) / (k.th or 1),
            abs(lanes_over_columns(k) - 4),
            float(k.sr or 1),
            -float(k.pr or 1),
        )
    rows = (k.rw or 1) / _rows_of_subgroup(c)
    loads = (k.pr or 1) / ((k.sg or 1) * _lanes(c) * (k.th or 1))
    fills = c.form.name == "dequant_pairs"
    wanted = 4.0 if c.form.name in _SUMMED_BY_PARTS else 2.0 if WEIGHT_FORMATS[c.problem.dtype].block else 1.0
    return (
        load_elements(c.problem.dtype) / (k.th or 1),
        abs(rows - wanted),
        loads,
        abs((k.sg or 1) * (k.sr or 1) - 8.0) if fills else abs((k.sg or 1) - 4.0),
        float(k.sr or 1),
    )

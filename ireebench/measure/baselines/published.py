"""Published figures as a baseline: shown beside measured ones, never checked, never run, never mixed with them.

Source and protocol: `data/published/README.md`. Another build of the compiler made those kernels.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from ireebench.problems.dtypes import FLOATS, INDEX_TYPES
from ireebench.problems.problem import Op, Problem
from ireebench.targets import find_target

NOTE = "published, not measured here: another compiler made them"
TARGET = "gfx942"

# What the report's tables call the problems of the catalogue, in either spelling.
_IDS: dict[str, str] = {
    "LLaMA-2-7B": "llama2-7b",
    "llama2_7b": "llama2-7b",
    "LLaMA-2-7B (batch)": "llama2-7b-batch",
    "llama2_batch8": "llama2-7b-batch",
    "LLaMA-3-8B": "llama3-8b",
    "llama3_8b": "llama3-8b",
    "LLaMA-3-8B (batch)": "llama3-8b-batch",
    "llama3_batch32": "llama3-8b-batch",
    "Mistral-7B": "mistral-7b",
    "mistral_7b": "mistral-7b",
    "Qwen-2-7B": "qwen2-7b",
    "qwen2_7b": "qwen2-7b",
    "Gemma-7B": "gemma-7b",
    "gemma_7b": "gemma-7b",
    "Bloom-7B": "bloom-7b",
    "bloom_7b": "bloom-7b",
    "Falcon-7B": "falcon-7b",
    "falcon_7b": "falcon-7b",
    "GPT-2": "gpt2",
    "gpt2": "gpt2",
    "Whisper-Large": "whisper-large",
    "whisper_large": "whisper-large",
    "ResNet-50": "resnet50",
    "imagenet_1k": "resnet50",
    "BERT-Base": "bert-base",
    "bert_base": "bert-base",
    "RecSys 100K": "recsys-100k",
    "recsys_100k": "recsys-100k",
    "RecSys 1M": "recsys-1m",
    "recsys_1m": "recsys-1m",
    "K-NN": "knn",
    "knn_50k": "knn",
    "VQ Codebook": "vq-codebook",
    "vq_codebook": "vq-codebook",
    "Image Retrieval": "image-retrieval",
    "image_retrieval": "image-retrieval",
}
_ARGMIN = frozenset({"knn", "vq-codebook", "image-retrieval"})

# file -> (column of times in us, implementation, column of the configuration)
_TABLES: dict[str, tuple[tuple[str, str, str | None], ...]] = {
    "mi300x_argcompare_kernel_us.csv": (
        ("vd_us", "vd", None),
        ("vd_split_us", "vd_split", None),
        ("hipcub_us", "hipcub", None),
        ("ukernel_us", "ukernel", None),
        ("pytorch_us", "torch", None),
        ("ck_us", "ck", None),
    ),
    "mi300x_argcompare_tuned_sg_pr.csv": (("tuned_vd_us", "vd tuned", "best_sg_pr"),),
    "mi300x_argcompare_tuned_sg_pr_st.csv": (("tuned_vd_us", "vd_split tuned", "best_sg_pr_st"),),
    "mi300x_argcompare_dpp_vs_shuffle.csv": (("shuffle_us", "vd_shuffle", None),),
    "mi300x_argcompare_dpp_vs_shuffle_split.csv": (("shuffle_split_us", "vd_split_shuffle", None),),
}


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One published time on a card of `target`. `config` as SG/PR[/ST]; `source` is the data file.

    `shape` is (rows, reduction) for argmax and argmin, (M, N, K) for gemv.

    `implausible` says why the figure cannot be right as published; `remark` what makes it look faster than memory.
    """

    problem: str
    op: Op
    shape: tuple[int, ...]
    dtype: str
    implementation: str
    us: float
    config: str | None
    source: str
    target: str
    gb_per_s: float
    implausible: str | None
    remark: str | None

    @property
    def label(self) -> str:
        """For a table: "published vd_split tuned 16/1024/2048"."""
        return f"published {self.implementation}{f' {self.config}' if self.config else ''}"


@functools.cache
def figures() -> tuple[PublishedFigure, ...]:
    """All published times, table by table."""
    return (*_argcompare(), *_gemv())


def figures_for(problem: Problem) -> tuple[PublishedFigure, ...]:
    """The figures for a problem: of its own row, else of every row with its op, shape and element type.

    The report measured padded shapes; a problem at its original shape has none.
    """
    shape = problem.shape if problem.op == "gemv" else (problem.rows, problem.reduction)
    same = [f for f in figures() if (f.op, f.shape, f.dtype) == (problem.op, shape, problem.dtype)]
    own = [f for f in same if f.problem == problem.id]
    return tuple(own or same)


def _argcompare() -> Iterator[PublishedFigure]:
    dtypes: dict[str, str] = {}
    for file, columns in _TABLES.items():
        for row in _rows(file):
            problem = _IDS[row["model"]]
            dtype = dtypes.setdefault(problem, row.get("dtype", "f32"))
            shape = _shape(row["shape"])
            for column, implementation, config in columns:
                if not row[column]:
                    continue
                us = float(row[column])
                moved = bytes_moved(shape, dtype)
                implausible, remark = judge(moved, us)
                op: Op = "argmin" if problem in _ARGMIN else "argmax"
                yield PublishedFigure(
                    problem=problem,
                    op=op,
                    shape=shape,
                    dtype=dtype,
                    implementation=implementation,
                    us=us,
                    config=row[config] if config else None,
                    source=file,
                    target=TARGET,
                    gb_per_s=moved / us / 1e3,
                    implausible=implausible,
                    remark=remark,
                )


def _gemv() -> Iterator[PublishedFigure]:
    """GEMV times; bandwidth as the reports count it."""
    for row in _rows("mi300x_gemv_f16_4096x4096.csv"):
        yield PublishedFigure(
            problem="published-4096x4096",
            op="gemv",
            shape=(1, 4096, 4096),
            dtype="f16",
            implementation=row["version"],
            us=float(row["us"]),
            config=f"grid {row['best_grid']}",
            source="mi300x_gemv_f16_4096x4096.csv",
            target=TARGET,
            gb_per_s=float(row["gb_per_s"]),
            implausible=None,
            remark=None,
        )
    for row in _rows("gfx1151_gemv_8192x28672.csv"):
        nf4 = "NF4" in row["kernel"]
        yield PublishedFigure(
            problem="published-8192x28672-nf4" if nf4 else "published-8192x28672",
            op="gemv",
            shape=(1, 8192, 28672),
            dtype="nf4" if nf4 else "bf16",
            implementation=row["kernel"],
            us=float(row["us"]),
            config=None,
            source="gfx1151_gemv_8192x28672.csv",
            target="gfx1151",
            gb_per_s=float(row["achieved_read_gb_per_s"]),
            implausible=None,
            remark=None,
        )


def bytes_moved(shape: tuple[int, int], dtype: str) -> int:
    """Bytes that must move: the input read once, a value and an i64 index written for each row."""
    rows, reduction = shape
    element = FLOATS[dtype].bytes
    return rows * (reduction * element + element + INDEX_TYPES["i64"].itemsize)


def judge(moved: int, us: float) -> tuple[str | None, str | None]:
    """(why it is implausible, what else is to be said) of `moved` bytes in `us` microseconds on the report's card.

    Faster than the memory's specification is impossible for what exceeds the last-level cache; what fits may be hot.
    """
    card = find_target(TARGET)
    assert card.spec_gb_per_s is not None
    assert card.cache_bytes is not None
    rate = moved / us / 1e3
    if rate <= card.spec_gb_per_s:
        return None, None
    words = (
        f"{moved / 1e6:.0f} MB in {us:g} us would be {rate / 1e3:.1f} TB/s on a {card.spec_gb_per_s / 1e3:g} TB/s card"
    )
    if moved > card.cache_bytes:
        return f"implausible: {words}", None
    return None, f"{words}: only from its {card.cache_bytes >> 20} MiB cache"


def _rows(file: str) -> list[dict[str, str]]:
    path = resources.files("ireebench.measure.baselines") / "data" / "published" / file
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def _shape(text: str) -> tuple[int, int]:
    """ "(8, 32768)", "32×1024", "8x512x32768" or "131072" as (rows, reduction)."""
    *leading, reduction = (int(p) for p in text.strip("()").replace("×", "x").replace(",", "x").split("x") if p.strip())
    return math.prod(leading), reduction

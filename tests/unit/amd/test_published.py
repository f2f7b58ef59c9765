"""Published figures: copied right, matched to problems, and marked where they cannot be right."""

from __future__ import annotations

import pytest

from ireebench.measure.baselines.published import PublishedFigure, figures, figures_for
from ireebench.problems.problem import Problem


def one(problem: str, implementation: str) -> PublishedFigure:
    (found,) = [f for f in figures() if (f.problem, f.implementation) == (problem, implementation)]
    return found


@pytest.mark.parametrize(
    ("problem", "implementation", "us"),
    [
        ("llama3-8b-batch", "vd", 15.02),
        ("llama3-8b-batch", "vd_split", 6.29),
        ("llama3-8b-batch", "hipcub", 129.55),
        ("gpt2", "ukernel", 177.74),
        ("image-retrieval", "torch", 207.52),
        ("llama2-7b", "ck", 2477.62),
        ("llama3-8b", "vd_shuffle", 13.70),
        ("gpt2", "vd_split_shuffle", 5.09),
        ("published-4096x4096", "wide loads", 9.5),
    ],
)
def test_figures_are_those_of_the_tables(problem: str, implementation: str, us: float) -> None:
    assert one(problem, implementation).us == us


def test_a_blank_cell_is_no_figure() -> None:
    assert not [f for f in figures() if (f.problem, f.implementation) == ("resnet50", "vd_split")]


@pytest.mark.parametrize(
    ("problem", "implementation", "words"),
    [
        ("bert-base", "vd_split tuned", "12.3 TB/s on a 5.3 TB/s card"),
        ("knn", "vd_split tuned", "6.7 TB/s on a 5.3 TB/s card"),
    ],
)
def test_what_is_faster_than_the_memory_allows_is_marked(problem: str, implementation: str, words: str) -> None:
    figure = one(problem, implementation)
    assert figure.implausible is not None
    assert words in figure.implausible


def test_what_fits_the_cache_is_remarked_and_not_called_implausible() -> None:
    figure = one("vq-codebook", "vd tuned")
    assert figure.implausible is None
    assert figure.remark is not None
    assert "only from its 256 MiB cache" in figure.remark


def test_only_the_two_are_implausible() -> None:
    assert {(f.problem, f.us) for f in figures() if f.implausible} == {("bert-base", 43.56), ("knn", 40.08)}


def test_a_problem_gets_its_own_row_among_models_of_one_shape() -> None:
    gemma = Problem("gemma-7b", "argmax", (1, 262144), "bf16")
    assert {f.implementation: f.us for f in figures_for(gemma)}["vd"] == 22.39
    bert = Problem("bert-base", "argmax", (8, 512, 32768), "f32")
    assert {f.implementation for f in figures_for(bert)} >= {"vd", "vd tuned", "vd_split tuned"}


def test_a_shape_of_ones_own_gets_every_row_of_that_shape_and_an_unpadded_one_none() -> None:
    mine = Problem("custom", "argmax", (262144,), "bf16")
    assert {f.problem for f in figures_for(mine)} == {"qwen2-7b", "gemma-7b", "bloom-7b"}
    assert figures_for(Problem("gemma-7b", "argmax", (1, 256000), "bf16")) == ()
    assert figures_for(Problem("knn", "argmax", (1024, 65536), "f32")) == ()  # published for argmin

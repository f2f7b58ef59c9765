"""GEMV by AMD's BLAS libraries, through rocblas-bench and hipblaslt-bench.

A GEMV of f16 or bf16 is a GEMM with one column there (rocBLAS has gemv for f32 only). The weight is column-major: nk,
where row n is contiguous, is its transpose. Both print a CSV line under a header that ends in "-Gflops", "-GB/s", "us".
Sources: ROCm/rocBLAS clients/include/testing_gemm_ex.hpp, ROCm/hipBLASLt pull requests 395, 1093 and 1544.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ireebench.measure.baselines.tools import ToolFigure
from ireebench.problems.problem import Problem

_TYPES = {"f32": "f32_r", "f16": "f16_r", "bf16": "bf16_r"}
WARMUP, ITERATIONS = 100, 500
_SOLUTION = re.compile(r"Solution (?:index|name)\s*:\s*(\S+)")


def _serves(problem: Problem) -> str | None:
    if problem.op != "gemv":
        return f"BLAS does not compute {problem.op}"
    return None if problem.dtype in _TYPES else f"no matrix of {problem.dtype}"


def _shape(problem: Problem) -> tuple[list[str], list[str]]:
    """Sizes and leading dimensions as a column-major GEMM of N x M results, and the transposition of the weight."""
    m, n, k = problem.shape
    lda, trans = (n, "N") if problem.layout == "kn" else (k, "T")
    sizes = ["-m", str(n), "-n", str(m), "-k", str(k), "--lda", str(lda), "--ldb", str(k), "--ldc", str(n)]
    return [*sizes, "--ldd", str(n)], [trans, "N"]


def _types(problem: Problem) -> list[str]:
    t, out = _TYPES[problem.dtype], _TYPES.get(problem.out_dtype or problem.dtype, _TYPES[problem.dtype])
    return ["--a_type", t, "--b_type", t, "--c_type", out, "--d_type", out, "--compute_type", "f32_r"]


def _best(output: str, library: str) -> ToolFigure | str:
    """The smallest "us" of all result lines, with the solution that the lines after it name."""
    found: list[tuple[float, str | None]] = []
    column: int | None = None
    for line in output.splitlines():
        cells = [c.strip() for c in re.sub(r"^\[\d+\]:?", "", line.strip()).split(",")]
        gflops = next((i for i, c in enumerate(cells) if c == f"{library}-Gflops"), None)
        if gflops is not None:
            # The first "us" after it: with verification a second one, the CPU's, follows.
            column = next((i for i, c in enumerate(cells) if i > gflops and c == "us"), None)
        elif column is not None and len(cells) > column and _is_number(cells[column]):
            found.append((float(cells[column]), None))
        elif found and (named := _SOLUTION.search(line)):
            found[-1] = (found[-1][0], named.group(1))
    good = [f for f in found if f[0] > 0]
    if not good:
        return "no line of results in its output"
    us, solution = min(good, key=lambda f: f[0])
    return ToolFigure(us * 1e3, solution, None, len(found))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class RocblasBench:
    """rocBLAS gemm_ex."""

    name: str = "rocblas"
    tool: str = "rocblas-bench"
    install: str = "install the package rocblas-benchmarks of your ROCm, or build rocBLAS with ./install.sh -c"

    def serves(self, problem: Problem) -> str | None:
        """GEMV of f32, f16 and bf16."""
        return _serves(problem)

    def command(self, problem: Problem, tool: str) -> list[str]:
        """100 cold and 500 timed calls."""
        sizes, (a, b) = _shape(problem)
        counts = ["--cold_iters", str(WARMUP), "--iters", str(ITERATIONS)]
        how = ["-f", "gemm_ex", "--transposeA", a, "--transposeB", b, "--alpha", "1", "--beta", "0"]
        return [tool, *how, *sizes, *_types(problem), *counts]

    def parse(self, output: str) -> ToolFigure | str:
        """Its mean."""
        return _best(output, "rocblas")


@dataclass(frozen=True, slots=True)
class HipblasltBench:
    """hipBLASLt matmul: the best of the solutions that its heuristic proposes."""

    name: str = "hipblaslt"
    tool: str = "hipblaslt-bench"
    install: str = "install the package hipblaslt-benchmarks of your ROCm, or build hipBLASLt with ./install.sh -c"

    def serves(self, problem: Problem) -> str | None:
        """GEMV of f32, f16 and bf16."""
        return _serves(problem)

    def command(self, problem: Problem, tool: str) -> list[str]:
        """100 cold and 500 timed calls, by the GPU's clock, of ten solutions."""
        sizes, (a, b) = _shape(problem)
        counts = ["--cold_iters", str(WARMUP), "--iters", str(ITERATIONS), "--use_gpu_timer"]
        how = ["--function", "matmul", "--transA", a, "--transB", b, "--alpha", "1", "--beta", "0"]
        return [tool, *how, *sizes, *_types(problem), *counts, "--requested_solution", "10", "--print_kernel_info"]

    def parse(self, output: str) -> ToolFigure | str:
        """The best solution's mean."""
        return _best(output, "hipblaslt")


ROCBLAS = RocblasBench()
HIPBLASLT = HipblasltBench()

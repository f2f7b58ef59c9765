"""Vendor's benchmark programs: the command line they get and the figure taken from what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.measure.baselines import ckprofiler, miopen, rocm_bench, tools
from ireebench.measure.baselines.tools import ToolBaseline, ToolFigure
from ireebench.outcome import Failure, Status
from ireebench.problems.problem import Problem

ARGMAX = Problem("x", "argmax", (1, 32768), "f16")
ARGMIN = Problem("x", "argmin", (4, 8, 1024), "bf16")
GEMV = Problem("x", "gemv", (1, 4096, 11008), "f16", None, "f16", "nk")

# As profile_reduce_impl.hpp prints it: a line an instance, "Fail Info" after one whose result is wrong.
CK = """
Perf: 2.47762 ms, 0.0264 GB/s, DeviceReduceMultiBlock<256,M_C256_S1,K_C1_S1,InSrcVectorDim_0>
Perf: 0.021 ms, 3.12 GB/s, DeviceReduceThreadWise<256>
Fail Info: DeviceReduceThreadWise<256>
Perf: 0.0254 ms, 2.58 GB/s, DeviceReduceMultiBlock<256,M_C1_S1,K_C256_S8>
Best Perf: 0.021 ms, 3.12 GB/s
"""
ROCBLAS = """Query device success: there are 1 devices
transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,rocblas-GB/s,us,CPU-Gflops,us,norm_error
T,N,4096,1,11008,1,11008,0,11008,4096,4096,1, 3456.1, 3457.0, 26.09, 1.2, 75000, 0
"""
HIPBLASLT = """
[0]:transA,transB,m,n,k,d_type,compute_type,rotating_buffer,hipblaslt-Gflops,hipblaslt-GB/s,us
    T,N,4096,1,11008,f16_r,f32_r,512, 3000.5, 2990.1, 30.1
    --Solution index: 1711
[1]:transA,transB,m,n,k,d_type,compute_type,rotating_buffer,hipblaslt-Gflops,hipblaslt-GB/s,us
    T,N,4096,1,11008,f16_r,f32_r,512, 4000.5, 3900.1, 22.5
    --Solution index: 1803
"""
MIOPEN = """MIOpenDriver reduceextremefp16 -X 1x32768 -R 1 -O 2
GPU Kernel Time Forward ReduceExtreme Elapsed: 0.018345 ms
Forward ReduceExtreme Incide Verifies on CPU and GPU
"""


def figure(baseline: ToolBaseline, output: str) -> ToolFigure:
    found = baseline.parse(output)
    assert isinstance(found, ToolFigure)
    return found


def test_the_best_right_instance_of_ck_counts_and_is_named() -> None:
    found = figure(ckprofiler.BASELINE, CK)
    assert found.mean_ns == pytest.approx(25_400)
    assert found.instance == "DeviceReduceMultiBlock<256,M_C1_S1,K_C256_S8>"
    assert (found.instances, found.verified) == (3, True)


def test_blas_times_are_the_gpus_and_not_the_cpus() -> None:
    assert figure(rocm_bench.ROCBLAS, ROCBLAS).mean_ns == pytest.approx(26_090)


def test_the_best_of_hipblaslts_solutions_counts_and_is_named() -> None:
    found = figure(rocm_bench.HIPBLASLT, HIPBLASLT)
    assert found.mean_ns == pytest.approx(22_500)
    assert (found.instance, found.instances) == ("1803", 2)


def test_miopens_verdict_goes_with_its_time() -> None:
    found = figure(miopen.BASELINE, MIOPEN)
    assert found.mean_ns == pytest.approx(18_345)
    assert found.verified is True
    assert figure(miopen.BASELINE, MIOPEN.replace("Incide Verifies on CPU and GPU", "FAILED: Indice")).verified is False


@pytest.mark.parametrize(
    ("baseline", "output"),
    [
        (ckprofiler.BASELINE, "Error: No kernel is applicable\n"),
        (rocm_bench.ROCBLAS, "rocblas-Gflops,rocblas-GB/s,us\n"),
        (rocm_bench.HIPBLASLT, ""),
        (miopen.BASELINE, "no such command"),
    ],
)
def test_output_without_a_figure_is_said_to_have_none(baseline: ToolBaseline, output: str) -> None:
    assert isinstance(baseline.parse(output), str)


@pytest.mark.parametrize(
    ("baseline", "problem", "words"),
    [
        (ckprofiler.BASELINE, ARGMAX, "reduce -D 1,32768 -R 1 -O 3 -N 0 -I 1 -v 1 --half 3 1"),
        (ckprofiler.BASELINE, ARGMIN, "reduce -D 32,1024 -R 1 -O 2 -N 0 -I 1 -v 1 --bf16 3 1"),
        (miopen.BASELINE, ARGMIN, "reduceextremebfp16 -X 32x1024 -R 1 -O 1 -i 500 -t 1 -V 1"),
        (rocm_bench.ROCBLAS, GEMV, "-m 4096 -n 1 -k 11008 --lda 11008 --ldb 11008 --ldc 4096"),
        (rocm_bench.HIPBLASLT, GEMV, "--transA T --transB N"),
    ],
)
def test_command_lines(baseline: ToolBaseline, problem: Problem, words: str) -> None:
    assert baseline.serves(problem) is None
    assert words in " ".join(baseline.command(problem, "tool"))


def test_a_tool_that_is_not_here_says_how_to_get_it() -> None:
    found = tools.run(ckprofiler.BASELINE, ARGMAX, env={"PATH": "/nowhere", "ROCM_PATH": "/nowhere"})
    assert isinstance(found, Failure)
    assert found.status is Status.UNAVAILABLE
    assert "build ROCm/composable_kernel" in found.reason


def test_an_op_that_a_tool_lacks_is_refused() -> None:
    found = tools.run(rocm_bench.ROCBLAS, ARGMAX)
    assert isinstance(found, Failure)
    assert (found.status, found.reason) == (Status.REJECTED, "rocblas: BLAS does not compute argmax")


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        (f"cat <<'E'\n{MIOPEN}E", None, ""),
        ("echo 'hipErrorNoBinaryForGpu' >&2; exit 3", Status.RUN_FAILED, "exit code 3): hipErrorNoBinaryForGpu"),
        ("sleep 30", Status.RUN_TIMEOUT, "did not end in 0.5 s"),
        (
            "echo 'GPU Kernel Time Forward ReduceExtreme Elapsed: 1 ms'; echo Forward ReduceExtreme FAILED: x",
            Status.WRONG_RESULT,
            "wrong",
        ),
    ],
)
def test_how_a_tool_ends_is_an_outcome(tmp_path: Path, script: str, status: Status | None, words: str) -> None:
    tool = tmp_path / "MIOpenDriver"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    found = tools.run(miopen.BASELINE, ARGMAX, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, timeout_s=0.5)
    if status is None:
        assert isinstance(found, ToolFigure)
    else:
        assert isinstance(found, Failure)
        assert found.status is status
        assert words in found.reason

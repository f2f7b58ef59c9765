// The sources beside this file are written in CUDA's names. Under hipcc (or the host stub of the tests) this header
// maps the few names they use to HIP's and hipCUB's, so that both vendors' libraries are driven by the same code.
#pragma once

#if defined(__HIP_PLATFORM_AMD__)

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define cudaError_t hipError_t
#define cudaSuccess hipSuccess
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaStream_t hipStream_t
#define cudaDeviceProp hipDeviceProp_t
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaSetDevice hipSetDevice
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaMemGetInfo hipMemGetInfo
#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaMemcpy hipMemcpy
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemset hipMemset
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamDestroy hipStreamDestroy

#define GPU_LAUNCH(kernel, grid, block, stream, ...) \
  hipLaunchKernelGGL(kernel, dim3(grid), dim3(block), 0, stream, __VA_ARGS__)

#define GPU_NONTEMPORAL_LOAD(p) __builtin_nontemporal_load(p)

using gpu_half = __half;
using gpu_bfloat16 = hip_bfloat16;

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define GPU_LAUNCH(kernel, grid, block, stream, ...) kernel<<<(grid), (block), 0, (stream)>>>(__VA_ARGS__)

using gpu_half = __half;
using gpu_bfloat16 = __nv_bfloat16;

#endif

#include <cstdint>
#include <string>

// The reason of the last failure in this thread, as `*_last_error()` returns it.
inline std::string& gpu_error_text() {
  static thread_local std::string text;
  return text;
}

inline bool gpu_ok(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return true;
  gpu_error_text() = std::string(what) + ": " + cudaGetErrorString(status);
  return false;
}

#define GPU_TRY(call)                       \
  do {                                      \
    if (!gpu_ok((call), #call)) return false; \
  } while (0)

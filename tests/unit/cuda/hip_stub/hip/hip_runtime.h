// The few HIP names that the native sources use, run by the host: memory is malloc, a kernel is a loop over its threads.
// It checks the HIP mode's syntax, types and arithmetic on machines without ROCm; it is no model of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __builtin_nontemporal_load(p) (*(p))

enum hipError_t { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };
constexpr unsigned hipStreamNonBlocking = 1;

struct hipStreamStub {};
using hipStream_t = hipStreamStub*;

struct hipDeviceProp_t {
  char name[256];
  int multiProcessorCount;
  int major;
  int minor;
  int l2CacheSize;
};

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline thread_local dim3 blockIdx, threadIdx, blockDim, gridDim;

inline const char* hipGetErrorString(hipError_t e) { return e == hipSuccess ? "no error" : "stub error"; }
inline hipError_t hipGetLastError() { return hipSuccess; }
// The stub has one device, so that an ordinal it does not know is refused as HIP refuses it.
inline hipError_t hipSetDevice(int device) { return device == 0 ? hipSuccess : hipErrorInvalidValue; }
inline hipError_t hipDeviceSynchronize() { return hipSuccess; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int) {
  std::memset(p, 0, sizeof(*p));
  std::snprintf(p->name, sizeof(p->name), "host stub");
  p->multiProcessorCount = 2;
  p->major = 9;
  p->l2CacheSize = 1 << 20;
  return hipSuccess;
}
inline hipError_t hipDeviceGetPCIBusId(char* id, int length, int) {
  std::snprintf(id, length, "0000:00:00.0");
  return hipSuccess;
}
inline hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = *total_bytes = std::size_t{1} << 28;
  return hipSuccess;
}
template <typename T>
hipError_t hipMalloc(T** p, std::size_t bytes) {
  *p = static_cast<T*>(std::malloc(bytes));
  return *p != nullptr ? hipSuccess : hipErrorOutOfMemory;
}
inline hipError_t hipFree(void* p) {
  std::free(p);
  return hipSuccess;
}
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind) {
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
inline hipError_t hipMemset(void* p, int value, std::size_t bytes) {
  std::memset(p, value, bytes);
  return hipSuccess;
}
inline hipError_t hipStreamCreateWithFlags(hipStream_t* s, unsigned) {
  *s = new hipStreamStub;
  return hipSuccess;
}
inline hipError_t hipStreamSynchronize(hipStream_t) { return hipSuccess; }
inline hipError_t hipStreamDestroy(hipStream_t s) {
  delete s;
  return hipSuccess;
}

inline std::uint32_t atomicXor(std::uint32_t* p, std::uint32_t value) {
  const std::uint32_t old = *p;
  *p ^= value;
  return old;
}

template <typename Kernel, typename... Args>
void hipLaunchKernelGGL(Kernel kernel, dim3 grid, dim3 block, unsigned, hipStream_t, Args... args) {
  gridDim = grid;
  blockDim = block;
  for (unsigned b = 0; b < grid.x; ++b)
    for (unsigned t = 0; t < block.x; ++t) {
      blockIdx = dim3(b, 0, 0);
      threadIdx = dim3(t, 0, 0);
      kernel(args...);
    }
}

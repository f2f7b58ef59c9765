// Streaming read: how fast can this device read a buffer at all? The denominator of every percentage.
//
// A pool of pseudo-random words (no compressible pattern) is read in 16-byte loads, folded into registers with xor and
// stored only if the fold happens to equal a number chosen at launch, so that no load can be left out. In checking mode
// every thread's fold goes to the sink, where the host compares it with what it computed: proof that every word is read.
// Functions return 0, or -1 with a text in `ceiling_last_error`.
#include "gpu_alias.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

extern "C" {

// What a ceiling and a percentage have to know about the device. Sizes in bytes.
struct ceiling_device {
  char name[256];
  char pci_bus_id[32];
  std::int32_t multiprocessors;
  std::int32_t major;
  std::int32_t minor;
  std::int32_t reserved;
  std::uint64_t l2_bytes;
  std::uint64_t total_bytes;
  std::uint64_t free_bytes;
};

}  // extern "C"

namespace {

// How a word is loaded; `loads` in Python's table. On HIP the last two are both non-temporal.
enum Loads { kPlain = 0, kStreaming = 1, kNoAllocate = 2, kEvictFirst = 3 };

// Which words a thread reads; `walk` in Python's table.
//   grid: block b reads tile b, then tile b + gridDim: all blocks sweep the buffer together.
//   chunk: block b reads one contiguous chunk of the buffer: as a kernel does that gives each row a workgroup.
enum Walk { kGrid = 0, kChunk = 1 };

struct alignas(16) Word {
  std::uint32_t x, y, z, w;
};

template <int L>
__device__ __forceinline__ Word load(const Word* p) {
  Word v;
#if defined(__HIP_PLATFORM_AMD__)
  if constexpr (L == kPlain) {
    v = *p;
  } else {
    const std::uint32_t* q = reinterpret_cast<const std::uint32_t*>(p);
    v.x = GPU_NONTEMPORAL_LOAD(q);
    v.y = GPU_NONTEMPORAL_LOAD(q + 1);
    v.z = GPU_NONTEMPORAL_LOAD(q + 2);
    v.w = GPU_NONTEMPORAL_LOAD(q + 3);
  }
#else
  if constexpr (L == kPlain) {
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  } else if constexpr (L == kStreaming) {
    asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  } else if constexpr (L == kNoAllocate) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
  } else {
#if __CUDA_ARCH__ >= 800
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "l"(policy));
#else
    asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
#endif
  }
#endif
  return v;
}

__device__ __forceinline__ std::uint32_t fold(Word v) { return v.x ^ v.y ^ v.z ^ v.w; }

// Reads words [0, count) of `p`. Stores when the fold equals `magic`, or always when `check` is set.
template <int L, int UNROLL, int WALK>
__global__ void read_words(const Word* p, std::uint64_t count, std::uint32_t magic, int check, std::uint32_t* sink) {
  const std::uint64_t tile = static_cast<std::uint64_t>(blockDim.x) * UNROLL;
  std::uint64_t begin = blockIdx.x * tile;
  std::uint64_t end = count;
  std::uint64_t step = gridDim.x * tile;
  if (WALK == kChunk) {
    const std::uint64_t tiles = (count + tile - 1) / tile;
    const std::uint64_t chunk = (tiles + gridDim.x - 1) / gridDim.x * tile;
    begin = blockIdx.x * chunk;
    end = begin + chunk < count ? begin + chunk : count;
    step = tile;
  }
  std::uint32_t acc = 0;
  std::uint64_t base = begin;
  for (; base + tile <= end; base += step) {
    Word v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) v[u] = load<L>(p + base + u * blockDim.x + threadIdx.x);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) acc ^= fold(v[u]);
  }
  // At most one partial tile is left, and it belongs to one block.
  for (std::uint64_t i = base + threadIdx.x; i < end && base < end; i += blockDim.x) acc ^= fold(load<L>(p + i));
  if (check != 0 || acc == magic) atomicXor(sink, acc);
}

__global__ void fill_words(std::uint32_t* p, std::uint64_t count) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761u;
    p[i] = x ^ (x >> 15);
  }
}

__global__ void empty(std::uint32_t* sink) {
  if (sink == nullptr) *sink = 0;
}

using Kernel = void (*)(const Word*, std::uint64_t, std::uint32_t, int, std::uint32_t*);

template <int L, int U>
Kernel by_walk(int walk) {
  return walk == kGrid ? read_words<L, U, kGrid> : walk == kChunk ? read_words<L, U, kChunk> : nullptr;
}

template <int L>
Kernel by_unroll(int unroll, int walk) {
  switch (unroll) {
    case 1:
      return by_walk<L, 1>(walk);
    case 2:
      return by_walk<L, 2>(walk);
    case 4:
      return by_walk<L, 4>(walk);
    case 8:
      return by_walk<L, 8>(walk);
  }
  return nullptr;
}

Kernel find_kernel(int loads, int unroll, int walk) {
  switch (loads) {
    case kPlain:
      return by_unroll<kPlain>(unroll, walk);
    case kStreaming:
      return by_unroll<kStreaming>(unroll, walk);
    case kNoAllocate:
      return by_unroll<kNoAllocate>(unroll, walk);
    case kEvictFirst:
      return by_unroll<kEvictFirst>(unroll, walk);
  }
  return nullptr;
}

class Pool {
 public:
  ~Pool() {
    cudaFree(words_);
    cudaFree(sink_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  bool create(int device, std::uint64_t bytes) {
    device_ = device;
    bytes_ = bytes;
    GPU_TRY(cudaSetDevice(device));
    GPU_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    GPU_TRY(cudaMalloc(&words_, bytes));
    GPU_TRY(cudaMalloc(&sink_, sizeof(std::uint32_t)));
    GPU_TRY(cudaMemset(sink_, 0, sizeof(std::uint32_t)));
    GPU_TRY(cudaDeviceSynchronize());
    GPU_LAUNCH(fill_words, 4096, 256, stream_, words_, bytes / sizeof(std::uint32_t));
    GPU_TRY(cudaGetLastError());
    return sync();
  }

  bool launch(std::uint64_t offset, std::uint64_t bytes, int loads, int unroll, int walk, int grid, int block,
              int check) {
    const Kernel kernel = find_kernel(loads, unroll, walk);
    if (kernel == nullptr || offset % sizeof(Word) != 0 || bytes % sizeof(Word) != 0 || offset + bytes > bytes_ ||
        grid < 1 || block < 1) {
      gpu_error_text() = "ceiling_launch: no such kernel, or a range outside the pool";
      return false;
    }
    GPU_TRY(cudaSetDevice(device_));
    const Word* p = reinterpret_cast<const Word*>(reinterpret_cast<const char*>(words_) + offset);
    GPU_LAUNCH(kernel, grid, block, stream_, p, bytes / sizeof(Word), 0x9E3779B9u, check, sink_);
    GPU_TRY(cudaGetLastError());
    return true;
  }

  bool launch_empty() {
    GPU_TRY(cudaSetDevice(device_));
    GPU_LAUNCH(empty, 1, 32, stream_, sink_);
    GPU_TRY(cudaGetLastError());
    return true;
  }

  bool sync() {
    GPU_TRY(cudaStreamSynchronize(stream_));
    return true;
  }

  // The xor of all words of the last checking launch; clears it.
  bool take_sink(std::uint32_t* value) {
    GPU_TRY(cudaSetDevice(device_));
    if (!sync()) return false;
    GPU_TRY(cudaMemcpy(value, sink_, sizeof(*value), cudaMemcpyDeviceToHost));
    GPU_TRY(cudaMemset(sink_, 0, sizeof(*value)));
    GPU_TRY(cudaDeviceSynchronize());
    return true;
  }

 private:
  int device_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t* words_ = nullptr;
  std::uint32_t* sink_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

Pool* of(void* handle) { return static_cast<Pool*>(handle); }

int code(bool ok) { return ok ? 0 : -1; }

bool describe(int device, struct ceiling_device* out) {
  cudaDeviceProp properties;
  GPU_TRY(cudaSetDevice(device));
  GPU_TRY(cudaGetDeviceProperties(&properties, device));
  std::memset(out, 0, sizeof(*out));
  std::snprintf(out->name, sizeof(out->name), "%s", properties.name);
  GPU_TRY(cudaDeviceGetPCIBusId(out->pci_bus_id, sizeof(out->pci_bus_id), device));
  out->multiprocessors = properties.multiProcessorCount;
  out->major = properties.major;
  out->minor = properties.minor;
  out->l2_bytes = properties.l2CacheSize;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  GPU_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  out->free_bytes = free_bytes;
  out->total_bytes = total_bytes;
  return true;
}

}  // namespace

extern "C" {

const char* ceiling_last_error() { return gpu_error_text().c_str(); }

int ceiling_describe(int device, struct ceiling_device* out) { return code(describe(device, out)); }

void* ceiling_create(int device, std::uint64_t bytes) {
  auto pool = std::make_unique<Pool>();
  return pool->create(device, bytes) ? pool.release() : nullptr;
}

int ceiling_launch(void* handle, std::uint64_t offset, std::uint64_t bytes, int loads, int unroll, int walk, int grid,
                   int block, int check) {
  return code(of(handle)->launch(offset, bytes, loads, unroll, walk, grid, block, check));
}

int ceiling_launch_empty(void* handle) { return code(of(handle)->launch_empty()); }

int ceiling_sync(void* handle) { return code(of(handle)->sync()); }

int ceiling_take_sink(void* handle, std::uint32_t* value) { return code(of(handle)->take_sink(value)); }

void ceiling_destroy(void* handle) { delete of(handle); }

}  // extern "C"

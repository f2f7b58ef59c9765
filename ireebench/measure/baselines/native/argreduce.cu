// Argmax and argmin of rows with the vendor's reduction library: CUB, or hipCUB through gpu_alias.hpp.
//
// A handle owns the input copies, the outputs and the temporary storage, all allocated in `argreduce_create`, so that
// a launch is the library call and nothing else. Functions return 0, or -1 with a text in `argreduce_last_error`.
#include "gpu_alias.hpp"

#if defined(__HIP_PLATFORM_AMD__)
#include <hipcub/hipcub.hpp>
namespace cub = hipcub;
#else
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#endif

#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

namespace {

enum Op { kArgmax = 0, kArgmin = 1 };
enum Type { kF16 = 0, kBf16 = 1, kF32 = 2 };
enum Form { kDevice = 0, kSegmented = 1, kSegmentedOffsets = 2, kSegmentedFixed = 3 };

// DeviceSegmentedReduce takes a segment size instead of offsets from CUB 3.1 on.
#if defined(CUB_VERSION) && CUB_VERSION >= 300100
constexpr bool kHasFixed = true;
#else
constexpr bool kHasFixed = false;
#endif

// Segment borders that are computed, not loaded: element i is start + i * length.
struct StridedOffsets {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;

  int start;
  int length;

  __host__ __device__ int operator[](difference_type i) const { return start + static_cast<int>(i) * length; }
  __host__ __device__ int operator*() const { return start; }
  __host__ __device__ StridedOffsets operator+(difference_type i) const { return {(*this)[i], length}; }
  __host__ __device__ StridedOffsets& operator+=(difference_type i) {
    start = (*this)[i];
    return *this;
  }
};

// What does not depend on the element type: memory, the stream, the launch.
class Reducer {
 public:
  virtual ~Reducer() {
    cudaFree(input_);
    cudaFree(output_);
    cudaFree(offsets_);
    cudaFree(temp_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  bool create(int device, Op op, Form form, std::int64_t rows, std::int64_t n, int copies, const void* host) {
    device_ = device;
    op_ = op;
    form_ = form;
    rows_ = rows;
    n_ = n;
    GPU_TRY(cudaSetDevice(device));
    GPU_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    const std::size_t bytes = static_cast<std::size_t>(rows) * n * element_bytes();
    stride_ = (bytes + 511) / 512 * 512;  // every copy as aligned as an allocation of its own
    GPU_TRY(cudaMalloc(&input_, stride_ * copies));
    GPU_TRY(cudaMemcpy(input_, host, bytes, cudaMemcpyHostToDevice));
    for (int c = 1; c < copies; ++c) GPU_TRY(cudaMemcpy(input_ + stride_ * c, input_, bytes, cudaMemcpyDeviceToDevice));
    output_bytes_ = rows * pair_bytes();
    GPU_TRY(cudaMalloc(&output_, output_bytes_));
    if (form == kSegmentedOffsets) {
      std::vector<int> borders(rows + 1);
      for (std::int64_t r = 0; r <= rows; ++r) borders[r] = static_cast<int>(r * n);
      GPU_TRY(cudaMalloc(&offsets_, borders.size() * sizeof(int)));
      GPU_TRY(cudaMemcpy(offsets_, borders.data(), borders.size() * sizeof(int), cudaMemcpyHostToDevice));
    }
    GPU_TRY(reduce(input_));  // temp_ is null: asks for the size only
    GPU_TRY(cudaMalloc(&temp_, temp_bytes_ > 0 ? temp_bytes_ : 1));
    GPU_TRY(cudaDeviceSynchronize());
    return poison();
  }

  bool launch(int copy) {
    GPU_TRY(reduce(input_ + stride_ * copy));
    GPU_TRY(cudaGetLastError());
    return true;
  }

  bool sync() {
    GPU_TRY(cudaStreamSynchronize(stream_));
    return true;
  }

  // All bits set: NaN as a value, -1 as an index.
  bool poison() {
    GPU_TRY(cudaMemset(output_, 0xFF, output_bytes_));
    GPU_TRY(cudaDeviceSynchronize());
    return true;
  }

  // Other libraries in the process may have made another device current in this thread.
  bool select() {
    GPU_TRY(cudaSetDevice(device_));
    return true;
  }

  // Copies the outputs to the host: `values` in the input's type, `indices` relative to the row.
  virtual bool read(void* values, std::int64_t* indices) = 0;

 protected:
  virtual std::size_t element_bytes() const = 0;
  virtual std::size_t pair_bytes() const = 0;
  virtual cudaError_t reduce(const char* input) = 0;

  int device_ = 0;
  Op op_ = kArgmax;
  Form form_ = kDevice;
  std::int64_t rows_ = 0;
  std::int64_t n_ = 0;
  std::size_t stride_ = 0;
  std::size_t output_bytes_ = 0;
  char* input_ = nullptr;
  char* output_ = nullptr;
  int* offsets_ = nullptr;
  char* temp_ = nullptr;
  std::size_t temp_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
};

template <typename T>
class TypedReducer final : public Reducer {
  using Pair = cub::KeyValuePair<int, T>;
  // DeviceReduce writes value and index apart in CUB; hipCUB has the pair only.
  struct Split {
    std::int64_t index;
    T value;
  };

 public:
  bool read(void* values, std::int64_t* indices) override {
    std::vector<char> raw(output_bytes_);
    GPU_TRY(cudaMemcpy(raw.data(), output_, output_bytes_, cudaMemcpyDeviceToHost));
    T* out = static_cast<T*>(values);
    if (split()) {
      const Split* one = reinterpret_cast<const Split*>(raw.data());
      out[0] = one->value;
      indices[0] = one->index;
      return true;
    }
    const Pair* pairs = reinterpret_cast<const Pair*>(raw.data());
    for (std::int64_t r = 0; r < rows_; ++r) {
      out[r] = pairs[r].value;
      indices[r] = pairs[r].key;
    }
    return true;
  }

 protected:
  std::size_t element_bytes() const override { return sizeof(T); }
  std::size_t pair_bytes() const override { return split() ? sizeof(Split) : sizeof(Pair); }

  bool split() const {
#if defined(__HIP_PLATFORM_AMD__)
    return false;
#else
    return form_ == kDevice;
#endif
  }

  cudaError_t reduce(const char* input) override {
    const T* in = reinterpret_cast<const T*>(input);
    switch (form_) {
      case kDevice:
        return whole(in);
      case kSegmented:
        return segments(in, StridedOffsets{0, static_cast<int>(n_)},
                        StridedOffsets{static_cast<int>(n_), static_cast<int>(n_)});
      case kSegmentedOffsets:
        return segments(in, static_cast<const int*>(offsets_), static_cast<const int*>(offsets_) + 1);
      case kSegmentedFixed:
        return fixed(in);
    }
    return cudaErrorInvalidValue;
  }

  cudaError_t whole(const T* in) {
#if defined(__HIP_PLATFORM_AMD__)
    Pair* out = reinterpret_cast<Pair*>(output_);
    const int n = static_cast<int>(n_);
    return op_ == kArgmax ? cub::DeviceReduce::ArgMax(temp_, temp_bytes_, in, out, n, stream_)
                          : cub::DeviceReduce::ArgMin(temp_, temp_bytes_, in, out, n, stream_);
#else
    Split* out = reinterpret_cast<Split*>(output_);
    return op_ == kArgmax ? cub::DeviceReduce::ArgMax(temp_, temp_bytes_, in, &out->value, &out->index, n_, stream_)
                          : cub::DeviceReduce::ArgMin(temp_, temp_bytes_, in, &out->value, &out->index, n_, stream_);
#endif
  }

  template <typename Offsets>
  cudaError_t segments(const T* in, Offsets begin, Offsets end) {
    Pair* out = reinterpret_cast<Pair*>(output_);
    const int rows = static_cast<int>(rows_);
    return op_ == kArgmax ? cub::DeviceSegmentedReduce::ArgMax(temp_, temp_bytes_, in, out, rows, begin, end, stream_)
                          : cub::DeviceSegmentedReduce::ArgMin(temp_, temp_bytes_, in, out, rows, begin, end, stream_);
  }

  cudaError_t fixed(const T* in) {
#if defined(CUB_VERSION) && CUB_VERSION >= 300100
    using Fixed = ::cuda::std::pair<int, T>;  // what this form writes; `read` takes it for a Pair
    static_assert(sizeof(Fixed) == sizeof(Pair), "same layout as KeyValuePair");
    Fixed* out = reinterpret_cast<Fixed*>(output_);
    const int n = static_cast<int>(n_);
    return op_ == kArgmax ? cub::DeviceSegmentedReduce::ArgMax(temp_, temp_bytes_, in, out, rows_, n, stream_)
                          : cub::DeviceSegmentedReduce::ArgMin(temp_, temp_bytes_, in, out, rows_, n, stream_);
#else
    (void)in;
    return cudaErrorInvalidValue;
#endif
  }
};

std::unique_ptr<Reducer> make(int type) {
  switch (type) {
    case kF16:
      return std::make_unique<TypedReducer<gpu_half>>();
    case kBf16:
      return std::make_unique<TypedReducer<gpu_bfloat16>>();
    case kF32:
      return std::make_unique<TypedReducer<float>>();
  }
  return nullptr;
}

int code(bool ok) { return ok ? 0 : -1; }

Reducer* of(void* handle) { return static_cast<Reducer*>(handle); }

}  // namespace

extern "C" {

const char* argreduce_last_error() { return gpu_error_text().c_str(); }

int argreduce_has_fixed() { return kHasFixed ? 1 : 0; }

// The library's version as its header spells it (CUB: major * 100000 + minor * 100 + subminor); 0 where it has none.
int argreduce_library_version() {
#if defined(CUB_VERSION)
  return CUB_VERSION;
#elif defined(HIPCUB_VERSION)
  return HIPCUB_VERSION;
#else
  return 0;
#endif
}

// `host` holds rows * n elements. Returns a handle, or null.
void* argreduce_create(int device, int op, int type, int form, std::int64_t rows, std::int64_t n, int copies,
                       const void* host) {
  const bool whole = form == kDevice;
  const std::int64_t limit = std::numeric_limits<int>::max();
  std::unique_ptr<Reducer> reducer = make(type);
  if (reducer == nullptr || (op != kArgmax && op != kArgmin) || form < kDevice || form > kSegmentedFixed) {
    gpu_error_text() = "argreduce_create: unknown type, op or form";
    return nullptr;
  }
  if (form == kSegmentedFixed && !kHasFixed) {
    gpu_error_text() = "argreduce_create: this CUB has no fixed segment size (3.1 has)";
    return nullptr;
  }
  if (rows < 1 || n < 1 || copies < 1 || (whole && rows != 1) || rows > limit / n) {
    gpu_error_text() = "argreduce_create: rows, n and copies must be positive, rows 1 for a device reduction, and "
                       "rows * n below 2^31";
    return nullptr;
  }
  const bool made = reducer->create(device, static_cast<Op>(op), static_cast<Form>(form), rows, n, copies, host);
  return made ? reducer.release() : nullptr;
}

int argreduce_launch(void* handle, int copy) { return code(of(handle)->select() && of(handle)->launch(copy)); }

int argreduce_sync(void* handle) { return code(of(handle)->select() && of(handle)->sync()); }

int argreduce_poison(void* handle) { return code(of(handle)->select() && of(handle)->poison()); }

int argreduce_read(void* handle, void* values, std::int64_t* indices) {
  return code(of(handle)->select() && of(handle)->sync() && of(handle)->read(values, indices));
}

void argreduce_destroy(void* handle) { delete of(handle); }

}  // extern "C"

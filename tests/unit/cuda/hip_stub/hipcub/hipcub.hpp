// The four hipCUB calls that the sources use, with hipCUB's signatures (both offset iterators of one type, int counts,
// the temporary-storage protocol), computed by plain loops on the host.
#pragma once

#include <hip/hip_runtime.h>

#define HIPCUB_VERSION 999999

namespace hipcub {

template <typename K, typename V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
};

namespace stub {

// True when only the size was asked for.
inline bool sizing(void* temp, std::size_t& bytes) {
  if (temp != nullptr) return false;
  bytes = 16;
  return true;
}

template <bool Max, typename In, typename T>
void reduce(In in, int begin, int end, KeyValuePair<int, T>* out) {
  int best = begin;
  for (int i = begin + 1; i < end; ++i) {
    const float candidate = in[i], current = in[best];
    if (Max ? candidate > current : candidate < current) best = i;
  }
  *out = {best - begin, in[best]};
}

template <bool Max, typename In, typename T>
hipError_t whole(void* temp, std::size_t& bytes, In in, KeyValuePair<int, T>* out, int n) {
  if (!sizing(temp, bytes)) reduce<Max>(in, 0, n, out);
  return hipSuccess;
}

template <bool Max, typename In, typename T, typename Offsets>
hipError_t segments(void* temp, std::size_t& bytes, In in, KeyValuePair<int, T>* out, int n, Offsets begin,
                    Offsets end) {
  if (!sizing(temp, bytes))
    for (int s = 0; s < n; ++s) reduce<Max>(in, begin[s], end[s], out + s);
  return hipSuccess;
}

}  // namespace stub

struct DeviceReduce {
  template <typename In, typename Out>
  static hipError_t ArgMax(void* temp, std::size_t& bytes, In in, Out out, int n, hipStream_t = nullptr) {
    return stub::whole<true>(temp, bytes, in, out, n);
  }
  template <typename In, typename Out>
  static hipError_t ArgMin(void* temp, std::size_t& bytes, In in, Out out, int n, hipStream_t = nullptr) {
    return stub::whole<false>(temp, bytes, in, out, n);
  }
};

struct DeviceSegmentedReduce {
  template <typename In, typename Out, typename Offsets>
  static hipError_t ArgMax(void* temp, std::size_t& bytes, In in, Out out, int n, Offsets begin, Offsets end,
                           hipStream_t = nullptr) {
    return stub::segments<true>(temp, bytes, in, out, n, begin, end);
  }
  template <typename In, typename Out, typename Offsets>
  static hipError_t ArgMin(void* temp, std::size_t& bytes, In in, Out out, int n, Offsets begin, Offsets end,
                           hipStream_t = nullptr) {
    return stub::segments<false>(temp, bytes, in, out, n, begin, end);
  }
};

}  // namespace hipcub

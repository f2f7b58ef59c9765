// bfloat16 as a storage type that compares through float: what the sources need of HIP's hip_bfloat16.
#pragma once

#include <cstdint>
#include <cstring>

struct hip_bfloat16 {
  std::uint16_t data;

  operator float() const {
    const std::uint32_t wide = static_cast<std::uint32_t>(data) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
};

// IEEE half precision as a storage type that compares through float: what the sources need of HIP's __half.
#pragma once

#include <cmath>
#include <cstdint>

struct __half {
  std::uint16_t bits;

  operator float() const {
    const int sign = bits >> 15, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    float magnitude = 0;
    if (exponent == 31) {
      magnitude = mantissa != 0 ? NAN : INFINITY;
    } else if (exponent == 0) {
      magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    } else {
      magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    }
    return sign != 0 ? -magnitude : magnitude;
  }
};

// Saturating signed 64-bit arithmetic for amounts. kUnlimited (MaxInt64) is the sentinel of spec/admission.md §2.1:
// U + x = U; U - bounded = U; bounded - U = MinInt64; U - U = 0.
#pragma once

#include <cstdint>
#include <limits>

namespace muster {

using Amount = std::int64_t;

inline constexpr Amount kUnlimited = std::numeric_limits<Amount>::max();
inline constexpr Amount kMinAmount = std::numeric_limits<Amount>::min();

inline Amount sat_add(Amount a, Amount b) {
  if (a == kUnlimited || b == kUnlimited) {
    return kUnlimited;
  }
  Amount sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b > 0 ? kUnlimited : kMinAmount;
  }
  return sum;
}

inline Amount sat_sub(Amount a, Amount b) {
  if (a == kUnlimited) {
    return b == kUnlimited ? 0 : kUnlimited;
  }
  if (b == kUnlimited) {
    return kMinAmount;
  }
  Amount difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return b < 0 ? kUnlimited : kMinAmount;
  }
  return difference;
}

inline Amount sat_mul(Amount a, Amount b) {
  Amount product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return (a < 0) == (b < 0) ? kUnlimited : kMinAmount;
  }
  return product;
}

}  // namespace muster

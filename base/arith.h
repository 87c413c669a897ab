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

// For products of amounts. The sums and products below saturate at its ends.
__extension__ using Wide = __int128;

inline constexpr Wide kMaxWide = (((Wide{1} << 126) - 1) << 1) + 1;
inline constexpr Wide kMinWide = -kMaxWide - 1;

inline Wide wide_add(Wide a, Wide b) {
  Wide sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? kMaxWide : kMinWide) : sum;
}

inline Wide wide_mul(Wide a, Wide b) {
  Wide product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? kMaxWide : kMinWide) : product;
}

inline Amount clamp_to_amount(Wide value) {
  return static_cast<Amount>(value > kUnlimited ? Wide{kUnlimited} : value < kMinAmount ? Wide{kMinAmount} : value);
}

inline Amount sat_mul(Amount a, Amount b) {
  Amount product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return (a < 0) == (b < 0) ? kUnlimited : kMinAmount;
  }
  return product;
}

}  // namespace muster

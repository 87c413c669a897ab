// Exact comparison of products that do not fit 64 bits. No floating point, no overflow.
#pragma once

#include "base/arith.h"
#include "base/check.h"

#include <array>
#include <compare>
#include <cstdint>

namespace muster {

__extension__ using Uint128 = unsigned __int128;

// Precondition: nothing is negative.
inline Uint128 wide_product(Amount a, Amount b) {
  MUSTER_DCHECK(a >= 0 && b >= 0);
  return Uint128{static_cast<std::uint64_t>(a)} * static_cast<std::uint64_t>(b);
}

// a[0]·a[1]·a[2] against b[0]·b[1]·b[2]; nothing is negative. Each product has at most 189 bits.
inline std::strong_ordering compare_products(const std::array<Amount, 3>& a, const std::array<Amount, 3>& b) {
  struct Product {
    Uint128 high = 0;  // above the low 64 bits
    std::uint64_t low = 0;
  };

  const auto product = [](const std::array<Amount, 3>& factors) {
    const Uint128 two = wide_product(factors[0], factors[1]);
    const auto third = static_cast<std::uint64_t>(factors[2]);
    const Uint128 low = static_cast<std::uint64_t>(two) * Uint128{third};
    return Product{(two >> 64) * third + (low >> 64), static_cast<std::uint64_t>(low)};
  };
  const Product left = product(a);
  const Product right = product(b);
  if (left.high != right.high) {
    return left.high < right.high ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return left.low <=> right.low;
}

}  // namespace muster

// Amounts in a resource's natural unit (a core, a byte) with nine decimals, for what is a fraction of an Amount. Wide
// enough for the largest Kubernetes quantity; saturating, rounded down; no floating point.
#pragma once

#include <string_view>

#include "base/arith.h"
#include "base/check.h"

namespace muster {

using Nano = Wide;

inline constexpr Amount kNanoPerUnit = 1'000'000'000;
inline constexpr Nano kMaxNano = Nano{kUnlimited} * kNanoPerUnit;  // the largest that Kubernetes can write

inline Nano clamp_nano(Nano value) { return value < -kMaxNano ? -kMaxNano : value > kMaxNano ? kMaxNano : value; }

// From a resource's base unit.
inline Nano to_nano(std::string_view resource, Amount amount) {
  return Nano{amount} * (resource == "cpu" ? kNanoPerUnit / 1000 : kNanoPerUnit);
}

// floor(a · numerator / denominator). Precondition: 0 <= numerator, 0 < denominator.
inline Wide scale_down(Wide a, Amount numerator, Amount denominator) {
  MUSTER_DCHECK(numerator >= 0 && denominator > 0);
  Wide whole = a / denominator;
  Wide rest = a % denominator;
  if (rest < 0) {
    rest += denominator;
    --whole;
  }
  const Wide product = wide_mul(whole, numerator);
  return product == kMinWide ? product : wide_add(product, rest * numerator / denominator);
}

}  // namespace muster

// Kubernetes quantities (`100m`, `2Gi`, `1e3`) as exact integers of a resource's base unit: milli-units for `cpu`,
// whole units for every other resource, fractions rounded up (spec/admission.md §2.1). No floating point.
#pragma once

#include <string>
#include <string_view>

#include "base/arith.h"
#include "base/nano.h"
#include "base/result.h"

namespace muster {

// A parsed quantity before it is scaled to a resource: value = mantissa * 10^exponent, exact up to the parser's bound
// (sign, 40 digits); anything beyond int64 saturates when scaled.
// Amount in the base unit of `resource`, clamped to the int64 range. kInvalid on syntax Kubernetes refuses.
Result<Amount> parse_amount(std::string_view resource, std::string_view quantity);

// The same for a quota: values at or above the limit of §2.1 become kUnlimited.
Result<Amount> parse_quota(std::string_view resource, std::string_view quantity);

// Exact factor arithmetic for other uses (replica counts, weights): value in thousandths, rounded up.
Result<Amount> parse_milli(std::string_view quantity);
// The same in billionths, the finest that Kubernetes keeps.
Result<Amount> parse_nano(std::string_view quantity);
// The same for every quantity that Kubernetes knows: its value, not its billionths, is clamped to the int64 range.
Result<Nano> parse_wide_nano(std::string_view quantity);
// Canonical text of billionths: `1500m`, `2`, `3n`.
std::string format_nano(Nano nano);

// Canonical text of an amount: cpu `1500m`, memory/ephemeral-storage/hugepages `2Gi`, others decimal; kUnlimited
// prints `<unlimited>`.
std::string format_amount(std::string_view resource, Amount amount);

}  // namespace muster

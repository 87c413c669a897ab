#include "controllers/workload/backoff.h"

#include <algorithm>
#include <string>

namespace muster::controllers {
namespace {

constexpr std::uint64_t kJitterSteps = 10'000;  // a jitter of k/10000 of 0.01 %

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ull;
  }
  return hash;
}

}  // namespace

Duration pods_ready_backoff(const PodsReadyOptions& options, const Uid& uid, std::int32_t count) {
  const std::int64_t base = std::max(0, options.backoff_base_seconds);
  const std::int64_t max = std::max(0, options.backoff_max_seconds);
  std::int64_t seconds = base;
  for (std::int32_t i = 1; i < count && seconds < max; ++i) {
    seconds *= 2;
  }
  if (count > 1) {
    seconds = std::min(seconds, max);
  }
  const auto step = static_cast<std::int64_t>(fnv1a(uid.str() + "/" + std::to_string(count)) % (kJitterSteps + 1));
  const std::int64_t milliseconds = seconds * 1000;
  return Duration(milliseconds + milliseconds * step / static_cast<std::int64_t>(kJitterSteps * kJitterSteps));
}

}  // namespace muster::controllers

// What users and admins do in a simulation. Plain value.
#pragma once

#include "api/codec/json.h"
#include "base/time.h"
#include "sim/resource_kind.h"

#include <nlohmann/json.hpp>

namespace muster::sim {

// 2026-01-01T00:00:00Z: when every simulation begins.
inline constexpr TimePoint kStartOfTime{std::chrono::seconds(1767225600)};

// An object that somebody creates at a time, or changes when it is there already.
struct Submission {
  Duration at{0};  // since the start
  const ResourceKind* kind = nullptr;
  api::Json object{};
};

}  // namespace muster::sim

// Durations that objects declare. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "base/time.h"

#include <optional>

namespace muster::sim {

// The Go duration in this annotation of an object; absent when there is none, kInvalid with the path when it is none.
Result<std::optional<Duration>> duration_annotation(const api::Json& object, const char* key);

}  // namespace muster::sim

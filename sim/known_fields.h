// Finds misspelt fields, which the API server would drop in silence. Pure.
#pragma once

#include "api/codec/json.h"

#include <optional>
#include <string>

namespace muster::sim {

// The path of the first field under `spec` that this kind does not have; only kinds of kueue.x-k8s.io and the fields of
// a Job outside its template are known, everything else passes.
std::optional<std::string> first_unknown_field(const std::string& kind, const api::Json& object);

}  // namespace muster::sim

// What the API server sees to for Jobs and Pods: defaults on creation, and what may not change later. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "sim/resource_kind.h"

namespace muster::sim {

// `object` is about to be created and has its metadata.
void set_defaults(const ResourceKind& kind, api::Json& object);

// kInvalid for a change that a real API server refuses: the template of a Job that is not suspended (or does not say so
// yet), parallelism aside; a start time taken from a Job that runs; a pod that would move to another node.
Status check_update(const ResourceKind& kind, const api::Json& before, const api::Json& after);

}  // namespace muster::sim

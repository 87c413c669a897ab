// Checks of a Workload's status and of changes to it. Internal to validation.
#pragma once

#include "api/codec/json.h"
#include "api/kueue/workload.h"
#include "api/validation/field_error.h"
#include "api/validation/validate.h"

namespace muster::api {

// A new state and, on update, the one before it; both as JSON and decoded. Borrowed for a call.
struct WorkloadChange {
  const Json& json;
  const Json* old_json = nullptr;
  const Workload& now;
  const Workload* old = nullptr;
  bool elastic = false;
  const ValidationGates& gates;
};

FieldErrors validate_workload_status(const WorkloadChange& change);
FieldErrors validate_workload_update(const WorkloadChange& change);
// `spec.podSets`, or an empty list.
Json pod_sets_of(const Json& workload);

}  // namespace muster::api

// What Kueue's validating webhooks check and a CRD schema with CEL cannot (spec/api.md §5.3-5.6). Pure. Objects come as
// the API server sends them (v1beta2); `old` is null on create. An object that cannot be decoded yields that one error.
#pragma once

#include "api/codec/json.h"
#include "api/validation/field_error.h"

namespace muster::api {

// Feature gates that change a check (spec/api.md §10), with Kueue's defaults.
struct ValidationGates {
  bool concurrent_admission = false;
  bool reject_updates_with_invalid_on_flavors = false;
  bool pod_set_metadata = true;
  bool resources_not_negative = true;
  bool slice_size = true;
  bool admission_gated_by = true;
  bool priority_boost = false;
  bool elastic_jobs = true;
  bool topology_aware_scheduling = true;
};

FieldErrors validate_resource_flavor(const Json& flavor);
FieldErrors validate_cluster_queue(const Json& queue, const Json* old, const ValidationGates& gates = {});
FieldErrors validate_cohort(const Json& cohort);
FieldErrors validate_workload(const Json& workload, const Json* old, const ValidationGates& gates = {});

}  // namespace muster::api

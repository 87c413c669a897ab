// Wire JSON -> value types. One specialisation a kind; errors carry the field's path. Unknown fields are ignored
// (the API server has pruned them), null means absent, integers out of range are errors.
#pragma once

#include "api/codec/json.h"

namespace muster::api {

// Specialised for ResourceFlavor, ClusterQueue, Cohort, LocalQueue, Workload, WorkloadPriorityClass (v1beta2), Job,
// Pod, Node, Namespace, PriorityClass, RuntimeClass, LimitRange, PodTemplate, PodSpec, Admission.
template <class T>
Result<T> decode(const Json& object);

}  // namespace muster::api

// May this Workload be admitted to its ClusterQueue at all (spec/admission.md §2.8)? Asked at each nomination. Pure.
#pragma once

#include "framework/model/model.h"
#include "framework/verdict.h"
#include "framework/workload_info.h"

namespace muster::framework {

// Unresolvable with reason `Misconfigured` and the wakes that can cure it: the namespace does not exist or is not
// selected, a container requests more than its limit, or a LimitRange forbids the requests.
Verdict admissible(const WorkloadInfo& workload, const Model& model);

}  // namespace muster::framework

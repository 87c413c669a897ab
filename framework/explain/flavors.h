// The part of an explanation that judges flavors and nodes. Internal to framework/explain.
#pragma once

#include "framework/explain/explain.h"

namespace muster::framework {

// Fills `attempt`, `flavors` and `nodes` for a Workload that could be queued in its ClusterQueue.
void explain_flavors(const ExplainParts& core, const WorkloadInfo& workload, const ExplainOptions& options,
                     Explanation& out);

}  // namespace muster::framework

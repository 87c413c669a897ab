// What a running job says of its pods in the Workload's status (spec/workloads.md §1.1 steps 13 and 14, §1.8). Pure.
#pragma once

#include "api/kueue/workload.h"
#include "framework/status/workload_conditions.h"

#include <vector>

namespace muster::controllers {

// `reported` capped at the podsets' counts; while quota is reserved nothing shrinks (the API refuses that).
std::vector<api::ReclaimablePod> reclaimable_pods(const api::Workload& workload, const api::WorkloadStatus& status,
                                                  const std::vector<api::ReclaimablePod>& reported);

// The condition PodsReady. A Workload that was never admitted gets none: it would be a write that tells nobody
// anything.
void report_pods_ready(api::WorkloadStatus& status, bool pods_ready, const framework::Stamp& stamp);

}  // namespace muster::controllers

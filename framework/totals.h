// From a Workload to what it asks of quota: spec/admission.md §2.2 and §2.3. Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/model/objects.h"
#include "framework/workload_info.h"

namespace muster::framework {

// Configuration `resources`: which resource names do not count for quota.
struct TotalsRules {
  std::vector<std::string> exclude_prefixes{};
};

// Everything a queue needs to know of the Workload; `cluster_queue` may be empty. LimitRange defaults, limits used as
// requests and RuntimeClass overhead come from `objects`.
WorkloadInfo build_info(std::shared_ptr<const api::Workload> workload, ClusterQueueName cluster_queue,
                        const Objects& objects, const TotalsRules& rules);

}  // namespace muster::framework

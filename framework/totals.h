// From a Workload to what it asks of quota: spec/admission.md §2.2 and §2.3. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/model/objects.h"
#include "framework/transformation.h"
#include "framework/workload_info.h"

namespace muster::framework {

// How requests become what is counted: Configuration `resources`, and feature gates.
struct TotalsRules {
  std::vector<std::string> exclude_prefixes{};  // of resource names that do not count for quota
  Transformations transformations{};
  bool partial_admission = true;  // gate PartialAdmission; off: minCount is not looked at
};

// The spec as the API server will make it when the pod is created: RuntimeClass overhead, LimitRange defaults, limits as
// requests.
api::PodSpec adjusted(const api::PodSpec& spec, const std::string& ns, const Objects& objects);

// Everything a queue needs to know of the Workload; `cluster_queue` may be empty. LimitRange defaults, limits used as
// requests and RuntimeClass overhead come from `objects`.
WorkloadInfo build_info(std::shared_ptr<const api::Workload> workload, ClusterQueueName cluster_queue,
                        const Objects& objects, const TotalsRules& rules);

// The same Workload with fewer pods, one count a podset.
WorkloadInfo with_counts(const WorkloadInfo& workload, const std::vector<std::int32_t>& counts);

}  // namespace muster::framework

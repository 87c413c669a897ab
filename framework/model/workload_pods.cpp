#include "api/constants.h"
#include "framework/model/model.h"

#include <algorithm>
#include <limits>

namespace muster::framework {

std::int32_t reclaimed_pods(const api::WorkloadStatus& status, const std::string& pod_set) {
  for (const api::ReclaimablePod& item : status.reclaimable_pods) {
    if (item.name == pod_set) {
      return item.count;
    }
  }
  return 0;
}

std::string pod_set_of(const api::Pod& pod, const api::Workload& workload) {
  if (const std::string* label = api::find(pod.meta.labels, api::kPodSetLabel)) {
    return *label;
  }
  return workload.pod_sets.empty() ? std::string(api::kDefaultPodSet) : workload.pod_sets.front().name;
}

std::int32_t pods_needed(const api::Workload& workload, const api::WorkloadStatus& status, const std::string& pod_set) {
  std::int32_t needed = std::numeric_limits<std::int32_t>::max();
  for (const api::PodSet& spec : workload.pod_sets) {
    if (spec.name == pod_set) {
      needed = std::max(0, spec.count - reclaimed_pods(status, pod_set));
    }
  }
  if (status.admission) {
    for (const api::PodSetAssignment& assigned : status.admission->pod_set_assignments) {
      if (assigned.name == pod_set) {
        needed = std::min(needed, assigned.count);
      }
    }
  }
  return needed;
}

}  // namespace muster::framework

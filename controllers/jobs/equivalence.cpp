#include "controllers/jobs/equivalence.h"

#include "controllers/jobs/pod_set_info.h"

#include <algorithm>

namespace muster::controllers {
namespace {

enum class Tolerations : std::uint8_t { kCompare, kIgnore };

bool same_pod_set(const api::PodSet& a, const api::PodSet& b, Tolerations tolerations) {
  const api::PodSpec& x = a.pod_template.spec;
  const api::PodSpec& y = b.pod_template.spec;
  return a.count == b.count && a.min_count == b.min_count && x.containers_hash == y.containers_hash &&
         x.init_containers_hash == y.init_containers_hash &&
         (tolerations == Tolerations::kIgnore || x.tolerations == y.tolerations);
}

bool same_pod_sets(const std::vector<api::PodSet>& a, const std::vector<api::PodSet>& b, Tolerations tolerations) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [tolerations](const api::PodSet& x, const api::PodSet& y) {
    return same_pod_set(x, y, tolerations);
  });
}

// The Workload's podsets as its running job has them: infos merged in, the admitted count of partially admitted ones.
std::vector<api::PodSet> running_pod_sets(const api::Workload& workload, const api::WorkloadStatus& status,
                                          const framework::Objects& objects) {
  const auto infos = pod_set_infos(workload, status, objects);
  if (!infos.ok()) {
    return {};
  }
  std::vector<api::PodSet> pod_sets = workload.pod_sets;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    merge_tolerations(pod_sets[i].pod_template.spec.tolerations, (*infos)[i].tolerations);
    if (pod_sets[i].min_count) {
      pod_sets[i].count = (*infos)[i].count;
    }
  }
  return pod_sets;
}

}  // namespace

bool is_equivalent(const JobView& job, const api::Workload& workload, const api::WorkloadStatus& status,
                   const framework::Objects& objects) {
  if (max_execution_seconds_of(*job.meta) != workload.maximum_execution_seconds) {
    return false;
  }
  if (!status.admission) {
    return same_pod_sets(job.pod_sets, workload.pod_sets, Tolerations::kCompare);
  }
  const bool admitted = api::is_true(status.conditions, api::kAdmitted);
  const Tolerations tolerations = admitted ? Tolerations::kIgnore : Tolerations::kCompare;
  if (same_pod_sets(job.pod_sets, running_pod_sets(workload, status, objects), tolerations)) {
    return true;
  }
  return job.suspended && same_pod_sets(job.pod_sets, workload.pod_sets, tolerations);
}

}  // namespace muster::controllers

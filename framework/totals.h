// From a Workload to what it asks of quota: spec/admission.md §2.2 and §2.3. Pure.
#pragma once

#include <map>
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

class TotalsBuilder {
 public:
  explicit TotalsBuilder(TotalsRules rules) : rules_(std::move(rules)) {}

  // Everything a queue needs to know of the Workload; `cluster_queue` may be empty. LimitRange defaults, limits used as
  // requests and RuntimeClass overhead come from `objects`.
  WorkloadInfo build(std::shared_ptr<const api::Workload> workload, ClusterQueueName cluster_queue,
                     const Objects& objects);

 private:
  PodSetTotals totals(const api::Workload& workload, const api::PodSet& pod_set, const Objects& objects) const;
  ClassId class_of(const WorkloadInfo& info);

  TotalsRules rules_;
  std::map<std::string, ClassId> classes_{};
};

}  // namespace muster::framework

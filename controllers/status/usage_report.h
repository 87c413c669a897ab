// flavorsReservation and flavorsUsage of queue statuses (spec/admission.md §7.1). Pure.
#pragma once

#include "api/kueue/queues.h"
#include "framework/model/model.h"

#include <vector>

namespace muster::controllers {

struct UsageReport {
  std::int32_t reserving = 0;
  std::int32_t admitted = 0;
  framework::Usage reserved_usage{};
  framework::Usage admitted_usage{};
};

// Of the Workloads that hold quota in `queue`; with `local_queue`, of that LocalQueue's only. O(Workloads there).
UsageReport usage_of(const framework::Model& model, const ClusterQueueName& queue,
                     const ObjectKey* local_queue = nullptr);

enum class Borrowed { kReport, kOmit };

// In the order of the ClusterQueue's flavors, resources by name, zero amounts included.
std::vector<api::FlavorUsage> flavor_usages(const api::ClusterQueue& queue, const framework::Usage& usage,
                                            const framework::QuotaTree& quota, Borrowed borrowed);

}  // namespace muster::controllers

#include "controllers/status/usage_report.h"

#include <algorithm>
#include <set>

namespace muster::controllers {
namespace {

using framework::Usage;

void add(Usage& total, const Usage& more) {
  for (const auto& [fr, amount] : more) {
    Amount& sum = total[fr];
    sum = sat_add(sum, amount);
  }
}

bool is_in(const api::Workload& workload, const ObjectKey& local_queue) {
  return workload.meta.ns == local_queue.ns && workload.queue_name.str() == local_queue.name;
}

}  // namespace

UsageReport usage_of(const framework::Model& model, const ClusterQueueName& queue, const ObjectKey* local_queue) {
  UsageReport report;
  for (const ObjectKey& key : model.reserving_in(queue)) {
    const framework::WorkloadState* state = model.workload(key);
    if (state == nullptr || !state->charge || (local_queue != nullptr && !is_in(*state->observed, *local_queue))) {
      continue;
    }
    ++report.reserving;
    add(report.reserved_usage, state->charge->usage);
    if (api::is_true(state->status.conditions, api::kAdmitted)) {
      ++report.admitted;
      add(report.admitted_usage, state->charge->usage);
    }
  }
  return report;
}

std::vector<api::FlavorUsage> flavor_usages(const api::ClusterQueue& queue, const Usage& usage,
                                            const framework::QuotaTree& quota, Borrowed borrowed) {
  const ClusterQueueName name(queue.meta.name);
  const bool borrows = borrowed == Borrowed::kReport && quota.has_cohort(name);
  std::vector<api::FlavorUsage> result;
  for (const api::ResourceGroup& group : queue.resource_groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      api::FlavorUsage entry{.name = flavor.name};
      for (const api::ResourceQuota& resource : flavor.resources) {
        const framework::FlavorResource fr{flavor.name, resource.resource};
        const auto used = usage.find(fr);
        const Amount total = used == usage.end() ? 0 : used->second;
        const Amount over = borrows ? std::max<Amount>(0, sat_sub(total, resource.nominal)) : 0;
        entry.resources.push_back({.name = resource.resource, .total = total, .borrowed = over});
      }
      std::sort(entry.resources.begin(), entry.resources.end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      result.push_back(std::move(entry));
    }
  }
  return result;
}

}  // namespace muster::controllers

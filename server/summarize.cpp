#include "framework/status/cluster_queue_active.h"
#include "server/summary.h"

#include <limits>
#include <map>
#include <set>
#include <utility>

namespace muster::server {
namespace {

using framework::Model;
using framework::WorkloadState;

struct Tally {
  QueueCounts counts{};
  framework::Usage reserved{};
  framework::Usage used{};
};

void add(framework::Usage& sum, const framework::Usage& more) {
  for (const auto& [fr, amount] : more) {
    Amount& total = sum[fr];
    total = sat_add(total, amount);
  }
}

// A Workload without reservation counts only where it is queued, and the queue knows that.
void count(const WorkloadState& state, QueueCounts& counts) {
  const api::Conditions& conditions = state.status.conditions;
  if (api::is_true(conditions, api::kFinished)) {
    ++counts.finished;
  } else if (api::is_true(conditions, api::kQuotaReserved)) {
    ++counts.reserving;
    counts.admitted += api::is_true(conditions, api::kAdmitted) ? 1 : 0;
  }
}

// Where the Workload counts: in the queue that reserved for it, else in the one it would go to.
ClusterQueueName queue_of(const WorkloadState& state, const Model& model) {
  return state.status.admission ? state.status.admission->cluster_queue : model.cluster_queue_of(*state.observed);
}

struct Tallies {
  std::map<ClusterQueueName, Tally> cluster_queues{};
  std::map<ObjectKey, QueueCounts> local_queues{};
};

Tallies tally(const Model& model) {
  Tallies tallies;
  for (const auto& [key, state] : model.workloads()) {
    Tally& queue = tallies.cluster_queues[queue_of(state, model)];
    count(state, queue.counts);
    count(state, tallies.local_queues[{key.ns, state.observed->queue_name.str()}]);
    if (state.charge) {
      add(queue.reserved, state.charge->usage);
      if (api::is_true(state.status.conditions, api::kAdmitted)) {
        add(queue.used, state.charge->usage);
      }
    }
  }
  return tallies;
}

double units(const std::string& resource, Amount amount) {
  if (amount == kUnlimited) {
    return std::numeric_limits<double>::infinity();
  }
  return resource == "cpu" ? static_cast<double>(amount) / 1000.0 : static_cast<double>(amount);
}

std::optional<double> units(const std::string& resource, const std::optional<Amount>& amount) {
  return amount ? std::optional(units(resource, *amount)) : std::nullopt;
}

double units(const framework::Usage& usage, const framework::FlavorResource& fr) {
  const auto found = usage.find(fr);
  return found == usage.end() ? 0 : units(fr.resource, found->second);
}

std::vector<QuotaLine> quota_lines(const api::ClusterQueue& queue, const Tally& tally) {
  std::vector<QuotaLine> lines;
  for (const api::ResourceGroup& group : queue.resource_groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& quota : flavor.resources) {
        const framework::FlavorResource fr{.flavor = flavor.name, .resource = quota.resource};
        lines.push_back({.flavor = flavor.name.str(),
                         .resource = quota.resource,
                         .nominal = units(quota.resource, quota.nominal),
                         .borrowing_limit = units(quota.resource, quota.borrowing_limit),
                         .lending_limit = units(quota.resource, quota.lending_limit),
                         .reserved = units(tally.reserved, fr),
                         .used = units(tally.used, fr)});
      }
    }
  }
  return lines;
}

QueuePhase phase_of(const Model& model, const api::ClusterQueue& queue) {
  if (queue.meta.deletion_timestamp) {
    return QueuePhase::kTerminating;
  }
  return framework::is_active(model, ClusterQueueName(queue.meta.name)) ? QueuePhase::kActive : QueuePhase::kPending;
}

// First part of `/root/…/queue`; empty for a queue without cohort.
std::string root_of(const Model& model, const ClusterQueueName& queue) {
  if (!model.quota().contains(queue) || !model.quota().has_cohort(queue)) {
    return {};
  }
  const std::string path = model.quota().path_of(queue);
  return path.empty() ? std::string{} : path.substr(1, path.find('/', 1) - 1);
}

void set_pending(QueueCounts& counts, const framework::PendingCounts& pending) {
  counts.pending_active = pending.active;
  counts.pending_inadmissible = pending.inadmissible;
}

ClusterQueueSummary summary_of(const api::ClusterQueue& queue, const framework::Core& core, const Tally& tally,
                               QuotaLines quota) {
  const ClusterQueueName name(queue.meta.name);
  ClusterQueueSummary summary{.name = queue.meta.name,
                              .cohort = queue.cohort.str(),
                              .root_cohort = root_of(core.model(), name),
                              .phase = phase_of(core.model(), queue),
                              .counts = tally.counts};
  set_pending(summary.counts, core.queue().pending(name));
  if (quota == QuotaLines::kFill) {
    summary.quota = quota_lines(queue, tally);
  }
  return summary;
}

LocalQueueSummary summary_of(const api::LocalQueue& queue, const framework::Core& core, const QueueCounts& counts) {
  const api::Condition* active = api::find_condition(queue.status.conditions, "Active");
  LocalQueueSummary summary{.ns = queue.meta.ns,
                            .name = queue.meta.name,
                            .cluster_queue = queue.cluster_queue.str(),
                            .active = active == nullptr ? api::ConditionStatus::kUnknown : active->status,
                            .counts = counts};
  set_pending(summary.counts, core.queue().pending_in(queue.meta.key()));
  if (const Wide* place = core.model().usage().place(queue.meta.key())) {
    const double infinity = std::numeric_limits<double>::infinity();
    summary.fair_usage = *place == framework::kLastPlace
                             ? infinity
                             : static_cast<double>(*place) / static_cast<double>(kNanoPerUnit);
  }
  return summary;
}

}  // namespace

Summary summarize(const framework::Core& core, QuotaLines quota) {
  Tallies tallies = tally(core.model());
  Summary summary;
  for (const auto& [key, queue] : core.model().objects().all<api::ClusterQueue>().all()) {
    summary.cluster_queues.push_back(
        summary_of(*queue, core, tallies.cluster_queues[ClusterQueueName(key.name)], quota));
  }
  for (const auto& [key, queue] : core.model().objects().all<api::LocalQueue>().all()) {
    summary.local_queues.push_back(summary_of(*queue, core, tallies.local_queues[key]));
  }
  return summary;
}

}  // namespace muster::server

#include "framework/preemption/candidate.h"

#include <algorithm>

namespace muster::framework {

namespace {

bool uses(const Usage& usage, const std::vector<FlavorResource>& need) {
  return need.empty() || std::any_of(need.begin(), need.end(), [&usage](const FlavorResource& fr) {
           const auto it = usage.find(fr);
           return it != usage.end() && it->second > 0;
         });
}

bool may_evict_somebody(const api::Preemption& policy) {
  return policy.within_cluster_queue != api::WithinClusterQueuePolicy::kNever ||
         policy.reclaim_within_cohort != api::ReclaimPolicy::kNever;
}

bool yields_within_queue(const Preemptor& preemptor, const WorkloadState& state, std::int64_t priority) {
  const api::WithinClusterQueuePolicy policy = preemptor.queue.preemption.within_cluster_queue;
  if (policy == api::WithinClusterQueuePolicy::kNever) {
    return false;
  }
  if (priority != preemptor.workload.priority) {
    return priority < preemptor.workload.priority;
  }
  return policy == api::WithinClusterQueuePolicy::kLowerOrNewerEqualPriority &&
         preemptor.workload.queue_time < api::queue_order_time(state.observed->meta, state.status.conditions);
}

bool yields_to_reclaim(const Preemptor& preemptor, std::int64_t priority) {
  switch (preemptor.queue.preemption.reclaim_within_cohort) {
    case api::ReclaimPolicy::kAny:
      return true;
    case api::ReclaimPolicy::kLowerPriority:
      return priority < preemptor.workload.priority;
    case api::ReclaimPolicy::kNever:
      break;
  }
  return false;
}

TimePoint reserved_at(const WorkloadState& state, TimePoint now) {
  const api::Condition* reserved = api::find_condition(state.status.conditions, api::kQuotaReserved);
  return reserved == nullptr ? now : reserved->last_transition_time;
}

Wide place_of(const Model& model, const api::Workload& workload) {
  const Wide* place = model.usage().place({workload.meta.ns, workload.queue_name.str()});
  return place == nullptr ? 0 : *place;
}

// Where quota is lacking; where nodes are, whoever uses any of the assigned flavors may sit on them.
std::vector<FlavorResource> lacking_in(const Assignment& assignment) {
  if (!assignment.nodes_need_preemption) {
    return assignment.needs_preemption;
  }
  std::vector<FlavorResource> all;
  for (const auto& [fr, amount] : assignment.usage) {
    all.push_back(fr);
  }
  return all;
}

}  // namespace

std::optional<Preemptor> preemptor_of(const PostFilterContext& context, Usage request,
                                      std::vector<FlavorResource> need) {
  const ClusterQueueName& name = context.workload.cluster_queue;
  const auto* queue = context.model().objects().find<api::ClusterQueue>(ObjectKey{{}, name.str()});
  const auto node = context.model().quota().find(name);
  if (queue == nullptr || !node || !may_evict_somebody(queue->preemption)) {
    return std::nullopt;
  }
  return Preemptor{.workload = context.workload,
                   .queue = *queue,
                   .node = *node,
                   .request = std::move(request),
                   .need = std::move(need),
                   .now = context.now};
}

std::optional<Preemptor> preemptor_of(const PostFilterContext& context, const Assignment& assignment) {
  if (assignment.needs_preemption.empty() && !assignment.nodes_need_preemption) {
    return std::nullopt;
  }
  return preemptor_of(context, assignment.usage, lacking_in(assignment));
}

bool within_nominal(const QuotaTree& quota, QuotaTree::NodeIndex node, const std::vector<FlavorResource>& need) {
  return std::all_of(need.begin(), need.end(), [&quota, node](const FlavorResource& fr) {
    const QuotaTree::Share share = quota.share_of(node, fr);
    return share.usage <= share.subtree;
  });
}

std::vector<Candidate> candidates_in(const Model& model, const Preemptor& preemptor, QuotaTree::NodeIndex queue) {
  const bool own = queue == preemptor.node;
  std::vector<Candidate> found;
  for (const ObjectKey& key : model.reserving_in(ClusterQueueName(model.quota().name_of(queue)))) {
    const auto it = model.workloads().find(key);
    if (it == model.workloads().end() || key == preemptor.workload.key) {
      continue;
    }
    const WorkloadState& state = it->second;
    if (!state.charge || !state.charged || !uses(state.charge->usage, preemptor.need)) {
      continue;
    }
    const std::int64_t priority = api::effective_priority(*state.observed);
    if (own ? yields_within_queue(preemptor, state, priority) : yields_to_reclaim(preemptor, priority)) {
      found.push_back({.key = &it->first,
                       .uid = &state.observed->meta.uid,
                       .usage = &state.charge->usage,
                       .evicted = api::is_true(state.status.conditions, api::kEvicted),
                       .priority = priority,
                       .reserved_at = reserved_at(state, preemptor.now),
                       .queue = queue,
                       .place = place_of(model, *state.observed)});
    }
  }
  return found;
}

bool yields_before(const Candidate& a, const Candidate& b) {
  if (a.priority != b.priority) {
    return a.priority < b.priority;
  }
  return a.reserved_at != b.reserved_at ? a.reserved_at > b.reserved_at : *a.uid < *b.uid;
}

}  // namespace muster::framework

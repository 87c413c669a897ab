#include "plugins/preemption/preemption.h"

#include "api/codec/reader.h"
#include "plugins/preemption/candidates.h"
#include "plugins/preemption/search.h"

#include <algorithm>
#include <optional>

namespace muster::plugins {
namespace {

using framework::Assignment;
using framework::FlavorResource;
using framework::Outlook;
using framework::PostFilterContext;
using framework::PreemptionOutlook;
using framework::QuotaTree;
using framework::Usage;
using framework::Victim;

bool may_evict_somebody(const api::Preemption& policy) {
  return policy.within_cluster_queue != api::WithinClusterQueuePolicy::kNever ||
         policy.reclaim_within_cohort != api::ReclaimPolicy::kNever;
}

// Nothing when the ClusterQueue is unknown or evicts nobody.
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

Result<std::unique_ptr<Preemption>> Preemption::create(const api::Json& args, const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<Preemption>());
}

std::vector<Victim> Preemption::post_filter(PostFilterContext& context, Assignment& assignment) const {
  if (assignment.needs_preemption.empty() && !assignment.nodes_need_preemption) {
    return {};
  }
  const std::optional<Preemptor> preemptor = preemptor_of(context, assignment.usage, lacking_in(assignment));
  if (!preemptor) {
    return {};
  }
  VictimSearch search(context.transaction, *preemptor, [&] { return context.passes(assignment); });
  std::vector<Victim> victims;
  if (search.run()) {
    for (const Candidate* candidate : search.victims()) {
      victims.push_back(
          {.workload = *candidate->key, .uid = *candidate->uid, .reason = std::string(reason_of(candidate->right))});
    }
  }
  return victims;
}

Outlook Preemption::outlook(PostFilterContext& context, const FlavorResource& fr, Amount amount) const {
  const ClusterQueueName& name = context.workload.cluster_queue;
  const QuotaTree& quota = context.model().quota();
  const Usage request{{fr, amount}};
  Outlook answer{.borrow_level = quota.borrow_level(name, fr, amount).level};
  const std::optional<Preemptor> preemptor = preemptor_of(context, request, {fr});
  if (!preemptor) {
    return answer;
  }
  VictimSearch search(context.transaction, *preemptor, [&] { return quota.fits(name, request); });
  if (search.run()) {
    const bool any_own = std::any_of(search.victims().begin(), search.victims().end(), [](const Candidate* victim) {
      return victim->right == Right::kWithinClusterQueue;
    });
    answer = {any_own ? PreemptionOutlook::kPreempt : PreemptionOutlook::kReclaim,
              quota.borrow_level(name, fr, amount).level};
  }
  return answer;
}

}  // namespace muster::plugins

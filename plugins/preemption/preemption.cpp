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
using framework::Preemptor;
using framework::QuotaTree;
using framework::Usage;
using framework::Victim;

}  // namespace

Result<std::unique_ptr<Preemption>> Preemption::create(const api::Json& args, const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<Preemption>());
}

std::vector<Victim> Preemption::post_filter(PostFilterContext& context, Assignment& assignment) const {
  const std::optional<Preemptor> preemptor = framework::preemptor_of(context, assignment);
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
  const std::optional<Preemptor> preemptor = framework::preemptor_of(context, request, {fr});
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

#include "plugins/fair_preemption/fair_preemption.h"

#include "api/codec/reader.h"

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

constexpr std::string_view kFinalShare = "LessThanOrEqualToFinalShare";
constexpr std::string_view kInitialShare = "LessThanInitialShare";

// Nothing when the list is none that Kueue takes.
std::optional<std::vector<FairStrategy>> strategies_of(const std::vector<std::string>& names) {
  std::vector<FairStrategy> strategies;
  for (const std::string& name : names) {
    if (name != kFinalShare && name != kInitialShare) {
      return std::nullopt;
    }
    strategies.push_back(name == kFinalShare ? FairStrategy::kLessThanOrEqualToFinalShare
                                             : FairStrategy::kLessThanInitialShare);
  }
  const bool both = names.size() == 2 && names[0] == kFinalShare && names[1] == kInitialShare;
  return names.size() == 1 || both ? std::optional(strategies) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<FairPreemption>> FairPreemption::create(const api::Json& args,
                                                               const framework::PluginDeps& deps) {
  api::Problems problems;
  const api::Reader reader(args, problems);
  reader.allow_only({"preemptionStrategies"});
  std::vector<std::string> names = {std::string(kFinalShare), std::string(kInitialShare)};
  if (deps.fair_sharing && !deps.fair_sharing->preemption_strategies.empty()) {
    names = deps.fair_sharing->preemption_strategies;
  }
  if (reader.has("preemptionStrategies")) {
    names = reader.strings("preemptionStrategies");
  }
  const auto strategies = strategies_of(names);
  if (!strategies) {
    reader.fail("preemptionStrategies",
                "must be LessThanOrEqualToFinalShare, LessThanInitialShare, or both in this order");
  }
  FairRules rules{.strategies = strategies.value_or(std::vector<FairStrategy>{}),
                  .reclaim_within_nominal = deps.feature("FairSharingPreemptWithinNominal", true)};
  return std::move(problems).finish(std::make_unique<FairPreemption>(std::move(rules)));
}

std::vector<Victim> FairPreemption::post_filter(PostFilterContext& context, Assignment& assignment) const {
  const std::optional<Preemptor> preemptor = framework::preemptor_of(context, assignment);
  std::vector<Victim> victims;
  if (!preemptor) {
    return victims;
  }
  FairSearch search(context.transaction, *preemptor, rules_, [&] { return context.passes(assignment); });
  if (search.run()) {
    for (const FairCandidate* victim : search.victims()) {
      victims.push_back({.workload = *victim->key, .uid = *victim->uid, .reason = std::string(victim->reason)});
    }
  }
  return victims;
}

Outlook FairPreemption::outlook(PostFilterContext& context, const FlavorResource& fr, Amount amount) const {
  const ClusterQueueName& name = context.workload.cluster_queue;
  const QuotaTree& quota = context.model().quota();
  const Usage request{{fr, amount}};
  const auto level = [&] { return quota.borrow_level(name, fr, amount).level; };
  const std::optional<Preemptor> preemptor = framework::preemptor_of(context, request, {fr});
  if (!preemptor) {
    return {.borrow_level = level()};
  }
  FairSearch search(context.transaction, *preemptor, rules_, [&] { return quota.fits(name, request); });
  if (!search.run()) {
    return {.borrow_level = level()};
  }
  const bool any_own = std::any_of(search.victims().begin(), search.victims().end(),
                                   [&](const FairCandidate* victim) { return victim->queue == preemptor->node; });
  return {any_own ? PreemptionOutlook::kPreempt : PreemptionOutlook::kReclaim, level()};
}

bool FairPreemption::may_preempt_while_borrowing(const api::ClusterQueue& queue) const {
  return queue.preemption.reclaim_within_cohort != api::ReclaimPolicy::kNever ||
         PostFilter::may_preempt_while_borrowing(queue);
}

}  // namespace muster::plugins

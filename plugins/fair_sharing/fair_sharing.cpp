#include "plugins/fair_sharing/fair_sharing.h"

#include "api/codec/reader.h"
#include "framework/queue_order.h"

namespace muster::plugins {

Result<std::unique_ptr<FairSharing>> FairSharing::create(const api::Json& args, const framework::PluginDeps& deps) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<FairSharing>(
      TournamentRules{.prefer_non_borrowing = deps.feature("FairSharingPrioritizeNonBorrowing", true),
                      .priority = deps.feature("PrioritySortingWithinCohort", true)}));
}

bool FairSharing::less(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) const {
  return framework::queued_before(a, b);
}

std::unique_ptr<framework::EntryOrder> FairSharing::entry_order(std::vector<const framework::Entry*> entries,
                                                                const framework::Model& model) const {
  return std::make_unique<Tournament>(std::move(entries), model, rules_);
}

}  // namespace muster::plugins

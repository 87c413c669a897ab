// The order where fair sharing is on: within a ClusterQueue as ever (spec/admission.md §1.2), among the heads of a
// cycle by dominant resource share, weighed again after each of them (§4.3). Stateless; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"
#include "plugins/fair_sharing/tournament.h"

#include <memory>
#include <string_view>
#include <vector>

namespace muster::plugins {

class FairSharing final : public framework::QueueSort {
 public:
  static constexpr std::string_view kName = "FairSharing";

  // Takes no arguments: weights are the ClusterQueues' and Cohorts'. Gates FairSharingPrioritizeNonBorrowing and
  // PrioritySortingWithinCohort, both on by default.
  static Result<std::unique_ptr<FairSharing>> create(const api::Json& args, const framework::PluginDeps& deps);

  explicit FairSharing(TournamentRules rules = {}) : rules_(rules) {}

  bool less(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) const override;
  std::unique_ptr<framework::EntryOrder> entry_order(std::vector<const framework::Entry*> entries,
                                                     const framework::Model& model) const override;

 private:
  TournamentRules rules_;
};

}  // namespace muster::plugins

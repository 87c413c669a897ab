// Preemption where fair sharing is on (spec/admission.md §5.5): who borrows a larger share gives to who borrows a
// smaller one, until the preemptor fits. Stateless; any one thread at a time. Leaves the model as it found it.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"
#include "plugins/fair_preemption/fair_search.h"

#include <memory>
#include <string_view>
#include <vector>

namespace muster::plugins {

class FairPreemption final : public framework::PostFilter {
 public:
  static constexpr std::string_view kName = "FairPreemption";

  // Argument `preemptionStrategies`, as in Kueue's Configuration; without it the Configuration's, without those both.
  static Result<std::unique_ptr<FairPreemption>> create(const api::Json& args, const framework::PluginDeps& deps);

  explicit FairPreemption(FairRules rules = {}) : rules_(std::move(rules)) {}

  const FairRules& rules() const { return rules_; }

  std::vector<framework::Victim> post_filter(framework::PostFilterContext& context,
                                             framework::Assignment& assignment) const override;
  framework::Outlook outlook(framework::PostFilterContext& context, const framework::FlavorResource& fr,
                             Amount amount) const override;
  // Whoever may reclaim may also do so to borrow less unequally.
  bool may_preempt_while_borrowing(const api::ClusterQueue& queue) const override;

 private:
  FairRules rules_;
};

}  // namespace muster::plugins

// Chooses a flavor for every resource of every podset by quota, taints and labels (spec/admission.md §3), and says how
// far the choice is from being admitted: fits, needs victims, or nothing fits and why.
// Stateless after construction; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>
#include <vector>

namespace muster::plugins {

// What to do with a requested resource that no resource group of the ClusterQueue covers (§2.4).
enum class QuotaCheckStrategy { kBlockUndeclared, kIgnoreUndeclared };

struct FlavorAssignerArgs {
  QuotaCheckStrategy quota_check_strategy = QuotaCheckStrategy::kBlockUndeclared;
  bool fungibility = true;  // gate FlavorFungibility; off: the first flavor that fits, else the nearest to fitting
};

class FlavorAssigner final : public framework::Filter {
 public:
  static constexpr std::string_view kName = "FlavorAssigner";

  static Result<std::unique_ptr<FlavorAssigner>> create(const api::Json& args, const framework::PluginDeps& deps);

  explicit FlavorAssigner(FlavorAssignerArgs args) : args_(args) {}

  const FlavorAssignerArgs& args() const { return args_; }

  // Replaces `assignment`. Success when it fits or would fit once victims have left (`assignment.mode` tells);
  // unresolvable, with what may cure it, when no flavor will do.
  framework::Verdict filter(framework::FilterContext& context, framework::Assignment& assignment,
                            std::vector<framework::FlavorExclusion>& rejected) const override;
  // Is the quota there now? O(usage entries · depth of the cohort tree).
  bool passes(framework::FilterContext& context, framework::Assignment& assignment) const override;

 private:
  FlavorAssignerArgs args_;
};

}  // namespace muster::plugins

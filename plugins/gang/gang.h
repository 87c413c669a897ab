// Places the pods of a Workload that name our scheduler, all or none, in the same decision as its quota; holds their
// binding until all of them exist, binds them in one go, and repairs the plan when a node is lost meanwhile
// (spec/placement.md §5). Stateless after construction; any one thread at a time. Deterministic.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"
#include "plugins/gang/gang_args.h"

#include <memory>
#include <string_view>
#include <vector>

namespace muster::plugins {

class Gang final : public framework::Filter, public framework::Permit, public framework::Bind {
 public:
  static constexpr std::string_view kName = "Gang";
  // Reasons, user-visible.
  static constexpr std::string_view kPlacementFailed = "TopologyPlacementFailed";
  static constexpr std::string_view kUnsupportedField = "Misconfigured";
  static constexpr std::string_view kWaitingForPods = "WaitingForPods";
  static constexpr std::string_view kNoReplacement = "NodeFailures";

  static Result<std::unique_ptr<Gang>> create(const api::Json& args, const framework::PluginDeps& deps);

  explicit Gang(gang::GangArgs args) : args_(std::move(args)) {}

  framework::Verdict filter(framework::FilterContext& context, framework::Assignment& assignment,
                            std::vector<framework::FlavorExclusion>& rejected) const override;
  bool passes(framework::FilterContext& context, framework::Assignment& assignment) const override;
  framework::Verdict permit(const framework::WorkloadState& workload, const framework::Model& model,
                            framework::PermitPhase phase, TimePoint now) const override;
  framework::Verdict bind(framework::BindContext& context) const override;

  // The whole plan of an admitted Workload as it should be now: after a restart, where the model knows no slots, or
  // after a change of nodes. Empty for a Workload whose pods are not ours. Changes nothing. An Error: it must go whole.
  Result<framework::PlacementPlan> plan_for(const framework::WorkloadState& workload,
                                            framework::Transaction& transaction,
                                            const framework::NodePlugins& plugins) const;

 private:
  gang::GangArgs args_;
};

}  // namespace muster::plugins

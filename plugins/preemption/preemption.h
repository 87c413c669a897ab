// Classical preemption (spec/admission.md §5.1–5.3): finds the Workloads that have to go so that an assignment passes,
// as few of them as the ClusterQueue's policies allow, or nobody. Fair sharing is another plugin.
// Stateless; any one thread at a time. Leaves the model as it found it.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>
#include <vector>

namespace muster::plugins {

class Preemption final : public framework::PostFilter {
 public:
  static constexpr std::string_view kName = "Preemption";

  // Takes no arguments: policies are the ClusterQueue's.
  static Result<std::unique_ptr<Preemption>> create(const api::Json& args, const framework::PluginDeps& deps);

  // Inclusion-minimal with respect to context.passes, which is taken to be monotone: it never turns false because one
  // more Workload has left. `assignment.plan` is the one that goes with the victims returned.
  std::vector<framework::Victim> post_filter(framework::PostFilterContext& context,
                                             framework::Assignment& assignment) const override;
  framework::Outlook outlook(framework::PostFilterContext& context, const framework::FlavorResource& fr,
                             Amount amount) const override;
};

}  // namespace muster::plugins

// Taints against tolerations of the template and its flavors (spec/placement.md §2.2). Stateless; any one thread at a
// time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>

namespace muster::plugins {

class TaintToleration final : public framework::NodeFilter, public framework::NodeScore {
 public:
  static constexpr std::string_view kName = "TaintToleration";

  static Result<std::unique_ptr<TaintToleration>> create(const api::Json& args, const framework::PluginDeps& deps);

  // NoSchedule and NoExecute taints must all be tolerated.
  framework::Verdict filter_static(const framework::PodShape& shape, const framework::NodeInfo& node) const override;
  // PreferNoSchedule taints that are not tolerated; the fewer the better.
  std::int64_t score(const framework::PodShape& shape, const framework::NodeInfo& node) const override;

  framework::Normalisation normalisation() const override { return framework::Normalisation::kByHighestReversed; }
  std::int64_t default_weight() const override { return 3; }
};

}  // namespace muster::plugins

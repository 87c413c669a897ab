// How many pods of a shape a node's free resources take, and how well that suits the scoring strategy
// (spec/placement.md §2.4). Stateless after construction; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"
#include "plugins/node_resources_fit/args.h"

#include <memory>
#include <string_view>
#include <utility>

namespace muster::plugins {

class NodeResourcesFit final : public framework::NodeFilter, public framework::NodeScore {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";

  static Result<std::unique_ptr<NodeResourcesFit>> create(const api::Json& args, const framework::PluginDeps& deps);

  // 0 lists everything that is insufficient; unresolvable when something is asked for that the empty node lacks.
  std::pair<Amount, framework::Verdict> capacity(const framework::PodShape& shape, const framework::NodeInfo& node,
                                                 Amount wanted) const override;
  std::int64_t score(const framework::PodShape& shape, const framework::NodeInfo& node) const override;

 private:
  explicit NodeResourcesFit(NodeResourcesFitArgs args) : args_(std::move(args)) {}

  bool is_checked(const std::string& resource) const;
  framework::Verdict explain(const framework::PodShape& shape, const framework::NodeInfo& node) const;
  std::int64_t score_of(Amount requested, Amount allocatable) const;

  NodeResourcesFitArgs args_;
};

}  // namespace muster::plugins

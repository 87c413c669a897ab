// Host ports: one pod of a shape a node, and none where a port is taken (spec/placement.md §2.8). Stateless; any one
// thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>
#include <utility>

namespace muster::plugins {

class NodePorts final : public framework::NodeFilter {
 public:
  static constexpr std::string_view kName = "NodePorts";

  static Result<std::unique_ptr<NodePorts>> create(const api::Json& args, const framework::PluginDeps& deps);

  std::pair<Amount, framework::Verdict> capacity(const framework::PodShape& shape, const framework::NodeInfo& node,
                                                 Amount wanted) const override;
};

}  // namespace muster::plugins

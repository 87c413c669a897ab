// Keeps pods off cordoned nodes (spec/placement.md §2.1). Stateless; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>

namespace muster::plugins {

class NodeUnschedulable final : public framework::NodeFilter {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";

  static Result<std::unique_ptr<NodeUnschedulable>> create(const api::Json& args, const framework::PluginDeps& deps);

  framework::Verdict filter_static(const framework::PodShape& shape, const framework::NodeInfo& node) const override;
};

}  // namespace muster::plugins

// The plugin NodeName (its class steps aside for muster::NodeName): a template that names its node runs there or
// nowhere (spec/placement.md §2.1). Stateless; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>

namespace muster::plugins {

class RequestedNodeName final : public framework::NodeFilter {
 public:
  static constexpr std::string_view kName = "NodeName";

  static Result<std::unique_ptr<RequestedNodeName>> create(const api::Json& args, const framework::PluginDeps& deps);

  framework::Verdict filter_static(const framework::PodShape& shape, const framework::NodeInfo& node) const override;
};

}  // namespace muster::plugins

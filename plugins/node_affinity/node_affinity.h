// nodeSelector, node affinity and the labels of assigned flavors against a node's labels and name
// (spec/placement.md §2.3). Stateless; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>

namespace muster::plugins {

class NodeAffinity final : public framework::NodeFilter, public framework::NodeScore {
 public:
  static constexpr std::string_view kName = "NodeAffinity";

  // `addedAffinity`: a NodeAffinity that every pod of the profile has besides its own.
  static Result<std::unique_ptr<NodeAffinity>> create(const api::Json& args, const framework::PluginDeps& deps);

  // Terms that name the node can contradict themselves.
  framework::Verdict pre_filter(const framework::PodShape& shape) const override;
  framework::Verdict filter_static(const framework::PodShape& shape, const framework::NodeInfo& node) const override;
  // Sum of the weights of the matching preferred terms; the more the better.
  std::int64_t score(const framework::PodShape& shape, const framework::NodeInfo& node) const override;

  framework::Normalisation normalisation() const override { return framework::Normalisation::kByHighest; }

  std::int64_t default_weight() const override { return 2; }

 private:
  explicit NodeAffinity(api::NodeAffinity added) : added_(std::move(added)) {}

  api::NodeAffinity added_;
};

}  // namespace muster::plugins

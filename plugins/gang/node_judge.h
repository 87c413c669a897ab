// Runs the profile's node plugins on one (shape, node). Borrows everything; lives for one decision.
#pragma once

#include "framework/points.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace muster::plugins::gang {

class NodeJudge {
 public:
  NodeJudge(const framework::NodePlugins& plugins, const framework::NodeTable& nodes)
      : plugins_(plugins), nodes_(nodes) {}

  const framework::NodeTable& nodes() const { return nodes_; }

  // First rejection by the shape alone, or success.
  framework::Verdict pre_filter(const framework::PodShape& shape) const;
  // First rejection by what the node is, or success.
  framework::Verdict filter(const framework::PodShape& shape, framework::NodeId node) const;
  // How many more pods the node takes now, at most `wanted`; 0 with the first rejection. Asks nothing static.
  std::pair<Amount, framework::Verdict> capacity(const framework::PodShape& shape, framework::NodeId node,
                                                 Amount wanted) const;
  // Both: 0 where the node does not suit.
  Amount fit(const framework::PodShape& shape, framework::NodeId node, Amount wanted) const;

  // Weighted sum of the scores that depend on the node object only, for each of `nodes`, normalised over them.
  std::vector<std::int64_t> preferences(const framework::PodShape& shape,
                                        const std::vector<framework::NodeId>& nodes) const;
  // Weighted sum of the scores that depend on usage.
  std::int64_t usage_score(const framework::PodShape& shape, framework::NodeId node) const;

 private:
  framework::NodeInfo info(framework::NodeId node) const {
    return {.id = node, .node = &nodes_.node(node), .table = &nodes_};
  }

  const framework::NodePlugins& plugins_;
  const framework::NodeTable& nodes_;
};

}  // namespace muster::plugins::gang

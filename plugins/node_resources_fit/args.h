// Arguments of NodeResourcesFit: kube-scheduler's NodeResourcesFitArgs. Plain values.
#pragma once

#include "api/codec/json.h"
#include "base/arith.h"

#include <string>
#include <vector>

namespace muster::plugins {

enum class ScoringStrategy { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct WeightedResource {
  std::string name{};
  std::int64_t weight = 1;
};

struct UtilizationPoint {
  std::int64_t utilization = 0;  // per cent
  std::int64_t score = 0;        // 0..10
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources{};
  std::vector<std::string> ignored_resource_groups{};
  ScoringStrategy strategy = ScoringStrategy::kLeastAllocated;
  std::vector<WeightedResource> resources{{.name = "cpu"}, {.name = "memory"}};
  std::vector<UtilizationPoint> shape{};  // by rising utilization; not empty with kRequestedToCapacityRatio
};

Result<NodeResourcesFitArgs> parse_node_resources_fit_args(const api::Json& args);

}  // namespace muster::plugins

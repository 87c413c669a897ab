#include "plugins/node_resources_fit/args.h"

#include "api/codec/reader.h"

#include <algorithm>

namespace muster::plugins {
namespace {

constexpr api::EnumNames<ScoringStrategy, 3> kStrategyNames = {
    {{ScoringStrategy::kLeastAllocated, "LeastAllocated"},
     {ScoringStrategy::kMostAllocated, "MostAllocated"},
     {ScoringStrategy::kRequestedToCapacityRatio, "RequestedToCapacityRatio"}}};

constexpr std::int64_t kMaxWeight = 100;
constexpr std::int64_t kMaxUtilization = 100;
constexpr std::int64_t kMaxShapeScore = 10;

std::int64_t bounded(const api::Reader& reader, std::string_view key, std::int64_t low, std::int64_t high) {
  const std::int64_t value = reader.int64(key, low);
  if (value < low || value > high) {
    reader.fail(key, "must be between " + std::to_string(low) + " and " + std::to_string(high));
  }
  return value;
}

// An absent or zero weight means 1, as upstream.
WeightedResource read_resource(const api::Reader& resource) {
  resource.allow_only({"name", "weight"});
  WeightedResource result{.name = resource.text("name"), .weight = bounded(resource, "weight", 0, kMaxWeight)};
  if (result.name.empty()) {
    resource.fail("name", "is required");
  }
  result.weight = std::max<std::int64_t>(result.weight, 1);
  return result;
}

UtilizationPoint read_point(const api::Reader& point) {
  point.allow_only({"utilization", "score"});
  return {.utilization = bounded(point, "utilization", 0, kMaxUtilization),
          .score = bounded(point, "score", 0, kMaxShapeScore)};
}

std::vector<UtilizationPoint> read_shape(const api::Reader& ratio) {
  ratio.allow_only({"shape"});
  std::vector<UtilizationPoint> shape = ratio.list("shape", read_point);
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i].utilization <= shape[i - 1].utilization) {
      ratio.fail("shape", "utilization must rise from point to point");
    }
  }
  return shape;
}

void read_strategy(const api::Reader& strategy, NodeResourcesFitArgs& args) {
  strategy.allow_only({"type", "resources", "requestedToCapacityRatio"});
  args.strategy = strategy.one_of("type", kStrategyNames, ScoringStrategy::kLeastAllocated);
  if (std::vector<WeightedResource> resources = strategy.list("resources", read_resource); !resources.empty()) {
    args.resources = std::move(resources);
  }
  args.shape = read_shape(strategy.child("requestedToCapacityRatio"));
  if (args.strategy == ScoringStrategy::kRequestedToCapacityRatio && args.shape.empty()) {
    strategy.fail("requestedToCapacityRatio", "shape needs at least one point");
  }
}

}  // namespace

Result<NodeResourcesFitArgs> parse_node_resources_fit_args(const api::Json& json) {
  api::Problems problems;
  const api::Reader reader(json, problems);
  reader.allow_only({"ignoredResources", "ignoredResourceGroups", "scoringStrategy"});
  NodeResourcesFitArgs args{.ignored_resources = reader.strings("ignoredResources"),
                            .ignored_resource_groups = reader.strings("ignoredResourceGroups")};
  for (const std::string& group : args.ignored_resource_groups) {
    if (group.find('/') != std::string::npos) {
      reader.fail("ignoredResourceGroups", "a group must not contain '/': " + group);
    }
  }
  read_strategy(reader.child("scoringStrategy"), args);
  return std::move(problems).finish(std::move(args));
}

}  // namespace muster::plugins

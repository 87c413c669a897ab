#include "plugins/node_resources_fit/node_resources_fit.h"

#include "api/codec/json.h"

#include <algorithm>
#include <array>

namespace muster::plugins {
namespace {

using framework::NodeInfo;
using framework::PodShape;
using framework::Verdict;

constexpr std::int64_t kMaxScore = 100;
constexpr std::array<std::string_view, 3> kPlainResources = {"cpu", "memory", "ephemeral-storage"};

bool is_native(const std::string& resource) {
  return resource.find('/') == std::string::npos || resource.find("kubernetes.io/") != std::string::npos;
}

bool is_extended(const std::string& resource) {
  return !is_native(resource) && !resource.starts_with("requests.");
}

// What a node is asked for by name besides cpu, memory and ephemeral-storage; other plain names mean nothing to it.
bool is_scalar(const std::string& resource) {
  const bool prefixed_native = is_native(resource) && resource.find('/') != std::string::npos;
  return prefixed_native || is_extended(resource) || resource.starts_with("hugepages-") ||
         resource.starts_with("attachable-volumes-");
}

bool is_plain(const std::string& resource) {
  return std::find(kPlainResources.begin(), kPlainResources.end(), resource) != kPlainResources.end();
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// What the scheduler takes a container without a request to use, when it scores. Nothing for other resources.
Amount default_request(const std::string& resource) {
  if (resource == "cpu") {
    return 100;
  }
  return resource == "memory" ? Amount{200} * 1024 * 1024 : 0;
}

Amount scored_request(const PodShape& shape, const std::string& resource) {
  const auto it = shape.footprint.requests.find(resource);
  Amount request = it == shape.footprint.requests.end() ? 0 : it->second;
  if (const Amount by_default = default_request(resource); by_default > 0) {
    for (const api::Container& container : shape.pod_template->spec.containers) {
      const auto asked = container.requests.find(resource);
      if (asked == container.requests.end() || asked->second == 0) {
        request = sat_add(request, by_default);
      }
    }
  }
  return request;
}

// The piecewise-linear function through the points, scores scaled to 0..100, flat beyond the ends.
std::int64_t interpolate(const std::vector<UtilizationPoint>& points, std::int64_t utilization) {
  const std::int64_t scale = 10;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (utilization > points[i].utilization) {
      continue;
    }
    if (i == 0) {
      return points[0].score * scale;
    }
    const UtilizationPoint& left = points[i - 1];
    const UtilizationPoint& right = points[i];
    return left.score * scale + (right.score - left.score) * scale * (utilization - left.utilization) /
                                    (right.utilization - left.utilization);
  }
  return points.back().score * scale;
}

// For 0 <= part <= whole and whole > 0.
std::int64_t percent(Amount part, Amount whole) {
  return sat_mul(part, kMaxScore) / whole;
}

}  // namespace

Result<std::unique_ptr<NodeResourcesFit>> NodeResourcesFit::create(const api::Json& json,
                                                                   const framework::PluginDeps& /*deps*/) {
  MUSTER_TRY(args, parse_node_resources_fit_args(json));
  return std::unique_ptr<NodeResourcesFit>(new NodeResourcesFit(std::move(args)));
}

bool NodeResourcesFit::is_checked(const std::string& resource) const {
  if (is_plain(resource)) {
    return true;
  }
  if (!is_scalar(resource)) {
    return false;
  }
  return !is_extended(resource) || (!contains(args_.ignored_resources, resource) &&
                                    !contains(args_.ignored_resource_groups, resource.substr(0, resource.find('/'))));
}

std::pair<Amount, Verdict> NodeResourcesFit::capacity(const PodShape& shape, const NodeInfo& node,
                                                      Amount wanted) const {
  Amount fit = std::min(wanted, node.table->free_pods(node.id));
  for (const auto& [resource, amount] : shape.footprint.requests) {
    if (amount > 0 && fit > 0 && is_checked(resource)) {
      fit = std::min(fit, std::max<Amount>(0, node.table->free(node.id, resource)) / amount);
    }
  }
  if (fit > 0 || wanted <= 0) {
    return {std::max<Amount>(fit, 0), {}};
  }
  return {0, explain(shape, node)};
}

// Reasons in kube-scheduler's order: pods, cpu, memory, ephemeral-storage, then the others by name.
Verdict NodeResourcesFit::explain(const PodShape& shape, const NodeInfo& node) const {
  std::string message;
  bool resolvable = true;
  const auto insufficient = [&](const std::string& resource, Amount amount) {
    if (amount <= 0 || amount <= node.table->free(node.id, resource)) {
      return;
    }
    message += (message.empty() ? "" : ", ") + ("Insufficient " + resource);
    resolvable = resolvable && amount <= node.table->allocatable(node.id, resource);
  };
  if (node.table->free_pods(node.id) < 1) {
    message = "Too many pods";
  }
  for (const std::string_view name : kPlainResources) {
    const auto it = shape.footprint.requests.find(std::string(name));
    if (it != shape.footprint.requests.end()) {
      insufficient(it->first, it->second);
    }
  }
  for (const auto& [resource, amount] : shape.footprint.requests) {
    if (!is_plain(resource) && is_checked(resource)) {
      insufficient(resource, amount);
    }
  }
  return resolvable ? Verdict::unschedulable("Unschedulable", std::move(message))
                    : Verdict::unresolvable("Unschedulable", std::move(message));
}

std::int64_t NodeResourcesFit::score(const PodShape& shape, const NodeInfo& node) const {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const WeightedResource& resource : args_.resources) {
    const Amount request = scored_request(shape, resource.name);
    const Amount allocatable = node.table->allocatable(node.id, resource.name);
    if (allocatable <= 0 || (request == 0 && is_extended(resource.name))) {
      continue;
    }
    const std::int64_t score = score_of(sat_add(node.table->used(node.id, resource.name), request), allocatable);
    if (score > 0 || args_.strategy != ScoringStrategy::kRequestedToCapacityRatio) {
      sum += score * resource.weight;
      weights += resource.weight;
    }
  }
  if (weights == 0) {
    return 0;
  }
  const bool rounds = args_.strategy == ScoringStrategy::kRequestedToCapacityRatio;
  return rounds ? (2 * sum + weights) / (2 * weights) : sum / weights;
}

std::int64_t NodeResourcesFit::score_of(Amount requested, Amount allocatable) const {
  const std::int64_t utilization = requested > allocatable ? kMaxScore : percent(requested, allocatable);
  switch (args_.strategy) {
    case ScoringStrategy::kLeastAllocated:
      return requested > allocatable ? 0 : percent(allocatable - requested, allocatable);
    case ScoringStrategy::kMostAllocated:
      return utilization;
    case ScoringStrategy::kRequestedToCapacityRatio:
      return interpolate(args_.shape, utilization);
  }
  return 0;
}

}  // namespace muster::plugins

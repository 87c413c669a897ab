#include "api/core/pod.h"

#include <algorithm>
#include <charconv>

namespace muster::api {
namespace {

void add(ResourceAmounts& sum, const ResourceAmounts& more) {
  for (const auto& [resource, amount] : more) {
    Amount& total = sum[resource];
    total = sat_add(total, amount);
  }
}

void raise_to(ResourceAmounts& peak, const ResourceAmounts& other) {
  for (const auto& [resource, amount] : other) {
    Amount& highest = peak[resource];
    highest = std::max(highest, amount);
  }
}

// Pod-level requests may name only these; others are ignored (Kubernetes refuses them).
bool is_pod_level_resource(const std::string& resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

std::optional<std::int64_t> as_integer(const std::string& text) {
  std::int64_t value = 0;
  const std::size_t skip = text.starts_with('+') && !text.starts_with("+-") ? 1 : 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + skip, end, value);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

bool compares(const NodeSelectorRequirement& requirement, const std::string& label) {
  if (requirement.values.size() != 1) {
    return false;
  }
  const std::optional<std::int64_t> have = as_integer(label);
  const std::optional<std::int64_t> bound = as_integer(requirement.values.front());
  if (!have || !bound) {
    return false;
  }
  return requirement.op == "Gt" ? *have > *bound : *have < *bound;
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The only field Kubernetes lets a node selector name is metadata.name, with exactly one value.
bool matches_field(const NodeSelectorRequirement& requirement, const std::string& node_name) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) {
    return false;
  }
  const bool same = requirement.values.front() == node_name;
  return (requirement.op == "In" && same) || (requirement.op == "NotIn" && !same);
}

}  // namespace

bool is_terminal(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

ResourceAmounts pod_requests(const PodSpec& spec) {
  ResourceAmounts sidecars;   // of the sidecars started so far
  ResourceAmounts init_peak;  // the most that any init step needs
  for (const Container& container : spec.init_containers) {
    ResourceAmounts step = sidecars;
    add(step, container.requests);
    raise_to(init_peak, step);
    if (container.restartable_init) {
      sidecars = std::move(step);
    }
  }
  ResourceAmounts total = std::move(sidecars);
  for (const Container& container : spec.containers) {
    add(total, container.requests);
  }
  raise_to(total, init_peak);
  if (spec.pod_requests) {
    for (const auto& [resource, amount] : *spec.pod_requests) {
      if (is_pod_level_resource(resource)) {
        total[resource] = amount;
      }
    }
  }
  add(total, spec.overhead);
  return total;
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != taint.key) {
    return false;
  }
  if (toleration.op == "Exists") {
    return true;
  }
  const bool is_equal = toleration.op.empty() || toleration.op == "Equal";
  return is_equal && !toleration.key.empty() && toleration.value == taint.value;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&taint](const Toleration& toleration) { return tolerates(toleration, taint); });
}

bool matches(const NodeSelectorRequirement& requirement, const StringMap& labels) {
  const std::string* label = find(labels, requirement.key);
  if (requirement.op == "In") {
    return label != nullptr && contains(requirement.values, *label);
  }
  if (requirement.op == "NotIn") {
    return label == nullptr || !contains(requirement.values, *label);
  }
  if (requirement.op == "Exists") {
    return label != nullptr;
  }
  if (requirement.op == "DoesNotExist") {
    return label == nullptr;
  }
  return (requirement.op == "Gt" || requirement.op == "Lt") && label != nullptr && compares(requirement, *label);
}

bool matches(const NodeSelectorTerm& term, const StringMap& labels, const std::string& node_name) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return false;
  }
  return std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                     [&labels](const NodeSelectorRequirement& requirement) { return matches(requirement, labels); }) &&
         std::all_of(term.match_fields.begin(), term.match_fields.end(),
                     [&node_name](const NodeSelectorRequirement& field) { return matches_field(field, node_name); });
}

}  // namespace muster::api

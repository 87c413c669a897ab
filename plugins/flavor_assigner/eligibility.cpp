#include "plugins/flavor_assigner/eligibility.h"

#include "base/time.h"

#include <algorithm>

namespace muster::plugins {
namespace {

bool keeps_pods_away(const api::Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

// `{key value effect <nil>}`; a time as Go prints it: `2026-01-01 00:00:00 +0000 UTC`.
std::string describe(const api::Taint& taint) {
  std::string added = "<nil>";
  if (taint.time_added) {
    added = format_rfc3339(*taint.time_added);
    added.replace(added.find('T'), 1, " ");
    added.replace(added.find('Z'), 1, " +0000 UTC");
  }
  return "{" + taint.key + " " + taint.value + " " + taint.effect + " " + added + "}";
}

// Only labels that the flavor itself has are compared; a term that speaks of none of them matches (the terms are
// alternatives), and so does no term at all.
bool matches_required_affinity(const api::NodeAffinity& affinity, const api::StringMap& labels) {
  if (!affinity.required || affinity.required->empty()) {
    return true;
  }
  bool some_term_matches = false;
  for (const api::NodeSelectorTerm& term : *affinity.required) {
    bool concerned = false;
    bool matches = true;
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      if (labels.count(requirement.key) > 0) {
        concerned = true;
        matches = matches && api::matches(requirement, labels);
      }
    }
    if (!concerned) {
      return true;
    }
    some_term_matches = some_term_matches || matches;
  }
  return some_term_matches;
}

bool matches_selector(const api::StringMap& selector, const api::StringMap& labels) {
  return std::all_of(selector.begin(), selector.end(), [&labels](const auto& wanted) {
    const std::string* label = api::find(labels, wanted.first);
    return label == nullptr || *label == wanted.second;
  });
}

}  // namespace

std::string ineligible_reason(const api::PodSpec& pod, const FlavorName& name, const api::ResourceFlavor* flavor) {
  if (flavor == nullptr) {
    return "flavor " + name.str() + " not found";
  }
  for (const api::Taint& taint : flavor->node_taints) {
    if (keeps_pods_away(taint) && !api::tolerates(pod.tolerations, taint) &&
        !api::tolerates(flavor->tolerations, taint)) {
      return "untolerated taint " + describe(taint) + " in flavor " + name.str();
    }
  }
  if (!matches_selector(pod.node_selector, flavor->node_labels) ||
      !matches_required_affinity(pod.node_affinity, flavor->node_labels)) {
    return "flavor " + name.str() + " doesn't match node affinity";
  }
  return {};
}

}  // namespace muster::plugins

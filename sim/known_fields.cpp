#include "sim/known_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace muster::sim {
namespace {

using api::Json;

// Dotted paths below the object; `[]` is any element of a list, `*` anything below.
const std::map<std::string, std::vector<std::string_view>>& known_paths() {
  static const std::map<std::string, std::vector<std::string_view>> kPaths = {
      {"ClusterQueue",
       {"spec.resourceGroups[].coveredResources*",
        "spec.resourceGroups[].flavors[].name",
        "spec.resourceGroups[].flavors[].resources[].name",
        "spec.resourceGroups[].flavors[].resources[].nominalQuota",
        "spec.resourceGroups[].flavors[].resources[].borrowingLimit",
        "spec.resourceGroups[].flavors[].resources[].lendingLimit",
        "spec.cohortName",
        "spec.queueingStrategy",
        "spec.namespaceSelector*",
        "spec.flavorFungibility.whenCanBorrow",
        "spec.flavorFungibility.whenCanPreempt",
        "spec.flavorFungibility.preference",
        "spec.preemption.reclaimWithinCohort",
        "spec.preemption.borrowWithinCohort.policy",
        "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
        "spec.preemption.withinClusterQueue",
        "spec.admissionChecksStrategy.admissionChecks[].name",
        "spec.admissionChecksStrategy.admissionChecks[].onFlavors*",
        "spec.stopPolicy",
        "spec.fairSharing.weight",
        "spec.admissionScope.admissionMode",
        "spec.concurrentAdmissionPolicy*"}},
      {"Cohort",
       {"spec.parentName", "spec.resourceGroups[].coveredResources*", "spec.resourceGroups[].flavors[].name",
        "spec.resourceGroups[].flavors[].resources[].name", "spec.resourceGroups[].flavors[].resources[].nominalQuota",
        "spec.resourceGroups[].flavors[].resources[].borrowingLimit",
        "spec.resourceGroups[].flavors[].resources[].lendingLimit", "spec.fairSharing.weight"}},
      {"LocalQueue", {"spec.clusterQueue", "spec.stopPolicy", "spec.fairSharing.weight"}},
      {"ResourceFlavor", {"spec.nodeLabels*", "spec.nodeTaints*", "spec.tolerations*", "spec.topologyName"}},
      {"WorkloadPriorityClass", {"spec"}},
      {"Job",
       {"spec.parallelism", "spec.completions", "spec.activeDeadlineSeconds", "spec.podFailurePolicy*",
        "spec.successPolicy*", "spec.backoffLimit", "spec.backoffLimitPerIndex", "spec.maxFailedIndexes",
        "spec.selector*", "spec.manualSelector", "spec.template*", "spec.ttlSecondsAfterFinished",
        "spec.completionMode", "spec.suspend", "spec.podReplacementPolicy", "spec.managedBy"}},
  };
  return kPaths;
}

bool is_prefix_of_some(const std::vector<std::string_view>& known, const std::string& path) {
  return std::any_of(known.begin(), known.end(), [&path](std::string_view candidate) {
    return candidate == path || candidate == path + "*" ||
           (candidate.starts_with(path) && (candidate[path.size()] == '.' || candidate[path.size()] == '['));
  });
}

bool is_open(const std::vector<std::string_view>& known, const std::string& path) {
  return std::find(known.begin(), known.end(), path + "*") != known.end();
}

// `shape` is the path with `[]` for every index, `shown` the path as the user reads it.
std::optional<std::string> search(const std::vector<std::string_view>& known, const Json& value,
                                  const std::string& shape, const std::string& shown) {
  if (is_open(known, shape)) {
    return std::nullopt;
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto found = search(known, value[i], shape + "[]", shown + "[" + std::to_string(i) + "]")) {
        return found;
      }
    }
    return std::nullopt;
  }
  if (!value.is_object()) {
    return std::nullopt;
  }
  for (const auto& [key, member] : value.items()) {
    const std::string next = shape + "." + key;
    const std::string next_shown = shown + "." + key;
    if (!is_prefix_of_some(known, next)) {
      return next_shown;
    }
    if (auto found = search(known, member, next, next_shown)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_unknown_field(const std::string& kind, const Json& object) {
  const auto known = known_paths().find(kind);
  const auto spec = object.find("spec");
  if (known == known_paths().end() || spec == object.end()) {
    return std::nullopt;
  }
  return search(known->second, *spec, "spec", "spec");
}

}  // namespace muster::sim

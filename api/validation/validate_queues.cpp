#include "api/codec/decode.h"
#include "api/codec/enums.h"
#include "api/validation/names.h"
#include "api/validation/quota_rules.h"
#include "api/validation/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace muster::api {
namespace {

constexpr std::size_t kMaxFlavors = 256;
constexpr std::size_t kMaxResources = 256;
constexpr std::size_t kMaxPairs = 512;
constexpr std::size_t kMaxConcurrentFlavors = 16;
constexpr std::string_view kPolicy = "spec.concurrentAdmissionPolicy";

FieldErrors undecodable(const Error& error) {
  return {{.path = error.path, .text = error.message}};
}

std::string limit_detail(std::string_view what, std::size_t max, std::size_t actual) {
  return std::string(what) + " must be ≤ " + std::to_string(max) + ", got " + std::to_string(actual);
}

std::vector<std::string> flavor_names(const ClusterQueue& queue) {
  std::vector<std::string> names;
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      names.push_back(flavor.name.str());
    }
  }
  return names;
}

FieldErrors validate_totals(const ClusterQueue& queue) {
  FieldErrors errors;
  std::size_t flavors = 0;
  std::size_t resources = 0;
  for (std::size_t i = 0; i < queue.resource_groups.size(); ++i) {
    const ResourceGroup& group = queue.resource_groups[i];
    flavors += group.flavors.size();
    resources += group.covered_resources.size();
    std::size_t pairs = 0;
    for (const FlavorQuotas& flavor : group.flavors) {
      pairs += flavor.resources.size();
    }
    if (pairs > kMaxPairs) {
      errors.push_back(
          invalid_value(at("spec.resourceGroups", i), pairs,
                        limit_detail("number of flavor-resource combinations in a resourceGroup", kMaxPairs, pairs)));
    }
  }
  if (flavors > kMaxFlavors) {
    errors.push_back(
        invalid_value("spec.resourceGroups", flavors,
                      limit_detail("total number of flavors across all resourceGroups", kMaxFlavors, flavors)));
  }
  if (resources > kMaxResources) {
    errors.push_back(invalid_value(
        "spec.resourceGroups", resources,
        limit_detail("total number of covered resources across all resourceGroups", kMaxResources, resources)));
  }
  return errors;
}

FieldErrors validate_policies(const ClusterQueue& queue, const Json& spec) {
  FieldErrors errors;
  if (queue.namespace_selector) {
    append(errors, validate_label_selector(*queue.namespace_selector, "spec.namespaceSelector"));
  }
  if (queue.preemption.reclaim_within_cohort == ReclaimPolicy::kNever &&
      queue.preemption.borrow_within_cohort != BorrowWithinCohortPolicy::kNever) {
    errors.push_back(invalid_value("spec.preemption", spec.at("preemption"),
                                   "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"));
  }
  const FlavorFungibility& fungibility = queue.flavor_fungibility;
  const bool both_next = fungibility.when_can_borrow == FungibilityPolicy::kTryNextFlavor &&
                         fungibility.when_can_preempt == FungibilityPolicy::kTryNextFlavor;
  const Json::json_pointer preference("/flavorFungibility/preference");
  if (!both_next && spec.contains(preference) && !spec.at(preference).is_null()) {
    const std::string name(name_of(kFungibilityPreferenceNames, fungibility.preference));
    errors.push_back(invalid_value(
        "spec.flavorFungibility.preference", name,
        "preference \"" + name + "\" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor"));
  }
  return errors;
}

std::set<std::string> flavor_set(const std::vector<FlavorName>& flavors) {
  std::set<std::string> names;
  for (const FlavorName& flavor : flavors) {
    names.insert(flavor.str());
  }
  return names;
}

// A rule that was there before with the same flavors is let through while the queue's own flavors are unchanged.
bool is_grandfathered(const AdmissionCheckRule& rule, const ClusterQueue& queue, const ClusterQueue* old,
                      const ValidationGates& gates) {
  if (old == nullptr || gates.reject_updates_with_invalid_on_flavors) {
    return false;
  }
  const std::vector<std::string> now = flavor_names(queue);
  const std::vector<std::string> before = flavor_names(*old);
  if (std::set(now.begin(), now.end()) != std::set(before.begin(), before.end())) {
    return false;
  }
  return std::any_of(old->admission_checks.begin(), old->admission_checks.end(),
                     [&rule](const AdmissionCheckRule& other) {
                       return other.name == rule.name && flavor_set(other.on_flavors) == flavor_set(rule.on_flavors);
                     });
}

FieldErrors validate_checks(const ClusterQueue& queue, const ClusterQueue* old, const ValidationGates& gates) {
  FieldErrors errors;
  const std::vector<std::string> flavors = flavor_names(queue);
  const std::string rules = "spec.admissionChecksStrategy.admissionChecks";
  for (std::size_t i = 0; i < queue.admission_checks.size(); ++i) {
    const AdmissionCheckRule& rule = queue.admission_checks[i];
    if (is_grandfathered(rule, queue, old, gates)) {
      continue;
    }
    for (std::size_t j = 0; j < rule.on_flavors.size(); ++j) {
      const std::string& flavor = rule.on_flavors[j].str();
      if (std::find(flavors.begin(), flavors.end(), flavor) == flavors.end()) {
        errors.push_back(not_supported(at(at(at(rules, i), "onFlavors"), j), flavor, flavors));
      }
    }
  }
  return errors;
}

Json policy_of(const Json& spec) {
  return spec.contains("concurrentAdmissionPolicy") ? spec.at("concurrentAdmissionPolicy") : Json();
}

FieldErrors validate_concurrent_shape(const ClusterQueue& queue) {
  FieldErrors errors;
  if (queue.resource_groups.size() != 1) {
    errors.push_back(invalid_value("spec.resourceGroups", queue.resource_groups.size(),
                                   "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"));
  } else if (const std::size_t flavors = queue.resource_groups[0].flavors.size(); flavors > kMaxConcurrentFlavors) {
    errors.push_back(invalid_value("spec.resourceGroups[0].flavors", flavors,
                                   "cannot have more than 16 resource flavors in the ResourceGroup when "
                                   "ConcurrentAdmissionPolicy is defined"));
  }
  if (queue.queueing_strategy == QueueingStrategy::kStrictFifo) {
    errors.push_back(
        invalid_value("spec.queueingStrategy", "StrictFIFO",
                      "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined"));
  }
  return errors;
}

FieldErrors validate_migration(const ClusterQueue& queue, const Json& policy) {
  const Json migration = policy.value("migration", Json::object());
  if (!migration.is_object() || !migration.contains("constraints") || !migration.at("constraints").is_object()) {
    return {};
  }
  FieldErrors errors;
  const std::string path = std::string(kPolicy) + ".migration.constraints";
  const std::string mode =
      migration.contains("mode") && migration["mode"].is_string() ? migration["mode"].get<std::string>() : "";
  if (mode != "TryPreferredFlavors") {
    errors.push_back(
        forbidden(path, "may only be set when migration.mode is \"TryPreferredFlavors\" (got \"" + mode + "\")"));
  }
  const Json& constraints = migration.at("constraints");
  const auto last = constraints.find("lastAcceptableFlavorName");
  const std::vector<std::string> flavors = flavor_names(queue);
  if (last != constraints.end() && last->is_string() &&
      std::find(flavors.begin(), flavors.end(), last->get<std::string>()) == flavors.end()) {
    std::string list;
    for (const std::string& flavor : flavors) {
      list += (list.empty() ? "" : " ") + flavor;
    }
    errors.push_back(invalid_value(at(path, "lastAcceptableFlavorName"), *last,
                                   "must be one of the flavors defined in the ClusterQueue: [" + list + "]"));
  }
  return errors;
}

}  // namespace

FieldErrors validate_cluster_queue(const Json& queue, const Json* old, const ValidationGates& gates) {
  const Result<ClusterQueue> decoded = decode<ClusterQueue>(queue);
  if (!decoded.ok()) {
    return undecodable(decoded.error());
  }
  const Result<ClusterQueue> decoded_old =
      old == nullptr ? Result<ClusterQueue>(ClusterQueue{}) : decode<ClusterQueue>(*old);
  const ClusterQueue* before = old != nullptr && decoded_old.ok() ? &*decoded_old : nullptr;
  const Json& spec = spec_of(queue);

  FieldErrors errors =
      validate_resource_groups(decoded->resource_groups, {.has_parent = !decoded->cohort.empty(),
                                                          .needs_parent = "must be nil when cohort is empty",
                                                          .lending_within_nominal = true});
  append(errors, validate_policies(*decoded, spec));
  append(errors, validate_fair_weight(spec));
  append(errors, validate_totals(*decoded));
  append(errors, validate_checks(*decoded, before, gates));
  const Json policy = policy_of(spec);
  if (old != nullptr && policy != policy_of(spec_of(*old))) {
    errors.push_back(invalid_value(std::string(kPolicy), policy, kImmutable));
  }
  if (gates.concurrent_admission && policy.is_object()) {
    append(errors, validate_concurrent_shape(*decoded));
    append(errors, validate_migration(*decoded, policy));
  }
  return errors;
}

FieldErrors validate_cohort(const Json& cohort) {
  const Result<Cohort> decoded = decode<Cohort>(cohort);
  if (!decoded.ok()) {
    return undecodable(decoded.error());
  }
  FieldErrors errors = validate_fair_weight(spec_of(cohort));
  append(errors,
         validate_resource_groups(decoded->resource_groups, {.has_parent = !decoded->parent.empty(),
                                                             .needs_parent = "must be nil when parent is empty"}));
  return errors;
}

}  // namespace muster::api

#include "api/codec/encode.h"
#include "api/codec/encode_parts.h"
#include "base/quantity.h"

namespace muster::api {
namespace {

void put_amount(Json& object, std::string_view key, const std::string& resource, const std::optional<Amount>& amount) {
  if (amount) {
    object[std::string(key)] = encode_amount(resource, *amount);
  }
}

Json encode_quota(const ResourceQuota& quota) {
  Json json = {{"name", quota.resource}};
  put_amount(json, "nominalQuota", quota.resource, quota.nominal);
  put_amount(json, "borrowingLimit", quota.resource, quota.borrowing_limit);
  put_amount(json, "lendingLimit", quota.resource, quota.lending_limit);
  return json;
}

Json encode_groups(const std::vector<ResourceGroup>& groups) {
  return encode_list(groups, [](const ResourceGroup& group) {
    return Json{{"coveredResources", group.covered_resources},
                {"flavors", encode_list(group.flavors, [](const FlavorQuotas& flavor) {
                   return Json{{"name", flavor.name.str()}, {"resources", encode_list(flavor.resources, encode_quota)}};
                 })}};
  });
}

enum class WithBorrowed { kNo, kYes };

Json encode_usage(const std::vector<FlavorUsage>& usage, WithBorrowed with_borrowed) {
  return encode_list(usage, [with_borrowed](const FlavorUsage& flavor) {
    const auto encode_resource = [with_borrowed](const FlavorUsage::Resource& resource) {
      Json json = {{"name", resource.name}, {"total", encode_amount(resource.name, resource.total)}};
      if (with_borrowed == WithBorrowed::kYes) {
        json["borrowed"] = encode_amount(resource.name, resource.borrowed);
      }
      return json;
    };
    return Json{{"name", flavor.name.str()}, {"resources", encode_list(flavor.resources, encode_resource)}};
  });
}

// ClusterQueueStatus and LocalQueueStatus have the same members.
template <class QueueStatus>
Json encode_queue_status(const QueueStatus& status, WithBorrowed with_borrowed) {
  Json json = {{"pendingWorkloads", status.pending_workloads},
               {"reservingWorkloads", status.reserving_workloads},
               {"admittedWorkloads", status.admitted_workloads}};
  put(json, "conditions", encode(status.conditions));
  put(json, "flavorsReservation", encode_usage(status.flavors_reservation, with_borrowed));
  put(json, "flavorsUsage", encode_usage(status.flavors_usage, with_borrowed));
  return json;
}

Json encode_fungibility(const FlavorFungibility& fungibility) {
  Json json = Json::object();
  put_enum(json, "whenCanBorrow", kFungibilityPolicyNames, fungibility.when_can_borrow);
  put_enum(json, "whenCanPreempt", kFungibilityPolicyNames, fungibility.when_can_preempt);
  if (fungibility.preference != FlavorFungibility{}.preference) {
    put_enum(json, "preference", kFungibilityPreferenceNames, fungibility.preference);
  }
  return json;
}

Json encode_preemption(const Preemption& preemption) {
  Json borrow = Json::object();
  put_enum(borrow, "policy", kBorrowPolicyNames, preemption.borrow_within_cohort);
  put(borrow, "maxPriorityThreshold", preemption.borrow_max_priority_threshold);
  Json json = {{"borrowWithinCohort", std::move(borrow)}};
  put_enum(json, "withinClusterQueue", kWithinClusterQueueNames, preemption.within_cluster_queue);
  put_enum(json, "reclaimWithinCohort", kReclaimPolicyNames, preemption.reclaim_within_cohort);
  return json;
}

Json encode_checks(const std::vector<AdmissionCheckRule>& checks) {
  if (checks.empty()) {
    return {};
  }
  return {{"admissionChecks", encode_list(checks, [](const AdmissionCheckRule& rule) {
             Json json = {{"name", rule.name}};
             put(json, "onFlavors",
                 encode_list(rule.on_flavors, [](const FlavorName& name) { return Json(name.str()); }));
             return json;
           })}};
}

void put_fair_weight(Json& spec, const std::optional<Amount>& nano) {
  if (nano) {
    spec["fairSharing"] = {{"weight", format_nano(*nano)}};
  }
}

void put_weighted_share(Json& status, const std::optional<std::int64_t>& share) {
  if (share) {
    status["fairSharing"] = {{"weightedShare", *share}};
  }
}

}  // namespace

Json encode(const ClusterQueueStatus& status) {
  Json json = encode_queue_status(status, WithBorrowed::kYes);
  put_weighted_share(json, status.weighted_share);
  return json;
}

Json encode(const CohortStatus& status) {
  Json json = Json::object();
  put_weighted_share(json, status.weighted_share);
  return json;
}

Json encode(const LocalQueueStatus& status) {
  Json json = encode_queue_status(status, WithBorrowed::kNo);
  if (status.admission_fair_sharing) {
    Json consumed = Json::object();
    for (const auto& [resource, amount] : status.admission_fair_sharing->consumed_resources) {
      consumed[resource] = format_nano(amount);
    }
    Json history = {{"consumedResources", std::move(consumed)}};
    put_time(history, "lastUpdate", status.admission_fair_sharing->last_update);
    json["fairSharing"] = {{"weightedShare", 0}, {"admissionFairSharingStatus", std::move(history)}};
  }
  return json;
}

Json encode(const ResourceFlavor& flavor) {
  Json spec = Json::object();
  put(spec, "nodeLabels", flavor.node_labels);
  put(spec, "nodeTaints", encode(flavor.node_taints));
  put(spec, "tolerations", encode(flavor.tolerations));
  put(spec, "topologyName", flavor.topology_name);
  Json json = an_object(kKueueVersion, "ResourceFlavor", encode(flavor.meta));
  json["spec"] = std::move(spec);
  return json;
}

Json encode(const ClusterQueue& queue) {
  Json spec = Json::object();
  put(spec, "resourceGroups", encode_groups(queue.resource_groups));
  put(spec, "cohortName", queue.cohort.str());
  put_enum(spec, "queueingStrategy", kQueueingStrategyNames, queue.queueing_strategy);
  if (queue.namespace_selector) {
    spec["namespaceSelector"] = encode(*queue.namespace_selector);
  }
  spec["flavorFungibility"] = encode_fungibility(queue.flavor_fungibility);
  spec["preemption"] = encode_preemption(queue.preemption);
  put(spec, "admissionChecksStrategy", encode_checks(queue.admission_checks));
  put_enum(spec, "stopPolicy", kStopPolicyNames, queue.stop_policy);
  put_fair_weight(spec, queue.fair_weight_nano);
  if (queue.usage_based_fair_sharing) {
    spec["admissionScope"] = {{"admissionMode", "UsageBasedAdmissionFairSharing"}};
  }
  Json json = an_object(kKueueVersion, "ClusterQueue", encode(queue.meta));
  json["spec"] = std::move(spec);
  json["status"] = encode(queue.status);
  return json;
}

Json encode(const Cohort& cohort) {
  Json spec = Json::object();
  put(spec, "parentName", cohort.parent.str());
  put(spec, "resourceGroups", encode_groups(cohort.resource_groups));
  put_fair_weight(spec, cohort.fair_weight_nano);
  Json json = an_object(kKueueVersion, "Cohort", encode(cohort.meta));
  json["spec"] = std::move(spec);
  json["status"] = encode(cohort.status);
  return json;
}

Json encode(const LocalQueue& queue) {
  Json spec = Json::object();
  put(spec, "clusterQueue", queue.cluster_queue.str());
  put_enum(spec, "stopPolicy", kStopPolicyNames, queue.stop_policy);
  put_fair_weight(spec, queue.fair_weight_nano);
  Json json = an_object(kKueueVersion, "LocalQueue", encode(queue.meta));
  json["spec"] = std::move(spec);
  json["status"] = encode(queue.status);
  return json;
}

}  // namespace muster::api

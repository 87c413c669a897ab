#include "api/codec/decode.h"
#include "api/codec/parts.h"
#include "api/kueue/queues.h"

namespace muster::api {
namespace {

ResourceQuota read_quota(const Reader& quota) {
  const std::string resource = quota.text("name");
  return {.resource = resource,
          .nominal = quota.maybe_quota("nominalQuota", resource).value_or(0),
          .borrowing_limit = quota.maybe_quota("borrowingLimit", resource),
          .lending_limit = quota.maybe_quota("lendingLimit", resource)};
}

std::vector<ResourceGroup> read_resource_groups(const Reader& spec) {
  return spec.list("resourceGroups", [](const Reader& group) {
    return ResourceGroup{.covered_resources = group.strings("coveredResources"),
                         .flavors = group.list("flavors", [](const Reader& flavor) {
                           return FlavorQuotas{.name = FlavorName(flavor.text("name")),
                                               .resources = flavor.list("resources", read_quota)};
                         })};
  });
}

std::vector<FlavorUsage> read_usage(const Reader& status, std::string_view key) {
  return status.list(key, [](const Reader& flavor) {
    return FlavorUsage{.name = FlavorName(flavor.text("name")),
                       .resources = flavor.list("resources", [](const Reader& resource) {
                         const std::string name = resource.text("name");
                         return FlavorUsage::Resource{.name = name,
                                                      .total = resource.maybe_amount("total", name).value_or(0),
                                                      .borrowed = resource.maybe_amount("borrowed", name).value_or(0)};
                       })};
  });
}

// ClusterQueueStatus and LocalQueueStatus have the same members.
template <class QueueStatus>
QueueStatus read_queue_status(const Reader& status) {
  return {.conditions = read_conditions(status),
          .flavors_reservation = read_usage(status, "flavorsReservation"),
          .flavors_usage = read_usage(status, "flavorsUsage"),
          .pending_workloads = status.int32("pendingWorkloads"),
          .reserving_workloads = status.int32("reservingWorkloads"),
          .admitted_workloads = status.int32("admittedWorkloads")};
}

std::optional<std::int64_t> read_weighted_share(const Reader& status) {
  return status.child("fairSharing").maybe_int64("weightedShare");
}

std::optional<AdmissionFairSharingStatus> read_consumed(const Reader& status) {
  const Reader consumed = status.child("fairSharing").child("admissionFairSharingStatus");
  if (!consumed.present()) {
    return std::nullopt;
  }
  return AdmissionFairSharingStatus{.consumed_resources = consumed.nano_amounts("consumedResources"),
                                    .last_update = consumed.time("lastUpdate")};
}

FlavorFungibility read_fungibility(const Reader& fungibility) {
  const FlavorFungibility defaults;
  return {.when_can_borrow = fungibility.one_of("whenCanBorrow", kFungibilityPolicyNames, defaults.when_can_borrow),
          .when_can_preempt = fungibility.one_of("whenCanPreempt", kFungibilityPolicyNames, defaults.when_can_preempt),
          .preference = fungibility.one_of("preference", kFungibilityPreferenceNames, defaults.preference)};
}

Preemption read_preemption(const Reader& preemption) {
  const Preemption defaults;
  const Reader borrow = preemption.child("borrowWithinCohort");
  return {.within_cluster_queue =
              preemption.one_of("withinClusterQueue", kWithinClusterQueueNames, defaults.within_cluster_queue),
          .reclaim_within_cohort =
              preemption.one_of("reclaimWithinCohort", kReclaimPolicyNames, defaults.reclaim_within_cohort),
          .borrow_within_cohort = borrow.one_of("policy", kBorrowPolicyNames, defaults.borrow_within_cohort),
          .borrow_max_priority_threshold = borrow.maybe_int32("maxPriorityThreshold")};
}

std::vector<AdmissionCheckRule> read_checks(const Reader& spec) {
  return spec.child("admissionChecksStrategy").list("admissionChecks", [](const Reader& rule) {
    AdmissionCheckRule result{.name = rule.text("name")};
    for (std::string& flavor : rule.strings("onFlavors")) {
      result.on_flavors.emplace_back(std::move(flavor));
    }
    return result;
  });
}

std::optional<LabelSelector> read_namespace_selector(const Reader& spec) {
  const Reader selector = spec.child("namespaceSelector");
  return selector.present() ? std::optional(read_label_selector(selector)) : std::nullopt;
}

}  // namespace

template <>
Result<ResourceFlavor> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  ResourceFlavor flavor{.meta = read_meta(root),
                        .node_labels = spec.string_map("nodeLabels"),
                        .node_taints = read_taints(spec, "nodeTaints"),
                        .tolerations = read_tolerations(spec),
                        .topology_name = spec.text("topologyName")};
  return std::move(problems).finish(std::move(flavor));
}

template <>
Result<ClusterQueue> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  ClusterQueue queue{
      .meta = read_meta(root),
      .resource_groups = read_resource_groups(spec),
      .cohort = CohortName(spec.text("cohortName")),
      .queueing_strategy = spec.one_of("queueingStrategy", kQueueingStrategyNames, QueueingStrategy::kBestEffortFifo),
      .namespace_selector = read_namespace_selector(spec),
      .flavor_fungibility = read_fungibility(spec.child("flavorFungibility")),
      .preemption = read_preemption(spec.child("preemption")),
      .admission_checks = read_checks(spec),
      .stop_policy = spec.one_of("stopPolicy", kStopPolicyNames, StopPolicy::kNone),
      .fair_weight_nano = spec.child("fairSharing").maybe_nano("weight"),
      .usage_based_fair_sharing =
          spec.child("admissionScope").text("admissionMode") == "UsageBasedAdmissionFairSharing",
      .status = read_queue_status<ClusterQueueStatus>(root.child("status"))};
  queue.status.weighted_share = read_weighted_share(root.child("status"));
  return std::move(problems).finish(std::move(queue));
}

template <>
Result<Cohort> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  Cohort cohort{.meta = read_meta(root),
                .parent = CohortName(spec.text("parentName")),
                .resource_groups = read_resource_groups(spec),
                .fair_weight_nano = spec.child("fairSharing").maybe_nano("weight"),
                .status = {.weighted_share = read_weighted_share(root.child("status"))}};
  return std::move(problems).finish(std::move(cohort));
}

template <>
Result<LocalQueue> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  LocalQueue queue{.meta = read_meta(root),
                   .cluster_queue = ClusterQueueName(spec.text("clusterQueue")),
                   .stop_policy = spec.one_of("stopPolicy", kStopPolicyNames, StopPolicy::kNone),
                   .fair_weight_nano = spec.child("fairSharing").maybe_nano("weight"),
                   .status = read_queue_status<LocalQueueStatus>(root.child("status"))};
  queue.status.admission_fair_sharing = read_consumed(root.child("status"));
  return std::move(problems).finish(std::move(queue));
}

template <>
Result<WorkloadPriorityClass> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  WorkloadPriorityClass result{.meta = read_meta(root), .value = root.int32("value")};
  return std::move(problems).finish(std::move(result));
}

}  // namespace muster::api

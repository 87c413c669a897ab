#include "api/codec/decode.h"
#include "api/codec/parts.h"
#include "api/kueue/workload.h"

namespace muster::api {
namespace {

PodSet read_pod_set(const Reader& pod_set) {
  return {.name = pod_set.text("name", "main"),
          .count = pod_set.int32("count", 1),
          .min_count = pod_set.maybe_int32("minCount"),
          .group = pod_set.child("topologyRequest").text("podSetGroupName"),
          .pod_template = read_pod_template(pod_set.child("template"))};
}

PodSetAssignment read_assignment(const Reader& assignment) {
  PodSetAssignment result{.name = assignment.text("name", "main"),
                          .resource_usage = assignment.amounts("resourceUsage"),
                          .count = assignment.int32("count")};
  for (auto& [resource, flavor] : assignment.string_map("flavors")) {
    result.flavors.emplace(resource, FlavorName(flavor));
  }
  return result;
}

std::optional<Admission> maybe_admission(const Reader& status) {
  const Reader admission = status.child("admission");
  return admission.present() ? std::optional(read_admission(admission)) : std::nullopt;
}

std::optional<RequeueState> maybe_requeue_state(const Reader& status) {
  const Reader state = status.child("requeueState");
  if (!state.present()) {
    return std::nullopt;
  }
  return RequeueState{.count = state.int32("count"), .requeue_at = state.maybe_time("requeueAt")};
}

PodSetUpdate read_update(const Reader& update) {
  return {.name = update.text("name"),
          .labels = update.string_map("labels"),
          .annotations = update.string_map("annotations"),
          .node_selector = update.string_map("nodeSelector"),
          .tolerations = read_tolerations(update)};
}

AdmissionCheckState read_check_state(const Reader& check) {
  return {.name = check.text("name"),
          .state = check.one_of("state", kCheckStateNames, CheckState::kPending),
          .last_transition_time = check.time("lastTransitionTime"),
          .message = check.text("message"),
          .pod_set_updates = check.list("podSetUpdates", read_update),
          .requeue_after_seconds = check.maybe_int32("requeueAfterSeconds"),
          .retry_count = check.maybe_int32("retryCount")};
}

WorkloadStatus read_status(const Reader& status) {
  return {
      .conditions = read_conditions(status),
      .admission = maybe_admission(status),
      .requeue_state = maybe_requeue_state(status),
      .reclaimable_pods = status.list(
          "reclaimablePods",
          [](const Reader& pods) { return ReclaimablePod{.name = pods.text("name"), .count = pods.int32("count")}; }),
      .admission_checks = status.list("admissionChecks", read_check_state),
      .resource_requests = status.list("resourceRequests",
                                       [](const Reader& request) {
                                         return PodSetRequest{.name = request.text("name"),
                                                              .resources = request.amounts("resources")};
                                       }),
      .evictions = status.child("schedulingStats")
                       .list("evictions",
                             [](const Reader& stat) {
                               return EvictionStat{.reason = stat.text("reason"),
                                                   .underlying_cause = stat.text("underlyingCause"),
                                                   .count = stat.int32("count")};
                             }),
      .accumulated_past_execution_seconds = status.maybe_int32("accumulatedPastExecutionTimeSeconds")};
}

std::optional<PriorityClassRef> maybe_class_ref(const Reader& spec) {
  const Reader ref = spec.child("priorityClassRef");
  if (!ref.present()) {
    return std::nullopt;
  }
  return PriorityClassRef{.group = ref.text("group"), .kind = ref.text("kind"), .name = ref.text("name")};
}

}  // namespace

Admission read_admission(const Reader& admission) {
  return {.cluster_queue = ClusterQueueName(admission.text("clusterQueue")),
          .pod_set_assignments = admission.list("podSetAssignments", read_assignment)};
}

template <>
Result<Admission> decode(const Json& object) {
  Problems problems;
  Admission admission = read_admission(Reader(object, problems));
  return std::move(problems).finish(std::move(admission));
}

template <>
Result<Workload> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  Workload workload{.meta = read_meta(root),
                    .queue_name = LocalQueueName(spec.text("queueName")),
                    .pod_sets = spec.list("podSets", read_pod_set),
                    .priority_class_ref = maybe_class_ref(spec),
                    .priority = spec.maybe_int32("priority"),
                    .active = spec.boolean("active", true),
                    .maximum_execution_seconds = spec.maybe_int32("maximumExecutionTimeSeconds"),
                    .status = read_status(root.child("status"))};
  return std::move(problems).finish(std::move(workload));
}

}  // namespace muster::api

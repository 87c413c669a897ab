#include "api/codec/encode.h"
#include "api/codec/encode_parts.h"

namespace muster::api {
namespace {

Json encode_pod_set(const PodSet& pod_set) {
  Json json = {{"name", pod_set.name}, {"count", pod_set.count}, {"template", encode(pod_set.pod_template)}};
  put(json, "minCount", pod_set.min_count);
  if (!pod_set.group.empty()) {
    json["topologyRequest"] = {{"podSetGroupName", pod_set.group}};
  }
  return json;
}

Json encode_assignment(const PodSetAssignment& assignment) {
  Json flavors = Json::object();
  for (const auto& [resource, flavor] : assignment.flavors) {
    flavors[resource] = flavor.str();
  }
  Json json = {{"name", assignment.name}, {"count", assignment.count}};
  put(json, "flavors", std::move(flavors));
  put(json, "resourceUsage", encode_amounts(assignment.resource_usage));
  return json;
}

Json encode_update(const PodSetUpdate& update) {
  Json json = {{"name", update.name}};
  put(json, "labels", update.labels);
  put(json, "annotations", update.annotations);
  put(json, "nodeSelector", update.node_selector);
  put(json, "tolerations", encode(update.tolerations));
  return json;
}

Json encode_check(const AdmissionCheckState& check) {
  Json json = {{"name", check.name},
               {"state", std::string(name_of(kCheckStateNames, check.state))},
               {"lastTransitionTime", format_rfc3339(check.last_transition_time)},
               {"message", check.message}};
  put(json, "podSetUpdates", encode_list(check.pod_set_updates, encode_update));
  put(json, "requeueAfterSeconds", check.requeue_after_seconds);
  put(json, "retryCount", check.retry_count);
  return json;
}

Json encode_requeue_state(const RequeueState& state) {
  Json json = {{"count", state.count}};
  put_time(json, "requeueAt", state.requeue_at);
  return json;
}

Json encode_evictions(const std::vector<EvictionStat>& evictions) {
  if (evictions.empty()) {
    return {};
  }
  return {{"evictions", encode_list(evictions, [](const EvictionStat& stat) {
             return Json{{"reason", stat.reason}, {"underlyingCause", stat.underlying_cause}, {"count", stat.count}};
           })}};
}

// RFC 7396: members that changed, null for those that are gone, lists whole.
Json merge_diff(const Json& before, const Json& after) {
  Json changes = Json::object();
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    if (old == before.end()) {
      changes[key] = value;
    } else if (*old != value) {
      changes[key] = old->is_object() && value.is_object() ? merge_diff(*old, value) : value;
    }
  }
  for (const auto& entry : before.items()) {
    if (!after.contains(entry.key())) {
      changes[entry.key()] = nullptr;
    }
  }
  return changes;
}

}  // namespace

Json encode(const Admission& admission) {
  return {{"clusterQueue", admission.cluster_queue.str()},
          {"podSetAssignments", encode_list(admission.pod_set_assignments, encode_assignment)}};
}

Json encode(const WorkloadStatus& status) {
  Json json = Json::object();
  put(json, "conditions", encode(status.conditions));
  if (status.admission) {
    json["admission"] = encode(*status.admission);
  }
  if (status.requeue_state) {
    json["requeueState"] = encode_requeue_state(*status.requeue_state);
  }
  put(json, "reclaimablePods", encode_list(status.reclaimable_pods, [](const ReclaimablePod& pods) {
        return Json{{"name", pods.name}, {"count", pods.count}};
      }));
  put(json, "admissionChecks", encode_list(status.admission_checks, encode_check));
  put(json, "resourceRequests", encode_list(status.resource_requests, [](const PodSetRequest& request) {
        Json entry = {{"name", request.name}};
        put(entry, "resources", encode_amounts(request.resources));
        return entry;
      }));
  put(json, "schedulingStats", encode_evictions(status.evictions));
  put(json, "accumulatedPastExecutionTimeSeconds", status.accumulated_past_execution_seconds);
  return json;
}

Json encode(const Workload& workload) {
  Json spec = {{"podSets", encode_list(workload.pod_sets, encode_pod_set)}, {"active", workload.active}};
  put(spec, "queueName", workload.queue_name.str());
  if (const std::optional<PriorityClassRef>& ref = workload.priority_class_ref) {
    spec["priorityClassRef"] = {{"group", ref->group}, {"kind", ref->kind}, {"name", ref->name}};
  }
  put(spec, "priority", workload.priority);
  put(spec, "maximumExecutionTimeSeconds", workload.maximum_execution_seconds);
  Json json = an_object(kKueueVersion, "Workload", encode(workload.meta));
  json["spec"] = std::move(spec);
  put(json, "status", encode(workload.status));
  return json;
}

Json status_merge_patch(const WorkloadStatus& before, const WorkloadStatus& after) {
  Json changes = merge_diff(encode(before), encode(after));
  return changes.empty() ? changes : Json{{"status", std::move(changes)}};
}

}  // namespace muster::api

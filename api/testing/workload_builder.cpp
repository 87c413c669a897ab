#include "api/testing/builders.h"

namespace muster::api::testing {
namespace {

PodSetAssignment charged(const PodSet& pod_set, const FlavorName& flavor) {
  PodSetAssignment assignment{.name = pod_set.name, .count = pod_set.count};
  for (const auto& [resource, amount] : pod_requests(pod_set.pod_template.spec)) {
    assignment.flavors.emplace(resource, flavor);
    assignment.resource_usage.emplace(resource, sat_mul(amount, pod_set.count));
  }
  return assignment;
}

}  // namespace

WorkloadBuilder::WorkloadBuilder(const std::string& ns, const std::string& name) : PodShapeBuilder(ns, name) {
  object_.pod_sets.emplace_back();
}

WorkloadBuilder& WorkloadBuilder::queue(const std::string& local_queue) {
  return with([&](Workload& workload) { workload.queue_name = LocalQueueName(local_queue); });
}

WorkloadBuilder& WorkloadBuilder::pod_set(const std::string& name, std::int32_t count) {
  if (named_) {
    object_.pod_sets.emplace_back();
  }
  named_ = true;
  object_.pod_sets.back().name = name;
  return this->count(count);
}

WorkloadBuilder& WorkloadBuilder::count(std::int32_t pods) {
  return with([pods](Workload& workload) { workload.pod_sets.back().count = pods; });
}

WorkloadBuilder& WorkloadBuilder::min_count(std::int32_t pods) {
  return with([pods](Workload& workload) { workload.pod_sets.back().min_count = pods; });
}

WorkloadBuilder& WorkloadBuilder::group(const std::string& name) {
  return with([&](Workload& workload) { workload.pod_sets.back().group = name; });
}

WorkloadBuilder& WorkloadBuilder::priority(std::int32_t value) {
  return with([value](Workload& workload) { workload.priority = value; });
}

WorkloadBuilder& WorkloadBuilder::priority_class_ref(const PriorityClassRef& ref) {
  return with([&](Workload& workload) { workload.priority_class_ref = ref; });
}

WorkloadBuilder& WorkloadBuilder::inactive() {
  return with([](Workload& workload) { workload.active = false; });
}

WorkloadBuilder& WorkloadBuilder::max_execution_seconds(std::int32_t seconds) {
  return with([seconds](Workload& workload) { workload.maximum_execution_seconds = seconds; });
}

WorkloadBuilder& WorkloadBuilder::condition(const Condition& condition) {
  return with([&](Workload& workload) { set_condition(workload.status.conditions, condition); });
}

WorkloadBuilder& WorkloadBuilder::reserved(const std::string& cluster_queue, const std::string& flavor,
                                           TimePoint when) {
  Admission admission{.cluster_queue = ClusterQueueName(cluster_queue)};
  for (const PodSet& pod_set : object_.pod_sets) {
    admission.pod_set_assignments.push_back(charged(pod_set, FlavorName(flavor)));
  }
  object_.status.admission = std::move(admission);
  return condition(a_condition(kQuotaReserved, ConditionStatus::kTrue, "QuotaReserved", when));
}

WorkloadBuilder& WorkloadBuilder::admitted(const std::string& cluster_queue, const std::string& flavor,
                                           TimePoint when) {
  if (!has_quota_reservation(object_)) {
    reserved(cluster_queue, flavor, when);
  }
  return condition(a_condition(kAdmitted, ConditionStatus::kTrue, "Admitted", when));
}

WorkloadBuilder& WorkloadBuilder::admission(const Admission& admission) {
  return with([&](Workload& workload) { workload.status.admission = admission; });
}

WorkloadBuilder& WorkloadBuilder::evicted(std::string_view reason, TimePoint when) {
  return condition(a_condition(kEvicted, ConditionStatus::kTrue, reason, when));
}

WorkloadBuilder& WorkloadBuilder::finished(TimePoint when) {
  return condition(a_condition(kFinished, ConditionStatus::kTrue, "Succeeded", when));
}

WorkloadBuilder& WorkloadBuilder::pods_ready(ConditionStatus status, TimePoint when) {
  return condition(a_condition(kPodsReady, status, "PodsReady", when));
}

WorkloadBuilder& WorkloadBuilder::requeue_at(std::int32_t count, std::optional<TimePoint> when) {
  return with(
      [&](Workload& workload) { workload.status.requeue_state = RequeueState{.count = count, .requeue_at = when}; });
}

WorkloadBuilder& WorkloadBuilder::reclaimable(const std::string& pod_set, std::int32_t count) {
  return with(
      [&](Workload& workload) { workload.status.reclaimable_pods.push_back({.name = pod_set, .count = count}); });
}

WorkloadBuilder& WorkloadBuilder::check_state(const std::string& name, CheckState state, TimePoint when) {
  return with([&](Workload& workload) {
    workload.status.admission_checks.push_back({.name = name, .state = state, .last_transition_time = when});
  });
}

}  // namespace muster::api::testing

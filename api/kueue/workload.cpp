#include "api/kueue/workload.h"

#include "api/constants.h"

namespace muster::api {
namespace {

constexpr std::string_view kReasonOnHold = "OnHold";
constexpr std::string_view kReasonPodsReadyTimeout = "PodsReadyTimeout";
constexpr std::string_view kReasonAdmissionCheck = "AdmissionCheck";
constexpr std::string_view kWaitingForReplacementPods = "WaitingForReplacementPods";

bool is_on_hold(const Workload& workload) {
  const Condition* reserved = find_condition(workload.status.conditions, kQuotaReserved);
  return reserved != nullptr && reserved->status == ConditionStatus::kFalse && reserved->reason == kReasonOnHold;
}

}  // namespace

bool has_quota_reservation(const Workload& workload) {
  return is_true(workload.status.conditions, kQuotaReserved);
}

bool is_admitted(const Workload& workload) {
  return is_true(workload.status.conditions, kAdmitted);
}

bool is_evicted(const Workload& workload) {
  return is_true(workload.status.conditions, kEvicted);
}

bool is_finished(const Workload& workload) {
  return is_true(workload.status.conditions, kFinished);
}

const std::string* admission_gate(const Workload& workload) {
  const std::string* gate = find(workload.meta.annotations, kAdmissionGatedByAnnotation);
  return gate != nullptr && !gate->empty() ? gate : nullptr;
}

bool is_queueable(const Workload& workload) {
  return admission_gate(workload) == nullptr && !is_finished(workload) && workload.active &&
         !has_quota_reservation(workload) && !is_on_hold(workload) &&
         !is_true(workload.status.conditions, kWaitingForReplacementPods);
}

bool backoff_expired(const Workload& workload, TimePoint now) {
  if (is_false(workload.status.conditions, kRequeued)) {
    return false;
  }
  const std::optional<RequeueState>& state = workload.status.requeue_state;
  return !state || !state->requeue_at || now >= *state->requeue_at;
}

TimePoint queue_order_time(const Workload& workload) {
  return queue_order_time(workload.meta, workload.status.conditions);
}

TimePoint queue_order_time(const ObjectMeta& meta, const Conditions& conditions) {
  const Condition* evicted = find_condition(conditions, kEvicted);
  if (evicted != nullptr && evicted->status == ConditionStatus::kTrue &&
      (evicted->reason == kReasonPodsReadyTimeout || evicted->reason == kReasonAdmissionCheck)) {
    return evicted->last_transition_time;
  }
  return meta.creation_timestamp;
}

std::int64_t effective_priority(const Workload& workload) {
  return workload.priority.value_or(0);
}

}  // namespace muster::api

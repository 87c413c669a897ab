#include "framework/status/workload_conditions.h"

#include "api/codec/enums.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace muster::framework {
namespace {

using api::Condition;
using api::ConditionStatus;
using api::WorkloadStatus;

constexpr std::string_view kBlockedOnPreemptionGates = "BlockedOnPreemptionGates";

struct Says {
  std::string_view type{};
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string_view reason{};
  std::string message{};
};

void say(WorkloadStatus& status, Says what, const Stamp& stamp) {
  api::set_condition(status.conditions, Condition{.type = std::string(what.type),
                                                  .status = what.status,
                                                  .reason = std::string(what.reason),
                                                  .message = std::move(what.message),
                                                  .last_transition_time = to_seconds(stamp.now),
                                                  .observed_generation = stamp.generation});
}

// A True condition that the new reservation makes history.
void retire(WorkloadStatus& status, std::string_view type, const Stamp& stamp) {
  const Condition* condition = api::find_condition(status.conditions, type);
  if (condition == nullptr || condition->status != ConditionStatus::kTrue) {
    return;
  }
  say(status, {type, ConditionStatus::kFalse, api::kQuotaReserved, "Previously: " + condition->message}, stamp);
}

bool all_checks_ready(const WorkloadStatus& status) {
  return std::all_of(status.admission_checks.begin(), status.admission_checks.end(),
                     [](const api::AdmissionCheckState& check) { return check.state == api::CheckState::kReady; });
}

void add_past_execution(WorkloadStatus& status, TimePoint admitted_at, TimePoint now) {
  const auto elapsed = std::chrono::floor<std::chrono::seconds>(now - admitted_at);
  const std::int64_t seconds = std::max<std::int64_t>(0, elapsed.count());
  const std::int64_t total = seconds + status.accumulated_past_execution_seconds.value_or(0);
  const std::int64_t cap = std::numeric_limits<std::int32_t>::max();
  status.accumulated_past_execution_seconds = static_cast<std::int32_t>(std::min(total, cap));
}

void reset_check(api::AdmissionCheckState& check, TimePoint now) {
  if (check.state == api::CheckState::kPending) {
    return;
  }
  check.retry_count =
      check.state == api::CheckState::kRetry ? std::optional(check.retry_count.value_or(0) + 1) : std::nullopt;
  check.pod_set_updates.clear();
  check.message = "Reset to Pending after eviction. Previously: ";
  check.message += api::name_of(api::kCheckStateNames, check.state);
  check.state = api::CheckState::kPending;
  check.last_transition_time = to_seconds(now);
}

void count_eviction(WorkloadStatus& status, const Eviction& eviction) {
  const auto known = std::find_if(status.evictions.begin(), status.evictions.end(), [&](const api::EvictionStat& stat) {
    return stat.reason == eviction.reason && stat.underlying_cause == eviction.cause;
  });
  if (known != status.evictions.end()) {
    ++known->count;
    return;
  }
  status.evictions.push_back({.reason = std::string(eviction.reason), .underlying_cause = eviction.cause, .count = 1});
}

bool queues_again_at_once(std::string_view eviction_reason) {
  return eviction_reason == kEvictedPreempted || eviction_reason == kEvictedNodeFailures;
}

}  // namespace

void set_quota_reserved(WorkloadStatus& status, api::Admission admission, const Stamp& stamp) {
  std::string message = "Quota reserved in ClusterQueue " + admission.cluster_queue.str();
  status.admission = std::move(admission);
  status.resource_requests.clear();
  say(status, {api::kQuotaReserved, ConditionStatus::kTrue, api::kQuotaReserved, std::move(message)}, stamp);
  retire(status, api::kEvicted, stamp);
  retire(status, api::kPreempted, stamp);
  retire(status, kBlockedOnPreemptionGates, stamp);
}

void sync_admitted(WorkloadStatus& status, const Stamp& stamp) {
  const Condition* admitted = api::find_condition(status.conditions, api::kAdmitted);
  if (admitted == nullptr && api::find_condition(status.conditions, api::kQuotaReserved) == nullptr) {
    return;
  }
  const bool reserved = api::is_true(status.conditions, api::kQuotaReserved);
  if (reserved && all_checks_ready(status)) {
    say(status, {api::kAdmitted, ConditionStatus::kTrue, api::kAdmitted, "The workload is admitted"}, stamp);
    return;
  }
  if (admitted != nullptr && admitted->status == ConditionStatus::kTrue) {
    add_past_execution(status, admitted->last_transition_time, stamp.now);
  }
  if (reserved) {
    say(status,
        {api::kAdmitted, ConditionStatus::kFalse, "UnsatisfiedAdmissionChecks",
         "The workload has not all checks ready"},
        stamp);
  } else {
    say(status, {api::kAdmitted, ConditionStatus::kFalse, "NoReservation", "The workload has no reservation"}, stamp);
  }
}

void set_pending(WorkloadStatus& status, Pending pending, const Stamp& stamp) {
  unset_reservation(status, pending.reason, std::move(pending.message), stamp);
  if (!pending.resource_requests.empty()) {
    status.resource_requests = std::move(pending.resource_requests);
  }
}

void unset_reservation(WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp) {
  status.admission.reset();
  say(status, {api::kQuotaReserved, ConditionStatus::kFalse, reason, std::move(message)}, stamp);
  sync_admitted(status, stamp);
}

std::string eviction_reason(const Eviction& eviction) {
  std::string reason(eviction.reason);
  if (eviction.reason == kEvictedDeactivated && !eviction.cause.empty()) {
    reason += "DueTo" + eviction.cause;
  }
  return reason;
}

void set_evicted(WorkloadStatus& status, const Eviction& eviction, const Stamp& stamp) {
  const std::string reason = eviction_reason(eviction);
  say(status, {api::kEvicted, ConditionStatus::kTrue, reason, eviction.message}, stamp);
  if (api::is_true(status.conditions, kBlockedOnPreemptionGates)) {
    say(status, {kBlockedOnPreemptionGates, ConditionStatus::kFalse, reason, eviction.message}, stamp);
  }
  for (api::AdmissionCheckState& check : status.admission_checks) {
    reset_check(check, stamp.now);
  }
  if (eviction.reason == kEvictedDeactivated) {
    api::remove_condition(status.conditions, api::kDeactivationTarget);
    status.requeue_state.reset();
  }
  count_eviction(status, eviction);
}

void set_preempted(WorkloadStatus& status, std::string_view reason, std::string message, TimePoint now) {
  say(status, {api::kPreempted, ConditionStatus::kTrue, reason, std::move(message)}, {.now = now, .generation = 0});
}

void release_evicted(WorkloadStatus& status, Requeue requeue, const Stamp& stamp) {
  const Condition* found = api::find_condition(status.conditions, api::kEvicted);
  if (found == nullptr || found->status != ConditionStatus::kTrue) {
    return;
  }
  const Condition evicted = *found;
  const bool at_once = requeue == Requeue::kAtOnce && queues_again_at_once(evicted.reason);
  say(status,
      {api::kRequeued, at_once ? ConditionStatus::kTrue : ConditionStatus::kFalse, evicted.reason, evicted.message},
      stamp);
  unset_reservation(status, kPendingEvaluation, evicted.message, stamp);
}

void set_requeued(WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp) {
  say(status, {api::kRequeued, ConditionStatus::kTrue, reason, std::move(message)}, stamp);
}

void set_deactivation_target(WorkloadStatus& status, std::string_view cause, std::string message, const Stamp& stamp) {
  say(status, {api::kDeactivationTarget, ConditionStatus::kTrue, cause, std::move(message)}, stamp);
}

void set_finished(WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp) {
  say(status, {api::kFinished, ConditionStatus::kTrue, reason, std::move(message)}, stamp);
}

}  // namespace muster::framework

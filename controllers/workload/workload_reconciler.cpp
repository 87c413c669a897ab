#include "controllers/workload/workload_reconciler.h"

#include "api/constants.h"
#include "controllers/jobs/orphan.h"
#include "controllers/workload/backoff.h"
#include "controllers/workload/pending_reason.h"
#include "controllers/workload/workload_pass.h"

#include <algorithm>
#include <chrono>

namespace muster::controllers {
namespace {

using framework::PatchWorkloadSpec;

const api::Condition* false_condition(const api::WorkloadStatus& status, std::string_view type) {
  const api::Condition* condition = api::find_condition(status.conditions, type);
  return condition != nullptr && condition->status == api::ConditionStatus::kFalse ? condition : nullptr;
}

bool waits_for_backoff(std::string_view reason) {
  return reason == framework::kEvictedPodsReadyTimeout || reason == framework::kEvictedAdmissionCheck;
}

const api::LocalQueue* local_queue_of(const api::Workload& workload, const framework::Objects& objects) {
  return objects.find<api::LocalQueue>({workload.meta.ns, workload.queue_name.str()});
}

bool is_running(const api::LocalQueue* queue) {
  return queue != nullptr && queue->stop_policy == api::StopPolicy::kNone;
}

}  // namespace

void WorkloadReconciler::reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                                   framework::ReconcileResult& result) const {
  if (const framework::WorkloadState* state = context.model.workload(key)) {
    WorkloadPass(options_, *state, context, result).run();
  }
}

void WorkloadPass::run() {
  if (settle_orphan() == Next::kStop || retain_finished() == Next::kStop) {
    return;
  }
  if (workload().active) {
    if (follow_active() == Next::kStop) {
      return;
    }
  } else {
    follow_inactive();
  }
  requeue_after_restart();
  if (is(api::kQuotaReserved)) {
    check_reservation();
  } else {
    explain_pending();
  }
  if (status_ != state_.status) {
    result_.workload_statuses.emplace_back(workload().meta.key(), status_);
  }
}

WorkloadPass::Next WorkloadPass::settle_orphan() {
  const api::ObjectMeta& meta = workload().meta;
  const bool made_by_hand = meta.owner_references.empty() && api::find(meta.labels, api::kJobUidLabel) == nullptr;
  const Owner owner = owner_of(workload(), context_.model.objects(), context_.now);
  if (made_by_hand ? meta.deletion_timestamp.has_value() : meta.owner_references.empty() || owner == Owner::kGone) {
    finish_orphan(state_, context_.now, result_);
    return Next::kStop;
  }
  if (owner == Owner::kNotSeenYet) {
    result_.requeue_at(owner_expected_by(workload()));
  }
  return Next::kGoOn;
}

WorkloadPass::Next WorkloadPass::retain_finished() {
  if (!is(api::kFinished)) {
    return Next::kGoOn;
  }
  if (workload().meta.deletion_timestamp) {
    drop_workload_finalizer(workload(), result_);
    return Next::kStop;
  }
  if (!options_.retain_finished) {
    return Next::kStop;
  }
  const api::Condition& finished = *api::find_condition(status_.conditions, api::kFinished);
  const TimePoint expiry = finished.last_transition_time + *options_.retain_finished;
  if (context_.now < expiry) {
    result_.requeue_at(expiry);
  } else if (api::is_finished(workload())) {
    constexpr std::string_view kNote = "Deleted finished workload due to elapsed retention";
    result_.effects.emplace_back(
        framework::DeleteObject{.object = workload_ref(workload()),
                                .event = framework::EmitEvent{.regarding = workload_ref(workload()),
                                                              .reason = "Deleted",
                                                              .action = "Deleted",
                                                              .note = std::string(kNote)}});
  }
  return Next::kStop;
}

WorkloadPass::Next WorkloadPass::follow_active() {
  if (is(api::kDeactivationTarget)) {
    if (api::is_true(workload().status.conditions, api::kDeactivationTarget)) {
      result_.effects.emplace_back(PatchWorkloadSpec{.workload = workload_ref(workload()), .active = false});
    }
    return Next::kStop;
  }
  wait_out_backoff();
  return Next::kGoOn;
}

void WorkloadPass::wait_out_backoff() {
  if (status_.requeue_state && status_.requeue_state->requeue_at) {
    if (context_.now < *status_.requeue_state->requeue_at) {
      result_.requeue_at(*status_.requeue_state->requeue_at);
      return;
    }
    if (!is(api::kQuotaReserved)) {
      status_.requeue_state->requeue_at.reset();
    }
  }
  const api::Condition* requeued = false_condition(status_, api::kRequeued);
  if (requeued == nullptr || is(api::kQuotaReserved)) {
    return;
  }
  if (requeued->reason.rfind(framework::kEvictedDeactivated, 0) == 0) {
    framework::set_requeued(status_, "Reactivated", "The workload was reactivated", stamp());
  } else if (waits_for_backoff(requeued->reason)) {
    framework::set_requeued(status_, "BackoffFinished", "The workload backoff was finished", stamp());
  }
}

// What a stopped queue evicted comes back when the queue runs again.
void WorkloadPass::requeue_after_restart() {
  const api::Condition* requeued = false_condition(status_, api::kRequeued);
  const api::LocalQueue* local = local_queue_of(workload(), context_.model.objects());
  if (requeued == nullptr || !is_running(local)) {
    return;
  }
  if (requeued->reason == framework::kEvictedLocalQueueStopped) {
    framework::set_requeued(status_, "LocalQueueRestarted", "The LocalQueue was restarted after being stopped",
                            stamp());
    return;
  }
  const auto* cluster = context_.model.objects().all<api::ClusterQueue>().find(local->cluster_queue.str());
  if (requeued->reason == framework::kEvictedClusterQueueStopped && cluster != nullptr &&
      cluster->stop_policy == api::StopPolicy::kNone) {
    framework::set_requeued(status_, "ClusterQueueRestarted", "The ClusterQueue was restarted after being stopped",
                            stamp());
  }
}

void WorkloadPass::follow_inactive() {
  status_.requeue_state.reset();
  if (is(api::kEvicted)) {  // the earlier reason stays; a spent target must not deactivate it again later
    api::remove_condition(status_.conditions, api::kDeactivationTarget);
    return;
  }
  framework::Eviction eviction{.reason = framework::kEvictedDeactivated, .message = "The workload is deactivated"};
  const api::Condition* target = api::find_condition(status_.conditions, api::kDeactivationTarget);
  if (target != nullptr && target->status == api::ConditionStatus::kTrue) {
    eviction.cause = target->reason;
    eviction.message += " due to " + target->message;
  }
  evict(eviction);
}

void WorkloadPass::explain_pending() {
  const api::Condition* before = api::find_condition(status_.conditions, api::kQuotaReserved);
  if (before != nullptr && before->reason == framework::kOnHold && workload().active) {
    return;
  }
  const bool was_gated = before != nullptr && before->reason == framework::kAdmissionGated;
  if (auto blocker = blocker_of(workload(), context_.model)) {
    const bool gated = blocker->reason == framework::kAdmissionGated;
    if (gated && !was_gated) {
      event("AdmissionGated", "Workload admission is gated by: " + *api::admission_gate(workload()));
    }
    framework::set_pending(status_, {.reason = blocker->reason, .message = std::move(blocker->message)}, stamp());
    return;
  }
  if (before == nullptr || !is_blocker(*before)) {
    return;
  }
  if (was_gated) {
    event("AdmissionGateCleared", "Admission gate cleared, workload is now admissible");
  }
  framework::set_pending(status_,
                         {.reason = framework::kPendingEvaluation,
                          .message = was_gated ? "AdmissionGatedBy cleared, waiting for quota reservation"
                                               : "Workload is pending evaluation in the scheduling queue"},
                         stamp());
}

void WorkloadPass::check_reservation() {
  if (is(api::kEvicted) || !status_.admission) {
    return;
  }
  if (!is(api::kAdmitted)) {
    if (const std::string* gate = api::admission_gate(workload())) {
      event("AdmissionGated", "Workload admission is gated by: " + *gate);
      framework::unset_reservation(status_, framework::kAdmissionGated, "Admission is gated by: " + *gate, stamp());
    } else if (auto reason = lost_queue_of(workload(), *status_.admission, context_.model)) {
      framework::unset_reservation(status_, reason->reason, std::move(reason->message), stamp());
    }
    return;
  }
  check_stopped_queues();
  check_pods_ready();
  check_execution_time();
}

void WorkloadPass::check_stopped_queues() {
  const framework::Objects& objects = context_.model.objects();
  const api::LocalQueue* local = local_queue_of(workload(), objects);
  if (local != nullptr && local->stop_policy == api::StopPolicy::kHoldAndDrain) {
    evict({.reason = framework::kEvictedLocalQueueStopped, .message = "The LocalQueue is stopped"});
    return;
  }
  const auto* cluster = objects.all<api::ClusterQueue>().find(status_.admission->cluster_queue.str());
  if (is_running(local) && cluster != nullptr && cluster->stop_policy == api::StopPolicy::kHoldAndDrain) {
    evict({.reason = framework::kEvictedClusterQueueStopped, .message = "The ClusterQueue is stopped"});
  }
}

void WorkloadPass::check_pods_ready() {
  if (!options_.wait_for_pods_ready || is(api::kPodsReady) || is(api::kEvicted) || is(api::kDeactivationTarget)) {
    return;
  }
  const PodsReadyOptions& ready = *options_.wait_for_pods_ready;
  const api::Condition* condition = api::find_condition(status_.conditions, api::kPodsReady);
  const bool recovering = condition != nullptr && condition->reason == "WaitForRecovery";
  if (recovering && ready.recovery_timeout == Duration::zero()) {
    return;
  }
  const api::Condition& admitted = *api::find_condition(status_.conditions, api::kAdmitted);
  const TimePoint deadline = recovering ? condition->last_transition_time + ready.recovery_timeout
                                        : admitted.last_transition_time + ready.timeout;
  if (context_.now < deadline) {
    result_.requeue_at(deadline);
    return;
  }
  evict_unready(recovering ? "WaitForRecovery" : "WaitForStart");
}

void WorkloadPass::evict_unready(std::string_view cause) {
  const PodsReadyOptions& ready = *options_.wait_for_pods_ready;
  api::RequeueState requeue = status_.requeue_state.value_or(api::RequeueState{});
  if (ready.backoff_limit && requeue.count + 1 > *ready.backoff_limit) {
    deactivate(framework::kCauseRequeuingLimit, "exceeding the maximum number of re-queuing retries");
    return;
  }
  ++requeue.count;
  const TimePoint at = context_.now + pods_ready_backoff(ready, workload().meta.uid, requeue.count);
  // Whole seconds are what the API keeps; never earlier than promised.
  const TimePoint stored = std::chrono::ceil<std::chrono::seconds>(at);
  requeue.requeue_at = std::max(stored, requeue.requeue_at.value_or(stored));
  status_.requeue_state = requeue;
  evict({.reason = framework::kEvictedPodsReadyTimeout,
         .cause = std::string(cause),
         .message = "Exceeded the PodsReady timeout " + to_string(workload().meta.key())});
}

void WorkloadPass::check_execution_time() {
  if (!workload().maximum_execution_seconds || is(api::kEvicted) || is(api::kDeactivationTarget)) {
    return;
  }
  const std::int32_t limit = *workload().maximum_execution_seconds;
  const api::Condition& admitted = *api::find_condition(status_.conditions, api::kAdmitted);
  const std::int64_t left = std::int64_t{limit} - std::int64_t{status_.accumulated_past_execution_seconds.value_or(0)};
  const TimePoint deadline = admitted.last_transition_time + std::chrono::seconds(left);
  if (context_.now < deadline) {
    result_.requeue_at(deadline);
    return;
  }
  status_.accumulated_past_execution_seconds.reset();
  event("MaximumExecutionTimeExceeded", "The maximum execution time (" + std::to_string(limit) + "s) exceeded", true);
  deactivate(framework::kCauseMaximumExecutionTime, "exceeding the maximum execution time");
}

void WorkloadPass::evict(const framework::Eviction& eviction) {
  framework::set_evicted(status_, eviction, stamp());
  if (status_.admission) {
    event("EvictedDueTo" + framework::eviction_reason(eviction), eviction.message);
  }
}

void WorkloadPass::deactivate(std::string_view cause, std::string message) {
  framework::set_deactivation_target(status_, cause, std::move(message), stamp());
}

void WorkloadPass::event(std::string_view reason, std::string note, bool warning) {
  result_.effects.emplace_back(framework::EmitEvent{.regarding = workload_ref(workload()),
                                                    .warning = warning,
                                                    .reason = std::string(reason),
                                                    .action = std::string(reason),
                                                    .note = std::move(note)});
}

}  // namespace muster::controllers

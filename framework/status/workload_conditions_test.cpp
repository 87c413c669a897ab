#include "framework/status/workload_conditions.h"

#include "api/codec/enums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TimePoint at(std::int64_t seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

Stamp stamp(std::int64_t seconds) {
  return {.now = at(seconds), .generation = 3};
}

std::vector<std::string> brief(const api::WorkloadStatus& status) {
  std::vector<std::string> texts;
  for (const api::Condition& c : status.conditions) {
    texts.push_back(c.type + "=" + std::string(api::name_of(api::kConditionStatusNames, c.status)) + " " + c.reason +
                    ": " + c.message + " @" + std::to_string(c.last_transition_time.time_since_epoch().count() / 1000) +
                    " g" + std::to_string(c.observed_generation));
  }
  return texts;
}

api::WorkloadStatus admitted_status(std::int64_t seconds) {
  api::WorkloadStatus status;
  set_quota_reserved(status, {.cluster_queue = ClusterQueueName("cq")}, stamp(seconds));
  sync_admitted(status, stamp(seconds));
  return status;
}

TEST(WorkloadConditions, PendingThenReservedThenAdmitted) {
  api::WorkloadStatus status;
  sync_admitted(status, stamp(1));
  EXPECT_THAT(status.conditions, IsEmpty());
  set_pending(status, {.reason = kWaitingForQuota, .message = "m", .resource_requests = {{.name = "main"}}}, stamp(2));
  EXPECT_THAT(brief(status), ElementsAre("QuotaReserved=False WaitingForQuota: m @2 g3",
                                         "Admitted=False NoReservation: The workload has no reservation @2 g3"));
  EXPECT_EQ(status.resource_requests.size(), 1u);
  set_quota_reserved(status, {.cluster_queue = ClusterQueueName("cq")}, stamp(5));
  sync_admitted(status, stamp(5));
  EXPECT_THAT(brief(status), ElementsAre("QuotaReserved=True QuotaReserved: Quota reserved in ClusterQueue cq @5 g3",
                                         "Admitted=True Admitted: The workload is admitted @5 g3"));
  EXPECT_THAT(status.resource_requests, IsEmpty());
  EXPECT_TRUE(status.admission.has_value());
}

TEST(WorkloadConditions, ChecksHoldAdmissionBack) {
  api::WorkloadStatus status;
  status.admission_checks = {{.name = "c", .state = api::CheckState::kPending}};
  set_quota_reserved(status, {.cluster_queue = ClusterQueueName("cq")}, stamp(1));
  sync_admitted(status, stamp(1));
  EXPECT_EQ(brief(status).back(),
            "Admitted=False UnsatisfiedAdmissionChecks: The workload has not all checks ready @1 g3");
}

TEST(WorkloadConditions, EvictionReleaseAndReturn) {
  api::WorkloadStatus status = admitted_status(10);
  set_evicted(status, {.reason = kEvictedPreempted, .message = "too bad"}, stamp(40));
  set_preempted(status, "InClusterQueue", "too bad", at(40));
  EXPECT_TRUE(status.admission.has_value());
  release_evicted(status, Requeue::kAtOnce, stamp(50));
  EXPECT_THAT(brief(status),
              ElementsAre("QuotaReserved=False PendingEvaluation: too bad @50 g3",
                          "Admitted=False NoReservation: The workload has no reservation @50 g3",
                          "Evicted=True Preempted: too bad @40 g3", "Preempted=True InClusterQueue: too bad @40 g0",
                          "Requeued=True Preempted: too bad @50 g3"));
  EXPECT_FALSE(status.admission.has_value());
  EXPECT_EQ(status.accumulated_past_execution_seconds, 40);
  set_quota_reserved(status, {.cluster_queue = ClusterQueueName("cq")}, stamp(60));
  const std::vector<std::string> texts = brief(status);
  EXPECT_EQ(texts[2], "Evicted=False QuotaReserved: Previously: too bad @60 g3");
  EXPECT_EQ(texts[3], "Preempted=False QuotaReserved: Previously: too bad @60 g3");
}

TEST(WorkloadConditions, ReleaseNeedsAnEviction) {
  api::WorkloadStatus status = admitted_status(10);
  const api::WorkloadStatus before = status;
  release_evicted(status, Requeue::kAtOnce, stamp(50));
  EXPECT_EQ(status, before);
}

TEST(WorkloadConditions, OnlySomeReasonsRequeueAtOnce) {
  for (const auto& [reason, want] :
       {std::pair{kEvictedPreempted, true}, std::pair{kEvictedNodeFailures, true},
        std::pair{kEvictedPodsReadyTimeout, false}, std::pair{kEvictedClusterQueueStopped, false},
        std::pair{kEvictedDeactivated, false}}) {
    api::WorkloadStatus status = admitted_status(1);
    set_evicted(status, {.reason = reason, .message = "m"}, stamp(2));
    api::WorkloadStatus single_pod = status;
    release_evicted(status, Requeue::kAtOnce, stamp(3));
    release_evicted(single_pod, Requeue::kNever, stamp(3));
    EXPECT_EQ(api::is_true(status.conditions, api::kRequeued), want) << reason;
    EXPECT_TRUE(api::is_false(single_pod.conditions, api::kRequeued)) << reason;
  }
}

TEST(WorkloadConditions, EvictionsAreCountedByReasonAndCause) {
  api::WorkloadStatus status = admitted_status(1);
  set_deactivation_target(status, kCauseRequeuingLimit, "exceeding", stamp(2));
  status.requeue_state = {.count = 4};
  const Eviction limit{.reason = kEvictedDeactivated, .cause = std::string(kCauseRequeuingLimit), .message = "m"};
  set_evicted(status, limit, stamp(3));
  set_evicted(status, limit, stamp(4));
  set_evicted(status, {.reason = kEvictedPreempted, .message = "m"}, stamp(5));
  EXPECT_THAT(
      status.evictions,
      ElementsAre(api::EvictionStat{.reason = "Deactivated", .underlying_cause = "RequeuingLimitExceeded", .count = 2},
                  api::EvictionStat{.reason = "Preempted", .count = 1}));
  EXPECT_EQ(eviction_reason(limit), "DeactivatedDueToRequeuingLimitExceeded");
  EXPECT_EQ(api::find_condition(status.conditions, api::kDeactivationTarget), nullptr);
  EXPECT_FALSE(status.requeue_state.has_value());
}

TEST(WorkloadConditions, workloads_10_43_ChecksGoBackToPending) {
  api::WorkloadStatus status;
  status.admission_checks = {{.name = "a", .state = api::CheckState::kReady, .pod_set_updates = {{.name = "main"}}},
                             {.name = "b", .state = api::CheckState::kPending, .message = "wait"},
                             {.name = "c", .state = api::CheckState::kRetry, .retry_count = 1}};
  set_evicted(status, {.reason = kEvictedAdmissionCheck, .message = "m"}, stamp(7));
  EXPECT_THAT(status.admission_checks,
              ElementsAre(api::AdmissionCheckState{.name = "a",
                                                   .last_transition_time = at(7),
                                                   .message = "Reset to Pending after eviction. Previously: Ready"},
                          api::AdmissionCheckState{.name = "b", .message = "wait"},
                          api::AdmissionCheckState{.name = "c",
                                                   .last_transition_time = at(7),
                                                   .message = "Reset to Pending after eviction. Previously: Retry",
                                                   .retry_count = 2}));
}

TEST(WorkloadConditions, SayingTheSameAgainChangesNothing) {
  api::WorkloadStatus status = admitted_status(1);
  const api::WorkloadStatus before = status;
  set_quota_reserved(status, {.cluster_queue = ClusterQueueName("cq")}, stamp(9));
  sync_admitted(status, stamp(9));
  EXPECT_EQ(status, before);
}

}  // namespace
}  // namespace muster::framework

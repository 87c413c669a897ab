#include "controllers/workload/workload_reconciler.h"

#include "api/constants.h"
#include "controllers/testing/world.h"
#include "controllers/workload/backoff.h"
#include "controllers/workload/priority_class_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): builders read like manifests
using api::ConditionStatus;
using api::StopPolicy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::World;

const ObjectKey kWorkload{"ns", "w"};

struct Case {
  std::string name{};
  World world{};
  ControllerOptions options{};
  std::vector<std::string> effects{};
  std::vector<std::string> conditions{};
};

Outcome reconcile(const World& world, const ControllerOptions& options = {}) {
  return world.reconcile(WorkloadReconciler(options), kWorkload);
}

class WorkloadReconcile : public ::testing::TestWithParam<Case> {};

TEST_P(WorkloadReconcile, Does) {
  const Outcome got = reconcile(GetParam().world, GetParam().options);
  EXPECT_EQ(got.effects, GetParam().effects);
  EXPECT_EQ(got.conditions(), GetParam().conditions);
}

const auto kName = [](const auto& row) { return row.param.name; };

// ns, flavor f, ClusterQueue cq, LocalQueue ns/lq.
World cluster(StopPolicy local = StopPolicy::kNone, StopPolicy cluster_queue = StopPolicy::kNone) {
  World world;
  world.with(a_namespace("ns")).with(a_flavor("f"));
  world.with(a_cluster_queue("cq").quota("cpu", "f", "10").stop(cluster_queue));
  world.with(a_local_queue("ns", "lq").cluster_queue("cq").stop(local));
  return world;
}

WorkloadBuilder workload() {
  return a_workload("ns", "w").queue("lq").request("cpu", "1");
}

api::Condition waits(std::string_view reason, std::string_view message) {
  return a_condition(api::kQuotaReserved, ConditionStatus::kFalse, reason, at(0), message);
}

api::Condition requeued_false(std::string_view reason) {
  return a_condition(api::kRequeued, ConditionStatus::kFalse, reason, at(0), "m");
}

api::Condition target(std::string_view cause, std::string_view message) {
  return a_condition(api::kDeactivationTarget, ConditionStatus::kTrue, cause, at(0), message);
}

std::vector<std::string> pending(const std::string& reason_and_message) {
  return {"QuotaReserved=False " + reason_and_message, "Admitted=False NoReservation: The workload has no reservation"};
}

const std::string kReserved = "QuotaReserved=True QuotaReserved: ";
const std::string kAdmitted = "Admitted=True Admitted: ";

INSTANTIATE_TEST_SUITE_P(
    WhyItWaits, WorkloadReconcile,
    ::testing::Values(
        Case{.name = "workloads_10_55_new_and_valid", .world = cluster().with(workload())},
        Case{.name = "no_local_queue",
             .world = cluster().with(workload().queue("x")),
             .conditions = pending("Misconfigured: LocalQueue x doesn't exist")},
        Case{.name = "local_queue_stopped",
             .world = cluster(StopPolicy::kHold).with(workload()),
             .conditions = pending("Suspended: LocalQueue lq is inactive")},
        Case{.name = "no_cluster_queue",
             .world = cluster().with(a_local_queue("ns", "lq").cluster_queue("x")).with(workload()),
             .conditions = pending("Misconfigured: ClusterQueue x doesn't exist")},
        Case{.name = "cluster_queue_stopped",
             .world = cluster(StopPolicy::kNone, StopPolicy::kHold).with(workload()),
             .conditions = pending("Suspended: ClusterQueue cq is inactive")},
        Case{.name = "namespace_does_not_match",
             .world = cluster().with(a_cluster_queue("cq").quota("cpu", "f", "10").no_namespaces()).with(workload()),
             .conditions = pending("Misconfigured: workload namespace doesn't match ClusterQueue selector")},
        Case{.name = "gated",
             .world = cluster().with(workload().annotation(api::kAdmissionGatedByAnnotation, "a,b")),
             .effects = {"Event ns/w AdmissionGated: Workload admission is gated by: a,b"},
             .conditions = pending("AdmissionGated: Admission is gated by: a,b")},
        Case{.name = "workloads_10_57_one_gate_left",
             .world = cluster().with(workload()
                                         .annotation(api::kAdmissionGatedByAnnotation, "b")
                                         .condition(waits("AdmissionGated", "Admission is gated by: a,b"))),
             .conditions = pending("AdmissionGated: Admission is gated by: b")},
        Case{.name = "workloads_10_57_gates_cleared",
             .world = cluster().with(workload().condition(waits("AdmissionGated", "Admission is gated by: b"))),
             .effects = {"Event ns/w AdmissionGateCleared: Admission gate cleared, workload is now admissible"},
             .conditions = pending("PendingEvaluation: AdmissionGatedBy cleared, waiting for quota reservation")},
        Case{.name = "blocker_gone",
             .world = cluster().with(workload().condition(waits("Suspended", "LocalQueue lq is inactive"))),
             .conditions = pending("PendingEvaluation: Workload is pending evaluation in the scheduling queue")},
        Case{.name = "the_schedulers_reason_stays",
             .world = cluster().with(workload().condition(waits("WaitingForQuota", "m")))},
        Case{.name = "on_hold_stays",
             .world = cluster(StopPolicy::kHold).with(workload().condition(waits("OnHold", "Job is on hold")))}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Deactivation, WorkloadReconcile,
    ::testing::Values(
        Case{.name = "workloads_10_42_target_of_an_active_one",
             .world = cluster().with(workload().admitted("cq", "f").condition(
                 target("RequeuingLimitExceeded", "exceeding the maximum number of re-queuing retries"))),
             .effects = {"PatchSpec ns/w active=false"}},
        Case{.name = "workloads_10_42_then_evicted",
             .world = cluster().with(workload().admitted("cq", "f").inactive().condition(
                 target("RequeuingLimitExceeded", "exceeding the maximum number of re-queuing retries"))),
             .effects = {"Event ns/w EvictedDueToDeactivatedDueToRequeuingLimitExceeded: The workload is deactivated "
                         "due to exceeding the maximum number of re-queuing retries"},
             .conditions = {kReserved, kAdmitted,
                            "Evicted=True DeactivatedDueToRequeuingLimitExceeded: The workload is deactivated due to "
                            "exceeding the maximum number of re-queuing retries"}},
        Case{.name = "by_the_user",
             .world = cluster().with(workload().admitted("cq", "f").inactive()),
             .effects = {"Event ns/w EvictedDueToDeactivated: The workload is deactivated"},
             .conditions = {kReserved, kAdmitted, "Evicted=True Deactivated: The workload is deactivated"}},
        Case{.name = "workloads_10_54_inactive_without_local_queue",
             .world = cluster().with(workload().queue("x").inactive()),
             .conditions = {"Evicted=True Deactivated: The workload is deactivated",
                            "QuotaReserved=False Deactivated: The workload is deactivated",
                            "Admitted=False NoReservation: The workload has no reservation"}},
        Case{.name = "reactivated",
             .world = cluster().with(workload()
                                         .condition(waits("PendingEvaluation", "m"))
                                         .condition(requeued_false("DeactivatedDueToRequeuingLimitExceeded"))),
             .conditions = {"QuotaReserved=False PendingEvaluation: m",
                            "Requeued=True Reactivated: The workload was reactivated"}},
        Case{.name = "workloads_10_58_maximum_execution_time",
             .world = cluster().with(workload().admitted("cq", "f").max_execution_seconds(10)).now(10),
             .effects = {"Event ns/w Warning MaximumExecutionTimeExceeded: The maximum execution time (10s) exceeded"},
             .conditions = {kReserved, kAdmitted,
                            "DeactivationTarget=True MaximumExecutionTimeExceeded: exceeding the maximum execution "
                            "time"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Queues, WorkloadReconcile,
    ::testing::Values(
        Case{.name = "workloads_10_51_local_queue_gone_while_reserved",
             .world = cluster().with(workload().queue("x").reserved("cq", "f")),
             .conditions = pending("Misconfigured: LocalQueue x is terminating or missing")},
        Case{.name = "workloads_10_51_admitted_is_unaffected",
             .world = cluster().with(workload().queue("x").admitted("cq", "f"))},
        Case{.name = "workloads_10_52_hold_takes_a_reservation",
             .world = cluster(StopPolicy::kNone, StopPolicy::kHold).with(workload().reserved("cq", "f")),
             .conditions = pending("Suspended: ClusterQueue cq is stopped")},
        Case{.name = "workloads_10_52_hold_leaves_the_admitted",
             .world = cluster(StopPolicy::kNone, StopPolicy::kHold).with(workload().admitted("cq", "f"))},
        Case{.name = "drain_takes_a_reservation",
             .world = cluster(StopPolicy::kHoldAndDrain).with(workload().reserved("cq", "f")),
             .conditions = pending("Suspended: LocalQueue lq is stopped")},
        Case{.name = "workloads_10_53_drained_cluster_queue",
             .world = cluster(StopPolicy::kNone, StopPolicy::kHoldAndDrain).with(workload().admitted("cq", "f")),
             .effects = {"Event ns/w EvictedDueToClusterQueueStopped: The ClusterQueue is stopped"},
             .conditions = {kReserved, kAdmitted, "Evicted=True ClusterQueueStopped: The ClusterQueue is stopped"}},
        Case{.name = "drained_local_queue",
             .world = cluster(StopPolicy::kHoldAndDrain).with(workload().admitted("cq", "f")),
             .effects = {"Event ns/w EvictedDueToLocalQueueStopped: The LocalQueue is stopped"},
             .conditions = {kReserved, kAdmitted, "Evicted=True LocalQueueStopped: The LocalQueue is stopped"}},
        Case{.name = "drain_of_both_under_a_held_local_queue_evicts_nothing",
             .world = cluster(StopPolicy::kHold, StopPolicy::kHoldAndDrain).with(workload().admitted("cq", "f"))},
        Case{
            .name = "workloads_10_53_restarted_cluster_queue",
            .world = cluster().with(
                workload().condition(waits("PendingEvaluation", "m")).condition(requeued_false("ClusterQueueStopped"))),
            .conditions = {"QuotaReserved=False PendingEvaluation: m",
                           "Requeued=True ClusterQueueRestarted: The ClusterQueue was restarted after being "
                           "stopped"}},
        Case{.name = "restarted_local_queue",
             .world = cluster().with(
                 workload().condition(waits("PendingEvaluation", "m")).condition(requeued_false("LocalQueueStopped"))),
             .conditions = {"QuotaReserved=False PendingEvaluation: m",
                            "Requeued=True LocalQueueRestarted: The LocalQueue was restarted after being stopped"}},
        Case{.name = "workloads_10_56_gated_while_reserved",
             .world = cluster().with(workload().annotation(api::kAdmissionGatedByAnnotation, "g").reserved("cq", "f")),
             .effects = {"Event ns/w AdmissionGated: Workload admission is gated by: g"},
             .conditions = pending("AdmissionGated: Admission is gated by: g")}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    TheEnd, WorkloadReconcile,
    ::testing::Values(
        Case{.name = "made_by_hand_and_deleted",
             .world = cluster().with(workload().finalizer(api::kResourceInUseFinalizer).deleted(at(0))),
             .effects = {"RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}},
        Case{.name = "orphan",
             .world = cluster().with(workload().label(api::kJobUidLabel, "u")),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "owner_gone",
             .world = cluster().with(workload().owner("batch/v1", "Job", "j", "u")),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "owner_not_seen_yet",
             .world = cluster().with(workload().created(at(0)).owner("batch/v1", "Job", "j", "u")).now(59)},
        Case{.name = "owner_never_seen",
             .world = cluster().with(workload().created(at(0)).owner("batch/v1", "Job", "j", "u")).now(60),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "owner_seen_leaving",
             .world = cluster()
                          .with(workload().created(at(0)).owner("batch/v1", "Job", "j", "u"))
                          .with(api::testing::a_job("ns", "j").uid("u"))
                          .gone(api::testing::a_job("ns", "j").uid("u")),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "owner_of_an_unknown_kind", .world = cluster().with(workload().owner("x/v1", "Foo", "j", "u"))},
        Case{.name = "finished_without_retention", .world = cluster().with(workload().finished())},
        Case{.name = "finished_and_retention_over",
             .world = cluster().with(workload().finished()).now(60),
             .options = {.retain_finished = std::chrono::seconds(60)},
             .effects = {"Delete Workload ns/w [Deleted: Deleted finished workload due to elapsed retention]"}},
        Case{.name = "workloads_10_59_finished_and_being_deleted",
             .world = cluster().with(workload()
                                         .finished()
                                         .finalizer(api::kResourceInUseFinalizer)
                                         .deleted(at(0))
                                         .owner("x/v1", "Foo", "j", "u")),
             .options = {.retain_finished = std::chrono::seconds(0)},
             .effects = {"RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}}),
    kName);

TEST(WorkloadDeactivation, workloads_10_41_EarlierReasonStays) {
  const World world = cluster().with(workload()
                                         .inactive()
                                         .evicted("PodsReadyTimeout")
                                         .requeue_at(3, at(900))
                                         .condition(waits("Deactivated",
                                                          "The "
                                                          "workload is "
                                                          "deactivated")));
  const Outcome got = reconcile(world);
  ASSERT_EQ(got.statuses.size(), 1u);
  EXPECT_FALSE(got.statuses.at(kWorkload).requeue_state.has_value());
  EXPECT_EQ(api::find_condition(got.statuses.at(kWorkload).conditions, api::kEvicted)->reason, "PodsReadyTimeout");
}

TEST(WorkloadBackoff, WaitsThenIsRequeued) {
  const World world = cluster().with(workload()
                                         .condition(waits("PendingEvaluation", "m"))
                                         .condition(requeued_false("PodsReadyTimeout"))
                                         .requeue_at(1, at(60)));
  EXPECT_EQ(reconcile(World(world).now(59)).result.again_at, at(60));
  EXPECT_THAT(reconcile(World(world).now(59)).statuses, IsEmpty());
  const Outcome got = reconcile(World(world).now(60));
  ASSERT_EQ(got.statuses.size(), 1u);
  EXPECT_EQ(got.statuses.at(kWorkload).requeue_state, (api::RequeueState{.count = 1}));
  EXPECT_THAT(got.conditions(), ::testing::Contains("Requeued=True BackoffFinished: The workload backoff was "
                                                    "finished"));
}

struct TimeoutCase {
  std::string name{};
  WorkloadBuilder workload = controllers::workload();
  PodsReadyOptions options{};
  std::int64_t now = 0;
  std::string condition{};  // that must be there; empty: no status at all
  std::optional<std::int32_t> count{};
};

class PodsReadyTimeout : public ::testing::TestWithParam<TimeoutCase> {};

TEST_P(PodsReadyTimeout, Does) {
  const TimeoutCase& c = GetParam();
  const Outcome got = reconcile(cluster().with(c.workload).now(c.now), {.wait_for_pods_ready = c.options});
  if (c.condition.empty()) {
    EXPECT_THAT(got.statuses, IsEmpty());
    return;
  }
  EXPECT_THAT(got.conditions(), ::testing::Contains(c.condition));
  ASSERT_EQ(got.statuses.size(), 1u);
  const auto& state = got.statuses.at(kWorkload).requeue_state;
  EXPECT_EQ(state ? std::optional(state->count) : std::nullopt, c.count);
}

constexpr PodsReadyOptions kThreeSeconds{.timeout = std::chrono::seconds(3),
                                         .recovery_timeout = std::chrono::seconds(5),
                                         .backoff_base_seconds = 10,
                                         .backoff_max_seconds = 7200};
constexpr PodsReadyOptions kNoRetry{.timeout = std::chrono::seconds(3), .backoff_limit = 0};
constexpr PodsReadyOptions kEndlessRecovery{.timeout = std::chrono::seconds(3),
                                            .recovery_timeout = std::chrono::seconds(0)};
const std::string kTimedOut = "Evicted=True PodsReadyTimeout: Exceeded the PodsReady timeout ns/w";

INSTANTIATE_TEST_SUITE_P(
    Table, PodsReadyTimeout,
    ::testing::Values(
        TimeoutCase{.name = "in_time", .workload = workload().admitted("cq", "f"), .options = kThreeSeconds, .now = 2},
        TimeoutCase{.name = "workloads_10_47_eleventh_time",
                    .workload = workload().admitted("cq", "f").requeue_at(10, std::nullopt),
                    .options = kThreeSeconds,
                    .now = 3,
                    .condition = kTimedOut,
                    .count = 11},
        TimeoutCase{.name = "workloads_10_48_no_retry_allowed",
                    .workload = workload().admitted("cq", "f"),
                    .options = kNoRetry,
                    .now = 3,
                    .condition = "DeactivationTarget=True RequeuingLimitExceeded: exceeding the maximum number of "
                                 "re-queuing retries"},
        TimeoutCase{.name = "workloads_10_49_endless_recovery",
                    .workload = workload().admitted("cq", "f").condition(
                        a_condition(api::kPodsReady, ConditionStatus::kFalse, "WaitForRecovery")),
                    .options = kEndlessRecovery,
                    .now = 9999},
        TimeoutCase{.name = "recovery_timed_out",
                    .workload = workload().admitted("cq", "f").condition(
                        a_condition(api::kPodsReady, ConditionStatus::kFalse, "WaitForRecovery", at(10))),
                    .options = kThreeSeconds,
                    .now = 15,
                    .condition = kTimedOut,
                    .count = 1},
        TimeoutCase{
            .name = "workloads_10_50_counted_from_this_admission",
            .workload = workload()
                            .admitted("cq", "f", at(100))
                            .condition(a_condition(api::kPodsReady, ConditionStatus::kFalse, "WaitForStart", at(5))),
            .options = kThreeSeconds,
            .now = 102},
        TimeoutCase{.name = "ready",
                    .workload = workload().admitted("cq", "f").pods_ready(ConditionStatus::kTrue),
                    .options = kThreeSeconds,
                    .now = 9999}),
    [](const auto& row) { return row.param.name; });

TEST(PodsReadyBackoff, DoublesUpToTheMaximumAndJittersALittle) {
  const PodsReadyOptions options{.backoff_base_seconds = 60, .backoff_max_seconds = 3600};
  const std::vector<std::int64_t> want = {60, 120, 240, 480, 960, 1920, 3600, 3600};
  for (std::size_t i = 0; i < want.size(); ++i) {
    const Duration got = pods_ready_backoff(options, Uid("u"), static_cast<std::int32_t>(i + 1));
    EXPECT_GE(got, std::chrono::seconds(want[i])) << i;
    EXPECT_LE(got, std::chrono::milliseconds(want[i] * 1000 + want[i] / 10 + 1)) << i;
    EXPECT_EQ(got, pods_ready_backoff(options, Uid("u"), static_cast<std::int32_t>(i + 1)));
  }
}

TEST(PriorityClass, workloads_10_24_WorkloadsFollowItsValue) {
  const api::PriorityClassRef ref{.group = "kueue.x-k8s.io", .kind = "WorkloadPriorityClass", .name = "c"};
  const api::PriorityClassRef other{.group = "scheduling.k8s.io", .kind = "PriorityClass", .name = "c"};
  World world;
  world.with(a_workload_priority_class("c", 7));
  world.with(a_workload("ns", "a").priority(1).priority_class_ref(ref));
  world.with(a_workload("ns", "b").priority(7).priority_class_ref(ref));
  world.with(a_workload("ns", "c").priority(1).priority_class_ref(other));
  world.with(a_workload("ns", "d").priority(1));
  EXPECT_THAT(world.reconcile(PriorityClassReconciler(), {"", "c"}).effects, ElementsAre("PatchSpec ns/a priority=7"));
}

}  // namespace
}  // namespace muster::controllers

#include "controllers/jobs/job_reconciler.h"

#include "api/constants.h"
#include "controllers/jobs/batch_job.h"
#include "controllers/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): builders read like manifests
using api::ConditionStatus;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using testing::World;

const ObjectKey kJob{"ns", "j"};
const ObjectKey kWorkload{"ns", "w"};

Outcome reconcile(const World& world, ControllerOptions options = {}) {
  return world.reconcile(JobReconciler(std::make_unique<BatchJobKind>(), std::move(options)), kJob);
}

World cluster() {
  World world;
  world.with(a_namespace("ns")).with(a_flavor("f").node_label("pool", "batch"));
  return world;
}

JobBuilder job() {
  return a_job("ns", "j").queue("lq").request("cpu", "1");
}

JobBuilder suspended_job() {
  return job().suspended().condition(a_condition("Suspended", ConditionStatus::kTrue, "JobSuspended"));
}

JobBuilder started(JobBuilder builder) {
  return builder.set([](api::Job& j) { j.start_time = at(0); });
}

WorkloadBuilder workload(const std::string& name = "w") {
  return a_workload("ns", name)
      .queue("lq")
      .request("cpu", "1")
      .owner("batch/v1", "Job", "j", "ns/j")
      .finalizer(api::kResourceInUseFinalizer);
}

api::Condition evicted(std::string_view reason, std::string_view message) {
  return a_condition(api::kEvicted, ConditionStatus::kTrue, reason, at(0), message);
}

struct Case {
  std::string name{};
  World world{};
  ControllerOptions options{};
  std::vector<std::string> effects{};
  std::vector<std::string> conditions{};  // of the status returned; empty: none
};

class JobReconcile : public ::testing::TestWithParam<Case> {};

TEST_P(JobReconcile, Does) {
  const Outcome got = reconcile(GetParam().world, GetParam().options);
  EXPECT_EQ(got.effects, GetParam().effects);
  EXPECT_EQ(got.conditions(), GetParam().conditions);
}

const auto kName = [](const auto& row) { return row.param.name; };

const ControllerOptions kAllNamesp{.managed_namespaces = api::LabelSelector{.match_labels = {{"managed", "yes"}}}};
const ControllerOptions kWithoutName{.manage_jobs_without_queue_name = true};
const std::string kCreate = "CreateWorkload job-j-805d4 priority=0 [CreatedWorkload: Created Workload: ns/job-j-805d4]";
const std::string kStopNotAdmittedText =
    "StopJob ns/j NotAdmitted restore=ns/w [Stopped: Not admitted by cluster queue]";

INSTANTIATE_TEST_SUITE_P(
    WhoIsManaged, JobReconcile,
    ::testing::Values(
        Case{.name = "no_queue_name", .world = cluster().with(a_job("ns", "j").suspended())},
        Case{.name = "namespace_unknown", .world = World().with(suspended_job())},
        Case{.name = "workloads_10_36_namespace_not_selected",
             .world = cluster().with(suspended_job()),
             .options = kAllNamesp},
        Case{.name = "queue_name", .world = cluster().with(suspended_job()), .effects = {kCreate}},
        Case{.name = "without_queue_name",
             .world = cluster().with(a_job("ns", "j").suspended()),
             .options = kWithoutName,
             .effects = {kCreate}},
        Case{
            .name = "workloads_10_07_owner_of_another_uid_is_no_ancestor",
            .world =
                cluster().with(a_job("ns", "p").queue("lq")).with(suspended_job().owner("batch/v1", "Job", "p", "old")),
            .effects = {kCreate}},
        Case{.name = "workloads_10_10_child_of_unadmitted_parent",
             .world = cluster().with(a_job("ns", "p").queue("lq")).with(job().owner("batch/v1", "Job", "p", "ns/p")),
             .effects = {"StopJob ns/j NotAdmitted [Suspended: Kueue managed child job suspended]"}},
        Case{.name = "child_of_admitted_parent",
             .world = cluster()
                          .with(a_job("ns", "p").queue("lq"))
                          .with(job().owner("batch/v1", "Job", "p", "ns/p"))
                          .with(a_workload("ns", "wp").owner("batch/v1", "Job", "p", "ns/p").admitted("cq", "f"))}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    OneWorkload, JobReconcile,
    ::testing::Values(
        Case{.name = "running_without_workload",
             .world = cluster().with(job()),
             .effects = {"StopJob ns/j NoMatchingWorkload [Stopped: Missing Workload; unable to restore pod "
                         "templates]"}},
        Case{.name = "still_active_waits",
             .world = cluster().with(suspended_job().set([](api::Job& j) { j.active = 1; }))},
        Case{.name = "workloads_10_30_finished_without_workload",
             .world = cluster().with(job().condition(a_condition("Complete", ConditionStatus::kTrue, "")))},
        Case{.name = "workloads_10_12_pending_is_rewritten",
             .world = cluster().with(suspended_job().parallelism(2)).with(workload()),
             .effects = {"RewriteWorkload ns/w [UpdatedWorkload: Updated not matching Workload for suspended job: "
                         "ns/w]"}},
        Case{.name = "workloads_10_13_running_and_changed",
             .world = cluster().with(started(job().parallelism(2))).with(workload().admitted("cq", "f")),
             .effects = {"StopJob ns/j NoMatchingWorkload restore=ns/w [Stopped: No matching Workload; restoring pod "
                         "templates according to existent Workload]"}},
        Case{.name = "workloads_10_13_then_deleted",
             .world = cluster().with(suspended_job().parallelism(2)).with(workload().admitted("cq", "f")),
             .effects = {"Delete Workload ns/w [DeletedWorkload: Deleted not matching Workload: ns/w]"}},
        Case{.name = "workloads_10_14_tolerations_of_a_running_job",
             .world = cluster()
                          .with(started(job().tolerate(a_toleration("k", "Exists"))))
                          .with(workload().admitted("cq", "f"))},
        Case{.name = "workloads_10_15_two_workloads",
             .world = cluster().with(suspended_job()).with(workload("w")).with(workload("x").count(3)),
             .effects = {"Delete Workload ns/x [DeletedWorkload: Deleted not matching Workload: ns/x]"}},
        Case{.name = "workloads_10_16_prebuilt_missing",
             .world = cluster().with(job().label(api::kPrebuiltWorkloadKey, "w")),
             .effects = {"StopJob ns/j NoMatchingWorkload [Stopped: missing workload]"}},
        Case{.name = "prebuilt_of_nobody",
             .world = cluster()
                          .with(suspended_job().label(api::kPrebuiltWorkloadKey, "w"))
                          .with(a_workload("ns", "w")),
             .effects = {"AdoptWorkload ns/w by ns/j"}},
        Case{.name = "workloads_10_17_prebuilt_of_somebody_else",
             .world = cluster()
                          .with(suspended_job().label(api::kPrebuiltWorkloadKey, "w"))
                          .with(a_workload("ns", "w").owner("batch/v1", "Job", "other", "other"))},
        Case{.name = "workloads_10_18_prebuilt_out_of_sync",
             .world = cluster().with(suspended_job().label(api::kPrebuiltWorkloadKey, "w")).with(workload().count(2)),
             .conditions = {"Finished=True OutOfSync: The prebuilt workload is out of sync with its user job"}},
        Case{.name = "workloads_10_31_time_limit_changed",
             .world = cluster().with(suspended_job().label(api::kMaxExecTimeLabel, "60")).with(workload()),
             .effects = {"RewriteWorkload ns/w [UpdatedWorkload: Updated not matching Workload for suspended job: "
                         "ns/w]"}},
        Case{
            .name = "gates_follow",
            .world = cluster().with(suspended_job().annotation(api::kAdmissionGatedByAnnotation, "g")).with(workload()),
            .effects = {"PatchSpec ns/w gates=g [UpdatedWorkload: Updated workload AdmissionGatedBy to \"g\"]"}},
        Case{.name = "queue_follows",
             .world = cluster().with(suspended_job()).with(workload().queue("other")),
             .effects = {"PatchSpec ns/w queue=lq"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Priority, JobReconcile,
    ::testing::Values(
        Case{.name = "workloads_10_20_workload_class_wins",
             .world = cluster()
                          .with(a_workload_priority_class("high", 100))
                          .with(api::PriorityClass{.meta = {.name = "pods"}, .value = 7})
                          .with(suspended_job().priority_class("pods").label(api::kPriorityClassLabel, "high")),
             .effects = {"CreateWorkload job-j-805d4 priority=100 class=high [CreatedWorkload: Created Workload: "
                         "ns/job-j-805d4]"}},
        Case{.name = "workloads_10_21_missing_class",
             .world = cluster().with(suspended_job().label(api::kPriorityClassLabel, "high")),
             .effects = {"Event ns/j Warning WorkloadPriorityClassNotFound: WorkloadPriorityClass \"high\" not "
                         "found"}},
        Case{.name = "workloads_10_22_lowest_global_default",
             .world = cluster()
                          .with(api::PriorityClass{.meta = {.name = "a"}, .value = 9, .global_default = true})
                          .with(api::PriorityClass{.meta = {.name = "b"}, .value = 3, .global_default = true})
                          .with(api::PriorityClass{.meta = {.name = "c"}, .value = 5, .global_default = true})
                          .with(suspended_job()),
             .effects = {"CreateWorkload job-j-805d4 priority=3 class=b [CreatedWorkload: Created Workload: "
                         "ns/job-j-805d4]"}},
        Case{.name = "workloads_10_23_reserved_without_class_stays",
             .world = cluster()
                          .with(a_workload_priority_class("high", 100))
                          .with(suspended_job().label(api::kPriorityClassLabel, "high"))
                          .with(workload().reserved("cq", "f"))},
        Case{.name = "label_names_another_class",
             .world = cluster()
                          .with(a_workload_priority_class("high", 100))
                          .with(suspended_job().label(api::kPriorityClassLabel, "high"))
                          .with(workload().priority(1).priority_class_ref(
                              {.group = "kueue.x-k8s.io", .kind = "WorkloadPriorityClass", .name = "low"})),
             .effects = {"PatchSpec ns/w class=high priority=100 [UpdatedWorkload: Updated workload priority class: "
                         "ns/w]"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    StartAndStop, JobReconcile,
    ::testing::Values(
        Case{.name = "admitted_starts",
             .world = cluster().with(suspended_job()).with(workload().admitted("cq", "f")),
             .effects = {"StartJob ns/j [Started: Admitted by clusterQueue cq]"}},
        Case{.name = "admitted_but_flavor_missing",
             .world = World().with(a_namespace("ns")).with(suspended_job()).with(workload().admitted("cq", "f"))},
        Case{.name = "admitted_but_job_controller_has_not_seen_it",
             .world = cluster().with(job().suspended()).with(workload().admitted("cq", "f"))},
        Case{.name = "admitted_but_a_write_is_under_way",
             .world = cluster().with(suspended_job()).with(workload().admitted("cq", "f")).writing()},
        Case{.name = "reserved_only", .world = cluster().with(suspended_job()).with(workload().reserved("cq", "f"))},
        Case{.name = "admitted_and_running", .world = cluster().with(job()).with(workload().admitted("cq", "f"))},
        Case{.name = "running_without_admission",
             .world = cluster().with(job()).with(workload()),
             .effects = {kStopNotAdmittedText}},
        Case{.name = "conflicting_selector_fails_to_start",
             .world = cluster()
                          .with(suspended_job().node_selector("pool", "other"))
                          .with(workload().node_selector("pool", "other").admitted("cq", "f")),
             .conditions = {"QuotaReserved=True QuotaReserved: ", "Admitted=True Admitted: ",
                            "Finished=True FailedToStart: invalid admission check PodSetUpdate: conflict for "
                            "nodeSelector: conflict for key=pool, value1=other, value2=batch"}},
        Case{.name = "evicted_stops_first",
             .world = cluster()
                          .with(started(job()))
                          .with(workload().admitted("cq", "f").condition(evicted("Preempted", "too bad"))),
             .effects = {"StopJob ns/j WorkloadEvicted restore=ns/w [Stopped: too bad]"}},
        Case{.name = "workloads_10_34_pods_still_active",
             .world = cluster()
                          .with(suspended_job().set([](api::Job& j) { j.active = 1; }))
                          .with(workload().admitted("cq", "f").condition(evicted("Preempted", "too bad")))},
        Case{.name = "workloads_10_34_then_inactive",
             .world = cluster()
                          .with(suspended_job())
                          .with(workload().reserved("cq", "f").condition(evicted("Preempted", "too bad"))),
             .conditions = {"QuotaReserved=False PendingEvaluation: too bad", "Evicted=True Preempted: too bad",
                            "Requeued=True Preempted: too bad",
                            "Admitted=False NoReservation: The workload has no reservation"}},
        Case{.name = "released_only_when_no_write_is_under_way",
             .world = cluster()
                          .with(suspended_job())
                          .with(workload().reserved("cq", "f").condition(evicted("Preempted", "too bad")))
                          .writing()},
        Case{.name = "stopped_queue_waits_for_restart",
             .world = cluster()
                          .with(suspended_job())
                          .with(workload().reserved("cq", "f").condition(evicted("ClusterQueueStopped",
                                                                                 "The ClusterQueue is "
                                                                                 "stopped"))),
             .conditions = {"QuotaReserved=False PendingEvaluation: The ClusterQueue is stopped",
                            "Evicted=True ClusterQueueStopped: The ClusterQueue is stopped",
                            "Requeued=False ClusterQueueStopped: The ClusterQueue is stopped",
                            "Admitted=False NoReservation: The workload has no reservation"}},
        Case{.name = "workloads_10_35_suspended_with_a_start_time",
             .world = cluster()
                          .with(started(suspended_job()))
                          .with(workload().reserved("cq", "f").condition(evicted("Preempted", "too bad"))),
             .effects = {"StopJob ns/j WorkloadEvicted restore=ns/w [Stopped: too bad]"}},
        Case{.name = "stop_sequence_goes_on",
             .world = cluster()
                          .with(suspended_job().annotation(api::kStoppingAnnotation, "true"))
                          .with(workload().admitted("cq", "f")),
             .effects = {kStopNotAdmittedText}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    TheEnd, JobReconcile,
    ::testing::Values(
        Case{.name = "workloads_10_29_complete",
             .world = cluster()
                          .with(job().condition(a_condition("Complete", ConditionStatus::kTrue, "", at(0), "done")))
                          .with(workload().admitted("cq", "f")),
             .effects = {"Event ns/j FinishedWorkload: Workload 'ns/w' is declared finished"},
             .conditions = {"QuotaReserved=True QuotaReserved: ", "Admitted=True Admitted: ",
                            "Finished=True Succeeded: done"}},
        Case{.name = "workloads_10_29_then_the_finalizer_goes",
             .world = cluster()
                          .with(job().condition(a_condition("Complete", ConditionStatus::kTrue, "", at(0), "done")))
                          .with(workload().admitted("cq", "f").finished()),
             .effects = {"RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}},
        Case{.name = "failed",
             .world = cluster()
                          .with(job().condition(a_condition("Failed", ConditionStatus::kTrue, "", at(0), "boom")))
                          .with(workload()),
             .effects = {"Event ns/j FinishedWorkload: Workload 'ns/w' is declared finished"},
             .conditions = {"Finished=True Failed: boom"}},
        Case{.name = "workload_deleted_under_a_running_job",
             .world = cluster().with(started(job())).with(workload().admitted("cq", "f").deleted(at(0))),
             .effects = {"StopJob ns/j WorkloadDeleted restore=ns/w [Stopped: Workload is deleted]"}},
        Case{.name = "workload_deleted_and_job_stopped",
             .world = cluster().with(suspended_job()).with(workload().admitted("cq", "f").deleted(at(0))),
             .effects = {"RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}},
        Case{.name = "job_of_a_finished_workload_must_not_run",
             .world = cluster().with(job()).with(workload().finished()),
             .effects = {kStopNotAdmittedText}},
        Case{.name = "job_being_deleted",
             .world = cluster().with(suspended_job().deleted(at(0))).with(workload()),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "job_being_deleted_with_pods_running",
             .world = cluster()
                          .with(job().deleted(at(0)).set([](api::Job& j) { j.active = 1; }))
                          .with(workload().admitted("cq", "f"))},
        Case{.name = "workloads_10_33_job_gone",
             .world = cluster().with(workload("job-j-805d4")),
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "workloads_10_33_then_the_finalizer_goes",
             .world = cluster().with(workload("job-j-805d4").finished()),
             .effects = {"RemoveFinalizer ns/job-j-805d4 kueue.x-k8s.io/resource-in-use"}}),
    kName);

TEST(JobStart, InfosComeFromFlavorsAndNames) {
  const World world = cluster().with(suspended_job()).with(workload().admitted("cq", "f"));
  const Outcome got = reconcile(world);
  ASSERT_EQ(got.result.effects.size(), 1u);
  const auto& start = std::get<framework::StartJob>(got.result.effects[0]);
  const framework::PodSetInfo want{
      .name = "main",
      .count = 1,
      .labels = {{api::kPodSetLabel, "main"}, {api::kClusterQueueLabel, "cq"}, {api::kLocalQueueLabel, "lq"}},
      .annotations = {{api::kWorkloadAnnotation, "w"}},
      .node_selector = {{"pool", "batch"}}};
  EXPECT_THAT(start.pod_sets, ElementsAre(want));
}

TEST(JobStart, workloads_10_28_LongQueueNamesAreNoLabels) {
  for (const std::string& queue : {std::string("a.b"), std::string(64, 'q')}) {
    const Outcome got = reconcile(cluster().with(suspended_job()).with(workload().admitted(queue, "f")));
    ASSERT_EQ(got.result.effects.size(), 1u) << queue;
    const auto& start = std::get<framework::StartJob>(got.result.effects[0]);
    EXPECT_EQ(start.pod_sets[0].labels.count(api::kClusterQueueLabel), 0u) << queue;
  }
}

TEST(JobStart, NotBeforeTheAdmissionIsStored) {
  const api::Workload admitted = workload().admitted("cq", "f");
  const World world = cluster().with(suspended_job()).with(workload()).assume(kWorkload, admitted.status);
  EXPECT_THAT(reconcile(world).effects, IsEmpty());
}

TEST(JobRelease, LivePodsHoldTheQuota) {
  const World world = cluster()
                          .with(suspended_job())
                          .with(a_pod("ns", "p").owner("batch/v1", "Job", "j", "ns/j").phase("Running"))
                          .with(workload().reserved("cq", "f").condition(evicted("Preempted", "m")));
  EXPECT_THAT(reconcile(world).statuses, IsEmpty());
}

TEST(JobReclaim, ReportsPodsNoLongerNeededAndNeverTakesBack) {
  const auto running = [](std::int32_t succeeded) {
    return job().parallelism(3).completions(5).set([succeeded](api::Job& j) { j.succeeded = succeeded; });
  };
  EXPECT_THAT(reconcile(cluster().with(running(2)).with(workload().count(3).admitted("cq", "f"))).statuses, IsEmpty());
  const Outcome got = reconcile(cluster().with(running(4)).with(workload().count(3).admitted("cq", "f")));
  ASSERT_EQ(got.statuses.size(), 1u);
  EXPECT_THAT(got.statuses.at(kWorkload).reclaimable_pods,
              ElementsAre(api::ReclaimablePod{.name = "main", .count = 2}));
  const auto reported = workload().count(3).admitted("cq", "f").reclaimable("main", 2);
  EXPECT_THAT(reconcile(cluster().with(running(3)).with(reported)).statuses, IsEmpty());
}

TEST(JobPodsReady, FollowsTheTable) {
  const ControllerOptions options{.wait_for_pods_ready = PodsReadyOptions{}};
  const auto ready = job().set([](api::Job& j) { j.ready = 1; });
  EXPECT_THAT(reconcile(cluster().with(job()).with(workload().admitted("cq", "f")), options).conditions(),
              Contains("PodsReady=False WaitForStart: Not all pods are ready or succeeded"));
  EXPECT_THAT(reconcile(cluster().with(ready).with(workload().admitted("cq", "f")), options).conditions(),
              Contains("PodsReady=True Started: All pods reached readiness and the workload is running"));
  const auto was = workload().admitted("cq", "f").pods_ready(ConditionStatus::kTrue);
  EXPECT_THAT(reconcile(cluster().with(job()).with(was), options).conditions(),
              Contains("PodsReady=False WaitForRecovery: At least one pod has failed, waiting for recovery"));
  EXPECT_THAT(reconcile(cluster().with(suspended_job()).with(workload()), options).statuses, IsEmpty());
}

TEST(JobRetention, workloads_10_32_DeactivatedJobsAreDeletedInTime) {
  const ControllerOptions options{.retain_deactivated = std::chrono::seconds(60)};
  const auto deactivated = [](std::string_view reason) {
    return cluster().with(suspended_job()).with(workload().inactive().condition(evicted(reason, "m")));
  };
  const std::string by_us = "DeactivatedDueToMaximumExecutionTimeExceeded";
  EXPECT_EQ(reconcile(deactivated(by_us).now(59), options).result.again_at, at(60));
  EXPECT_THAT(reconcile(deactivated(by_us).now(60), options).effects,
              ElementsAre("Delete Job ns/j [Deleted: Deleted job: deactivation retention period expired]"));
  EXPECT_THAT(reconcile(deactivated("Deactivated").now(600), options).effects, IsEmpty());
}

}  // namespace
}  // namespace muster::controllers

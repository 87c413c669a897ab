#include "controllers/jobs/plain_pod.h"

#include "api/constants.h"
#include "controllers/jobs/job_reconciler.h"
#include "controllers/testing/world.h"

#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): builders read like manifests
using api::ConditionStatus;
using testing::Outcome;
using testing::World;

struct Case {
  std::string name{};
  World world{};
  std::vector<std::string> effects{};
  std::vector<std::string> conditions{};
};

PodBuilder pod() {
  return a_pod("ns", "p")
      .label(api::kManagedLabel, "true")
      .label(api::kQueueNameLabel, "lq")
      .finalizer(api::kManagedFinalizer)
      .request("cpu", "1");
}

PodBuilder gated_pod() {
  return pod().gate(api::kAdmissionSchedulingGate);
}

WorkloadBuilder workload() {
  return a_workload("ns", "w")
      .queue("lq")
      .request("cpu", "1")
      .owner("v1", "Pod", "p", "ns/p")
      .finalizer(api::kResourceInUseFinalizer);
}

World cluster() {
  World world;
  world.with(a_namespace("ns")).with(a_flavor("f"));
  return world;
}

class PodReconcile : public ::testing::TestWithParam<Case> {};

TEST_P(PodReconcile, Does) {
  const JobReconciler reconciler(std::make_unique<PlainPodKind>(), {});
  const Outcome got = GetParam().world.reconcile(reconciler, {"ns", "p"});
  EXPECT_EQ(got.effects, GetParam().effects);
  EXPECT_EQ(got.conditions(), GetParam().conditions);
}

const api::Condition kEvictedByPreemption =
    a_condition(api::kEvicted, ConditionStatus::kTrue, "Preempted", at(0), "too bad");

INSTANTIATE_TEST_SUITE_P(
    Table, PodReconcile,
    ::testing::Values(
        Case{.name = "gated_gets_a_workload",
             .world = cluster().with(gated_pod()),
             .effects = {"CreateWorkload pod-p-c27ba priority=0 [CreatedWorkload: Created Workload: ns/pod-p-c27ba]"}},
        Case{.name = "workloads_10_83_without_managed_label",
             .world = cluster().with(a_pod("ns", "p").label(api::kQueueNameLabel, "lq"))},
        Case{.name = "member_of_a_group_is_not_ours",
             .world = cluster().with(gated_pod().label(api::kPodGroupNameKey, "g"))},
        Case{.name = "admitted_is_ungated",
             .world = cluster().with(gated_pod()).with(workload().admitted("cq", "f")),
             .effects = {"UngatePod ns/p kueue.x-k8s.io/admission [Started: Admitted by clusterQueue cq]"}},
        Case{.name = "workloads_10_78_evicted_running",
             .world = cluster()
                          .with(pod().phase("Running"))
                          .with(workload().reserved("cq", "f").condition(kEvictedByPreemption)),
             .effects = {"PodCondition ns/p TerminationTarget=True WorkloadEvictedDueToPreempted: too bad",
                         "Delete Pod ns/p [Stopped: too bad]"},
             .conditions = {"QuotaReserved=False PendingEvaluation: too bad", "Evicted=True Preempted: too bad",
                            "Requeued=False Preempted: too bad",
                            "Admitted=False NoReservation: The workload has no reservation"}},
        Case{.name = "running_without_admission",
             .world = cluster().with(pod().phase("Running")).with(workload()),
             .effects = {"PodCondition ns/p TerminationTarget=True NotAdmitted: Not admitted by cluster queue",
                         "Delete Pod ns/p [Stopped: Not admitted by cluster queue]"}},
        Case{.name = "succeeded",
             .world = cluster().with(pod().phase("Succeeded")).with(workload().admitted("cq", "f")),
             .effects = {"Event ns/p FinishedWorkload: Workload 'ns/w' is declared finished"},
             .conditions = {"QuotaReserved=True QuotaReserved: ", "Admitted=True Admitted: ",
                            "Finished=True Succeeded: "}},
        Case{.name = "finished_lets_go",
             .world = cluster().with(pod().phase("Failed")).with(workload().finished()),
             .effects = {"RemoveFinalizer ns/p kueue.x-k8s.io/managed",
                         "RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}},
        Case{.name = "being_deleted",
             .world = cluster().with(pod().deleted(at(0))).with(workload()),
             .effects = {"RemoveFinalizer ns/p kueue.x-k8s.io/managed"},
             .conditions = {"Finished=True OwnerNotFound: The workload's owner no longer exists"}},
        Case{.name = "workload_deleted_takes_the_gated_pod_along",
             .world = cluster().with(gated_pod()).with(workload().deleted(at(0))),
             .effects = {"PodCondition ns/p TerminationTarget=True WorkloadDeleted: Workload is deleted",
                         "Delete Pod ns/p [Stopped: Workload is deleted]",
                         "RemoveFinalizer ns/w kueue.x-k8s.io/resource-in-use"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::controllers

#include "server/workload_changes.h"

#include "api/testing/builders.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using api::ConditionStatus;
using api::Workload;
using api::testing::a_condition;
using api::testing::at;
using std::chrono::seconds;

Workload pending() {
  Workload workload;
  workload.meta = {.ns = "ns", .name = "w", .uid = Uid("u"), .resource_version = "5", .creation_timestamp = at(0)};
  workload.queue_name = LocalQueueName("lq");
  workload.priority_class_ref = api::PriorityClassRef{.name = "high"};
  return workload;
}

void set(Workload& workload, std::string_view type, std::int64_t when, std::string_view reason = "R",
         std::string_view message = "") {
  api::set_condition(workload.status.conditions, a_condition(type, ConditionStatus::kTrue, reason, at(when), message));
}

Workload reserved() {
  Workload workload = pending();
  workload.status.admission = api::Admission{.cluster_queue = ClusterQueueName("cq")};
  set(workload, api::kQuotaReserved, 10);
  return workload;
}

Workload admitted() {
  Workload workload = reserved();
  set(workload, api::kAdmitted, 15);
  return workload;
}

WorkloadChange a_change(Change what) {
  return {.what = what, .cluster_queue = "cq", .local_queue = {"ns", "lq"}, .priority_class = "high"};
}

TEST(Changes, NothingNew) {
  EXPECT_TRUE(changes(admitted(), admitted()).empty());
  EXPECT_TRUE(changes(pending(), pending()).empty());
}

TEST(Changes, Reserved) {
  WorkloadChange want = a_change(Change::kQuotaReserved);
  want.waited = seconds(10);
  EXPECT_EQ(changes(pending(), reserved()), std::vector{want});
}

TEST(Changes, ReservedAgainCountsFromTheRequeue) {
  Workload after = reserved();
  set(after, api::kRequeued, 7);
  WorkloadChange want = a_change(Change::kQuotaReserved);
  want.waited = seconds(3);
  EXPECT_EQ(changes(pending(), after), std::vector{want});
}

TEST(Changes, AdmittedAtOnce) {
  const auto got = changes(pending(), admitted());
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].what, Change::kAdmitted);
  EXPECT_EQ(got[1].waited, seconds(15));
  EXPECT_FALSE(got[1].since_last.has_value()) << "no checks were waited for";
}

TEST(Changes, AdmittedAfterChecks) {
  Workload after = admitted();
  after.status.admission_checks.push_back({.name = "check"});
  const auto got = changes(reserved(), after);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].since_last, std::optional<Duration>(seconds(5)));
}

TEST(Changes, PodsReadyOnlyWhenStarted) {
  Workload after = admitted();
  set(after, api::kPodsReady, 40, "Started");
  WorkloadChange want = a_change(Change::kPodsReady);
  want.waited = seconds(40);
  want.since_last = seconds(25);
  EXPECT_EQ(changes(admitted(), after), std::vector{want});
  Workload recovered = admitted();
  set(recovered, api::kPodsReady, 40, "Recovered");
  EXPECT_TRUE(changes(admitted(), recovered).empty());
}

TEST(Changes, EvictedByWhatTheStatisticsSay) {
  Workload before = admitted();
  before.status.evictions = {{.reason = "Preempted", .count = 2}};
  Workload after = before;
  after.status.evictions = {{.reason = "Preempted", .count = 2},
                            {.reason = "Deactivated", .underlying_cause = "AdmissionCheck", .count = 1}};
  WorkloadChange want = a_change(Change::kEvicted);
  want.reason = "Deactivated";
  want.cause = "AdmissionCheck";
  want.first_of_its_kind = true;
  EXPECT_EQ(changes(before, after), std::vector{want});
  after.status.evictions = {{.reason = "Preempted", .count = 3}};
  want = a_change(Change::kEvicted);
  want.reason = "Preempted";
  EXPECT_EQ(changes(before, after), std::vector{want});
}

TEST(Changes, AnEvictionWithoutAdmissionIsNotCounted) {
  Workload after = pending();
  after.status.evictions = {{.reason = "Deactivated", .count = 1}};
  EXPECT_TRUE(changes(pending(), after).empty());
}

TEST(Changes, PreemptedNamesThePreemptorsQueue) {
  Workload after = admitted();
  set(after, api::kPreempted, 20, "InCohortReclamation",
      "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort; preemptor path: "
      "/org/team/other; preemptee path: /org/team/cq");
  WorkloadChange want = a_change(Change::kPreempted);
  want.cluster_queue = "other";
  want.reason = "InCohortReclamation";
  EXPECT_EQ(changes(admitted(), after), std::vector{want});
}

TEST(Changes, PreemptedBySomebodyUnknown) {
  Workload after = admitted();
  set(after, api::kPreempted, 20, "InClusterQueue", "preemptor path: UNKNOWN; preemptee path: UNKNOWN");
  EXPECT_EQ(changes(admitted(), after).at(0).cluster_queue, "");
}

TEST(Changes, FinishedAddsUpTheAdmissions) {
  Workload after = admitted();
  after.status.accumulated_past_execution_seconds = 100;
  set(after, api::kFinished, 45);
  WorkloadChange want = a_change(Change::kFinished);
  want.waited = seconds(130);
  EXPECT_EQ(changes(admitted(), after), std::vector{want});
}

framework::Event upserted(const Workload& workload) {
  return framework::ObjectEvent(framework::Upserted<Workload>{std::make_shared<const Workload>(workload)});
}

TEST(ChangesOfEvents, ComeFromTheModelsLastObservation) {
  framework::Model model;
  EXPECT_TRUE(changes(upserted(reserved()), model).empty()) << "a first observation is no change";
  model.observe(std::get<framework::ObjectEvent>(upserted(pending())));
  Workload newer = reserved();
  newer.meta.resource_version = "6";
  EXPECT_EQ(changes(upserted(newer), model).size(), 1U);
  EXPECT_EQ(changes(framework::EffectDone{.id = 1, .workload = std::make_shared<const Workload>(newer)}, model).size(),
            1U);
  EXPECT_TRUE(changes(framework::Tick{}, model).empty());
}

TEST(ChangesOfEvents, LateOnesAndOthersAreNone) {
  framework::Model model;
  model.observe(std::get<framework::ObjectEvent>(upserted(pending())));
  Workload late = reserved();
  late.meta.resource_version = "4";
  EXPECT_TRUE(changes(upserted(late), model).empty());
  Workload other = reserved();
  other.meta.uid = Uid("v");
  EXPECT_TRUE(changes(upserted(other), model).empty());
}

}  // namespace
}  // namespace muster::server

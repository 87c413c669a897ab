#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Summary one_queue() {
  return {
      .cluster_queues =
          {{.name = "cq",
            .cohort = "team",
            .root_cohort = "org",
            .phase = QueuePhase::kActive,
            .counts = {.pending_active = 3, .pending_inadmissible = 2, .reserving = 5, .admitted = 4, .finished = 1},
            .quota = {{.flavor = "f",
                       .resource = "cpu",
                       .nominal = 8,
                       .borrowing_limit = 2.5,
                       .reserved = 6,
                       .used = 5.5}}}},
      .local_queues = {{.ns = "ns", .name = "lq", .active = api::ConditionStatus::kTrue}}};
}

WorkloadChange admitted(const std::string& queue) {
  return {.what = Change::kAdmitted,
          .cluster_queue = queue,
          .local_queue = {"ns", "lq"},
          .priority_class = "high",
          .waited = std::chrono::seconds(7)};
}

// The lines of the families whose name contains `part`, without comments.
std::string lines_of(const Metrics& metrics, const std::string& part) {
  std::string found;
  std::string text = metrics.text();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.front() != '#' && line.find(part) != std::string::npos) {
      found += line + "\n";
    }
    begin = end + 1;
  }
  return found;
}

TEST(MetricsText, ShowsAClusterQueue) {
  Metrics metrics({.cluster_queue_resources = true});
  metrics.publish(one_queue());
  EXPECT_EQ(lines_of(metrics, "kueue_pending_workloads"),
            "kueue_pending_workloads{cluster_queue=\"cq\",replica_role=\"standalone\",status=\"active\"} 3\n"
            "kueue_pending_workloads{cluster_queue=\"cq\",replica_role=\"standalone\",status=\"inadmissible\"} 2\n");
  EXPECT_EQ(lines_of(metrics, "kueue_cluster_queue_status"),
            "kueue_cluster_queue_status{cluster_queue=\"cq\",replica_role=\"standalone\",status=\"active\"} 1\n"
            "kueue_cluster_queue_status{cluster_queue=\"cq\",replica_role=\"standalone\",status=\"pending\"} 0\n"
            "kueue_cluster_queue_status{cluster_queue=\"cq\",replica_role=\"standalone\",status=\"terminating\"} 0\n");
  EXPECT_EQ(lines_of(metrics, "kueue_cluster_queue_info"),
            "kueue_cluster_queue_info{cluster_queue=\"cq\",parent_cohort=\"team\",replica_role=\"standalone\","
            "root_cohort=\"org\"} 1\n");
  const std::string labels =
      "{cluster_queue=\"cq\",cohort=\"team\",flavor=\"f\",replica_role=\"standalone\",resource=\"cpu\"} ";
  EXPECT_EQ(lines_of(metrics, "resource_reservation"), "kueue_cluster_queue_resource_reservation" + labels + "6\n");
  EXPECT_EQ(lines_of(metrics, "resource_usage"), "kueue_cluster_queue_resource_usage" + labels + "5.5\n");
  EXPECT_EQ(lines_of(metrics, "nominal_quota"), "kueue_cluster_queue_nominal_quota" + labels + "8\n");
  EXPECT_EQ(lines_of(metrics, "borrowing_limit"), "kueue_cluster_queue_borrowing_limit" + labels + "2.5\n");
  EXPECT_EQ(lines_of(metrics, "lending_limit"), "kueue_cluster_queue_lending_limit" + labels + "+Inf\n");
}

TEST(MetricsText, ShowsALocalQueue) {
  Metrics metrics({});
  metrics.publish(one_queue());
  EXPECT_EQ(
      lines_of(metrics, "kueue_local_queue_status"),
      "kueue_local_queue_status{active=\"False\",name=\"lq\",namespace=\"ns\",replica_role=\"standalone\"} 0\n"
      "kueue_local_queue_status{active=\"True\",name=\"lq\",namespace=\"ns\",replica_role=\"standalone\"} 1\n"
      "kueue_local_queue_status{active=\"Unknown\",name=\"lq\",namespace=\"ns\",replica_role=\"standalone\"} 0\n");
}

TEST(MetricsText, ShowsWhatALocalQueueHasUsedWhereThatCounts) {
  Metrics metrics({});
  metrics.publish(one_queue());
  EXPECT_EQ(lines_of(metrics, "fair_sharing_usage"), "");
  Summary summary = one_queue();
  summary.local_queues.front().cluster_queue = "cq";
  summary.local_queues.front().fair_usage = 1.5;
  metrics.publish(summary);
  EXPECT_EQ(lines_of(metrics, "fair_sharing_usage"),
            "kueue_local_queue_admission_fair_sharing_usage{cluster_queue=\"cq\",name=\"lq\",namespace=\"ns\","
            "replica_role=\"standalone\"} 1.5\n");
}

TEST(MetricsText, CountsChanges) {
  Metrics metrics({});
  metrics.publish(one_queue());
  metrics.count(admitted("cq"));
  metrics.count(admitted("cq"));
  EXPECT_EQ(lines_of(metrics, "kueue_admitted_workloads_total"),
            "kueue_admitted_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"standalone\"} "
            "2\n");
  EXPECT_THAT(metrics.text(),
              HasSubstr("kueue_admission_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\","
                        "replica_role=\"standalone\",le=\"5\"} 0\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("kueue_admission_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\","
                        "replica_role=\"standalone\",le=\"10\"} 2\n"));
  EXPECT_EQ(lines_of(metrics, "kueue_local_queue_admitted_workloads_total"),
            "kueue_local_queue_admitted_workloads_total{name=\"lq\",namespace=\"ns\",priority_class=\"high\","
            "replica_role=\"standalone\"} 2\n");
}

TEST(MetricsText, CountsAnEvictionByItsReason) {
  Metrics metrics({});
  WorkloadChange change = admitted("cq");
  change.what = Change::kEvicted;
  change.reason = "Deactivated";
  change.cause = "RequeuingLimitExceeded";
  metrics.count(change);
  EXPECT_EQ(lines_of(metrics, "kueue_evicted_workloads_total"),
            "kueue_evicted_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",reason=\"Deactivated\","
            "replica_role=\"standalone\",underlying_cause=\"RequeuingLimitExceeded\"} 1\n");
  EXPECT_EQ(lines_of(metrics, "evicted_workloads_once_total"), "");
  change.first_of_its_kind = true;
  metrics.count(change);
  EXPECT_THAT(lines_of(metrics, "evicted_workloads_once_total"), HasSubstr("} 1\n"));
}

TEST(MetricsText, CountsCyclesNotEntries) {
  using framework::Outcome;
  Metrics metrics({});
  metrics.count_cycles({{.cycle = 1, .outcome = Outcome::kParked},
                        {.cycle = 1, .outcome = Outcome::kAdmitted},
                        {.cycle = 1, .outcome = Outcome::kSkipped},
                        {.cycle = 2, .outcome = Outcome::kParked},
                        {.cycle = 3, .outcome = Outcome::kBound}});
  EXPECT_EQ(lines_of(metrics, "admission_attempts_total"),
            "kueue_admission_attempts_total{replica_role=\"standalone\",result=\"inadmissible\"} 1\n"
            "kueue_admission_attempts_total{replica_role=\"standalone\",result=\"success\"} 1\n");
}

TEST(MetricsText, ShowsItsOwnState) {
  Metrics metrics({.version = "v1.2"});
  EXPECT_EQ(lines_of(metrics, "muster_ledger_drift"), "muster_ledger_drift{replica_role=\"standalone\"} 0\n");
  EXPECT_THAT(lines_of(metrics, "kueue_build_info"), HasSubstr("git_version=\"v1.2\""));
  EXPECT_THAT(lines_of(metrics, "kueue_build_info"), Not(HasSubstr("replica_role")));
  metrics.set_drift(2);
  metrics.count_settle(Duration(3), 10);
  metrics.count_settle(Duration(3), 5);
  metrics.set_writes({.requests = {{.method = "PATCH", .kind = "Workload", .code = "200", .count = 4}}});
  metrics.set_writes({.requests = {{.method = "PATCH", .kind = "Workload", .code = "200", .count = 6}}});
  EXPECT_EQ(lines_of(metrics, "muster_ledger_drift"), "muster_ledger_drift{replica_role=\"standalone\"} 2\n");
  EXPECT_EQ(lines_of(metrics, "muster_events_total"), "muster_events_total{replica_role=\"standalone\"} 15\n");
  EXPECT_EQ(lines_of(metrics, "muster_settle_seconds_count"),
            "muster_settle_seconds_count{replica_role=\"standalone\"} 2\n");
  EXPECT_EQ(lines_of(metrics, "muster_effects_total"),
            "muster_effects_total{kind=\"Workload\",method=\"PATCH\",replica_role=\"standalone\",result=\"200\"} 6\n");
}

TEST(Series, EndWithTheirQueue) {
  Metrics metrics({.cluster_queue_resources = true});
  metrics.publish(one_queue());
  metrics.count(admitted("cq"));
  metrics.count({.what = Change::kFinished, .local_queue = {"ns", "lq"}});
  metrics.publish({});
  EXPECT_EQ(lines_of(metrics, "cluster_queue=\"cq\""), "");
  EXPECT_EQ(lines_of(metrics, "namespace=\"ns\""), "");
  EXPECT_EQ(lines_of(metrics, "kueue_finished_workloads_total"),
            "kueue_finished_workloads_total{cluster_queue=\"\",priority_class=\"\",replica_role=\"standalone\"} 1\n")
      << "who never had a queue is counted for good";
}

TEST(Series, EndWithTheirFlavorAndCohort) {
  Metrics metrics({.cluster_queue_resources = true});
  Summary summary = one_queue();
  metrics.publish(summary);
  summary.cluster_queues[0].quota.clear();
  summary.cluster_queues[0].cohort = "other";
  metrics.publish(summary);
  EXPECT_EQ(lines_of(metrics, "flavor="), "");
  EXPECT_EQ(lines_of(metrics, "parent_cohort=\"team\""), "");
  EXPECT_NE(lines_of(metrics, "parent_cohort=\"other\""), "");
}

TEST(Series, BeginAnewInAnotherRole) {
  Metrics metrics({});
  metrics.set_role("follower");
  metrics.count(admitted("cq"));
  metrics.set_role("follower");
  EXPECT_NE(lines_of(metrics, "kueue_admitted_workloads_total"), "") << "no change, nothing lost";
  metrics.set_role("leader");
  EXPECT_EQ(lines_of(metrics, "kueue_admitted_workloads_total"), "");
  metrics.count(admitted("cq"));
  EXPECT_THAT(lines_of(metrics, "kueue_admitted_workloads_total"), HasSubstr("replica_role=\"leader\"} 1\n"));
}

TEST(Options, LeaveFamiliesOut) {
  Metrics metrics({.local_queues = false});
  metrics.publish(one_queue());
  metrics.count(admitted("cq"));
  EXPECT_EQ(lines_of(metrics, "local_queue"), "");
  EXPECT_EQ(lines_of(metrics, "nominal_quota"), "");
}

}  // namespace
}  // namespace muster::server

#include "api/codec/encode.h"

#include "api/codec/decode.h"
#include "api/testing/builders.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace muster::api {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders are the vocabulary here

// What a reduced object cannot say: the hash of containers whose other fields are gone.
void forget_hashes(PodSpec& spec) {
  spec.containers_hash = spec.init_containers_hash = {};
}

template <class T>
T round_trip(const T& object) {
  const Result<Json> parsed = parse_json(dump_json(encode(object)));
  return decode<T>(*parsed).value();
}

TEST(RoundTrip, ResourceFlavor) {
  const ResourceFlavor flavor = a_flavor("f")
                                    .node_label("zone", "z")
                                    .taint("k", "v", "NoSchedule")
                                    .toleration(a_toleration("k", "Exists", "", "NoExecute"))
                                    .topology("t")
                                    .label("a", "b")
                                    .finalizer("x/y")
                                    .created(at(5));
  EXPECT_EQ(round_trip(flavor), flavor);
  EXPECT_EQ(round_trip(ResourceFlavor{}), ResourceFlavor{});
}

TEST(RoundTrip, ClusterQueue) {
  const ClusterQueue queue =
      a_cluster_queue("cq")
          .cohort("team")
          .quota("cpu", "spot", "10", "2", "1500m")
          .quota("memory", "spot", "1Gi")
          .quota("gpu", "big", "9223372036854775807")
          .strict_fifo()
          .stop(StopPolicy::kHoldAndDrain)
          .weight("1500m")
          .preemption({.within_cluster_queue = WithinClusterQueuePolicy::kLowerOrNewerEqualPriority,
                       .reclaim_within_cohort = ReclaimPolicy::kAny,
                       .borrow_within_cohort = BorrowWithinCohortPolicy::kLowerPriority,
                       .borrow_max_priority_threshold = 0})
          .fungibility({.when_can_borrow = FungibilityPolicy::kTryNextFlavor,
                        .preference = FungibilityPreference::kPreemptionOverBorrowing})
          .check("c", {"spot"})
          .usage_based_fair_sharing()
          .namespaces({.match_labels = {{"a", "b"}}, .match_expressions = {{"x", "In", {"1", "2"}}}})
          .condition(a_condition("Active", ConditionStatus::kTrue, "Ready", at(3), "m"));
  EXPECT_EQ(round_trip(queue), queue);
  const ClusterQueue plain = a_cluster_queue("plain").no_namespaces();
  EXPECT_EQ(round_trip(plain), plain);
}

TEST(RoundTrip, FairSharing) {
  ClusterQueue queue = a_cluster_queue("cq").weight("1000000001n");
  queue.status.weighted_share = kUnlimited;
  EXPECT_EQ(round_trip(queue), queue);
  Cohort cohort = a_cohort("c").weight("2n");
  cohort.status.weighted_share = 0;
  EXPECT_EQ(round_trip(cohort), cohort);
}

TEST(RoundTrip, QueuesAndCohorts) {
  const Cohort cohort = a_cohort("c").parent("root").quota("cpu", "f", "1").weight("0");
  EXPECT_EQ(round_trip(cohort), cohort);
  LocalQueue queue = a_local_queue("ns", "lq").cluster_queue("cq").stop(StopPolicy::kHold).weight("2");
  queue.status.pending_workloads = 4;
  queue.status.flavors_usage = {{.name = FlavorName("f"), .resources = {{.name = "cpu", .total = 1500}}}};
  EXPECT_EQ(round_trip(queue), queue);
  queue.status.admission_fair_sharing = {.consumed_resources = {{"cpu", 292'893'218}, {"memory", kMaxNano}},
                                         .last_update = at(7)};
  EXPECT_EQ(round_trip(queue), queue);
  queue.status.admission_fair_sharing->consumed_resources.clear();
  EXPECT_EQ(round_trip(queue), queue);
  EXPECT_EQ(round_trip(a_workload_priority_class("p", -3)), a_workload_priority_class("p", -3));
}

TEST(RoundTrip, Workload) {
  Workload workload = a_workload("ns", "w")
                          .queue("lq")
                          .pod_set("driver", 1)
                          .request("cpu", "1")
                          .pod_set("worker", 5)
                          .min_count(2)
                          .group("g")
                          .request("cpu", "1500m")
                          .request("memory", "3Gi")
                          .node_selector("zone", "z")
                          .affinity_in("rack", {"r1", "r2"})
                          .tolerate(a_toleration("k", "Equal", "v"))
                          .priority(-5)
                          .priority_class_ref({"kueue.x-k8s.io", "WorkloadPriorityClass", "p"})
                          .max_execution_seconds(60)
                          .inactive()
                          .owner("batch/v1", "Job", "j", "uid-j")
                          .admitted("cq", "spot", at(10))
                          .evicted("Preempted", at(20))
                          .requeue_at(2, at(30))
                          .reclaimable("worker", 1)
                          .check_state("c", CheckState::kRetry, at(1));
  workload.status.admission_checks[0].pod_set_updates = {{.name = "worker", .labels = {{"a", "b"}}}};
  workload.status.admission_checks[0].requeue_after_seconds = 5;
  workload.status.resource_requests = {{.name = "driver", .resources = {{"cpu", 1000}}}};
  workload.status.evictions = {{.reason = "Preempted", .underlying_cause = "", .count = 1}};
  workload.status.accumulated_past_execution_seconds = 7;
  Workload back = round_trip(workload);
  for (PodSet& pod_set : back.pod_sets) {
    forget_hashes(pod_set.pod_template.spec);
  }
  EXPECT_EQ(back, workload);
}

TEST(RoundTrip, JobPodNode) {
  const Job job = a_job("ns", "j")
                      .queue("lq")
                      .suspended()
                      .parallelism(4)
                      .completions(9)
                      .request("cpu", "2")
                      .limit("cpu", "4")
                      .scheduler("muster")
                      .condition(a_condition("Suspended", ConditionStatus::kTrue, "JobSuspended"))
                      .set([](Job& j) {
                        j.uncounted_succeeded = 2;
                        j.ready = 1;
                        j.start_time = at(4);
                      });
  Job job_back = round_trip(job);
  forget_hashes(job_back.pod_template.spec);
  EXPECT_EQ(job_back, job);

  Pod pod = a_pod("ns", "p")
                .request("cpu", "1")
                .node("n")
                .phase("Running")
                .priority(3)
                .host_port(80)
                .gate("g")
                .runtime_class("gvisor");
  pod.spec.init_containers = {{.name = "side", .requests = {{"cpu", 100}}, .restartable_init = true}};
  pod.spec.pod_requests = ResourceAmounts{{"cpu", 2000}};
  pod.spec.overhead = {{"memory", 1024}};
  Pod pod_back = round_trip(pod);
  forget_hashes(pod_back.spec);
  EXPECT_EQ(pod_back, pod);

  const Node node = a_node("n").allocatable("cpu", "8").label("zone", "z").taint("k", "", "NoExecute").unschedulable();
  EXPECT_EQ(round_trip(node), node);
  EXPECT_EQ(round_trip(Node(a_node("m").not_ready())), Node(a_node("m").not_ready()));
  EXPECT_EQ(round_trip(Namespace(a_namespace("ns").label("a", "b"))), Namespace(a_namespace("ns").label("a", "b")));
}

TEST(RoundTrip, WhatChangesRequests) {
  RuntimeClass runtime_class{.overhead = {{"cpu", 250}, {"memory", 1 << 20}}};
  runtime_class.meta.name = "gvisor";
  EXPECT_EQ(round_trip(runtime_class), runtime_class);
  EXPECT_EQ(round_trip(RuntimeClass{}), RuntimeClass{});
  LimitRange range{.limits = {{.type = "Container",
                               .max = {{"cpu", 4000}},
                               .min = {{"cpu", 10}},
                               .defaults = {{"memory", 1 << 30}},
                               .default_request = {{"cpu", 100}}},
                              {.type = "Pod"}}};
  range.meta.ns = "ns";
  range.meta.name = "limits";
  EXPECT_EQ(round_trip(range), range);
  EXPECT_EQ(round_trip(LimitRange{}), LimitRange{});
}

TEST(RoundTrip, RandomAmounts) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    ClusterQueue queue = a_cluster_queue("cq").cohort("c").quota("cpu", "f", "1").quota("memory", "f", "1");
    for (ResourceQuota& quota : queue.resource_groups[0].flavors[0].resources) {
      quota.nominal = static_cast<Amount>(random() >> (2 + random() % 60));
      quota.borrowing_limit = static_cast<Amount>(random() >> (2 + random() % 60));
    }
    ASSERT_EQ(round_trip(queue), queue) << dump_json(encode(queue));
  }
}

TEST(EncodeAmounts, NeverPrintsUnlimited) {
  EXPECT_EQ(dump_json(encode_amounts({{"cpu", kUnlimited}, {"memory", kUnlimited}})),
            R"({"cpu":"9223372036854775807m","memory":"9223372036854775807"})");
}

TEST(EncodeStatus, PrintsWhatClientsRead) {
  ClusterQueueStatus status;
  status.flavors_usage = {{.name = FlavorName("f"), .resources = {{.name = "cpu", .total = 1500, .borrowed = 0}}}};
  EXPECT_EQ(dump_json(encode(status)),
            R"({"admittedWorkloads":0,"flavorsUsage":[{"name":"f","resources":[{"borrowed":"0","name":"cpu",)"
            R"("total":"1500m"}]}],"pendingWorkloads":0,"reservingWorkloads":0})");
  EXPECT_EQ(dump_json(encode(Conditions{a_condition("A", ConditionStatus::kFalse, "R", at(0), "")})),
            R"([{"lastTransitionTime":"2026-01-01T00:00:00Z","message":"","reason":"R","status":"False","type":"A"}])");
}

TEST(StatusMergePatch, NullsWhatIsGoneAndKeepsWhatIsEqual) {
  const Workload before = a_workload("ns", "w").request("cpu", "1").reserved("cq", "f", at(1)).requeue_at(1, at(9));
  Workload after = before;
  EXPECT_EQ(dump_json(status_merge_patch(before.status, after.status)), "{}");
  after.status.admission.reset();
  after.status.requeue_state->requeue_at.reset();
  EXPECT_EQ(dump_json(status_merge_patch(before.status, after.status)),
            R"({"status":{"admission":null,"requeueState":{"requeueAt":null}}})");
}

}  // namespace
}  // namespace muster::api

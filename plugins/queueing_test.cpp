// Who is tried when, and what wakes whom: the numbered cases of spec/admission.md §8 on the core with its default
// profile.
#include "plugins/testing/cluster.h"

#include "api/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_flavor;
using api::testing::a_local_queue;
using api::testing::a_workload;
using api::testing::at;
using testing::Cluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kBypassed[] = "Bypassed scheduling evaluation because an equivalent workload recently failed";
constexpr api::Preemption kLowerPriority{.within_cluster_queue = api::WithinClusterQueuePolicy::kLowerPriority};

api::testing::WorkloadBuilder waits(const std::string& name, const std::string& cpu, int created = 0) {
  return a_workload("ns", name).queue("q").request("cpu", cpu).created(at(created));
}

// One queue `q` with cpu of flavor `f`.
Cluster& with_queue(Cluster& cluster, const std::string& cpu) {
  return cluster.flavors({"f"}).queue(a_cluster_queue("q").quota("cpu", "f", cpu));
}

// The names of those that wait, first one first.
std::vector<std::string> order(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const framework::WorkloadInfo* info : cluster.core().queue().in_order(ClusterQueueName("q"))) {
    names.push_back(info->key.name);
  }
  return names;
}

std::size_t tries(const Cluster& cluster, const std::string& name) { return cluster.told(name).size(); }

// ---- order ----

struct OrderCase {
  std::string name{};
  std::vector<api::testing::WorkloadBuilder> waiting{};
  std::vector<std::string> want{};
};

class Order : public ::testing::TestWithParam<OrderCase> {};

TEST_P(Order, OfWhoWaits) {
  Cluster cluster;
  with_queue(cluster, "0");
  for (const auto& workload : GetParam().waiting) {
    cluster.add(workload);
  }
  EXPECT_EQ(order(cluster.settle()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Order,
    ::testing::Values(
        OrderCase{"Case1_EarlierFirst", {waits("late", "1", 2), waits("early", "1", 1)}, {"early", "late"}},
        OrderCase{"Case1_PriorityFirst", {waits("late", "1", 2).priority(2), waits("early", "1", 1)}, {"late", "early"}},
        OrderCase{"Case2_APodsReadyTimeoutGoesToTheBack",
                  {waits("w", "1", 1).evicted("PodsReadyTimeout", at(5)), waits("x", "1", 4), waits("y", "1", 6)},
                  {"x", "w", "y"}},
        OrderCase{"Case3_SoDoesAFailedCheck",
                  {waits("w", "1", 1).evicted("AdmissionCheck", at(5)), waits("x", "1", 4), waits("y", "1", 6)},
                  {"x", "w", "y"}},
        OrderCase{"Case4_AVictimKeepsItsPlace",
                  {waits("w", "1", 1).evicted("Preempted", at(5)), waits("x", "1", 4)},
                  {"w", "x"}}),
    [](const auto& row) { return row.param.name; });

// ---- who is tried ----

TEST(Queueing, Case6_AStrictFifoHeadBlocksTheRest) {
  Cluster cluster;
  cluster.flavors({"f"}).queue(a_cluster_queue("q").strict_fifo().quota("cpu", "f", "4"));
  cluster.add(waits("head", "5", 1)).add(waits("small", "1", 2)).settle();
  EXPECT_FALSE(cluster.admitted("small"));
  EXPECT_EQ(tries(cluster, "small"), 0u);
  cluster.add(a_flavor("f")).settle();  // another cycle
  EXPECT_FALSE(cluster.admitted("small"));
}

TEST(Queueing, Case7_ABestEffortHeadMakesRoomForTheNext) {
  Cluster cluster;
  with_queue(cluster, "4").add(waits("head", "5", 1)).add(waits("small", "1", 2)).settle();
  EXPECT_TRUE(cluster.admitted("small"));
  EXPECT_EQ(cluster.core().queue().pending(ClusterQueueName("q")).inadmissible, 1);
}

TEST(Queueing, Case8_AStrictFifoHeadOfAnotherNamespaceDoesNotBlock) {
  Cluster cluster;
  cluster.flavors({"f"}).add(api::testing::a_namespace("good").label("team", "a"));
  cluster.add(a_cluster_queue("q").strict_fifo().namespaces({.match_labels = {{"team", "a"}}}).quota("cpu", "f", "4"));
  cluster.add(a_local_queue("ns", "q").cluster_queue("q")).add(a_local_queue("good", "q").cluster_queue("q"));
  cluster.add(waits("stranger", "1", 1)).add(a_workload("good", "mine").queue("q").request("cpu", "1").created(at(2)));
  cluster.settle();
  EXPECT_EQ(cluster.why("stranger"), "Misconfigured: workload namespace doesn't match ClusterQueue selector");
  EXPECT_TRUE(cluster.admitted("mine"));
}

TEST(Queueing, Case12_OnlyWhatMattersBringsItBack) {
  Cluster cluster;
  const auto big = waits("big", "5").count(2);
  with_queue(cluster, "5").add(big).settle();
  ASSERT_EQ(tries(cluster, "big"), 1u);
  auto reclaimed = big;
  cluster.add(reclaimed.reclaimable("main", 1)).settle();
  EXPECT_TRUE(cluster.admitted("big"));
}

TEST(Queueing, Case14_OneFailureParksAllOfItsKind) {
  Cluster cluster;
  with_queue(cluster, "4").add(waits("a", "5", 1)).add(waits("b", "5", 2)).add(waits("c", "5", 3)).settle();
  EXPECT_EQ(tries(cluster, "a") + tries(cluster, "b") + tries(cluster, "c"), 1u);
  EXPECT_EQ(cluster.core().queue().pending(ClusterQueueName("q")).inadmissible, 3);
  EXPECT_THAT(cluster.why("c"), StartsWith("ExceedsMaxQuota: "));
  cluster.add(a_cluster_queue("q").quota("cpu", "f", "15").generation(2)).settle();
  EXPECT_TRUE(cluster.admitted("a") && cluster.admitted("b") && cluster.admitted("c"));
}

TEST(Queueing, Case15_StrictFifoTriesTheHeadOnly) {
  Cluster cluster;
  cluster.flavors({"f"}).queue(a_cluster_queue("q").strict_fifo().quota("cpu", "f", "4"));
  cluster.add(waits("a", "5", 1)).add(waits("b", "5", 2)).settle();
  EXPECT_EQ(tries(cluster, "a"), 1u);
  EXPECT_EQ(tries(cluster, "b"), 0u);
  EXPECT_EQ(cluster.core().queue().pending(ClusterQueueName("q")).inadmissible, 0);
}

TEST(Queueing, Case16_AnArrivalOfAParkedKindIsNotTried) {
  Cluster cluster;
  with_queue(cluster, "4").add(waits("a", "5", 1)).settle().add(waits("b", "5", 2)).settle();
  EXPECT_EQ(tries(cluster, "b"), 0u);
  EXPECT_EQ(cluster.why("b"), std::string("ExceedsMaxQuota: ") + kBypassed);
}

TEST(Queueing, Case17_WhoBacksOffIsNotWokenBeforeItsTime) {
  Cluster cluster;
  with_queue(cluster, "4");
  cluster.add(waits("w", "1").requeue_at(1, at(2000))).settle();
  cluster.add(a_cluster_queue("q").quota("cpu", "f", "9").generation(2)).settle();
  EXPECT_EQ(tries(cluster, "w"), 0u);
  cluster.wait_until(at(2000)).settle();
  EXPECT_TRUE(cluster.admitted("w"));
}

TEST(Queueing, Case20_AMoveLeavesTheFirstQueue) {
  Cluster cluster;
  with_queue(cluster, "0").queue(a_cluster_queue("r").quota("cpu", "f", "9"));
  cluster.add(waits("w", "1")).settle();
  ASSERT_THAT(order(cluster), ElementsAre("w"));
  cluster.add(waits("w", "1").queue("r")).settle();
  EXPECT_THAT(order(cluster), IsEmpty());
  EXPECT_TRUE(cluster.admitted("w"));
}

TEST(Queueing, Case21_AGateKeepsItOut) {
  Cluster cluster;
  with_queue(cluster, "4");
  cluster.add(waits("w", "1").annotation(api::kAdmissionGatedByAnnotation, "x")).settle();
  EXPECT_THAT(order(cluster), IsEmpty());
  cluster.add(waits("w", "1").generation(2)).settle();
  EXPECT_TRUE(cluster.admitted("w"));
}

TEST(Queueing, Case22_AnInactiveQueueCountsAllAsInadmissible) {
  Cluster cluster;
  cluster.queue(a_cluster_queue("q").quota("cpu", "missing", "4"));
  cluster.add(waits("a", "1")).add(waits("b", "1")).add(waits("c", "1")).settle();
  const framework::PendingCounts counts = cluster.core().queue().pending(ClusterQueueName("q"));
  EXPECT_EQ(counts.active, 0);
  EXPECT_EQ(counts.inadmissible, 3);
}

// ---- the tree ----

struct TreeCase {
  std::string name{};
  std::vector<api::testing::CohortBuilder> cohorts{};
  std::vector<api::testing::ClusterQueueBuilder> queues{};
  std::vector<std::pair<std::string, Amount>> used{};
  std::string asked = "q";
  Amount available = 0;
  Amount potential = 0;
};

class Tree : public ::testing::TestWithParam<TreeCase> {};

TEST_P(Tree, Offers) {
  const TreeCase& c = GetParam();
  const framework::FlavorResource cpu{FlavorName("f"), "cpu"};
  framework::UndoLog undo;
  framework::QuotaTree tree{undo};
  for (const auto& cohort : c.cohorts) {
    tree.upsert_cohort(cohort);
  }
  for (const auto& queue : c.queues) {
    tree.upsert_cluster_queue(queue);
  }
  for (const auto& [queue, amount] : c.used) {
    tree.add_usage(ClusterQueueName(queue), {{cpu, amount}});
  }
  EXPECT_EQ(tree.available(ClusterQueueName(c.asked), cpu), c.available);
  EXPECT_EQ(tree.potential(ClusterQueueName(c.asked), cpu), c.potential);
}

const std::vector<api::testing::CohortBuilder> kTen = {a_cohort("c").quota("cpu", "f", "10")};
const std::vector<api::testing::ClusterQueueBuilder> kTwo = {
    a_cluster_queue("q").cohort("c").quota("cpu", "f", "10"),
    a_cluster_queue("r").cohort("c").quota("cpu", "f", "10", "", "9")};
const std::vector<api::testing::ClusterQueueBuilder> kOne = {a_cluster_queue("q").cohort("c").quota("cpu", "f", "10")};

INSTANTIATE_TEST_SUITE_P(
    Table, Tree,
    ::testing::Values(
        TreeCase{"Case24_first", kTen, kTwo, {{"q", 1000}, {"r", 500}}, "q", 28000, 29000},
        TreeCase{"Case24_second", kTen, kTwo, {{"q", 1000}, {"r", 500}}, "r", 28500, 30000},
        TreeCase{"Case25_borrowing", kTen, kOne, {{"q", 11000}}, "q", 9000, 20000},
        TreeCase{"Case25_overdrawn", kTen, kOne, {{"q", 25000}}, "q", 0, 20000},
        TreeCase{"Case27_nothing_is_lent",
                 {},
                 {a_cluster_queue("q").cohort("c").quota("cpu", "f", "1"),
                  a_cluster_queue("r").cohort("c").quota("cpu", "f", "10", "", "0")},
                 {},
                 "q",
                 1000,
                 1000},
        TreeCase{"Case28_more_lent_than_owned",
                 {},
                 {a_cluster_queue("q").cohort("c").quota("cpu", "f", "1"),
                  a_cluster_queue("r").cohort("c").quota("cpu", "f", "10", "", "99")},
                 {},
                 "q",
                 11000,
                 11000}),
    [](const auto& row) { return row.param.name; });

TEST(Queueing, Case37_QueuesUnderACycleOfCohortsWaitForItsEnd) {
  Cluster cluster;
  cluster.flavors({"f"}).add(a_cohort("a").parent("b")).add(a_cohort("b").parent("a"));
  cluster.queue(a_cluster_queue("q").cohort("a").quota("cpu", "f", "4")).add(waits("w", "1")).settle();
  EXPECT_FALSE(cluster.admitted("w"));
  cluster.add(a_cohort("b").generation(2)).settle();
  EXPECT_TRUE(cluster.admitted("w"));
}

// ---- the cycle ----

TEST(Queueing, Case64_ReadmissionMakesTheEvictionHistory) {
  Cluster cluster;
  cluster.flavors({"f"}).queue(a_cluster_queue("q").preemption(kLowerPriority).quota("cpu", "f", "1"));
  cluster.add(waits("low", "1").admitted("q", "f")).add(waits("high", "1").priority(9)).settle();
  ASSERT_THAT(cluster.evicted(), ElementsAre("low"));
  cluster.release("low");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("high"));
  cluster.finish("high");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low"));
  const api::Condition* evicted = api::find_condition(cluster.status("low").conditions, api::kEvicted);
  EXPECT_EQ(evicted->status, api::ConditionStatus::kFalse);
  EXPECT_EQ(evicted->reason, "QuotaReserved");
  EXPECT_THAT(evicted->message, StartsWith("Previously: Preempted to accommodate"));
  EXPECT_TRUE(api::is_true(cluster.status("low").conditions, api::kRequeued));
}

TEST(Queueing, Case75_AVictimOnItsWayIsCountedAndNotEvictedAgain) {
  Cluster cluster;
  cluster.flavors({"f"}).queue(a_cluster_queue("q").preemption(kLowerPriority).quota("cpu", "f", "2"));
  cluster.add(waits("low", "2").admitted("q", "f")).add(waits("high", "2").priority(9)).settle();
  EXPECT_THAT(cluster.why("high"), HasSubstr(". Pending the preemption of 1 workload(s)"));
  const std::string told = cluster.event("low", "Preempted");
  const std::vector<api::EvictionStat> before = cluster.status("low").evictions;
  cluster.add(a_flavor("f").generation(2)).settle();
  EXPECT_EQ(cluster.event("low", "Preempted"), told);
  EXPECT_EQ(cluster.status("low").evictions, before);
  EXPECT_THAT(cluster.why("high"), StartsWith("WaitingForPreemptedWorkloads: "));
}

}  // namespace
}  // namespace muster::plugins

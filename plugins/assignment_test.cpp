// Whole decisions of the default profile: a core over a few queues, an API server that stores every status, and who is
// admitted where (spec/admission.md §3.4, §3.8, §4.5, §4.6).
#include "plugins/testing/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_flavor;
using api::testing::a_workload;
using api::testing::at;
using testing::Cluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kNoLongerFits[] = "Workload no longer fits after processing another workload";
constexpr api::FlavorFungibility kMayStop{.when_can_preempt = api::FungibilityPolicy::kMayStopSearch};

api::Preemption reclaims(api::ReclaimPolicy policy) {
  return {.reclaim_within_cohort = policy};
}

constexpr api::Preemption kLowerPriority{.within_cluster_queue = api::WithinClusterQueuePolicy::kLowerPriority};

api::testing::WorkloadBuilder waits(const std::string& name, const std::string& queue, const std::string& cpu) {
  return a_workload("ns", name).queue(queue).request("cpu", cpu);
}

api::testing::WorkloadBuilder runs(const std::string& name, const std::string& queue, const std::string& cpu,
                                   const std::string& flavor = "one") {
  return waits(name, queue, cpu).admitted(queue, flavor);
}

// ---- §3.4: the scan goes on where it stopped ----

// Two queues without quota of their own; the cohort lends 4 of each flavor.
void add_two_borrowers(Cluster& cluster) {
  cluster.flavors({"one", "three", "two"})
      .add(a_cohort("team").quota("cpu", "one", "4").quota("cpu", "two", "4").quota("cpu", "three", "4"));
  for (const char* name : {"a", "b"}) {
    cluster.queue(a_cluster_queue(name)
                      .cohort("team")
                      .quota("cpu", "one", "0")
                      .quota("cpu", "two", "0")
                      .quota("cpu", "three", "0"));
  }
  cluster.add(waits("first", "a", "3").created(at(1))).add(waits("second", "b", "3").created(at(2))).settle();
}

TEST(ResumedScan, Case48_GoesOnWithTheNextFlavor) {
  Cluster cluster;
  add_two_borrowers(cluster);
  EXPECT_EQ(cluster.place("first"), "1xone");
  EXPECT_EQ(cluster.place("second"), "1xtwo");
  EXPECT_THAT(cluster.told("second"), ElementsAre("Skipped: " + std::string(kNoLongerFits), "Admitted: "));
  EXPECT_THAT(cluster.event("second", "QuotaReserved"), HasSubstr("; Flavors considered: main: two(Fit;borrow=1)"));
}

TEST(ResumedScan, Case48_StartsAnewWithoutPreserveScanProgress) {
  Cluster cluster({.cycle = {.keep_progress_when_skipped = false}});
  add_two_borrowers(cluster);
  EXPECT_EQ(cluster.place("second"), "1xtwo");
  EXPECT_THAT(
      cluster.event("second", "QuotaReserved"),
      HasSubstr(
          "; Flavors considered: main: one(NoFit;borrow=1;insufficient unused quota for cpu in flavor one, 2 more "
          "needed), two(Fit;borrow=1)"));
}

TEST(ResumedScan, NothingIsResumedWithoutFungibility) {
  Cluster cluster({}, {.feature_gates = {{"FlavorFungibility", false}}});
  add_two_borrowers(cluster);
  EXPECT_EQ(cluster.place("second"), "1xtwo");
  EXPECT_THAT(cluster.event("second", "QuotaReserved"), HasSubstr("one(NoFit"));
}

TEST(ResumedScan, Case49_ParksOnceTheListIsExhausted) {
  Cluster cluster;
  cluster.flavors({"one", "two"})
      .add(a_cohort("team").quota("cpu", "one", "4"))
      .queue(a_cluster_queue("a").cohort("team").quota("cpu", "one", "0"))
      .queue(a_cluster_queue("b").cohort("team").quota("cpu", "one", "0"))
      .add(waits("first", "a", "3").created(at(1)))
      .add(waits("second", "b", "3").created(at(2)))
      .settle();
  EXPECT_EQ(cluster.place("first"), "1xone");
  EXPECT_EQ(cluster.told("second").size(), 2U) << "tried again from the start once, then parked";
  EXPECT_THAT(cluster.why("second"), HasSubstr("WaitingForQuota: couldn't assign flavors to pod set main"));
  cluster.finish("first");
  cluster.settle();
  EXPECT_EQ(cluster.place("second"), "1xone");
}

// The first podset takes by borrowing what only the second could use; the next attempt goes past that flavor.
TEST(ResumedScan, AFailedWorkloadGoesOnAtOnce) {
  Cluster cluster;
  cluster.add(a_flavor("one").node_label("type", "one"))
      .add(a_flavor("two").node_label("type", "two"))
      .add(a_cohort("team").quota("cpu", "one", "4").quota("cpu", "two", "4"))
      .queue(a_cluster_queue("q").cohort("team").quota("cpu", "one", "0").quota("cpu", "two", "0"))
      .add(a_workload("ns", "w")
               .queue("q")
               .pod_set("any", 1)
               .request("cpu", "3")
               .pod_set("only-one", 1)
               .request("cpu", "3")
               .node_selector("type", "one"))
      .settle();
  EXPECT_EQ(cluster.place("w"), "1xtwo");
  EXPECT_EQ(cluster.told("w").size(), 2U);
}

// Whatever wakes somebody may have cured the flavors that were passed over.
TEST(ResumedScan, IsForgottenWithTheNextWake) {
  Cluster cluster;
  cluster.flavors({"one"}).queue(a_cluster_queue("q").quota("cpu", "one", "1")).add(waits("w", "q", "2")).settle();
  const std::uint64_t epoch = cluster.core().queue().epoch();
  cluster.add(a_flavor("one").node_label("a", "b"));
  EXPECT_GT(cluster.core().queue().epoch(), epoch);
}

// ---- §3.8 ----

TEST(PartialAdmission, Case52_AsManyAsThereIsRoomFor) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "100"))
      .add(runs("r", "q", "50"))
      .add(waits("w", "q", "2").count(50).min_count(20))
      .settle();
  EXPECT_EQ(cluster.place("w"), "25xone");
  EXPECT_EQ(cluster.status("w").admission->pod_set_assignments[0].resource_usage.at("cpu"), 50'000);
}

TEST(PartialAdmission, Case52_GateOff) {
  Cluster cluster({.totals = {.partial_admission = false}});
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "100"))
      .add(runs("r", "q", "50"))
      .add(waits("w", "q", "2").count(50).min_count(20))
      .settle();
  EXPECT_THAT(cluster.why("w"), HasSubstr("WaitingForQuota"));
}

TEST(PartialAdmission, Example_3_8_SeveralPodSetsShrinkTogether) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "50"))
      .add(a_workload("ns", "w")
               .queue("q")
               .pod_set("a", 20)
               .request("cpu", "1")
               .pod_set("b", 30)
               .min_count(10)
               .request("cpu", "1")
               .pod_set("c", 15)
               .min_count(5)
               .request("cpu", "1"))
      .settle();
  ASSERT_TRUE(cluster.admitted("w"));
  std::vector<int> counts;
  for (const api::PodSetAssignment& assigned : cluster.status("w").admission->pod_set_assignments) {
    counts.push_back(assigned.count);
  }
  EXPECT_THAT(counts, ElementsAre(20, 20, 10));
}

TEST(PartialAdmission, Case53_PreemptsForAllRatherThanShrink) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").preemption(kLowerPriority).quota("cpu", "one", "20"))
      .add(runs("low", "q", "10").priority(-1))
      .add(waits("w", "q", "1").count(20).min_count(10))
      .settle();
  EXPECT_THAT(cluster.evicted(), ElementsAre("low"));
  EXPECT_FALSE(cluster.admitted("w"));
  cluster.release("low");
  cluster.settle();
  EXPECT_EQ(cluster.place("w"), "20xone");
}

TEST(PartialAdmission, ShrinksAndPreemptsWhatThatNeeds) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").preemption(kLowerPriority).quota("cpu", "one", "20"))
      .add(runs("high", "q", "8").priority(9))
      .add(runs("low", "q", "4").priority(-1))
      .add(waits("w", "q", "1").count(20).min_count(10))
      .settle();
  EXPECT_THAT(cluster.evicted(), ElementsAre("low"));
  cluster.release("low");
  cluster.settle();
  EXPECT_EQ(cluster.place("w"), "12xone");
}

TEST(PartialAdmission, Case55_SpeaksOfAllPodsWhenNotEvenTheFewestFit) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "100"))
      .add(runs("r", "q", "90"))
      .add(waits("w", "q", "2").count(50).min_count(20))
      .settle();
  EXPECT_EQ(
      cluster.why("w"),
      "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor one, "
      "90 more needed");
}

TEST(PartialAdmission, ReclaimedPodsComeOffTheSpecsCount) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "10"))
      .add(waits("w", "q", "1").count(20).min_count(5))
      .settle();
  ASSERT_EQ(cluster.place("w"), "10xone");
  const framework::Charge charge = *cluster.core().model().workload({"ns", "w"})->charge;
  EXPECT_EQ(charge.usage.at({FlavorName("one"), "cpu"}), 10'000);
}

TEST(PartialAdmission, AGangShrinksToTheNodes) {
  Cluster cluster;
  cluster.flavors({"one"}).queue(a_cluster_queue("q").quota("cpu", "one", "100"));
  for (const char* name : {"n1", "n2", "n3"}) {
    cluster.add(api::testing::a_node(name).allocatable("cpu", "4"));
  }
  cluster.add(waits("w", "q", "2").count(10).min_count(2).scheduler("muster")).settle();
  EXPECT_EQ(cluster.place("w"), "6xone");
}

// ---- §4.5, §4.6 ----

struct TwoHeads {
  std::string name{};
  std::string second_cpu{};
  bool second_is_admitted = false;
};

class TwoBorrowers : public ::testing::TestWithParam<TwoHeads> {};

TEST_P(TwoBorrowers, ShareOneCohort) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("a").cohort("team").quota("cpu", "one", "50"))
      .queue(a_cluster_queue("b").cohort("team").quota("cpu", "one", "50"))
      .add(waits("first", "a", "45"))
      .add(waits("second", "b", GetParam().second_cpu))
      .settle();
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_EQ(cluster.admitted("second"), GetParam().second_is_admitted);
  const auto second = cluster.told("second");
  EXPECT_EQ(second.front(), GetParam().second_is_admitted ? "Admitted: " : "Skipped: " + std::string(kNoLongerFits));
}

INSTANTIATE_TEST_SUITE_P(Cycle, TwoBorrowers,
                         ::testing::Values(TwoHeads{"Case56_56_no_longer_fits", "56", false},
                                           TwoHeads{"Case57_55_fits_beside_it", "55", true}),
                         [](const auto& row) { return row.param.name; });

struct ProtectedCase {
  std::string name{};
  api::ReclaimPolicy policy{};
  std::string first{};  // what becomes of the borrower in the first cycle
};

class ProtectedQuota : public ::testing::TestWithParam<ProtectedCase> {};

TEST_P(ProtectedQuota, KeepsBorrowersOutOfTheSameCycle) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("a").cohort("team").preemption(reclaims(GetParam().policy)).quota("cpu", "one", "2"))
      .queue(a_cluster_queue("b").cohort("team").quota("cpu", "one", "0"))
      .add(runs("r", "a", "1"))
      .add(waits("own", "a", "2").created(at(1)))
      .add(waits("borrower", "b", "1").created(at(2)))
      .settle();
  EXPECT_EQ(cluster.told("borrower").front(), GetParam().first);
  EXPECT_FALSE(cluster.admitted("own"));
}

// A StrictFIFO head that waits is passed over by the cycles, but its quota stays its own until it is woken.
TEST_P(ProtectedQuota, KeepsBorrowersOutWhileAStrictHeadWaits) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("a")
                 .cohort("team")
                 .strict_fifo()
                 .preemption(reclaims(GetParam().policy))
                 .quota("cpu", "one", "2"))
      .queue(a_cluster_queue("b").cohort("team").quota("cpu", "one", "0"))
      .add(runs("r", "a", "1"))
      .add(waits("own", "a", "2").created(at(1)))
      .settle()
      .add(waits("borrower", "b", "1").created(at(2)))
      .settle();
  EXPECT_EQ(cluster.admitted("borrower"), GetParam().policy == api::ReclaimPolicy::kAny);
  if (GetParam().policy != api::ReclaimPolicy::kAny) {
    EXPECT_EQ(cluster.why("borrower"), "WaitingForQuota: " + std::string(kNoLongerFits));
    cluster.finish("r");
    cluster.settle();
    EXPECT_TRUE(cluster.admitted("own"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cycle, ProtectedQuota,
                         ::testing::Values(ProtectedCase{"Case60_reclaim_any", api::ReclaimPolicy::kAny, "Admitted: "},
                                           ProtectedCase{"Case60_reclaim_lower_priority",
                                                         api::ReclaimPolicy::kLowerPriority,
                                                         "Skipped: " + std::string(kNoLongerFits)},
                                           ProtectedCase{"Case60_reclaim_never", api::ReclaimPolicy::kNever,
                                                         "Skipped: " + std::string(kNoLongerFits)}),
                         [](const auto& row) { return row.param.name; });

TEST(ProtectedQuota, IsFreeAgainWhenTheStrictHeadGoes) {
  Cluster cluster;
  const auto own = waits("own", "a", "2").created(at(1));
  cluster.flavors({"one"})
      .queue(a_cluster_queue("a").cohort("team").strict_fifo().quota("cpu", "one", "2"))
      .queue(a_cluster_queue("b").cohort("team").quota("cpu", "one", "0"))
      .add(runs("r", "a", "1"))
      .add(own)
      .settle()
      .add(waits("borrower", "b", "1").created(at(2)))
      .settle();
  ASSERT_FALSE(cluster.admitted("borrower"));
  cluster.remove(own);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("borrower"));
}

// Two queues that lend to a third, which holds all: whoever asks for its own takes the third's one Workload.
void add_common_victim(Cluster& cluster, const std::string& victim_cpu) {
  cluster.flavors({"one"})
      .queue(
          a_cluster_queue("a").cohort("team").preemption(reclaims(api::ReclaimPolicy::kAny)).quota("cpu", "one", "2"))
      .queue(
          a_cluster_queue("b").cohort("team").preemption(reclaims(api::ReclaimPolicy::kAny)).quota("cpu", "one", "2"))
      .queue(a_cluster_queue("c").cohort("team").quota("cpu", "one", "0"))
      .add(runs("victim", "c", victim_cpu));
}

TEST(CommonVictim, Case61_IsEvictedOnceAndBothAreAdmittedAfterIt) {
  Cluster cluster;
  add_common_victim(cluster, "4");
  cluster.add(waits("first", "a", "2").created(at(1))).add(waits("second", "b", "2").created(at(2))).settle();
  EXPECT_THAT(cluster.evicted(), ElementsAre("victim"));
  EXPECT_THAT(cluster.why("first"), HasSubstr("WaitingForPreemptedWorkloads: "));
  EXPECT_THAT(cluster.why("first"), HasSubstr(". Pending the preemption of 1 workload(s)"));
  EXPECT_EQ(cluster.why("second"),
            "WaitingForPreemptedWorkloads: Workload has overlapping preemption targets with another workload, but will "
            "fit after these preemptions complete");
  cluster.release("victim");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_TRUE(cluster.admitted("second"));
}

TEST(CommonVictim, ASecondVictimIsTakenInTheSameCycle) {
  Cluster cluster;
  add_common_victim(cluster, "3");
  cluster.add(runs("other", "c", "1")).add(waits("first", "a", "2").created(at(1)));
  cluster.add(waits("second", "b", "2").created(at(2))).settle();
  EXPECT_THAT(cluster.evicted(), ElementsAre("other", "victim"));
  cluster.release("other");
  cluster.release("victim");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_TRUE(cluster.admitted("second"));
}

// What it leaves is not enough for both, and nobody else has to go for the second one.
TEST(CommonVictim, WhoFitsNotEvenAfterItIsRejected) {
  Cluster cluster;
  const api::Preemption borrows{.reclaim_within_cohort = api::ReclaimPolicy::kLowerPriority,
                                .borrow_within_cohort = api::BorrowWithinCohortPolicy::kLowerPriority};
  cluster.flavors({"one"})
      .queue(
          a_cluster_queue("a").cohort("team").preemption(reclaims(api::ReclaimPolicy::kAny)).quota("cpu", "one", "3"))
      .queue(a_cluster_queue("b").cohort("team").preemption(borrows).quota("cpu", "one", "1"))
      .queue(a_cluster_queue("c").cohort("team").quota("cpu", "one", "0"))
      .add(runs("victim", "c", "4").priority(-1))
      .add(waits("first", "a", "3").created(at(1)))
      .add(waits("second", "b", "2").created(at(2)))
      .settle();
  EXPECT_EQ(cluster.told("second").front(),
            "Parked: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor one, 1 more "
            "needed");
  EXPECT_THAT(cluster.why("second"), HasSubstr("WaitingForQuota: "));
}

TEST(CommonVictim, NobodyWaitsForItWithoutRecomputation) {
  Cluster cluster({.cycle = {.recompute_on_overlap = false}});
  add_common_victim(cluster, "4");
  cluster.add(waits("first", "a", "2").created(at(1))).add(waits("second", "b", "2").created(at(2))).settle();
  EXPECT_EQ(cluster.told("second").front(),
            "Skipped: Workload has overlapping preemption targets with another workload");
  cluster.release("victim");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("second"));
}

TEST(RefusedAdmission, Case62_IsForgottenWhenTheWorkloadIsGone) {
  Cluster cluster;
  cluster.flavors({"one"}).queue(a_cluster_queue("q").quota("cpu", "one", "2")).add(waits("w", "q", "2"));
  cluster.refuse_next_write(ErrorCode::kNotFound);
  cluster.settle();
  EXPECT_EQ(cluster.core().model().quota().usage(ClusterQueueName("q"), {FlavorName("one"), "cpu"}), 0);
  EXPECT_FALSE(cluster.core().queue().contains({"ns", "w"}));
}

TEST(RefusedAdmission, Case62_GoesBackIntoTheQueueOtherwise) {
  Cluster cluster;
  cluster.flavors({"one"}).queue(a_cluster_queue("q").quota("cpu", "one", "2")).add(waits("w", "q", "2"));
  cluster.refuse_next_write(ErrorCode::kInvalid);
  cluster.settle();
  EXPECT_TRUE(cluster.core().queue().contains({"ns", "w"}));
  EXPECT_TRUE(cluster.why("w").empty());
}

// ---- §2.2, §2.3: what is charged ----

TEST(Charged, Case34_LimitsCountAsRequests) {
  Cluster cluster;
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("cpu", "one", "2"))
      .add(a_workload("ns", "w").queue("q").limit("cpu", "2"))
      .settle();
  EXPECT_EQ(cluster.status("w").admission->pod_set_assignments[0].resource_usage.at("cpu"), 2'000);
}

TEST(Charged, Example_2_3_TransformedResources) {
  framework::Transformations rules;
  rules["vgpucores"] = {.keeps_input = false, .multiply_by = "vgpu", .outputs = {{"total-cores", 1'000'000'000}}};
  Cluster cluster({.totals = {.transformations = rules}});
  cluster.flavors({"one"})
      .queue(a_cluster_queue("q").quota("vgpu", "one", "4").quota("total-cores", "one", "80"))
      .add(a_workload("ns", "w").queue("q").count(2).request("vgpu", "2").request("vgpucores", "20"))
      .settle();
  ASSERT_TRUE(cluster.admitted("w")) << cluster.why("w");
  EXPECT_EQ(cluster.status("w").admission->pod_set_assignments[0].resource_usage,
            (api::ResourceAmounts{{"total-cores", 80}, {"vgpu", 4}}));
}

}  // namespace
}  // namespace muster::plugins

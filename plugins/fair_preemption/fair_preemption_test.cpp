#include "plugins/fair_preemption/fair_preemption.h"

#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_workload;
using api::testing::at;
using api::testing::ClusterQueueBuilder;
using api::testing::CohortBuilder;
using api::testing::WorkloadBuilder;
using framework::FitMode;
using framework::Outlook;
using framework::PreemptionOutlook;

constexpr api::Preemption kReclaimAny{.reclaim_within_cohort = api::ReclaimPolicy::kAny};
constexpr auto kFinal = FairStrategy::kLessThanOrEqualToFinalShare;
constexpr auto kInitial = FairStrategy::kLessThanInitialShare;

WorkloadBuilder running(const std::string& name, const std::string& queue, const std::string& cpu = "1",
                        std::int32_t priority = 0) {
  return a_workload("ns", name).request("cpu", cpu).priority(priority).admitted(queue, "f", at(0));
}

// name1, name2, …: one unit each.
std::vector<WorkloadBuilder> units(const std::string& queue, int count) {
  std::vector<WorkloadBuilder> workloads;
  for (int i = 1; i <= count; ++i) {
    workloads.push_back(running(queue + std::to_string(i), queue));
  }
  return workloads;
}

// One row: a Workload of `cpu` comes to `queue`; the victims as "name Reason", by name.
struct Case {
  std::string name{};
  std::vector<CohortBuilder> cohorts{};
  std::vector<ClusterQueueBuilder> queues{};
  std::vector<WorkloadBuilder> running{};
  std::string queue = "a";
  std::string cpu{};
  std::int32_t priority = 0;
  FairRules rules{};
  std::vector<std::string> want{};
};

std::vector<std::string> victims(testing::World& world, const Case& c) {
  const framework::WorkloadInfo workload =
      world.pending(a_workload("ns", "incoming").request("cpu", c.cpu).priority(c.priority).created(at(1000)), c.queue);
  framework::Assignment assignment{.mode = FitMode::kPreempt};
  assignment.usage[testing::fr("f/cpu")] = workload.pod_sets.front().requests.at("cpu");
  assignment.needs_preemption.push_back(testing::fr("f/cpu"));
  framework::Transaction transaction(world.model());
  framework::PostFilterContext context{
      workload, transaction,
      [&](framework::Assignment& a) { return world.model().quota().fits(workload.cluster_queue, a.usage); }, at(2000)};
  const std::uint64_t before = world.model().hash();
  std::vector<std::string> names;
  for (const framework::Victim& victim : FairPreemption(c.rules).post_filter(context, assignment)) {
    EXPECT_EQ(victim.uid, world.model().workload(victim.workload)->observed->meta.uid);
    names.push_back(victim.workload.name + " " + victim.reason);
  }
  EXPECT_EQ(world.model().hash(), before) << "the model must be as it was";
  std::sort(names.begin(), names.end());
  return names;
}

class FairPreemptionTable : public ::testing::TestWithParam<Case> {};

TEST_P(FairPreemptionTable, FindsVictims) {
  const Case& c = GetParam();
  testing::World world;
  world.flavors({"f"}).add_all(c.cohorts).add_all(c.queues).add_all(c.running);
  EXPECT_EQ(victims(world, c), c.want);
}

constexpr auto kRowName = [](const auto& row) { return row.param.name; };

ClusterQueueBuilder member(const std::string& name, const std::string& cpu = "3", const std::string& cohort = "all") {
  return a_cluster_queue(name).cohort(cohort).quota("cpu", "f", cpu).preemption(kReclaimAny);
}

std::vector<ClusterQueueBuilder> a_b_c() {
  return {member("a"), member("b"), member("c")};
}

std::vector<WorkloadBuilder> joined(std::vector<std::vector<WorkloadBuilder>> lists) {
  std::vector<WorkloadBuilder> all;
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(WorkedExampleFlat, FairPreemptionTable,
                         ::testing::Values(Case{.name = "Case80_within_nominal",
                                                .queues = a_b_c(),
                                                .running = joined({units("a", 3), units("b", 5), units("c", 1)}),
                                                .queue = "c",
                                                .cpu = "1",
                                                .want = {"b1 InCohortReclamation"}},
                                           Case{.name = "Case80_to_a_smaller_share",
                                                .queues = a_b_c(),
                                                .running = joined({units("a", 3), units("b", 5), units("c", 1)}),
                                                .cpu = "1",
                                                .want = {"b1 InCohortFairSharing"}},
                                           Case{.name = "Case80_not_to_an_equal_share",
                                                .queues = a_b_c(),
                                                .running = joined({units("a", 3), units("b", 5)}),
                                                .cpu = "2"},
                                           Case{.name = "the_first_whose_leaving_leaves_enough",
                                                .queues = a_b_c(),
                                                .running = {running("b1", "b", "2"), running("b2", "b", "1"),
                                                            running("b3", "b", "2"), running("c1", "c")},
                                                .cpu = "3500m",
                                                .want = {"b2 InCohortFairSharing"}}),
                         kRowName);

INSTANTIATE_TEST_SUITE_P(
    Cases, FairPreemptionTable,
    ::testing::Values(
        Case{.name = "Case81_whatever_it_is_while_within_nominal",
             .queues = a_b_c(),
             .running = {running("b1", "b", "9")},
             .cpu = "2",
             .want = {"b1 InCohortReclamation"}},
        Case{.name = "Case82_initial_share",
             .queues = a_b_c(),
             .running = joined({units("a", 3), {running("b_low", "b", "5"), running("b_high", "b", "1", 1)}}),
             .cpu = "1",
             .rules = {.strategies = {kInitial}},
             .want = {"b_low InCohortFairSharing"}},
        Case{.name = "Case82_final_share",
             .queues = a_b_c(),
             .running = joined({units("a", 3), {running("b_low", "b", "5"), running("b_high", "b", "1", 1)}}),
             .cpu = "1",
             .rules = {.strategies = {kFinal}},
             .want = {"b_high InCohortFairSharing"}},
        Case{.name = "Case83_weight_zero_gives_first",
             .queues = {member("a"), member("b", "3").weight("0"), member("c", "3")},
             .running = joined({units("a", 4), units("b", 5)}),
             .cpu = "1",
             .want = {"b1 InCohortFairSharing"}},
        Case{.name = "Case83_weight_zero_takes_from_no_weight",
             .queues = {member("a").weight("0"), member("b"), member("c")},
             .running = joined({units("a", 3), units("b", 6)}),
             .cpu = "1"},
        Case{.name = "Case83_weight_zero_takes_from_weight_zero",
             .queues = {member("a").weight("0"), member("b").weight("0"), member("c")},
             .running = joined({units("a", 3), units("b", 6)}),
             .cpu = "1",
             .want = {"b1 InCohortFairSharing"}},
        Case{.name = "Case83_weight_zero_reclaims_its_nominal",
             .queues = {member("a").weight("0"), member("b"), member("c")},
             .running = joined({units("a", 2), units("b", 7)}),
             .cpu = "1",
             .want = {"b1 InCohortReclamation"}},
        Case{.name = "Case84_no_threshold_for_borrowers",
             .queues = {member("a").preemption({.reclaim_within_cohort = api::ReclaimPolicy::kAny,
                                                .borrow_within_cohort = api::BorrowWithinCohortPolicy::kLowerPriority,
                                                .borrow_max_priority_threshold = 0}),
                        member("b"), member("c")},
             .running = joined({units("a", 3), {running("b1", "b", "2", 9), running("b2", "b", "4", 9)}}),
             .cpu = "1",
             .want = {"b1 InCohortFairSharing"}},
        Case{.name = "Case85_a_cohort_that_borrows_nothing_protects_its_members",
             .cohorts = {a_cohort("x").parent("root").quota("cpu", "f", "5")},
             .queues = {member("a", "0", "root"), member("b", "0", "x")},
             .running = units("b", 4),
             .cpu = "3"}),
    kRowName);

// spec/admission.md §5.5, the tree: ROOT 5, LEFT 5 (weight 2), RIGHT 5, five ClusterQueues of 1.
Case tree_example() {
  Case c{.name = "tree",
         .cohorts = {a_cohort("ROOT").quota("cpu", "f", "5"),
                     a_cohort("LEFT").parent("ROOT").quota("cpu", "f", "5").weight("2"),
                     a_cohort("RIGHT").parent("ROOT").quota("cpu", "f", "5")},
         .queues = {member("a", "1", "LEFT").weight("2"), member("b", "1", "LEFT"), member("c", "1", "ROOT"),
                    member("d", "1", "RIGHT"), member("e", "1", "RIGHT").weight("0.99")},
         .cpu = "5",
         .want = {"b1 InCohortFairSharing", "b2 InCohortFairSharing", "c1 InCohortFairSharing",
                  "c2 InCohortFairSharing", "e1 InCohortFairSharing"}};
  for (const char* queue : {"b", "c", "d", "e"}) {
    for (int i = 1; i <= 5; ++i) {
      c.running.push_back(running(queue + std::to_string(i), queue, "1", i));
    }
  }
  return c;
}

INSTANTIATE_TEST_SUITE_P(WorkedExampleTree, FairPreemptionTable, ::testing::Values(tree_example()), kRowName);

api::Preemption within(api::WithinClusterQueuePolicy policy) {
  return {.within_cluster_queue = policy};
}

INSTANTIATE_TEST_SUITE_P(
    Rules, FairPreemptionTable,
    ::testing::Values(
        Case{.name = "without_cohort_only_its_own",
             .queues = {a_cluster_queue("a")
                            .quota("cpu", "f", "2")
                            .preemption(within(api::WithinClusterQueuePolicy::kLowerPriority)),
                        member("b", "1", "")},
             .running = {running("low", "a", "1", -1), running("same", "a", "1"), running("other", "b", "1", -5)},
             .cpu = "1",
             .want = {"low InClusterQueue"}},
        Case{.name = "never_reclaims_from_others",
             .queues = {member("a").preemption({}), member("b"), member("c")},
             .running = units("b", 9),
             .cpu = "1"},
        Case{.name = "reclaims_from_lower_priority_only",
             .queues = {member("a").preemption({.reclaim_within_cohort = api::ReclaimPolicy::kLowerPriority}),
                        member("b"), member("c")},
             .running = {running("b1", "b", "5"), running("b2", "b", "4", -1)},
             .cpu = "1",
             .want = {"b2 InCohortReclamation"}},
        Case{.name = "nobody_within_its_nominal",
             .queues = a_b_c(),
             .running = joined({units("a", 4), units("b", 3), units("c", 2)}),
             .cpu = "1"},
        Case{
            .name = "evicted_ones_first",
            .queues = a_b_c(),
            .running = {running("b1", "b", "3"), running("b2", "b", "3").evicted("Preempted"), running("c1", "c", "3")},
            .cpu = "1",
            .want = {"b2 InCohortReclamation"}},
        Case{.name = "the_larger_share_first",
             .queues = {member("a", "3"), member("b", "3"), member("c", "3"), member("lender", "3")},
             .running = joined({units("b", 5), units("c", 7)}),
             .cpu = "1",
             .want = {"c1 InCohortReclamation"}},
        Case{.name = "not_within_nominal_without_the_gate",
             .queues = a_b_c(),
             .running = {running("b1", "b", "9")},
             .cpu = "2",
             .rules = {.strategies = {kFinal}, .reclaim_within_nominal = false},
             .want = {"b1 InCohortFairSharing"}},
        Case{.name = "second_strategy_takes_one_of_a_queue",
             .queues = a_b_c(),
             .running = joined({units("a", 3), {running("b1", "b", "6")}}),
             .cpu = "1",
             .want = {"b1 InCohortFairSharing"}},
        Case{.name = "all_or_nobody", .queues = a_b_c(), .running = units("b", 9), .cpu = "9500m"}),
    kRowName);

TEST(FairPreemption, Outlook) {
  testing::World world;
  world.flavors({"f"}).add_all(a_b_c()).add_all(joined({units("a", 3), units("b", 5), units("c", 1)}));
  const framework::WorkloadInfo workload = world.pending(a_workload("ns", "incoming").request("cpu", "1"), "a");
  const auto ask = [&](Amount amount) {
    framework::Transaction transaction(world.model());
    framework::PostFilterContext context{workload, transaction, [](framework::Assignment&) { return false; }, at(0)};
    return FairPreemption().outlook(context, testing::fr("f/cpu"), amount);
  };
  EXPECT_EQ(ask(1000).outlook, PreemptionOutlook::kReclaim);
  EXPECT_EQ(ask(1000).borrow_level, 1);
  EXPECT_EQ(ask(2000).outlook, PreemptionOutlook::kNoCandidates);
}

TEST(FairPreemption, WhoMayReclaimMayPreemptWhileBorrowing) {
  const FairPreemption plugin;
  EXPECT_TRUE(plugin.may_preempt_while_borrowing(member("a").obj()));
  EXPECT_FALSE(plugin.may_preempt_while_borrowing(a_cluster_queue("a").obj()));
}

TEST(FairPreemption, Strategies) {
  const auto create = [](const char* args, const std::vector<std::string>& configured = {}) {
    framework::PluginDeps deps;
    deps.fair_sharing = api::FairSharingConfig{.preemption_strategies = configured};
    return FairPreemption::create(nlohmann::json::parse(args), deps);
  };
  EXPECT_EQ(create("{}").value()->rules().strategies, (std::vector{kFinal, kInitial}));
  EXPECT_EQ(create("{}", {"LessThanInitialShare"}).value()->rules().strategies, std::vector{kInitial});
  EXPECT_EQ(create(R"({"preemptionStrategies": ["LessThanOrEqualToFinalShare"]})", {"LessThanInitialShare"})
                .value()
                ->rules()
                .strategies,
            std::vector{kFinal});
  for (const char* bad : {R"({"preemptionStrategies": []})", R"({"preemptionStrategies": ["x"]})", R"({"other": 1})",
                          R"({"preemptionStrategies": ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]})"}) {
    EXPECT_FALSE(create(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace muster::plugins

#include "plugins/preemption/preemption.h"

#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_workload;
using api::testing::at;
using framework::FitMode;
using framework::Outlook;
using framework::PreemptionOutlook;
using ::testing::ElementsAre;

constexpr auto kLowerPriority = api::WithinClusterQueuePolicy::kLowerPriority;
constexpr auto kNewerEqual = api::WithinClusterQueuePolicy::kLowerOrNewerEqualPriority;
constexpr auto kReclaimLower = api::ReclaimPolicy::kLowerPriority;
constexpr auto kReclaimAny = api::ReclaimPolicy::kAny;
constexpr api::Preemption kBorrowBelowZero{.reclaim_within_cohort = kReclaimLower,
                                           .borrow_within_cohort = api::BorrowWithinCohortPolicy::kLowerPriority,
                                           .borrow_max_priority_threshold = 0};

using Queues = std::vector<api::testing::ClusterQueueBuilder>;
using Workloads = std::vector<api::testing::WorkloadBuilder>;

// A running Workload of `cpu`; tests name priority and times where they matter.
api::testing::WorkloadBuilder running(const std::string& name, const std::string& cpu, const std::string& queue,
                                      std::int32_t priority = 0, int reserved_at = 0) {
  return a_workload("ns", name).request("cpu", cpu).priority(priority).admitted(queue, "f", at(reserved_at));
}

api::testing::WorkloadBuilder incoming(const std::string& cpu, std::int32_t priority = 0) {
  return a_workload("ns", "incoming").request("cpu", cpu).priority(priority).created(at(1000));
}

// One row: `cq` is the preemptor's ClusterQueue; the victims as "name Reason", by name.
struct Case {
  std::string name{};
  Queues queues{};
  std::vector<api::testing::CohortBuilder> cohorts{};
  Workloads running{};
  api::testing::WorkloadBuilder workload = a_workload("ns", "incoming");
  std::vector<std::string> want{};
};

class PreemptionTable : public ::testing::TestWithParam<Case> {};

struct Attempt {
  std::vector<std::string> victims{};
  int asked = 0;  // how often `passes` was
};

// As the cycle does it: all that is requested is on flavor f, and quota decides alone.
Attempt attempt(testing::World& world, const api::testing::WorkloadBuilder& builder) {
  const framework::WorkloadInfo workload = world.pending(builder, "cq");
  framework::Assignment assignment{.mode = FitMode::kPreempt};
  for (const auto& [resource, amount] : workload.pod_sets.front().requests) {
    assignment.usage[{FlavorName("f"), resource}] = amount;
    assignment.needs_preemption.push_back({FlavorName("f"), resource});
  }
  Attempt result;
  framework::Transaction transaction(world.model());
  framework::PostFilterContext context{workload, transaction,
                                       [&](framework::Assignment& a) {
                                         ++result.asked;
                                         return world.model().quota().fits(workload.cluster_queue, a.usage);
                                       },
                                       at(2000)};
  const std::uint64_t before = world.model().hash();
  for (const framework::Victim& victim : Preemption().post_filter(context, assignment)) {
    EXPECT_EQ(victim.uid, world.model().workload(victim.workload)->observed->meta.uid);
    result.victims.push_back(victim.workload.name + " " + victim.reason);
  }
  EXPECT_EQ(world.model().hash(), before) << "the model must be as it was";
  std::sort(result.victims.begin(), result.victims.end());
  return result;
}

TEST_P(PreemptionTable, FindsVictims) {
  const Case& c = GetParam();
  testing::World world;
  world.flavors({"f", "g"}).add_all(c.cohorts).add_all(c.queues).add_all(c.running);
  EXPECT_EQ(attempt(world, c.workload).victims, c.want);
}

constexpr auto kRowName = [](const auto& row) { return row.param.name; };

// ---- within the ClusterQueue ----

api::testing::ClusterQueueBuilder alone(const std::string& cpu, api::WithinClusterQueuePolicy policy = kLowerPriority) {
  return a_cluster_queue("cq").quota("cpu", "f", cpu).preemption({.within_cluster_queue = policy});
}

INSTANTIATE_TEST_SUITE_P(
    WithinClusterQueue, PreemptionTable,
    ::testing::Values(
        Case{.name = "never",
             .queues = {a_cluster_queue("cq").quota("cpu", "f", "2")},
             .running = {running("low", "2", "cq", -1)},
             .workload = incoming("2", 9)},
        Case{.name = "lower_priority",
             .queues = {alone("2")},
             .running = {running("low", "2", "cq", -1)},
             .workload = incoming("2"),
             .want = {"low InClusterQueue"}},
        Case{.name = "admission_8_68_equal_priority",
             .queues = {alone("2")},
             .running = {running("same", "2", "cq")},
             .workload = incoming("2")},
        Case{.name = "admission_8_68_newer_of_equal_priority",
             .queues = {alone("4", kNewerEqual)},
             .running = {running("older", "2", "cq").created(at(999)), running("newer", "2", "cq").created(at(1001))},
             .workload = incoming("2"),
             .want = {"newer InClusterQueue"}},
        Case{.name = "created_at_the_same_time_is_not_newer",
             .queues = {alone("2", kNewerEqual)},
             .running = {running("same", "2", "cq").created(at(1000))},
             .workload = incoming("2")},
        Case{.name = "admission_8_69_put_back_by_a_pods_ready_timeout",
             .queues = {alone("2", kNewerEqual)},
             .running = {running("old", "2", "cq").created(at(1)).evicted("PodsReadyTimeout", at(1500))},
             .workload = incoming("2"),
             .want = {"old InClusterQueue"}},
        Case{.name = "admission_8_70_minimal_set",
             .queues = {alone("6")},
             .running = {running("low", "1", "cq", -1), running("mid", "2", "cq", 0), running("high", "3", "cq", 1)},
             .workload = incoming("2", 1),
             .want = {"mid InClusterQueue"}},
        Case{.name = "all_are_needed",
             .queues = {alone("6")},
             .running = {running("a", "1", "cq", -1), running("b", "2", "cq", -1), running("c", "3", "cq", -1)},
             .workload = incoming("6"),
             .want = {"a InClusterQueue", "b InClusterQueue", "c InClusterQueue"}},
        Case{.name = "nobody_when_not_even_all_suffice",
             .queues = {alone("6")},
             .running = {running("a", "2", "cq", -1), running("b", "4", "cq", 5)},
             .workload = incoming("4")},
        Case{.name = "admission_8_76_evicted_first",
             .queues = {alone("4")},
             .running = {running("a", "2", "cq", 10).evicted("Preempted"), running("b", "2", "cq", 0)},
             .workload = incoming("2", 20),
             .want = {"a InClusterQueue"}},
        Case{.name = "admission_8_77_latest_reservation_first",
             .queues = {alone("4")},
             .running = {running("t1", "2", "cq", 0, 1), running("t2", "2", "cq", 0, 2)},
             .workload = incoming("2", 1),
             .want = {"t2 InClusterQueue"}},
        Case{.name = "lowest_priority_first",
             .queues = {alone("4")},
             .running = {running("higher", "2", "cq", 3, 9), running("lower", "2", "cq", 2, 1)},
             .workload = incoming("2", 5),
             .want = {"lower InClusterQueue"}},
        Case{.name = "smallest_uid_first",
             .queues = {alone("4")},
             .running = {running("x", "2", "cq").uid("2"), running("y", "2", "cq").uid("1")},
             .workload = incoming("2", 1),
             .want = {"y InClusterQueue"}},
        Case{.name = "admission_8_78_users_of_other_flavors_stay",
             .queues = {alone("2").quota("cpu", "g", "2")},
             .running = {running("on-f", "2", "cq"), a_workload("ns", "on-g").request("cpu", "2").reserved("cq", "g")},
             .workload = incoming("2", 1),
             .want = {"on-f InClusterQueue"}}),
    kRowName);

// ---- within the cohort ----

api::testing::ClusterQueueBuilder in_team(const std::string& name, const std::string& cpu,
                                          const api::Preemption& policy = {}) {
  return a_cluster_queue(name).cohort("team").quota("cpu", "f", cpu).preemption(policy);
}

// spec/admission.md §5.3, example of the borrow threshold.
Queues threshold_queues() {
  return {in_team("cq", "1", kBorrowBelowZero), in_team("b", "1"), in_team("c", "1"), in_team("d", "0"),
          in_team("lender", "10")};
}

INSTANTIATE_TEST_SUITE_P(
    WithinCohort, PreemptionTable,
    ::testing::Values(
        Case{.name = "reclaims_what_was_borrowed",
             .queues = {in_team("cq", "2", {.reclaim_within_cohort = kReclaimAny}), in_team("b", "2")},
             .running = {running("b1", "2", "b", 9, 1), running("b2", "2", "b", 9, 2)},
             .workload = incoming("2"),
             .want = {"b2 InCohortReclamation"}},
        Case{.name = "admission_8_71_never_below_nominal",
             .queues = {in_team("cq", "2", {.reclaim_within_cohort = kReclaimAny}), in_team("b", "2")},
             .running = {running("b1", "2", "b"), running("own", "2", "cq", 5)},
             .workload = incoming("2")},
        Case{.name = "stops_at_nominal",
             .queues = {in_team("cq", "4", {.reclaim_within_cohort = kReclaimAny}), in_team("b", "2")},
             .running = {running("b1", "2", "b", 0, 1), running("b2", "2", "b", 0, 2), running("own", "2", "cq", 9)},
             .workload = incoming("4")},
        Case{.name = "admission_8_72_borrower_of_equal_priority",
             .queues = {in_team("cq", "2", {.reclaim_within_cohort = kReclaimLower}), in_team("b", "2")},
             .running = {running("b1", "4", "b")},
             .workload = incoming("2")},
        Case{.name = "borrower_of_lower_priority",
             .queues = {in_team("cq", "2", {.reclaim_within_cohort = kReclaimLower}), in_team("b", "2")},
             .running = {running("b1", "4", "b", -1)},
             .workload = incoming("2"),
             .want = {"b1 InCohortReclamation"}},
        Case{.name = "admission_8_73_borrowing_takes_from_nobody_else",
             .queues = {in_team("cq", "2", {.reclaim_within_cohort = kReclaimAny}), in_team("b", "2")},
             .running = {running("b1", "4", "b", -1)},
             .workload = incoming("3")},
        Case{.name = "admission_8_73_borrowing_takes_from_its_own",
             .queues = {in_team("cq", "2",
                                {.within_cluster_queue = kLowerPriority, .reclaim_within_cohort = kReclaimAny}),
                        in_team("b", "2")},
             .running = {running("b1", "2", "b", -1), running("own", "2", "cq", -1)},
             .workload = incoming("2"),
             .want = {"own InClusterQueue"}},
        Case{.name = "others_before_its_own",
             .queues = {in_team("cq", "4",
                                {.within_cluster_queue = kLowerPriority, .reclaim_within_cohort = kReclaimAny}),
                        in_team("b", "2")},
             .running = {running("b1", "4", "b", 9), running("own", "2", "cq", -1)},
             .workload = incoming("2"),
             .want = {"b1 InCohortReclamation"}},
        Case{.name = "admission_8_74_while_borrowing",
             .queues = threshold_queues(),
             .running = {running("victim", "10", "d", -1)},
             .workload = incoming("10", 0),
             .want = {"victim InCohortReclaimWhileBorrowing"}},
        Case{.name = "exactly_at_the_threshold",
             .queues = threshold_queues(),
             .running = {running("victim", "10", "d", 0)},
             .workload = incoming("10", 1),
             .want = {"victim InCohortReclaimWhileBorrowing"}},
        Case{.name = "admission_8_74_above_the_threshold",
             .queues = threshold_queues(),
             .running = {running("victim", "10", "d", 1)},
             .workload = incoming("10", 2)},
        Case{.name = "admission_8_74_above_the_threshold_without_borrowing",
             .queues = threshold_queues(),
             .running = {running("victim", "13", "d", 1)},
             .workload = incoming("1", 2),
             .want = {"victim InCohortReclamation"}},
        Case{.name = "admission_8_79_within_the_quota_of_its_branch",
             .queues = {a_cluster_queue("cq")
                            .cohort("c")
                            .quota("cpu", "f", "0")
                            .preemption({.reclaim_within_cohort = kReclaimAny}),
                        a_cluster_queue("qb").cohort("r").quota("cpu", "f", "0")},
             .cohorts = {a_cohort("r"), a_cohort("c").parent("r").quota("cpu", "f", "2")},
             .running = {running("borrower", "2", "qb")},
             .workload = incoming("2"),
             .want = {"borrower InCohortReclamation"}},
        Case{.name = "branch_within_nominal_is_left_alone",
             .queues = {a_cluster_queue("cq")
                            .cohort("r")
                            .quota("cpu", "f", "2")
                            .preemption({.reclaim_within_cohort = kReclaimAny}),
                        a_cluster_queue("q1").cohort("c").quota("cpu", "f", "0"),
                        a_cluster_queue("q2").cohort("r").quota("cpu", "f", "2")},
             .cohorts = {a_cohort("r"), a_cohort("c").parent("r").quota("cpu", "f", "2")},
             .running = {running("own", "1", "cq", 9), running("inside", "2", "q1", -9), running("outside", "3", "q2")},
             .workload = incoming("1"),
             .want = {"outside InCohortReclamation"}}),
    kRowName);

// ---- outlook ----

struct OutlookCase {
  std::string name{};
  Queues queues{};
  Workloads running{};
  api::testing::WorkloadBuilder workload = a_workload("ns", "incoming");
  Outlook want{};
};

class PreemptionOutlookTable : public ::testing::TestWithParam<OutlookCase> {};

TEST_P(PreemptionOutlookTable, Foresees) {
  const OutlookCase& c = GetParam();
  testing::World world;
  world.flavors({"f"}).add_all(c.queues).add_all(c.running);
  const framework::WorkloadInfo workload = world.pending(c.workload, "cq");
  framework::Transaction transaction(world.model());
  framework::PostFilterContext context{workload, transaction, [](framework::Assignment&) { return false; }, at(2000)};
  const std::uint64_t before = world.model().hash();
  const Outlook got = Preemption().outlook(context, testing::fr("f/cpu"), workload.pod_sets.front().requests.at("cpu"));
  EXPECT_EQ(got.outlook, c.want.outlook);
  EXPECT_EQ(got.borrow_level, c.want.borrow_level);
  EXPECT_EQ(world.model().hash(), before);
}

const api::Preemption kBoth{.within_cluster_queue = kLowerPriority, .reclaim_within_cohort = kReclaimAny};

INSTANTIATE_TEST_SUITE_P(Table, PreemptionOutlookTable,
                         ::testing::Values(OutlookCase{.name = "no_candidates_keep_the_level",
                                                       .queues = {in_team("cq", "1"), in_team("b", "3")},
                                                       .running = {running("own", "3", "cq", -1)},
                                                       .workload = incoming("2"),
                                                       .want = {PreemptionOutlook::kNoCandidates, 1}},
                                           OutlookCase{
                                               .name = "within_the_queue",
                                               .queues = {in_team("cq", "2", kBoth), in_team("b", "2")},
                                               .running = {running("b1", "2", "b"), running("own", "2", "cq", -1)},
                                               .workload = incoming("2"),
                                               .want = {PreemptionOutlook::kPreempt, 0}},
                                           OutlookCase{.name = "reclaim",
                                                       .queues = {in_team("cq", "2", kBoth), in_team("b", "2")},
                                                       .running = {running("b1", "4", "b")},
                                                       .workload = incoming("2"),
                                                       .want = {PreemptionOutlook::kReclaim, 0}},
                                           OutlookCase{.name = "level_after_the_victims_left",
                                                       .queues = {in_team("cq", "2", kBoth), in_team("b", "2")},
                                                       .running = {running("own", "4", "cq", -1)},
                                                       .workload = incoming("1"),
                                                       .want = {PreemptionOutlook::kPreempt, 0}}),
                         [](const auto& row) { return row.param.name; });

// ---- nodes ----

// The plan needs room that only some have: quota fits throughout, and `passes` speaks of nodes.
TEST(Preemption, NodeVictimsAreThoseThatSitInTheWay) {
  testing::World world;
  world.flavors({"f"}).add(alone("100"));
  for (int i = 0; i < 40; ++i) {
    world.add(running("w" + std::to_string(10 + i), "1", "cq", -1, i));
  }
  const framework::WorkloadInfo workload = world.pending(incoming("4"), "cq");
  framework::Assignment assignment{
      .mode = FitMode::kPreempt, .usage = {{testing::fr("f/cpu"), 4000}}, .nodes_need_preemption = true};
  framework::Transaction transaction(world.model());
  const auto gone = [&](const char* name) { return !world.model().workload({"ns", name})->charged; };
  framework::PostFilterContext context{
      workload, transaction, [&](framework::Assignment&) { return gone("w12") && gone("w33") && gone("w40"); },
      at(2000)};
  std::set<std::string> names;
  for (const framework::Victim& victim : Preemption().post_filter(context, assignment)) {
    names.insert(victim.workload.name);
  }
  EXPECT_THAT(names, ElementsAre("w12", "w33", "w40"));
}

TEST(Preemption, NobodyWhenNothingIsLacking) {
  testing::World world;
  world.flavors({"f"}).add(alone("4")).add(running("low", "2", "cq", -1));
  const framework::WorkloadInfo workload = world.pending(incoming("2"), "cq");
  framework::Assignment assignment{.mode = FitMode::kFit, .usage = {{testing::fr("f/cpu"), 2000}}};
  framework::Transaction transaction(world.model());
  framework::PostFilterContext context{workload, transaction, [](framework::Assignment&) { return true; }, at(0)};
  EXPECT_TRUE(Preemption().post_filter(context, assignment).empty());
}

// Whoever an earlier entry of the cycle has claimed is gone already: not counted twice.
TEST(Preemption, ClaimedWorkloadsAreNoCandidates) {
  testing::World world;
  world.flavors({"f"}).add(alone("4")).add(running("claimed", "2", "cq", -2)).add(running("other", "2", "cq", -1));
  framework::Transaction cycle(world.model());
  cycle.remove_workload({"ns", "claimed"});
  framework::WorkloadInfo workload{.key = {"ns", "in"}, .cluster_queue = ClusterQueueName("cq")};
  framework::Assignment assignment{
      .mode = FitMode::kPreempt, .usage = {{testing::fr("f/cpu"), 4000}}, .needs_preemption = {testing::fr("f/cpu")}};
  framework::Transaction transaction(world.model());
  framework::PostFilterContext context{
      workload, transaction,
      [&](framework::Assignment& a) { return world.model().quota().fits(workload.cluster_queue, a.usage); }, at(0)};
  const std::vector<framework::Victim> victims = Preemption().post_filter(context, assignment);
  ASSERT_EQ(victims.size(), 1U);
  EXPECT_EQ(victims.front().workload.name, "other");
}

TEST(Preemption, AsksSeldomAmongThousands) {
  testing::World world;
  world.flavors({"f"}).add(alone("2000"));
  for (int i = 0; i < 2000; ++i) {
    world.add(running("w" + std::to_string(i), "1", "cq", -1, i));
  }
  const Attempt got = attempt(world, incoming("3"));
  EXPECT_THAT(got.victims, ElementsAre("w1997 InClusterQueue", "w1998 InClusterQueue", "w1999 InClusterQueue"));
  EXPECT_LE(got.asked, 10);
}

TEST(PreemptionArgs, TakesNone) {
  EXPECT_TRUE(Preemption::create(api::Json::object(), {}).ok());
  EXPECT_EQ(Preemption::create(api::Json{{"x", 1}}, {}).error().path, "x");
}

}  // namespace
}  // namespace muster::plugins

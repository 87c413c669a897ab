#include "plugins/flavor_assigner/flavor_assigner.h"

#include "framework/status/workload_conditions.h"
#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_flavor;
using api::testing::a_toleration;
using api::testing::a_workload;
using framework::FitMode;
using framework::FlavorExclusion;
using framework::Outlook;
using framework::PreemptionOutlook;
using framework::Wake;
using framework::WakeKind;
using ::testing::ElementsAre;

using Choices = std::map<std::string, std::string>;   // "podset/resource" -> flavor
using OutlookTable = std::map<std::string, Outlook>;  // "flavor/resource"; absent: no candidates

constexpr FitMode kFit = FitMode::kFit;
constexpr FitMode kPreempt = FitMode::kPreempt;
constexpr FitMode kNoFit = FitMode::kNoFit;
constexpr api::FlavorFungibility kTryNext{.when_can_borrow = api::FungibilityPolicy::kTryNextFlavor};
constexpr api::FlavorFungibility kMayStop{.when_can_preempt = api::FungibilityPolicy::kMayStopSearch};
constexpr api::FlavorFungibility kPreemptRather{.when_can_borrow = api::FungibilityPolicy::kTryNextFlavor,
                                                .preference = api::FungibilityPreference::kPreemptionOverBorrowing};

// One row: a ClusterQueue in its cohort, who runs, who asks, what comes out.
struct Case {
  std::string name{};
  api::testing::ClusterQueueBuilder queue = a_cluster_queue("cq");
  std::vector<api::testing::ResourceFlavorBuilder> flavors = {a_flavor("one"), a_flavor("two")};
  std::vector<api::testing::CohortBuilder> cohorts{};
  std::vector<api::testing::WorkloadBuilder> running{};
  api::testing::WorkloadBuilder workload = a_workload("ns", "w");
  OutlookTable outlook{};
  std::vector<FlavorExclusion> exclusions{};
  FlavorAssignerArgs args{};
  FitMode want = kFit;
  Choices want_flavors{};
  int want_borrow = 0;
  std::string want_reason{};
  std::string want_message{};
};

struct Outcome {
  framework::Assignment assignment{};
  framework::Verdict verdict{};
  bool passes = false;
};

Outcome assign(const Case& c) {
  testing::World world;
  world.add_all(c.flavors).add_all(c.cohorts).add(c.queue).add_all(c.running);
  const framework::WorkloadInfo workload = world.pending(c.workload, "cq");
  framework::Transaction transaction(world.model());
  const framework::NodePlugins no_node_plugins;
  framework::FilterContext context{workload, transaction, no_node_plugins, c.exclusions,
                                   [&c](const framework::FlavorResource& fr, Amount) {
                                     const auto found = c.outlook.find(fr.flavor.str() + "/" + fr.resource);
                                     return found == c.outlook.end() ? Outlook{} : found->second;
                                   }};
  const FlavorAssigner plugin(c.args);
  Outcome outcome;
  std::vector<FlavorExclusion> rejected;
  outcome.verdict = plugin.filter(context, outcome.assignment, rejected);
  outcome.passes = plugin.passes(context, outcome.assignment);
  EXPECT_TRUE(rejected.empty());
  return outcome;
}

Choices choices_of(const framework::Assignment& assignment) {
  Choices choices;
  for (const framework::PodSetChoice& pod_set : assignment.pod_sets) {
    for (const auto& [resource, choice] : pod_set.flavors) {
      choices[pod_set.name + "/" + resource] = choice.flavor.str();
    }
  }
  return choices;
}

class FlavorAssignerTable : public ::testing::TestWithParam<Case> {};

TEST_P(FlavorAssignerTable, Assigns) {
  const Case& c = GetParam();
  const Outcome got = assign(c);
  EXPECT_EQ(got.assignment.mode, c.want);
  EXPECT_EQ(choices_of(got.assignment), c.want_flavors);
  EXPECT_EQ(got.assignment.borrow_level, c.want_borrow);
  EXPECT_EQ(got.assignment.reason, c.want_reason);
  EXPECT_EQ(got.assignment.message, c.want_message);
  const bool lacks_only_nodes = c.want == kPreempt && c.want_reason == "TopologyPlacementFailed";
  EXPECT_EQ(got.passes, c.want == kFit || lacks_only_nodes);
  EXPECT_EQ(got.verdict.ok(), c.want != kNoFit);
  EXPECT_EQ(got.verdict.rejected(), !got.verdict.wakes().empty());  // a rejection says what may cure it
}

constexpr auto kRowName = [](const auto& row) { return row.param.name; };

// ---- quota ----

api::testing::WorkloadBuilder wants(const std::string& cpu) {
  return a_workload("ns", "w").request("cpu", cpu);
}

api::testing::WorkloadBuilder runs(const std::string& cpu, const std::string& queue, const std::string& flavor) {
  return a_workload("ns", "on-" + queue + "-" + flavor).request("cpu", cpu).reserved(queue, flavor);
}

INSTANTIATE_TEST_SUITE_P(
    Quota, FlavorAssignerTable,
    ::testing::Values(
        Case{.name = "fits",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4"),
             .workload = wants("4"),
             .want_flavors = {{"main/cpu", "one"}}},
        Case{.name = "admission_8_26_borrowing_limit",
             .queue = a_cluster_queue("cq").cohort("team").quota("cpu", "one", "4", "0"),
             .cohorts = {a_cohort("team").quota("cpu", "one", "100")},
             .workload = wants("5"),
             .want = kNoFit,
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor one, "
                             "previously considered podsets requests (0) + current podset request (5) > maximum "
                             "capacity (4)"},
        Case{.name = "admission_8_30_no_wrap_around",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10k"),
             .workload = a_workload("ns", "w")
                             .pod_set("a")
                             .request("cpu", "1000")
                             .pod_set("b")
                             .request("cpu", "9223372036854775"),
             .want = kNoFit,
             .want_flavors = {{"a/cpu", "one"}},
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set b: insufficient quota for cpu in flavor one, "
                             "previously considered podsets requests (1k) + current podset request "
                             "(9223372036854775) > maximum capacity (10k)"},
        Case{.name = "admission_8_31_clamped_request",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10"),
             .workload = wants("9223372036854776"),
             .want = kNoFit,
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor one, "
                             "previously considered podsets requests (0) + current podset request "
                             "(9223372036854775807m) > maximum capacity (10)"},
        Case{.name = "admission_8_32_pods",
             .queue = a_cluster_queue("cq").quota("pods", "one", "3"),
             .workload = a_workload("ns", "w").pod_set("a", 3).pod_set("b", 2),
             .want = kNoFit,
             .want_flavors = {{"a/pods", "one"}},
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set b: insufficient quota for pods in flavor one, "
                             "previously considered podsets requests (3) + current podset request (2) > maximum "
                             "capacity (3)"},
        Case{.name = "admission_8_33_zero_of_an_undeclared_resource",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4"),
             .workload = wants("1").request("foo", "0"),
             .want_flavors = {{"main/cpu", "one"}}},
        Case{.name = "admission_8_33_undeclared_resource",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4"),
             .workload = wants("1").request("foo", "1"),
             .want = kNoFit,
             .want_reason = "NoMatchingFlavor",
             .want_message = "couldn't assign flavors to pod set main: resource foo unavailable in ClusterQueue"},
        Case{.name = "admission_8_33_undeclared_resource_ignored",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4"),
             .workload = wants("1").request("foo", "1"),
             .args = {.quota_check_strategy = QuotaCheckStrategy::kIgnoreUndeclared},
             .want_flavors = {{"main/cpu", "one"}}},
        Case{.name = "zero_of_a_declared_resource_gets_a_flavor",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4"),
             .workload = wants("0"),
             .want_flavors = {{"main/cpu", "one"}}},
        Case{.name = "nothing_requested", .queue = a_cluster_queue("cq").quota("cpu", "one", "4")},
        Case{.name = "waits_without_right_to_preempt",
             .queue = a_cluster_queue("cq").cohort("team").quota("cpu", "one", "2"),
             .cohorts = {a_cohort("team").quota("cpu", "one", "8")},
             .running = {runs("6", "cq", "one")},
             .workload = wants("7500m"),
             .want = kNoFit,
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
                             "one, 3500m more needed"},
        Case{.name = "needs_victims",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10"),
             .running = {runs("5", "cq", "one")},
             .workload = wants("10"),
             .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .want = kPreempt,
             .want_flavors = {{"main/cpu", "one"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
                             "one, 5 more needed"},
        Case{.name = "no_candidates_is_still_a_proposal",
             .queue = a_cluster_queue("cq").quota("memory", "one", "4Gi"),
             .running = {a_workload("ns", "r").request("memory", "3Gi").reserved("cq", "one")},
             .workload = a_workload("ns", "w").request("memory", "2Gi"),
             .want = kPreempt,
             .want_flavors = {{"main/memory", "one"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient unused quota for memory in flavor "
                             "one, 1Gi more needed"},
        Case{.name = "later_podset_needs_victims",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10"),
             .running = {runs("5", "cq", "one")},
             .workload = a_workload("ns", "w").pod_set("a").request("cpu", "4").pod_set("b").request("cpu", "4"),
             .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .want = kPreempt,
             .want_flavors = {{"a/cpu", "one"}, {"b/cpu", "one"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set b: insufficient unused quota for cpu in flavor one, "
                             "3 more needed"},
        Case{.name = "admission_8_50_one_group_of_two_fails",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10").quota("gpu", "two", "1"),
             .workload = wants("1").request("gpu", "2"),
             .want = kNoFit,
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor two, "
                             "previously considered podsets requests (0) + current podset request (2) > maximum "
                             "capacity (1)"},
        Case{.name = "groups_choose_apart",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "10").quota("gpu", "two", "2"),
             .workload = wants("1").request("gpu", "2"),
             .want_flavors = {{"main/cpu", "one"}, {"main/gpu", "two"}}},
        Case{.name = "resources_of_a_group_share_the_flavor",
             .queue = a_cluster_queue("cq")
                          .quota("cpu", "one", "10")
                          .quota("memory", "one", "1Gi")
                          .quota("cpu", "two", "10")
                          .quota("memory", "two", "4Gi"),
             .workload = wants("1").request("memory", "2Gi"),
             .want_flavors = {{"main/cpu", "two"}, {"main/memory", "two"}}}),
    kRowName);

// ---- podset groups ----

api::testing::WorkloadBuilder leader_and_workers() {
  return a_workload("ns", "w")
      .pod_set("leader", 1)
      .group("g")
      .request("cpu", "2")
      .pod_set("workers", 2)
      .group("g")
      .request("cpu", "2")
      .request("gpu", "1");
}

INSTANTIATE_TEST_SUITE_P(
    PodSetGroups, FlavorAssignerTable,
    ::testing::Values(
        Case{.name = "Case51_decided_on_the_sum",
             .queue = a_cluster_queue("cq")
                          .quota("cpu", "one", "5")
                          .quota("gpu", "one", "9")
                          .quota("cpu", "two", "6")
                          .quota("gpu", "two", "2"),
             .workload = leader_and_workers(),
             .want_flavors = {{"leader/cpu", "two"}, {"workers/cpu", "two"}, {"workers/gpu", "two"}}},
        Case{.name = "Case51_each_alone_would_fit",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4").quota("cpu", "two", "4"),
             .workload = a_workload("ns", "w")
                             .pod_set("leader", 1)
                             .group("g")
                             .request("cpu", "3")
                             .pod_set("workers", 1)
                             .group("g")
                             .request("cpu", "3"),
             .want = kNoFit,
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set leader: insufficient quota for cpu in flavor one, "
                             "previously considered podsets requests (0) + current podset request (6) > maximum capacity "
                             "(4), insufficient quota for cpu in flavor two, previously considered podsets requests (0) + "
                             "current podset request (6) > maximum capacity (4); couldn't assign flavors to pod set "
                             "workers: insufficient quota for cpu in flavor one, previously considered podsets requests "
                             "(0) + current podset request (6) > maximum capacity (4), insufficient quota for cpu in "
                             "flavor two, previously considered podsets requests (0) + current podset request (6) > "
                             "maximum capacity (4)"}),
    kRowName);

// ---- which flavor ----

const std::string kOneLacks = "insufficient unused quota for cpu in flavor one, 5 more needed";

INSTANTIATE_TEST_SUITE_P(
    Eligibility, FlavorAssignerTable,
    ::testing::Values(
        Case{.name = "admission_8_39_reasons_are_sorted",
             .queue = a_cluster_queue("cq").cohort("team").quota("cpu", "A", "0").quota("cpu", "B", "5"),
             .flavors = {a_flavor("A").taint("key", "val", "NoSchedule"), a_flavor("B")},
             .cohorts = {a_cohort("team").quota("cpu", "B", "10")},
             .running = {runs("10", "cq", "B")},
             .workload = wants("10"),
             .want = kNoFit,
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor B, "
                             "5 more needed, untolerated taint {key val NoSchedule <nil>} in flavor A"},
        Case{.name = "admission_8_40_exceeds",
             .queue = a_cluster_queue("cq").quota("cpu", "A", "20").quota("cpu", "B", "5"),
             .flavors = {a_flavor("A").taint("key", "val", "NoSchedule"), a_flavor("B")},
             .workload = wants("10"),
             .want = kNoFit,
             .want_reason = "ExceedsMaxQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor B, "
                             "previously considered podsets requests (0) + current podset request (10) > maximum "
                             "capacity (5), untolerated taint {key val NoSchedule <nil>} in flavor A"},
        Case{.name = "admission_8_40_all_tainted",
             .queue = a_cluster_queue("cq").quota("cpu", "A", "20"),
             .flavors = {a_flavor("A").taint("key", "val", "NoSchedule")},
             .workload = wants("10"),
             .want = kNoFit,
             .want_reason = "NoMatchingFlavor",
             .want_message = "couldn't assign flavors to pod set main: untolerated taint {key val NoSchedule <nil>} "
                             "in flavor A"},
        Case{.name = "tolerated",
             .queue = a_cluster_queue("cq").quota("cpu", "A", "20"),
             .flavors = {a_flavor("A").taint("key", "val", "NoSchedule")},
             .workload = wants("10").tolerate(a_toleration("key", "Exists")),
             .want_flavors = {{"main/cpu", "A"}}},
        Case{.name = "admission_8_41_selector",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "4").quota("cpu", "two", "4"),
             .flavors = {a_flavor("one").node_label("type", "one"), a_flavor("two").node_label("type", "two")},
             .workload = wants("1").node_selector("type", "two"),
             .want_flavors = {{"main/cpu", "two"}}},
        Case{.name = "admission_8_43_missing_flavor",
             .queue = a_cluster_queue("cq").quota("cpu", "gone", "4").quota("cpu", "two", "4"),
             .workload = wants("1"),
             .want_flavors = {{"main/cpu", "two"}}}),
    kRowName);

api::testing::ClusterQueueBuilder two_flavors(const std::string& one, const std::string& two) {
  return a_cluster_queue("cq").cohort("team").quota("cpu", "one", one).quota("cpu", "two", two);
}

const std::vector<api::testing::CohortBuilder> kLenders = {
    a_cohort("team").quota("cpu", "one", "10").quota("cpu", "two", "10")};

INSTANTIATE_TEST_SUITE_P(
    Fungibility, FlavorAssignerTable,
    ::testing::Values(
        Case{.name = "admission_3_3_borrowing_stops_the_search",
             .queue = two_flavors("4", "10"),
             .cohorts = kLenders,
             .workload = wants("5"),
             .want_flavors = {{"main/cpu", "one"}},
             .want_borrow = 1},
        Case{.name = "admission_8_44_next_flavor_fits_plain",
             .queue = two_flavors("4", "10").fungibility(kTryNext),
             .cohorts = kLenders,
             .workload = wants("5"),
             .want_flavors = {{"main/cpu", "two"}}},
        Case{.name = "admission_8_44_both_borrow",
             .queue = two_flavors("4", "4").fungibility(kTryNext),
             .cohorts = kLenders,
             .workload = wants("5"),
             .want_flavors = {{"main/cpu", "one"}},
             .want_borrow = 1},
        Case{.name = "admission_8_45_stops_at_candidates",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "5").fungibility(kMayStop),
             .running = {runs("5", "cq", "one")},
             .workload = wants("5"),
             .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .want = kPreempt,
             .want_flavors = {{"main/cpu", "one"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: " + kOneLacks},
        Case{.name = "admission_8_45_passes_over_no_candidates",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "5").fungibility(kMayStop),
             .running = {runs("5", "cq", "one")},
             .workload = wants("5"),
             .want_flavors = {{"main/cpu", "two"}}},
        Case{.name = "admission_8_46_borrows_rather",
             .queue = two_flavors("15", "4").fungibility(kTryNext),
             .cohorts = {a_cohort("team").quota("cpu", "two", "10")},
             .running = {runs("15", "cq", "one")},
             .workload = wants("5"),
             .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .want_flavors = {{"main/cpu", "two"}},
             .want_borrow = 1},
        Case{.name = "admission_8_46_preempts_rather",
             .queue = two_flavors("15", "4").fungibility(kPreemptRather),
             .cohorts = {a_cohort("team").quota("cpu", "two", "10")},
             .running = {runs("15", "cq", "one")},
             .workload = wants("5"),
             .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .want = kPreempt,
             .want_flavors = {{"main/cpu", "one"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: " + kOneLacks},
        Case{.name = "admission_8_47_no_candidates_lose",
             .queue = two_flavors("15", "4").fungibility(kPreemptRather),
             .cohorts = {a_cohort("team").quota("cpu", "two", "10")},
             .running = {runs("15", "cq", "one")},
             .workload = wants("5"),
             .want_flavors = {{"main/cpu", "two"}},
             .want_borrow = 1},
        Case{.name = "gate_off_takes_the_first_fit",
             .queue = two_flavors("4", "10").fungibility(kTryNext),
             .cohorts = kLenders,
             .workload = wants("5"),
             .args = {.fungibility = false},
             .want_flavors = {{"main/cpu", "one"}},
             .want_borrow = 1}),
    kRowName);

// ---- flavors that a later plugin ruled out ----

FlavorExclusion ruled_out(const std::string& flavor, bool preemption_helps) {
  return {.pod_set = "main",
          .flavor = FlavorName(flavor),
          .reason = "TopologyPlacementFailed",
          .message = "no room on nodes of " + flavor,
          .preemption_helps = preemption_helps};
}

INSTANTIATE_TEST_SUITE_P(
    Exclusions, FlavorAssignerTable,
    ::testing::Values(
        Case{.name = "next_flavor_is_taken",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "5"),
             .workload = wants("5"),
             .exclusions = {ruled_out("one", true)},
             .want_flavors = {{"main/cpu", "two"}}},
        Case{.name = "last_resort_needs_node_victims",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "4"),
             .workload = wants("5"),
             .exclusions = {ruled_out("one", true)},
             .want = kPreempt,
             .want_flavors = {{"main/cpu", "one"}},
             .want_reason = "TopologyPlacementFailed",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor two, "
                             "previously considered podsets requests (0) + current podset request (5) > maximum "
                             "capacity (4), no room on nodes of one"},
        Case{.name = "quota_victims_before_node_victims",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "5"),
             .running = {runs("5", "cq", "two")},
             .workload = wants("5"),
             .outlook = {{"two/cpu", {PreemptionOutlook::kPreempt, 0}}},
             .exclusions = {ruled_out("one", true)},
             .want = kPreempt,
             .want_flavors = {{"main/cpu", "two"}},
             .want_reason = "WaitingForQuota",
             .want_message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
                             "two, 5 more needed, no room on nodes of one"},
        Case{.name = "admission_3_9_least_severe_alternative",
             .queue = a_cluster_queue("cq").quota("cpu", "one", "5").quota("cpu", "two", "4"),
             .workload = wants("5"),
             .exclusions = {ruled_out("one", false)},
             .want = kNoFit,
             .want_reason = "TopologyPlacementFailed",
             .want_message = "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor two, "
                             "previously considered podsets requests (0) + current podset request (5) > maximum "
                             "capacity (4), no room on nodes of one"}),
    kRowName);

TEST(FlavorAssigner, ChargesTheSumOfItsPodsets) {
  const Outcome got = assign(
      {.queue = a_cluster_queue("cq").quota("cpu", "one", "10").quota("pods", "one", "9"),
       .workload = a_workload("ns", "w").pod_set("a", 2).request("cpu", "1").pod_set("b", 3).request("cpu", "2")});
  EXPECT_EQ(got.assignment.usage, (framework::Usage{{testing::fr("one/cpu"), 8000}, {testing::fr("one/pods"), 5}}));
  EXPECT_EQ(got.assignment.pod_sets.at(1).requests, (api::ResourceAmounts{{"cpu", 6000}, {"pods", 3}}));
  EXPECT_EQ(got.assignment.pod_sets.at(1).count, 3);
}

TEST(FlavorAssigner, NamesWhereVictimsAreNeeded) {
  const Outcome got = assign({.queue = a_cluster_queue("cq").quota("cpu", "one", "10").quota("gpu", "two", "9"),
                              .running = {runs("10", "cq", "one")},
                              .workload = wants("1").request("gpu", "2"),
                              .outlook = {{"one/cpu", {PreemptionOutlook::kReclaim, 0}}}});
  EXPECT_EQ(got.assignment.mode, kPreempt);
  EXPECT_THAT(got.assignment.needs_preemption, ElementsAre(testing::fr("one/cpu")));
  EXPECT_FALSE(got.assignment.nodes_need_preemption);
}

TEST(FlavorAssigner, SaysWhenOnlyNodesAreLacking) {
  const Outcome got = assign({.queue = a_cluster_queue("cq").quota("cpu", "one", "10"),
                              .workload = wants("1"),
                              .exclusions = {ruled_out("one", true)}});
  EXPECT_TRUE(got.assignment.nodes_need_preemption);
  EXPECT_TRUE(got.assignment.needs_preemption.empty());
}

// §3.6: the preemption plugin says whether its ClusterQueues may evict for what they borrow.
TEST(FlavorAssigner, AsksForVictimsWhileBorrowingOnlyWhereThePreemptionPluginDoes) {
  class Policy final : public framework::PostFilter {
   public:
    explicit Policy(bool may) : may_(may) {}
    std::vector<framework::Victim> post_filter(framework::PostFilterContext&, framework::Assignment&) const override {
      return {};
    }
    Outlook outlook(framework::PostFilterContext&, const framework::FlavorResource&, Amount) const override {
      return {};
    }
    bool may_preempt_while_borrowing(const api::ClusterQueue&) const override { return may_; }

   private:
    bool may_;
  };
  testing::World world;
  world.flavors({"f"}).add(a_cluster_queue("cq").cohort("all").quota("cpu", "f", "1"));
  world.add(a_cluster_queue("lender").cohort("all").quota("cpu", "f", "1"));
  world.add(a_workload("ns", "holds").request("cpu", "1").admitted("lender", "f"));
  const framework::WorkloadInfo workload = world.pending(a_workload("ns", "w").request("cpu", "2"), "cq");
  const framework::NodePlugins no_node_plugins;
  for (const bool may : {false, true}) {
    framework::Transaction transaction(world.model());
    int asked = 0;
    const auto outlook = [&asked](const framework::FlavorResource&, Amount) {
      ++asked;
      return Outlook{.outlook = framework::PreemptionOutlook::kReclaim, .borrow_level = 1};
    };
    const Policy policy(may);
    framework::FilterContext context{workload, transaction, no_node_plugins, {}, outlook, api::testing::at(0), nullptr, &policy};
    framework::Assignment assignment;
    std::vector<FlavorExclusion> rejected;
    EXPECT_EQ(FlavorAssigner({}).filter(context, assignment, rejected).ok(), may);
    EXPECT_EQ(asked, may ? 1 : 0);
    EXPECT_EQ(assignment.mode, may ? framework::FitMode::kPreempt : framework::FitMode::kNoFit);
  }
}

TEST(FlavorAssigner, BorrowLevelAfterTheVictimsHaveLeft) {
  const Outcome got = assign({.queue = two_flavors("5", "0"),
                              .cohorts = {a_cohort("team").quota("cpu", "one", "1")},
                              .running = {runs("6", "cq", "one")},
                              .workload = wants("5"),
                              .outlook = {{"one/cpu", {PreemptionOutlook::kPreempt, 0}}}});
  EXPECT_EQ(got.assignment.mode, kPreempt);
  EXPECT_EQ(got.assignment.borrow_level, 0);
}

TEST(FlavorAssigner, WakesOnWhatMayCure) {
  const Outcome quota = assign({.queue = a_cluster_queue("cq").cohort("team").quota("cpu", "one", "2"),
                                .cohorts = {a_cohort("team").parent("org")},
                                .workload = wants("5")});
  EXPECT_THAT(quota.verdict.wakes(),
              ElementsAre(Wake{WakeKind::kQuota, "cohort/org"}, Wake{WakeKind::kClusterQueue, "cq"}));

  const Outcome taint = assign({.queue = a_cluster_queue("cq").quota("cpu", "one", "9"),
                                .flavors = {a_flavor("one").taint("k", "v", "NoSchedule")},
                                .workload = wants("5")});
  EXPECT_THAT(taint.verdict.wakes(), ElementsAre(Wake{WakeKind::kClusterQueue, "cq"}, Wake{WakeKind::kFlavor, "one"}));

  const Outcome nodes = assign({.queue = a_cluster_queue("cq").quota("cpu", "one", "9"),
                                .workload = wants("5"),
                                .exclusions = {ruled_out("one", false)}});
  EXPECT_THAT(nodes.verdict.wakes(), ElementsAre(Wake{WakeKind::kClusterQueue, "cq"}, Wake{WakeKind::kNodes, ""}));
}

TEST(FlavorAssigner, UnknownClusterQueue) {
  const Outcome got = assign({.queue = a_cluster_queue("other"), .workload = wants("1")});
  EXPECT_EQ(got.assignment.mode, kNoFit);
  EXPECT_EQ(got.verdict.reason(), framework::kMisconfigured);
  EXPECT_EQ(got.verdict.message(), "ClusterQueue cq not found");
}

}  // namespace
}  // namespace muster::plugins

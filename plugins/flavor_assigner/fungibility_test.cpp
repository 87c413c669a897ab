#include "plugins/flavor_assigner/fungibility.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::FlavorFungibility;
using api::FungibilityPolicy;
using api::FungibilityPreference;

constexpr FlavorFungibility kDefault{};
constexpr FlavorFungibility kTryNext{.when_can_borrow = FungibilityPolicy::kTryNextFlavor,
                                     .when_can_preempt = FungibilityPolicy::kTryNextFlavor};
constexpr FlavorFungibility kPreemptRather{.when_can_borrow = FungibilityPolicy::kTryNextFlavor,
                                           .when_can_preempt = FungibilityPolicy::kTryNextFlavor,
                                           .preference = FungibilityPreference::kPreemptionOverBorrowing};
constexpr FlavorFungibility kStopAtPreempt{.when_can_borrow = FungibilityPolicy::kMayStopSearch,
                                           .when_can_preempt = FungibilityPolicy::kMayStopSearch};

struct BetterCase {
  std::string name{};
  FlavorFungibility policy{};
  Grade better{};
  Grade worse{};
};

class FlavorPreferenceBetter : public ::testing::TestWithParam<BetterCase> {};

TEST_P(FlavorPreferenceBetter, RanksOneWayOnly) {
  const BetterCase& c = GetParam();
  const FlavorPreference preference(&c.policy);
  EXPECT_TRUE(preference.better(c.better, c.worse));
  EXPECT_FALSE(preference.better(c.worse, c.better));
  EXPECT_EQ(preference.worse(c.better, c.worse), c.worse);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FlavorPreferenceBetter,
    ::testing::Values(
        BetterCase{"fit_beats_preempt_although_borrowing", kDefault, {Fitness::kFit, 1}, {Fitness::kPreempt, 0}},
        BetterCase{
            "admission_3_3_preempt_beats_borrowing_fit", kPreemptRather, {Fitness::kPreempt, 0}, {Fitness::kFit, 1}},
        BetterCase{"reclaim_beats_preempt", kDefault, {Fitness::kReclaim, 2}, {Fitness::kPreempt, 0}},
        BetterCase{"nearer_fit", kDefault, {Fitness::kFit, 0}, {Fitness::kFit, 1}},
        BetterCase{"nearer_preempt", kPreemptRather, {Fitness::kPreempt, 1}, {Fitness::kPreempt, 2}},
        BetterCase{
            "admission_8_47_no_candidates_lose", kPreemptRather, {Fitness::kFit, 1}, {Fitness::kNoCandidates, 0}},
        BetterCase{"no_candidates_beat_no_fit", kDefault, {Fitness::kNoCandidates, 3}, {Fitness::kNoFit, 0}},
        BetterCase{"preempt_beats_lacking_nodes", kPreemptRather, {Fitness::kPreempt, 2}, {Fitness::kNodesLacking, 0}},
        BetterCase{
            "lacking_nodes_beat_no_candidates", kDefault, {Fitness::kNodesLacking, 2}, {Fitness::kNoCandidates, 0}}),
    [](const auto& row) { return row.param.name; });

TEST(FlavorPreference, IsAStrictWeakOrder) {
  std::vector<Grade> grades;
  for (int fitness = 0; fitness <= static_cast<int>(Fitness::kFit); ++fitness) {
    for (int level = 0; level < 3; ++level) {
      grades.push_back({static_cast<Fitness>(fitness), level});
    }
  }
  const std::array<const FlavorFungibility*, 3> policies = {nullptr, &kDefault, &kPreemptRather};
  for (const FlavorFungibility* policy : policies) {
    const FlavorPreference p(policy);
    const auto equivalent = [&p](const Grade& a, const Grade& b) { return !p.better(a, b) && !p.better(b, a); };
    for (const Grade& a : grades) {
      EXPECT_FALSE(p.better(a, a));
      for (const Grade& b : grades) {
        for (const Grade& c : grades) {
          EXPECT_TRUE(!(p.better(a, b) && p.better(b, c)) || p.better(a, c));
          EXPECT_TRUE(!(equivalent(a, b) && equivalent(b, c)) || equivalent(a, c));
        }
      }
    }
  }
}

struct StopCase {
  std::string name{};
  FlavorFungibility policy{};
  Grade grade{};
  bool stops = false;
};

class FlavorPreferenceStops : public ::testing::TestWithParam<StopCase> {};

TEST_P(FlavorPreferenceStops, EndsTheSearch) {
  const StopCase& c = GetParam();
  EXPECT_EQ(FlavorPreference(&c.policy).stops_search(c.grade), c.stops);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FlavorPreferenceStops,
    ::testing::Values(StopCase{"fit", kTryNext, {Fitness::kFit, 0}, true},
                      StopCase{"borrowing_fit_by_default", kDefault, {Fitness::kFit, 1}, true},
                      StopCase{"borrowing_fit_tries_next", kTryNext, {Fitness::kFit, 1}, false},
                      StopCase{"preempt_by_default", kDefault, {Fitness::kPreempt, 0}, false},
                      StopCase{"preempt_may_stop", kStopAtPreempt, {Fitness::kPreempt, 0}, true},
                      StopCase{"reclaim_may_stop_while_borrowing", kStopAtPreempt, {Fitness::kReclaim, 1}, true},
                      StopCase{"no_candidates_never", kStopAtPreempt, {Fitness::kNoCandidates, 0}, false},
                      StopCase{"lacking_nodes_never", kStopAtPreempt, {Fitness::kNodesLacking, 0}, false},
                      StopCase{"no_fit_never", kStopAtPreempt, {Fitness::kNoFit, 0}, false}),
    [](const auto& row) { return row.param.name; });

TEST(FlavorPreference, GateOffStopsAtTheFirstFitOnly) {
  const FlavorPreference off(nullptr);
  EXPECT_TRUE(off.stops_search({Fitness::kFit, 2}));
  EXPECT_FALSE(off.stops_search({Fitness::kReclaim, 0}));
  EXPECT_FALSE(off.better({Fitness::kPreempt, 0}, {Fitness::kPreempt, 1}));
}

}  // namespace
}  // namespace muster::plugins

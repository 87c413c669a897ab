#include "plugins/taint_toleration/taint_toleration.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)

struct Case {
  std::string name{};
  api::Taint taint{};
  std::vector<api::Toleration> tolerations{};
  std::vector<api::Toleration> flavor_tolerations{};
  bool fits = false;
};

class TaintTolerationFilter : public ::testing::TestWithParam<Case> {};

TEST_P(TaintTolerationFilter, GivesVerdict) {
  const Case& c = GetParam();
  testing::World world;
  world.add(a_node("a").taint(c.taint.key, c.taint.value, c.taint.effect));
  testing::Shape shape(a_pod("ns", "p").on_spec([&c](api::PodSpec& s) { s.tolerations = c.tolerations; }).obj());
  shape.shape().flavor_tolerations = c.flavor_tolerations;
  const auto verdict = testing::make<TaintToleration>()->filter_static(shape.shape(), testing::info(world, "a"));
  EXPECT_EQ(verdict.ok(), c.fits);
  if (!c.fits) {
    EXPECT_EQ(verdict.code(), framework::Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(verdict.message(), "node(s) had untolerated taint(s)");
  }
}

const api::Taint kNoSchedule{.key = "k", .value = "v", .effect = "NoSchedule"};
const api::Taint kNoExecute{.key = "k", .value = "v", .effect = "NoExecute"};

INSTANTIATE_TEST_SUITE_P(
    Table, TaintTolerationFilter,
    ::testing::Values(
        Case{.name = "no_toleration", .taint = kNoSchedule},
        Case{.name = "placement_2_12_33_exists",
             .taint = kNoSchedule,
             .tolerations = {a_toleration("k", "Exists")},
             .fits = true},
        Case{
            .name = "placement_2_12_33_other_value", .taint = kNoSchedule, .tolerations = {a_toleration("k", "", "w")}},
        Case{.name = "placement_2_12_33_every_taint",
             .taint = kNoExecute,
             .tolerations = {a_toleration("", "Exists")},
             .fits = true},
        Case{.name = "placement_2_12_34_other_effect",
             .taint = kNoSchedule,
             .tolerations = {a_toleration("k", "Exists", "", "NoExecute")}},
        Case{.name = "equal_value",
             .taint = kNoSchedule,
             .tolerations = {a_toleration("k", "Equal", "v")},
             .fits = true},
        Case{.name = "by_the_flavor",
             .taint = kNoSchedule,
             .flavor_tolerations = {a_toleration("k", "Exists")},
             .fits = true},
        Case{.name = "only_preferred", .taint = {.key = "k", .effect = "PreferNoSchedule"}, .fits = true},
        Case{.name = "not_ready_node", .taint = {.key = "node.kubernetes.io/not-ready", .effect = "NoSchedule"}}),
    [](const auto& row) { return row.param.name; });

TEST(TaintTolerationScore, CountsUntoleratedPreferences) {
  testing::World world;
  world.add(
      a_node("a").taint("x", "", "PreferNoSchedule").taint("y", "", "PreferNoSchedule").taint("z", "", "NoSchedule"));
  testing::Shape shape(a_pod("ns", "p").tolerate(a_toleration("x", "Exists")).obj());
  const auto plugin = testing::make<TaintToleration>();
  EXPECT_EQ(plugin->score(shape.shape(), testing::info(world, "a")), 1);
  EXPECT_EQ(plugin->normalisation(), framework::Normalisation::kByHighestReversed);
}

TEST(TaintTolerationScore, ATolerationOfAnotherEffectDoesNotCount) {
  testing::World world;
  world.add(a_node("a").taint("x", "", "PreferNoSchedule"));
  testing::Shape shape(a_pod("ns", "p").tolerate(a_toleration("x", "Exists", "", "NoSchedule")).obj());
  EXPECT_EQ(testing::make<TaintToleration>()->score(shape.shape(), testing::info(world, "a")), 1);
}

}  // namespace
}  // namespace muster::plugins

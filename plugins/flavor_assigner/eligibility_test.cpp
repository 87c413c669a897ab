#include "plugins/flavor_assigner/eligibility.h"

#include "api/testing/builders.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using api::testing::a_flavor;
using api::testing::a_pod;
using api::testing::a_toleration;

struct Case {
  std::string name{};
  api::testing::PodBuilder pod = a_pod("ns", "p");
  api::testing::ResourceFlavorBuilder flavor = a_flavor("f");
  std::string want{};
};

class Eligibility : public ::testing::TestWithParam<Case> {};

TEST_P(Eligibility, SaysWhyNot) {
  const Case& c = GetParam();
  const api::ResourceFlavor flavor = c.flavor.obj();
  EXPECT_EQ(ineligible_reason(c.pod.obj().spec, FlavorName("f"), &flavor), c.want);
}

api::testing::PodBuilder selects(const std::string& key, const std::string& value) {
  return a_pod("ns", "p").node_selector(key, value);
}

const std::string kNoMatch = "flavor f doesn't match node affinity";

INSTANTIATE_TEST_SUITE_P(
    Taints, Eligibility,
    ::testing::Values(
        Case{.name = "no_schedule",
             .flavor = a_flavor("f").taint("key", "val", "NoSchedule"),
             .want = "untolerated taint {key val NoSchedule <nil>} in flavor f"},
        Case{.name = "no_execute_without_value",
             .flavor = a_flavor("f").taint("key", "", "NoExecute"),
             .want = "untolerated taint {key  NoExecute <nil>} in flavor f"},
        Case{.name = "prefer_no_schedule_is_ignored", .flavor = a_flavor("f").taint("key", "val", "PreferNoSchedule")},
        Case{.name = "tolerated_by_the_pod",
             .pod = a_pod("ns", "p").tolerate(a_toleration("key", "Exists")),
             .flavor = a_flavor("f").taint("key", "val", "NoSchedule")},
        Case{.name = "tolerated_by_the_flavor",
             .flavor = a_flavor("f").taint("key", "val", "NoSchedule").toleration(a_toleration("key", "Equal", "val"))},
        Case{.name = "first_untolerated_is_named",
             .pod = a_pod("ns", "p").tolerate(a_toleration("a", "Exists")),
             .flavor = a_flavor("f").taint("a", "1", "NoSchedule").taint("b", "2", "NoExecute"),
             .want = "untolerated taint {b 2 NoExecute <nil>} in flavor f"},
        Case{.name = "taint_before_labels",
             .pod = selects("type", "x"),
             .flavor = a_flavor("f").node_label("type", "y").taint("k", "v", "NoSchedule"),
             .want = "untolerated taint {k v NoSchedule <nil>} in flavor f"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Labels, Eligibility,
    ::testing::Values(Case{.name = "admission_8_41_selector_differs",
                           .pod = selects("type", "two"),
                           .flavor = a_flavor("f").node_label("type", "one"),
                           .want = kNoMatch},
                      Case{.name = "admission_8_41_selector_equal",
                           .pod = selects("type", "two"),
                           .flavor = a_flavor("f").node_label("type", "two")},
                      Case{.name = "admission_8_41_flavor_without_labels", .pod = selects("type", "two")},
                      Case{.name = "selector_of_other_keys_is_ignored",
                           .pod = selects("zone", "z"),
                           .flavor = a_flavor("f").node_label("type", "one")},
                      Case{.name = "affinity_differs",
                           .pod = a_pod("ns", "p").affinity_in("type", {"two", "three"}),
                           .flavor = a_flavor("f").node_label("type", "one"),
                           .want = kNoMatch},
                      Case{.name = "one_term_matches",
                           .pod = a_pod("ns", "p").affinity_in("type", {"two"}).affinity_in("type", {"one"}),
                           .flavor = a_flavor("f").node_label("type", "one")},
                      Case{.name = "admission_8_42_term_of_other_keys_matches_all",
                           .pod = a_pod("ns", "p").affinity_in("type", {"two"}).affinity_in("zone", {"z"}),
                           .flavor = a_flavor("f").node_label("type", "one")},
                      Case{.name = "preferred_affinity_is_ignored",
                           .pod = a_pod("ns", "p").on_spec([](api::PodSpec& spec) {
                             spec.node_affinity.preferred.push_back(
                                 {.weight = 1,
                                  .preference = {
                                      .match_expressions = {{.key = "type", .op = "In", .values = {"two"}}}}});
                           }),
                           .flavor = a_flavor("f").node_label("type", "one")}),
    [](const auto& row) { return row.param.name; });

TEST(EligibilityTexts, MissingFlavor) {
  EXPECT_EQ(ineligible_reason({}, FlavorName("gone"), nullptr), "flavor gone not found");
}

TEST(EligibilityTexts, TimeOfATaintPrintsAsGoDoes) {
  api::ResourceFlavor flavor;
  flavor.node_taints = {{.key = "k", .value = "v", .effect = "NoSchedule", .time_added = api::testing::at(0)}};
  EXPECT_EQ(ineligible_reason({}, FlavorName("f"), &flavor),
            "untolerated taint {k v NoSchedule 2026-01-01 00:00:00 +0000 UTC} in flavor f");
}

}  // namespace
}  // namespace muster::plugins

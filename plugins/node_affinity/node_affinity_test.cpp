#include "plugins/node_affinity/node_affinity.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)

using Term = api::NodeSelectorTerm;
using Terms = std::vector<Term>;

constexpr char kMismatch[] = "node(s) didn't match Pod's node affinity/selector";
constexpr char kNotNamed[] = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

Term label(const std::string& key, const std::string& op, const std::vector<std::string>& values = {}) {
  return {.match_expressions = {{.key = key, .op = op, .values = values}}};
}

Term named(const std::string& name) {
  return {.match_fields = {{.key = "metadata.name", .op = "In", .values = {name}}}};
}

struct Case {
  std::string name{};
  std::optional<Terms> required{};
  api::StringMap selector{};
  api::StringMap flavor_labels{};
  std::string added{"{}"};
  std::string message{};  // on node `a` of zone z1, generation 5, flag abc; empty: it fits
};

class NodeAffinityFilter : public ::testing::TestWithParam<Case> {};

TEST_P(NodeAffinityFilter, GivesVerdict) {
  const Case& c = GetParam();
  testing::World world;
  world.add(a_node("a").label("zone", "z1").label("generation", "5").label("flag", "abc"));
  testing::Shape shape(a_pod("ns", "p")
                           .on_spec([&c](api::PodSpec& spec) {
                             spec.node_affinity.required = c.required;
                             spec.node_selector = c.selector;
                           })
                           .obj());
  shape.shape().flavor_labels = c.flavor_labels;
  const auto verdict = testing::make<NodeAffinity>(c.added)->filter_static(shape.shape(), testing::info(world, "a"));
  EXPECT_EQ(verdict.ok(), c.message.empty());
  EXPECT_EQ(verdict.message(), c.message);
  if (!c.message.empty()) {
    EXPECT_EQ(verdict.code(), framework::Code::kUnschedulableAndUnresolvable);
  }
}

constexpr char kAddedZoneTwo[] = R"({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
  {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z2"]}]}]}}})";

INSTANTIATE_TEST_SUITE_P(
    Table, NodeAffinityFilter,
    ::testing::Values(
        Case{.name = "nothing_asked"},
        Case{.name = "placement_2_12_37_no_terms", .required = Terms{}, .message = kMismatch},
        Case{.name = "placement_2_12_37_empty_term", .required = Terms{{}}, .message = kMismatch},
        Case{.name = "placement_2_12_37_empty_term_or_zone", .required = Terms{{}, label("zone", "In", {"z1"})}},
        Case{.name = "placement_2_12_38_not_in_on_absent_key", .required = Terms{label("rack", "NotIn", {"r1"})}},
        Case{.name = "placement_2_12_38_gt_is_strict",
             .required = Terms{label("generation", "Gt", {"5"})},
             .message = kMismatch},
        Case{.name = "placement_2_12_38_gt_below", .required = Terms{label("generation", "Gt", {"4"})}},
        Case{.name = "placement_2_12_38_gt_on_a_word",
             .required = Terms{label("flag", "Gt", {"5"})},
             .message = kMismatch},
        Case{.name = "placement_2_12_39_selector_and_affinity",
             .required = Terms{label("zone", "In", {"z2"})},
             .selector = {{"zone", "z1"}},
             .message = kMismatch},
        Case{.name = "placement_2_12_40_named", .required = Terms{named("a"), named("b")}},
        Case{.name = "placement_2_12_40_others_named", .required = Terms{named("b"), named("c")}, .message = kNotNamed},
        Case{.name = "not_every_term_names_a_node",
             .required = Terms{named("b"), label("zone", "In", {"z2"})},
             .message = kMismatch},
        Case{.name = "flavor_label", .flavor_labels = {{"zone", "z1"}}},
        Case{.name = "flavor_label_differs", .flavor_labels = {{"zone", "z2"}}, .message = kMismatch},
        Case{.name = "added_affinity",
             .added = kAddedZoneTwo,
             .message = "node(s) didn't match scheduler-enforced node affinity"}),
    [](const auto& row) { return row.param.name; });

TEST(NodeAffinityPreFilter, placement_2_12_41_names_that_contradict) {
  Term both = named("a");
  both.match_fields.push_back(named("b").match_fields.front());
  testing::Shape shape(
      a_pod("ns", "p").on_spec([&](api::PodSpec& s) { s.node_affinity.required = Terms{both}; }).obj());
  const auto verdict = testing::make<NodeAffinity>()->pre_filter(shape.shape());
  EXPECT_EQ(verdict.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(verdict.message(), "pod affinity terms conflict");
}

TEST(NodeAffinityScore, placement_2_12_42_sums_matching_weights) {
  testing::World world;
  world.add(a_node("a").label("x", "1").label("y", "1")).add(a_node("b").label("y", "1")).add(a_node("c"));
  testing::Shape shape(a_pod("ns", "p")
                           .on_spec([](api::PodSpec& spec) {
                             spec.node_affinity.preferred = {{.weight = 80, .preference = label("x", "Exists")},
                                                             {.weight = 20, .preference = label("y", "Exists")},
                                                             {.weight = 50, .preference = {}}};
                           })
                           .obj());
  const auto plugin = testing::make<NodeAffinity>();
  EXPECT_EQ(plugin->score(shape.shape(), testing::info(world, "a")), 100);
  EXPECT_EQ(plugin->score(shape.shape(), testing::info(world, "b")), 20);
  EXPECT_EQ(plugin->score(shape.shape(), testing::info(world, "c")), 0);
}

TEST(NodeAffinityArgs, AnUnknownKeyIsAnError) {
  const auto created = NodeAffinity::create(nlohmann::json::parse(R"({"addedAfinity": {}})"), {});
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().path, "addedAfinity");
}

}  // namespace
}  // namespace muster::plugins

#include "api/core/pod.h"

#include "api/testing/builders.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using testing::a_toleration;

Container cpu(Amount milli) {
  return {.name = "c", .requests = {{"cpu", milli}}};
}

Container sidecar(Amount milli) {
  Container container = cpu(milli);
  container.restartable_init = true;
  return container;
}

struct RequestCase {
  std::string name{};
  PodSpec spec{};
  ResourceAmounts want{};
};

class PodRequests : public ::testing::TestWithParam<RequestCase> {};

TEST_P(PodRequests, FollowsKubernetesRule) {
  EXPECT_EQ(pod_requests(GetParam().spec), GetParam().want);
}

// The numbers are those of spec/placement.md §2.12.
INSTANTIATE_TEST_SUITE_P(
    Placement, PodRequests,
    ::testing::Values(
        RequestCase{"case_1_init_peak_wins",
                    {.init_containers = {cpu(1000)}, .containers = {cpu(500), cpu(300)}},
                    {{"cpu", 1000}}},
        RequestCase{"case_2_sidecar_before_init",
                    {.init_containers = {sidecar(200), cpu(400)}, .containers = {cpu(500)}},
                    {{"cpu", 700}}},
        RequestCase{"case_3_sidecar_after_init",
                    {.init_containers = {cpu(400), sidecar(200)}, .containers = {cpu(100)}},
                    {{"cpu", 400}}},
        RequestCase{"case_4_two_sidecars",
                    {.init_containers = {sidecar(200), sidecar(300), cpu(600)}, .containers = {cpu(100)}},
                    {{"cpu", 1100}}},
        RequestCase{"case_5_overhead_after_maximum",
                    {.init_containers = {cpu(1000)}, .containers = {cpu(500), cpu(300)}, .overhead = {{"cpu", 250}}},
                    {{"cpu", 1250}}},
        RequestCase{"case_6_pod_level_replaces",
                    {.containers = {{.requests = {{"cpu", 3000}, {"memory", 2048}}}},
                     .pod_requests = ResourceAmounts{{"cpu", 4000}}},
                    {{"cpu", 4000}, {"memory", 2048}}},
        RequestCase{"case_6_pod_level_with_overhead",
                    {.containers = {{.requests = {{"cpu", 3000}}}},
                     .pod_requests = ResourceAmounts{{"cpu", 4000}},
                     .overhead = {{"cpu", 100}}},
                    {{"cpu", 4100}}},
        RequestCase{"case_11_extended_resources_add",
                    {.containers = {{.requests = {{"example.com/gpu", 1}}}, {.requests = {{"example.com/gpu", 1}}}}},
                    {{"example.com/gpu", 2}}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Edges, PodRequests,
    ::testing::Values(RequestCase{"nothing", {}, {}},
                      RequestCase{"limits_do_not_count", {.containers = {{.limits = {{"cpu", 1000}}}}}, {}},
                      RequestCase{"pod_level_may_lower",
                                  {.containers = {cpu(3000)}, .pod_requests = ResourceAmounts{{"cpu", 1000}}},
                                  {{"cpu", 1000}}},
                      RequestCase{"pod_level_ignores_extended",
                                  {.containers = {cpu(1)}, .pod_requests = ResourceAmounts{{"example.com/gpu", 4}}},
                                  {{"cpu", 1}}},
                      RequestCase{"pod_level_hugepages",
                                  {.containers = {cpu(1)}, .pod_requests = ResourceAmounts{{"hugepages-2Mi", 4}}},
                                  {{"cpu", 1}, {"hugepages-2Mi", 4}}},
                      RequestCase{
                          "sums_saturate",
                          {.containers = {{.requests = {{"memory", kUnlimited - 1}}}, {.requests = {{"memory", 5}}}}},
                          {{"memory", kUnlimited}}},
                      RequestCase{"init_of_another_resource",
                                  {.init_containers = {{.requests = {{"memory", 7}}}}, .containers = {cpu(2)}},
                                  {{"cpu", 2}, {"memory", 7}}}),
    [](const auto& row) { return row.param.name; });

struct TolerationCase {
  std::string name{};
  Toleration toleration{};
  Taint taint{};
  bool want = false;
};

class Tolerates : public ::testing::TestWithParam<TolerationCase> {};

TEST_P(Tolerates, JudgesTaint) {
  EXPECT_EQ(tolerates(GetParam().toleration, GetParam().taint), GetParam().want);
  EXPECT_EQ(tolerates(std::vector{GetParam().toleration}, GetParam().taint), GetParam().want);
}

Taint taint(const std::string& effect) {
  return {.key = "k", .value = "v", .effect = effect};
}

INSTANTIATE_TEST_SUITE_P(
    Table, Tolerates,
    ::testing::Values(
        TolerationCase{"case_33_exists", a_toleration("k", "Exists"), taint("NoSchedule"), true},
        TolerationCase{"case_33_other_value", a_toleration("k", "Equal", "w"), taint("NoSchedule"), false},
        TolerationCase{"case_33_exists_without_key", a_toleration("", "Exists"), taint("NoExecute"), true},
        TolerationCase{"case_34_other_effect", a_toleration("k", "Exists", "", "NoExecute"), taint("NoSchedule"),
                       false},
        TolerationCase{"case_36_cordon",
                       a_toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
                       {.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"},
                       true},
        TolerationCase{"equal", a_toleration("k", "Equal", "v"), taint("NoSchedule"), true},
        TolerationCase{"empty_operator_is_equal", a_toleration("k", "", "v"), taint("NoSchedule"), true},
        TolerationCase{"other_key", a_toleration("x", "Exists"), taint("NoSchedule"), false},
        TolerationCase{"empty_key_needs_exists", a_toleration("", "Equal", "v"), taint("NoSchedule"), false},
        TolerationCase{"lt_never", a_toleration("k", "Lt", "v"), taint("NoSchedule"), false},
        TolerationCase{"same_effect", a_toleration("k", "Exists", "", "NoSchedule"), taint("NoSchedule"), true}),
    [](const auto& row) { return row.param.name; });

TEST(Tolerates, NothingWithoutTolerations) {
  EXPECT_FALSE(tolerates(std::vector<Toleration>{}, taint("NoSchedule")));
}

struct RequirementCase {
  std::string name{};
  NodeSelectorRequirement requirement{};
  bool want = false;
};

class NodeRequirement : public ::testing::TestWithParam<RequirementCase> {};

TEST_P(NodeRequirement, JudgesLabels) {
  const StringMap labels = {{"zone", "z1"}, {"cores", "5"}, {"word", "abc"}};
  EXPECT_EQ(matches(GetParam().requirement, labels), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Table, NodeRequirement,
                         ::testing::Values(RequirementCase{"in", {"zone", "In", {"z0", "z1"}}, true},
                                           RequirementCase{"in_absent", {"rack", "In", {"r"}}, false},
                                           RequirementCase{"not_in", {"zone", "NotIn", {"z1"}}, false},
                                           RequirementCase{"case_38_not_in_absent", {"rack", "NotIn", {"r"}}, true},
                                           RequirementCase{"exists", {"zone", "Exists", {}}, true},
                                           RequirementCase{"does_not_exist", {"zone", "DoesNotExist", {}}, false},
                                           RequirementCase{"gt", {"cores", "Gt", {"4"}}, true},
                                           RequirementCase{"case_38_gt_equal", {"cores", "Gt", {"5"}}, false},
                                           RequirementCase{"case_38_gt_word", {"word", "Gt", {"5"}}, false},
                                           RequirementCase{"gt_absent", {"rack", "Gt", {"5"}}, false},
                                           RequirementCase{"gt_bad_bound", {"cores", "Gt", {"x"}}, false},
                                           RequirementCase{"gt_two_values", {"cores", "Gt", {"1", "2"}}, false},
                                           RequirementCase{"lt", {"cores", "Lt", {"6"}}, true},
                                           RequirementCase{"unknown_operator", {"zone", "Like", {"z1"}}, false}),
                         [](const auto& row) { return row.param.name; });

TEST(NodeTerm, Case37EmptyTermMatchesNothing) {
  EXPECT_FALSE(matches(NodeSelectorTerm{}, {{"zone", "z1"}}, "a"));
}

TEST(NodeTerm, AndsExpressionsAndFields) {
  const NodeSelectorTerm term{.match_expressions = {{"zone", "In", {"z1"}}},
                              .match_fields = {{"metadata.name", "In", {"a"}}}};
  EXPECT_TRUE(matches(term, {{"zone", "z1"}}, "a"));
  EXPECT_FALSE(matches(term, {{"zone", "z1"}}, "b"));
  EXPECT_FALSE(matches(term, {{"zone", "z2"}}, "a"));
}

TEST(NodeTerm, FieldsKnowOnlyTheNameWithOneValue) {
  EXPECT_TRUE(matches(NodeSelectorTerm{.match_fields = {{"metadata.name", "NotIn", {"b"}}}}, {}, "a"));
  EXPECT_FALSE(matches(NodeSelectorTerm{.match_fields = {{"metadata.name", "In", {"a", "b"}}}}, {}, "a"));
  EXPECT_FALSE(matches(NodeSelectorTerm{.match_fields = {{"metadata.uid", "In", {"a"}}}}, {}, "a"));
  EXPECT_FALSE(matches(NodeSelectorTerm{.match_fields = {{"metadata.name", "Exists", {}}}}, {}, "a"));
}

TEST(Pods, AreTerminalOnlyWhenDone) {
  EXPECT_TRUE(is_terminal(testing::a_pod("ns", "p").phase("Succeeded")));
  EXPECT_TRUE(is_terminal(testing::a_pod("ns", "p").phase("Failed")));
  EXPECT_FALSE(is_terminal(testing::a_pod("ns", "p").phase("Running")));
  EXPECT_FALSE(is_terminal(testing::a_pod("ns", "p").phase("Unknown")));
}

}  // namespace
}  // namespace muster::api

#include "plugins/node_resources_fit/node_resources_fit.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)
using framework::Code;

NodeBuilder standard_node() {
  return a_node("a").allocatable("cpu", "4").allocatable("memory", "8Gi");
}

PodBuilder using_node(const std::string& name) {
  return a_pod("ns", name).node("a");
}

struct Case {
  std::string name{};
  NodeBuilder node = standard_node();
  std::optional<PodBuilder> used{};
  PodBuilder pod = a_pod("ns", "p");
  std::string args{"{}"};
  Amount fit = 0;  // of 200 wanted
  Code code = Code::kSuccess;
  std::string message{};
};

class FitCapacity : public ::testing::TestWithParam<Case> {};

TEST_P(FitCapacity, SaysHowManyAndWhyNone) {
  const Case& c = GetParam();
  testing::World world;
  world.add(c.node);
  if (c.used) {
    world.add(*c.used);
  }
  testing::Shape shape(c.pod.obj());
  const auto [fit, verdict] =
      testing::make<NodeResourcesFit>(c.args)->capacity(shape.shape(), testing::info(world, "a"), 200);
  EXPECT_EQ(fit, c.fit);
  EXPECT_EQ(verdict.code(), c.code);
  EXPECT_EQ(verdict.message(), c.message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FitCapacity,
    ::testing::Values(
        Case{.name = "by_the_scarcest_resource",
             .pod = a_pod("ns", "p").request("cpu", "300m").request("memory", "1Gi"),
             .fit = 8},
        Case{.name = "by_pods", .pod = a_pod("ns", "p").request("cpu", "1m"), .fit = 110},
        Case{.name = "placement_2_12_12",
             .used = using_node("u").request("cpu", "3500m"),
             .pod = a_pod("ns", "p").request("cpu", "600m"),
             .code = Code::kUnschedulable,
             .message = "Insufficient cpu"},
        Case{.name = "placement_2_12_13",
             .pod = a_pod("ns", "p").request("cpu", "4500m"),
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient cpu"},
        Case{.name = "placement_2_12_14",
             .used = using_node("u").request("cpu", "3500m"),
             .pod = a_pod("ns", "p").request("cpu", "600m").request("memory", "9Gi"),
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient cpu, Insufficient memory"},
        Case{.name = "placement_2_12_15_zero_request_on_a_full_node",
             .used = using_node("u").request("cpu", "4200m"),
             .pod = a_pod("ns", "p").request("cpu", "0").request("memory", "1Gi"),
             .fit = 8},
        Case{.name = "over_committed",
             .used = using_node("u").request("cpu", "4200m"),
             .pod = a_pod("ns", "p").request("cpu", "1m"),
             .code = Code::kUnschedulable,
             .message = "Insufficient cpu"},
        Case{.name = "placement_2_12_16",
             .node = standard_node().allocatable("pods", "1"),
             .used = using_node("u"),
             .code = Code::kUnschedulable,
             .message = "Too many pods"},
        Case{.name = "placement_2_12_17",
             .node = standard_node().allocatable("pods", "1"),
             .used = using_node("u").request("cpu", "3500m"),
             .pod = a_pod("ns", "p").request("cpu", "600m"),
             .code = Code::kUnschedulable,
             .message = "Too many pods, Insufficient cpu"},
        Case{.name = "placement_2_12_18",
             .pod = a_pod("ns", "p").request("example.com/gpu", "1"),
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient example.com/gpu"},
        Case{.name = "placement_2_12_18_ignored",
             .pod = a_pod("ns", "p").request("example.com/gpu", "1"),
             .args = R"({"ignoredResources": ["example.com/gpu"]})",
             .fit = 110},
        Case{.name = "placement_2_12_18_group_ignored",
             .pod = a_pod("ns", "p").request("example.com/gpu", "1"),
             .args = R"({"ignoredResourceGroups": ["example.com"]})",
             .fit = 110},
        Case{.name = "placement_2_12_19",
             .pod = a_pod("ns", "p").request("cpu", "4500m"),
             .args = R"({"ignoredResources": ["cpu"]})",
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient cpu"},
        Case{.name = "placement_2_12_20",
             .node = standard_node().allocatable("hugepages-2Mi", "512Mi"),
             .pod = a_pod("ns", "p").request("hugepages-2Mi", "1Gi"),
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient hugepages-2Mi"},
        Case{.name = "unknown_plain_names_mean_nothing", .pod = a_pod("ns", "p").request("licenses", "7"), .fit = 110},
        Case{.name = "storage_before_scalars",
             .pod = a_pod("ns", "p").request("a.com/x", "1").request("ephemeral-storage", "1Gi"),
             .code = Code::kUnschedulableAndUnresolvable,
             .message = "Insufficient ephemeral-storage, Insufficient a.com/x"},
        Case{.name = "placement_2_12_10_finished_pods_are_free",
             .used = using_node("u").request("cpu", "4").phase("Succeeded"),
             .pod = a_pod("ns", "p").request("cpu", "4"),
             .fit = 1},
        Case{.name = "placement_2_12_10_terminating_pods_are_not",
             .used = using_node("u").request("cpu", "4").phase("Running").deleted(at(1)),
             .pod = a_pod("ns", "p").request("cpu", "4"),
             .code = Code::kUnschedulable,
             .message = "Insufficient cpu"}),
    [](const auto& row) { return row.param.name; });

struct ScoreCase {
  std::string name{};
  NodeBuilder node = standard_node();
  std::optional<PodBuilder> used{};
  PodBuilder pod = a_pod("ns", "p");
  std::string strategy{};
  std::int64_t score = 0;
};

class FitScore : public ::testing::TestWithParam<ScoreCase> {};

TEST_P(FitScore, FollowsTheStrategy) {
  const ScoreCase& c = GetParam();
  testing::World world;
  world.add(c.node);
  if (c.used) {
    world.add(*c.used);
  }
  testing::Shape shape(c.pod.obj());
  const auto plugin = testing::make<NodeResourcesFit>(R"({"scoringStrategy": )" + c.strategy + "}");
  EXPECT_EQ(plugin->score(shape.shape(), testing::info(world, "a")), c.score);
}

const PodBuilder kOneCpu = a_pod("ns", "p").request("cpu", "1").request("memory", "2Gi");
const PodBuilder kOneCpuUsed = using_node("u").request("cpu", "1").request("memory", "2Gi");
const PodBuilder kEmptyPod =
    a_pod("ns", "p").on_spec([](api::PodSpec& spec) { spec.containers.push_back({.name = "c"}); });

std::string ratio(const std::string& points, const std::string& resources = R"([{"name": "cpu"}])") {
  return R"({"type": "RequestedToCapacityRatio", "resources": )" + resources +
         R"(, "requestedToCapacityRatio": {"shape": )" + points + "}}";
}

constexpr char kRising[] = R"([{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}])";
constexpr char kFalling[] = R"([{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}])";
constexpr char kMiddle[] = R"([{"utilization": 40, "score": 2}, {"utilization": 80, "score": 8}])";
constexpr char kCase27[] = R"([{"utilization": 40, "score": 2}, {"utilization": 80, "score": 10}])";

INSTANTIATE_TEST_SUITE_P(
    Table, FitScore,
    ::testing::Values(
        ScoreCase{.name = "placement_2_12_21", .used = kOneCpuUsed, .pod = kOneCpu, .strategy = "{}", .score = 50},
        ScoreCase{.name = "placement_2_12_22_weights",
                  .pod = a_pod("ns", "p").request("cpu", "3200m").request("memory", "3435973836"),
                  .strategy = R"({"resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]})",
                  .score = 30},
        ScoreCase{.name = "placement_2_12_23", .pod = kEmptyPod, .strategy = "{}", .score = 97},
        ScoreCase{.name = "placement_2_12_24_most",
                  .used = kOneCpuUsed,
                  .pod = kOneCpu,
                  .strategy = R"({"type": "MostAllocated"})",
                  .score = 50},
        ScoreCase{.name = "placement_2_12_24_over_most",
                  .pod = a_pod("ns", "p").request("cpu", "5"),
                  .strategy = R"({"type": "MostAllocated", "resources": [{"name": "cpu"}]})",
                  .score = 100},
        ScoreCase{.name = "placement_2_12_24_over_least",
                  .pod = a_pod("ns", "p").request("cpu", "5"),
                  .strategy = R"({"resources": [{"name": "cpu"}]})",
                  .score = 0},
        ScoreCase{.name = "placement_2_12_25_zero_leaves_the_average",
                  .node = standard_node().allocatable("ephemeral-storage", "10Gi"),
                  .pod = a_pod("ns", "p").request("cpu", "3"),
                  .strategy = ratio(kRising, R"([{"name": "cpu"}, {"name": "ephemeral-storage"}])"),
                  .score = 75},
        ScoreCase{.name = "placement_2_12_26",
                  .pod = a_pod("ns", "p").request("cpu", "5"),
                  .strategy = ratio(kFalling),
                  .score = 0},
        ScoreCase{.name = "placement_2_12_27_between",
                  .pod = a_pod("ns", "p").request("cpu", "2400m"),
                  .strategy = ratio(kCase27),
                  .score = 60},
        ScoreCase{.name = "placement_2_12_27_below",
                  .pod = a_pod("ns", "p").request("cpu", "400m"),
                  .strategy = ratio(kCase27),
                  .score = 20},
        ScoreCase{.name = "placement_2_12_27_above",
                  .pod = a_pod("ns", "p").request("cpu", "3800m"),
                  .strategy = ratio(kCase27),
                  .score = 100},
        ScoreCase{.name = "flat_beyond_the_last_point",
                  .pod = a_pod("ns", "p").request("cpu", "4"),
                  .strategy = ratio(kMiddle),
                  .score = 80},
        ScoreCase{.name = "an_extended_resource_not_asked_for_is_skipped",
                  .node = standard_node().allocatable("example.com/gpu", "8"),
                  .used = kOneCpuUsed,
                  .pod = kOneCpu,
                  .strategy = R"({"resources": [{"name": "cpu"}, {"name": "example.com/gpu", "weight": 9}]})",
                  .score = 50}),
    [](const auto& row) { return row.param.name; });

struct BadArgs {
  std::string name{};
  std::string args{};
  std::string path{};
};

class FitArgs : public ::testing::TestWithParam<BadArgs> {};

TEST_P(FitArgs, AreStrict) {
  const auto created = NodeResourcesFit::create(nlohmann::json::parse(GetParam().args), {});
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().path, GetParam().path);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FitArgs,
    ::testing::Values(
        BadArgs{"unknown_key", R"({"ignored": []})", "ignored"},
        BadArgs{"group_with_slash", R"({"ignoredResourceGroups": ["a/b"]})", "ignoredResourceGroups"},
        BadArgs{"weight", R"({"scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]}})",
                "scoringStrategy.resources[0].weight"},
        BadArgs{"no_shape", R"({"scoringStrategy": {"type": "RequestedToCapacityRatio"}})",
                "scoringStrategy.requestedToCapacityRatio"},
        BadArgs{
            "shape_falls",
            R"({"scoringStrategy": {"requestedToCapacityRatio": {"shape": [{"utilization": 9, "score": 1}, {"utilization": 9, "score": 2}]}}})",
            "scoringStrategy.requestedToCapacityRatio.shape"},
        BadArgs{"type", R"({"scoringStrategy": {"type": "Best"}})", "scoringStrategy.type"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::plugins

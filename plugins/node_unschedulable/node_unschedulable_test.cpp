#include "plugins/node_unschedulable/node_unschedulable.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)
using testing::Shape;

struct Case {
  std::string name{};
  NodeBuilder node = a_node("a");
  PodBuilder pod = a_pod("ns", "p");
  std::vector<api::Toleration> flavor_tolerations{};
  std::string message{};  // empty: the pod may run there
};

class NodeUnschedulableFilter : public ::testing::TestWithParam<Case> {};

TEST_P(NodeUnschedulableFilter, GivesVerdict) {
  const Case& c = GetParam();
  testing::World world;
  world.add(c.node);
  Shape shape(c.pod.obj());
  shape.shape().flavor_tolerations = c.flavor_tolerations;
  const auto verdict = testing::make<NodeUnschedulable>()->filter_static(shape.shape(), testing::info(world, "a"));
  EXPECT_EQ(verdict.ok(), c.message.empty());
  EXPECT_EQ(verdict.message(), c.message);
  if (!c.message.empty()) {
    EXPECT_EQ(verdict.code(), framework::Code::kUnschedulableAndUnresolvable);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, NodeUnschedulableFilter,
    ::testing::Values(
        Case{.name = "open"},
        Case{.name = "cordoned", .node = a_node("a").unschedulable(), .message = "node(s) were unschedulable"},
        Case{.name = "placement_2_12_36_tolerated",
             .node = a_node("a").unschedulable(),
             .pod = a_pod("ns", "p").tolerate(a_toleration("node.kubernetes.io/unschedulable", "Exists", "",
                                                           "NoSchedule"))},
        Case{.name = "tolerated_by_the_flavor",
             .node = a_node("a").unschedulable(),
             .flavor_tolerations = {a_toleration("", "Exists")}},
        Case{.name = "tolerated_for_another_effect",
             .node = a_node("a").unschedulable(),
             .pod = a_pod("ns", "p").tolerate(a_toleration("node.kubernetes.io/unschedulable", "Exists", "",
                                                           "NoExecute")),
             .message = "node(s) were unschedulable"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::plugins

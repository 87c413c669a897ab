#include "plugins/node_ports/node_ports.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)

PodBuilder with_port(const std::string& name, const api::HostPort& port) {
  return a_pod("ns", name).on_spec([&port](api::PodSpec& spec) { spec.host_ports.push_back(port); });
}

struct Case {
  std::string name{};
  api::HostPort used{};
  api::HostPort wanted{};
  Amount fit = 0;
};

class NodePortsCapacity : public ::testing::TestWithParam<Case> {};

TEST_P(NodePortsCapacity, IsOneOrNone) {
  const Case& c = GetParam();
  testing::World world;
  world.add(a_node("a")).add(with_port("other", c.used).node("a"));
  testing::Shape shape(with_port("p", c.wanted).obj());
  const auto [fit, verdict] = testing::make<NodePorts>()->capacity(shape.shape(), testing::info(world, "a"), 4);
  EXPECT_EQ(fit, c.fit);
  if (c.fit == 0) {
    EXPECT_EQ(verdict.code(), framework::Code::kUnschedulable);
    EXPECT_EQ(verdict.message(), "node(s) didn't have free ports for the requested pod ports");
  }
}

INSTANTIATE_TEST_SUITE_P(Table, NodePortsCapacity,
                         ::testing::Values(Case{.name = "placement_2_12_43_taken",
                                                .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                .wanted = {.ip = "0.0.0.0", .protocol = "TCP", .port = 80}},
                                           Case{.name = "placement_2_12_43_other_address",
                                                .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                .wanted = {.ip = "10.0.0.1", .protocol = "TCP", .port = 80},
                                                .fit = 1},
                                           Case{.name = "placement_2_12_43_other_protocol",
                                                .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                .wanted = {.ip = "0.0.0.0", .protocol = "UDP", .port = 80},
                                                .fit = 1}),
                         [](const auto& row) { return row.param.name; });

TEST(NodePorts, AShapeWithoutPortsIsNotLimited) {
  testing::World world;
  world.add(a_node("a"));
  testing::Shape shape(a_pod("ns", "p").obj());
  EXPECT_EQ(testing::make<NodePorts>()->capacity(shape.shape(), testing::info(world, "a"), 4).first, 4);
}

}  // namespace
}  // namespace muster::plugins

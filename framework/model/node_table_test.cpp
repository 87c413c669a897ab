#include "framework/model/node_table.h"

#include <gtest/gtest.h>

#include <random>

namespace muster::framework {
namespace {

std::shared_ptr<const api::Node> a_node(const std::string& name, api::ResourceAmounts allocatable) {
  auto node = std::make_shared<api::Node>();
  node->meta.name = name;
  node->allocatable = std::move(allocatable);
  return node;
}

class NodeTableTest : public ::testing::Test {
 protected:
  NodeId id(const std::string& name) const { return nodes.find(NodeName(name)).value(); }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const NodeId node : nodes.ids()) {
      all.push_back(nodes.name(node).str());
    }
    return all;
  }

  void roll_back(std::size_t mark) {
    while (undo.size() > mark) {
      nodes.undo(undo.pop());
    }
    undo.end();
  }

  UndoLog undo{};
  NodeTable nodes{undo};
};

TEST_F(NodeTableTest, ListsNodesInNameOrderWhateverTheOrderOfArrival) {
  for (const char* name : {"c", "a", "d", "b"}) {
    nodes.upsert(a_node(name, {}));
  }
  nodes.remove(NodeName("d"));
  nodes.upsert(a_node("a", {{"cpu", 1}}));
  EXPECT_EQ(names(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(NodeTableTest, CountsPodsAsAResource) {
  nodes.upsert(a_node("a", {{"cpu", 4000}, {"pods", 110}}));
  nodes.add(NodeName("a"), {.requests = {{"cpu", 300}}}, 3);
  EXPECT_EQ(nodes.used(id("a"), "cpu"), 900);
  EXPECT_EQ(nodes.free(id("a"), "cpu"), 3100);
  EXPECT_EQ(nodes.used(id("a"), "pods"), 3);
  EXPECT_EQ(nodes.free_pods(id("a")), 107);
  EXPECT_EQ(nodes.free(id("a"), "example.com/gpu"), 0);
}

TEST_F(NodeTableTest, FreeMayBeNegative) {
  nodes.upsert(a_node("a", {{"cpu", 4000}}));
  nodes.add(NodeName("a"), {.requests = {{"cpu", 4200}}}, 1);
  EXPECT_EQ(nodes.free(id("a"), "cpu"), -200);
}

TEST_F(NodeTableTest, NewAllocatableReplacesTheOld) {
  nodes.upsert(a_node("a", {{"cpu", 4000}, {"example.com/gpu", 8}}));
  nodes.upsert(a_node("a", {{"cpu", 2000}}));
  EXPECT_EQ(nodes.allocatable(id("a"), "cpu"), 2000);
  EXPECT_EQ(nodes.allocatable(id("a"), "example.com/gpu"), 0);
}

TEST_F(NodeTableTest, PodsMayComeBeforeTheirNodeAndOutliveIt) {
  nodes.add(NodeName("a"), {.requests = {{"cpu", 100}}}, 1);
  EXPECT_EQ(nodes.size(), 0u);
  EXPECT_EQ(nodes.find(NodeName("a")), std::nullopt);
  nodes.upsert(a_node("a", {{"cpu", 1000}}));
  EXPECT_EQ(nodes.free(id("a"), "cpu"), 900);
  nodes.remove(NodeName("a"));
  EXPECT_EQ(nodes.find(NodeName("a")), std::nullopt);
  nodes.upsert(a_node("a", {{"cpu", 1000}}));
  EXPECT_EQ(nodes.free(id("a"), "cpu"), 900);
}

TEST_F(NodeTableTest, AGhostLeavesNothingBehindOnceItsPodsAreGone) {
  const std::uint64_t empty = nodes.hash();
  nodes.upsert(a_node("a", {{"cpu", 1000}}));
  nodes.add(NodeName("a"), {.requests = {{"cpu", 100}}}, 1);
  nodes.remove(NodeName("a"));
  nodes.release(NodeName("a"), {.requests = {{"cpu", 100}}}, 1);
  EXPECT_EQ(nodes.hash(), empty);
  nodes.upsert(a_node("b", {{"cpu", 1}}));
  EXPECT_EQ(id("b"), 0u) << "the row of the ghost is used again";
}

TEST_F(NodeTableTest, AnAbsurdRequestCanBeTakenBack) {
  nodes.upsert(a_node("a", {{"cpu", 1000}}));
  const std::uint64_t before = nodes.hash();
  const PodFootprint huge{.requests = {{"cpu", kUnlimited}}};
  nodes.add(NodeName("a"), huge, 500);
  EXPECT_LT(nodes.free(id("a"), "cpu"), 0);
  nodes.release(NodeName("a"), huge, 500);
  EXPECT_EQ(nodes.free(id("a"), "cpu"), 1000);
  EXPECT_EQ(nodes.hash(), before);
}

TEST_F(NodeTableTest, EqualStatesHashEqualWhateverTheirHistory) {
  UndoLog other_undo;
  NodeTable other(other_undo);
  nodes.upsert(a_node("a", {{"cpu", 1}, {"memory", 2}}));
  nodes.upsert(a_node("b", {{"example.com/gpu", 3}}));
  nodes.add(NodeName("b"), {.requests = {{"example.com/gpu", 1}}, .host_ports = {{.port = 80}, {.port = 81}}}, 1);
  other.add(NodeName("b"), {.requests = {{"example.com/gpu", 1}}, .host_ports = {{.port = 81}, {.port = 80}}}, 1);
  other.add(NodeName("z"), {.requests = {{"hugepages-2Mi", 1}}}, 1);
  other.release(NodeName("z"), {.requests = {{"hugepages-2Mi", 1}}}, 1);
  other.upsert(a_node("b", {{"example.com/gpu", 3}}));
  other.upsert(a_node("a", {{"memory", 2}, {"cpu", 1}}));
  EXPECT_EQ(nodes.hash(), other.hash());
  other.add(NodeName("a"), {}, 1);
  EXPECT_NE(nodes.hash(), other.hash());
}

TEST_F(NodeTableTest, EveryChangeMovesTheGeneration) {
  std::uint64_t last = nodes.generation();
  const auto moved = [&] { return std::exchange(last, nodes.generation()) < nodes.generation(); };
  nodes.upsert(a_node("a", {{"cpu", 1}}));
  EXPECT_TRUE(moved());
  nodes.add(NodeName("a"), {}, 1);
  EXPECT_TRUE(moved());
  nodes.release(NodeName("a"), {}, 1);
  EXPECT_TRUE(moved());
  undo.begin();
  nodes.add(NodeName("a"), {}, 1);
  EXPECT_TRUE(moved());
  roll_back(0);
  EXPECT_TRUE(moved());
  nodes.remove(NodeName("a"));
  EXPECT_TRUE(moved());
}

struct PortCase {
  std::string name{};
  api::HostPort used{};
  api::HostPort wanted{};
  bool taken = false;
};

class NodePortTaken : public NodeTableTest, public ::testing::WithParamInterface<PortCase> {};

TEST_P(NodePortTaken, AsKubernetesSays) {
  nodes.upsert(a_node("a", {}));
  nodes.add(NodeName("a"), {.host_ports = {GetParam().used}}, 1);
  EXPECT_EQ(nodes.port_taken(id("a"), GetParam().wanted), GetParam().taken);
  nodes.release(NodeName("a"), {.host_ports = {GetParam().used}}, 1);
  EXPECT_FALSE(nodes.port_taken(id("a"), GetParam().wanted));
}

INSTANTIATE_TEST_SUITE_P(Table, NodePortTaken,
                         ::testing::Values(PortCase{.name = "placement_2_12_43_any_address_clashes_with_one",
                                                    .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                    .wanted = {.ip = "0.0.0.0", .protocol = "TCP", .port = 80},
                                                    .taken = true},
                                           PortCase{.name = "placement_2_12_43_other_address",
                                                    .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                    .wanted = {.ip = "10.0.0.1", .protocol = "TCP", .port = 80}},
                                           PortCase{.name = "placement_2_12_43_other_protocol",
                                                    .used = {.ip = "127.0.0.1", .protocol = "TCP", .port = 80},
                                                    .wanted = {.ip = "0.0.0.0", .protocol = "UDP", .port = 80}},
                                           PortCase{.name = "no_protocol_is_tcp",
                                                    .used = {.port = 80},
                                                    .wanted = {.protocol = "TCP", .port = 80},
                                                    .taken = true},
                                           PortCase{.name = "no_address_is_any",
                                                    .used = {.port = 80},
                                                    .wanted = {.ip = "10.0.0.1", .port = 80},
                                                    .taken = true},
                                           PortCase{
                                               .name = "other_port", .used = {.port = 80}, .wanted = {.port = 81}}),
                         [](const auto& row) { return row.param.name; });

// Any order of changes inside nested speculation is undone exactly.
TEST_F(NodeTableTest, RollbackRestoresTheState) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const char* name : {"a", "b", "c"}) {
    nodes.upsert(a_node(name, {{"cpu", 1000}, {"pods", 10}}));
  }
  const auto some_pod = [&random] {
    PodFootprint pod{.requests = {{random() % 2 == 0 ? "cpu" : "example.com/gpu", Amount(random() % 5)}}};
    if (random() % 2 == 0) {
      pod.host_ports.push_back({.port = std::int32_t(80 + random() % 3)});
    }
    return pod;
  };
  const auto some_node = [&random] { return NodeName(std::string(1, static_cast<char>('a' + random() % 5))); };
  for (int round = 0; round < 50; ++round) {
    nodes.add(some_node(), some_pod(), 1);
    const std::uint64_t outer = nodes.hash();
    undo.begin();
    nodes.add(some_node(), some_pod(), 2);
    const std::uint64_t inner = nodes.hash();
    const std::size_t mark = undo.size();
    undo.begin();
    for (int step = 0; step < 10; ++step) {
      const NodeName node = some_node();
      const PodFootprint pod = some_pod();
      nodes.add(node, pod, 3);
      nodes.release(node, pod, Amount(random() % 4));
    }
    roll_back(mark);
    ASSERT_EQ(nodes.hash(), inner);
    roll_back(0);
    ASSERT_EQ(nodes.hash(), outer);
  }
}

}  // namespace
}  // namespace muster::framework

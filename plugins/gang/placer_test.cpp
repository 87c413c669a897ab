#include "plugins/gang/placer.h"

#include "plugins/gang/testing/gang_world.h"

#include <random>

namespace muster::plugins::gang {
namespace {

struct Case {
  std::string name{};
  std::vector<NodeBuilder> nodes{};
  WorkloadBuilder gang = gpu_gang("g", 1);
  std::string args{"{}"};
  Spots spots{};  // empty: no place
};

class OnePodset : public ::testing::TestWithParam<Case> {};

TEST_P(OnePodset, GoesWhereThePolicySays) {
  GangWorld world;
  world.add_all(GetParam().nodes).flavors({"f"});
  EXPECT_EQ(spots_of(world.filter(GetParam().gang, "f", GetParam().args).assignment.plan), GetParam().spots);
}

api::PreferredSchedulingTerm prefers(const std::string& label) {
  return {.weight = 1, .preference = {.match_expressions = {{.key = label, .op = "Exists"}}}};
}

constexpr char kSpread[] = R"({"placement": "spread"})";

INSTANTIATE_TEST_SUITE_P(
    Table, OnePodset,
    ::testing::Values(
        Case{.name = "the_largest_nodes_first",
             .nodes = {gpu_node("a", "2"), gpu_node("b", "8"), gpu_node("c", "4")},
             .gang = gpu_gang("g", 10),
             .spots = {{"b", 8}, {"a", 2}}},
        Case{.name = "the_rest_on_the_smallest_that_takes_it",
             .nodes = {gpu_node("a", "8"), gpu_node("b", "4"), gpu_node("c", "2")},
             .gang = gpu_gang("g", 3),
             .spots = {{"b", 3}}},
        Case{.name = "ties_to_the_lower_name",
             .nodes = {gpu_node("c", "4"), gpu_node("b", "4"), gpu_node("a", "4")},
             .gang = gpu_gang("g", 6),
             .spots = {{"a", 4}, {"b", 2}}},
        Case{.name = "one_too_many", .nodes = {gpu_node("a", "2"), gpu_node("b", "1")}, .gang = gpu_gang("g", 4)},
        Case{.name = "preferred_nodes_before_larger_ones",
             .nodes = {gpu_node("a", "8"), gpu_node("b", "2").label("fast", "")},
             .gang = gpu_gang("g", 3).on_spec([](api::PodSpec& s) { s.node_affinity.preferred = {prefers("fast")}; }),
             .spots = {{"a", 1}, {"b", 2}}},
        Case{.name = "a_node_that_prefers_no_pods_comes_last",
             .nodes = {gpu_node("a", "8").taint("x", "", "PreferNoSchedule"), gpu_node("b", "2")},
             .gang = gpu_gang("g", 2),
             .spots = {{"b", 2}}},
        Case{.name = "spread_over_equals",
             .nodes = {gpu_node("a", "4"), gpu_node("b", "4"), gpu_node("c", "4")},
             .gang = gpu_gang("g", 4).request("cpu", "1"),
             .args = kSpread,
             .spots = {{"a", 2}, {"b", 1}, {"c", 1}}},
        Case{.name = "spread_goes_on_where_there_is_room",
             .nodes = {gpu_node("a", "1"), gpu_node("b", "4")},
             .gang = gpu_gang("g", 5).request("cpu", "1"),
             .args = kSpread,
             .spots = {{"a", 1}, {"b", 4}}},
        Case{.name = "spread_one_too_many", .nodes = {gpu_node("a", "1")}, .gang = gpu_gang("g", 2), .args = kSpread}),
    [](const auto& row) { return row.param.name; });

TEST(SeveralPodsets, ShareNodes) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "4"), gpu_node("b", "4")}).flavors({"f"});
  const auto outcome = world.filter(a_workload("ns", "g")
                                        .pod_set("x", 2)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "3")
                                        .pod_set("y", 2)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "1"),
                                    "f");
  ASSERT_TRUE(outcome.verdict.ok()) << outcome.verdict.message();
  EXPECT_EQ(spots_of(outcome.assignment.plan, "x"), (Spots{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(spots_of(outcome.assignment.plan, "y"), (Spots{{"a", 1}, {"b", 1}}));
}

TEST(SeveralPodsets, PodsOfOtherSchedulersAreNotPlaced) {
  GangWorld world;
  world.add(gpu_node("a", "1")).flavors({"f"});
  const auto outcome = world.filter(a_workload("ns", "g")
                                        .pod_set("ours", 1)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "1")
                                        .pod_set("theirs", 5)
                                        .request("nvidia.com/gpu", "8"),
                                    "f");
  ASSERT_TRUE(outcome.verdict.ok()) << outcome.verdict.message();
  EXPECT_EQ(outcome.assignment.plan.size(), 1u);
}

TEST(SeveralPodsets, TheMessageIsAboutTheOneThatLacksMost) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "4"), gpu_node("b", "4")}).flavors({"f"});
  const auto outcome = world.filter(a_workload("ns", "g")
                                        .pod_set("x", 1)
                                        .scheduler("muster")
                                        .request("cpu", "1")
                                        .pod_set("y", 5)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "4"),
                                    "f");
  EXPECT_EQ(outcome.verdict.message(),
            "0/2 nodes are available for pod group \"ns/g\": 3 of 6 pods fit (x: 1/1, y: 2/5): "
            "2 Insufficient nvidia.com/gpu.");
  EXPECT_EQ(outcome.rejected.at(0).pod_set, "y");
}

TEST(SeveralPodsets, ABoundedSearchSaysSo) {
  GangWorld world;
  world.add(gpu_node("a", "3")).flavors({"f"});
  const auto outcome = world.filter(a_workload("ns", "g")
                                        .pod_set("x", 1)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "2")
                                        .pod_set("y", 1)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "2"),
                                    "f");
  EXPECT_EQ(outcome.verdict.message(),
            "0/1 nodes are available for pod group \"ns/g\": 1 of 2 pods fit (x: 1/1, y: 0/1): "
            "1 Insufficient nvidia.com/gpu. The search was bounded, another arrangement may exist.");
}

// ---- against references, on random clusters ----

class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  void fill(GangWorld& world) {
    const int nodes = 1 + below(6);
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      NodeBuilder node =
          a_node(name).allocatable("cpu", std::to_string(below(9))).allocatable("memory", std::to_string(below(9)));
      node.allocatable("pods", std::to_string(1 + below(6)));
      if (below(4) == 0) {
        node.taint("t", "", "NoSchedule");
      }
      if (below(3) == 0) {
        node.label("zone", "z");
      }
      world.add(node);
      if (below(2) == 0) {
        world.add(a_pod("other", name).node(name).request("cpu", std::to_string(below(5))));
      }
    }
    world.flavors({"f"});
  }

  WorkloadBuilder pod_set(WorkloadBuilder workload, const std::string& name) {
    workload.pod_set(name, 1 + below(8)).scheduler("muster");
    workload.request("cpu", std::to_string(below(4))).request("memory", std::to_string(below(3)));
    if (below(3) == 0) {
      workload.node_selector("zone", "z");
    }
    if (below(3) == 0) {
      workload.tolerate(a_toleration("t", "Exists"));
    }
    if (below(5) == 0) {
      workload.host_port(80);
    }
    return workload;
  }

 private:
  std::mt19937 random_;
};

// Would one more pod run on the node? Written from the rules, without the plugins.
bool takes_one(GangWorld& world, framework::NodeId id, const framework::PodSetTotals& pod_set) {
  const framework::NodeTable& nodes = world.model().nodes();
  const api::PodSpec& spec = pod_set.pod_template->spec;
  const api::Node& node = nodes.node(id);
  bool fits = nodes.free_pods(id) >= 1;
  for (const auto& [key, value] : spec.node_selector) {
    fits = fits && node.meta.labels.contains(key) && node.meta.labels.at(key) == value;
  }
  fits = fits && (node.taints.empty() || !spec.tolerations.empty());
  for (const auto& [resource, amount] : pod_set.per_pod.requests) {
    fits = fits && (amount == 0 || amount <= nodes.free(id, resource));
  }
  for (const api::HostPort& port : spec.host_ports) {
    fits = fits && !nodes.port_taken(id, port);
  }
  return fits;
}

framework::PlacementPlan one_slot(const framework::PodSetTotals& pod_set, const NodeName& node) {
  return {{.name = pod_set.name, .per_pod = pod_set.per_pod, .slots = {framework::NodeSlots{node, 1}}}};
}

// Pod by pod on the first node that takes it: exact for equal pods.
int place_one_by_one(GangWorld& world, const framework::PodSetTotals& pod_set) {
  const framework::NodeTable& nodes = world.model().nodes();
  framework::Transaction transaction(world.model());
  for (int placed = 0; placed < pod_set.count; ++placed) {
    const auto found = std::find_if(nodes.ids().begin(), nodes.ids().end(),
                                    [&](framework::NodeId id) { return takes_one(world, id, pod_set); });
    if (found == nodes.ids().end()) {
      return placed;
    }
    transaction.add_slots(one_slot(pod_set, nodes.name(*found)));
  }
  return pod_set.count;
}

// Every pod of the plan, one after the other, has room where it was put, and all pods are in it.
void expect_sound(GangWorld& world, const framework::WorkloadInfo& gang, const framework::PlacementPlan& plan) {
  framework::Transaction transaction(world.model());
  for (const framework::PodSetTotals& pod_set : gang.pod_sets) {
    int placed = 0;
    for (const auto& [node, count] : spots_of(plan, pod_set.name)) {
      const auto id = world.model().nodes().find(NodeName(node));
      ASSERT_TRUE(id.has_value());
      for (int i = 0; i < count; ++i, ++placed) {
        ASSERT_TRUE(takes_one(world, *id, pod_set)) << pod_set.name << " on " << node;
        transaction.add_slots(one_slot(pod_set, NodeName(node)));
      }
    }
    EXPECT_EQ(placed, pod_set.count) << pod_set.name;
  }
}

class PlacerProperty : public ::testing::TestWithParam<std::string> {};

TEST_P(PlacerProperty, EqualPodsArePlacedIfAndOnlyIfTheyFit) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomCluster random(seed);
  for (int round = 0; round < 200; ++round) {
    GangWorld world;
    random.fill(world);
    const auto gang = world.pending(random.pod_set(a_workload("ns", "g"), "main"), "cq");
    const auto outcome = world.filter(gang, GangWorld::assign(gang, "f"), {}, GetParam());
    const int fit = place_one_by_one(world, gang.pod_sets[0]);
    ASSERT_EQ(!outcome.assignment.plan.empty(), fit == gang.pod_sets[0].count) << "round " << round;
    if (outcome.assignment.plan.empty()) {
      const std::string text = std::to_string(fit) + " of " + std::to_string(gang.pod_sets[0].count) + " pods fit";
      const std::string& message = outcome.rejected.empty() ? outcome.verdict.message() : outcome.rejected[0].message;
      EXPECT_THAT(message, ::testing::HasSubstr(text));
    } else {
      expect_sound(world, gang, outcome.assignment.plan);
    }
  }
}

TEST_P(PlacerProperty, APlanOfSeveralPodsetsIsWholeAndHasRoom) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomCluster random(seed);
  int planned = 0;
  for (int round = 0; round < 200; ++round) {
    GangWorld world;
    random.fill(world);
    WorkloadBuilder workload = a_workload("ns", "g");
    for (const char* name : {"x", "y", "z"}) {
      workload = random.pod_set(workload, name);
    }
    const auto gang = world.pending(workload, "cq");
    const auto outcome = world.filter(gang, GangWorld::assign(gang, "f"), {}, GetParam());
    if (!outcome.assignment.plan.empty()) {
      expect_sound(world, gang, outcome.assignment.plan);
      ++planned;
    }
  }
  EXPECT_GT(planned, 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, PlacerProperty, ::testing::Values(R"({"placement": "pack"})", kSpread),
                         [](const auto& row) { return row.index == 0 ? "pack" : "spread"; });

}  // namespace
}  // namespace muster::plugins::gang

#include "plugins/gang/testing/gang_world.h"

namespace muster::plugins::gang {
namespace {

using framework::Code;
using framework::FitMode;

TEST(GangFilter, placement_2_12_84_names_how_many_fit) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "2"), gpu_node("b", "1"), gpu_node("c", "0")}).flavors({"f"});
  const auto outcome = world.filter(gpu_gang("g", 4), "f");
  const std::string message =
      "0/3 nodes are available for pod group \"ns/g\": 3 of 4 pods fit (main: 3/4): 3 Insufficient nvidia.com/gpu.";
  EXPECT_EQ(outcome.verdict.code(), Code::kUnschedulable);
  EXPECT_EQ(outcome.verdict.reason(), "TopologyPlacementFailed");
  EXPECT_EQ(outcome.verdict.message(), message);
  EXPECT_TRUE(outcome.assignment.plan.empty());
  EXPECT_TRUE(outcome.assignment.wants_nodes);
  ASSERT_EQ(outcome.rejected.size(), 1u);
  EXPECT_EQ(outcome.rejected[0], (framework::FlavorExclusion{.pod_set = "main",
                                                             .flavor = FlavorName("f"),
                                                             .reason = "TopologyPlacementFailed",
                                                             .message = message,
                                                             .preemption_helps = false}));
  EXPECT_THAT(outcome.verdict.wakes(), ::testing::Contains(framework::Wake{framework::WakeKind::kNodes, ""}));
}

TEST(GangFilter, placement_2_12_85_two_gangs_never_share_a_slot) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "2"), gpu_node("b", "2")}).flavors({"f"});
  const auto first = world.filter(gpu_gang("g1", 3), "f");
  ASSERT_TRUE(first.verdict.ok());
  const auto other = world.pending(gpu_gang("g2", 3), "cq");
  framework::Transaction cycle(world.model());
  cycle.add_slots(first.assignment.plan);
  const auto second = world.filter(other, GangWorld::assign(other, "f"));
  EXPECT_EQ(second.verdict.code(), Code::kUnschedulable);
  EXPECT_TRUE(second.rejected.at(0).preemption_helps) << "the other gang's leaving would do";
}

TEST(GangFilter, placement_2_12_87_leader_takes_the_large_node) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "8"), gpu_node("b", "4"), gpu_node("c", "4")}).flavors({"f"});
  const auto outcome = world.filter(a_workload("ns", "g")
                                        .pod_set("workers", 4)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "2")
                                        .pod_set("leader", 1)
                                        .scheduler("muster")
                                        .request("nvidia.com/gpu", "8"),
                                    "f");
  ASSERT_TRUE(outcome.verdict.ok()) << outcome.verdict.message();
  EXPECT_EQ(spots_of(outcome.assignment.plan, "leader"), (Spots{{"a", 1}}));
  EXPECT_EQ(spots_of(outcome.assignment.plan, "workers"), (Spots{{"b", 2}, {"c", 2}}));
}

TEST(GangFilter, placement_2_12_44_host_ports_one_a_node) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "8"), gpu_node("b", "8"), gpu_node("c", "8")}).flavors({"f"});
  const auto outcome = world.filter(gpu_gang("g", 4).host_port(80), "f");
  EXPECT_EQ(outcome.verdict.message(),
            "0/3 nodes are available for pod group \"ns/g\": 3 of 4 pods fit (main: 3/4): "
            "3 node(s) didn't have free ports for the requested pod ports.");
  EXPECT_EQ(spots_of(world.filter(gpu_gang("h", 3).host_port(80), "f").assignment.plan),
            (Spots{{"a", 1}, {"b", 1}, {"c", 1}}));
}

TEST(GangFilter, placement_2_12_40_named_nodes) {
  GangWorld world;
  world.add_all<NodeBuilder>({gpu_node("a", "1"), gpu_node("b", "1"), gpu_node("c", "1")}).flavors({"f"});
  const auto named = [](const std::string& node) {
    return api::NodeSelectorTerm{.match_fields = {{.key = "metadata.name", .op = "In", .values = {node}}}};
  };
  const auto outcome = world.filter(gpu_gang("g", 3).on_spec([&](api::PodSpec& spec) {
    spec.node_affinity.required = {{named("a"), named("b")}};
  }),
                                    "f");
  EXPECT_EQ(outcome.verdict.message(),
            "0/3 nodes are available for pod group \"ns/g\": 2 of 3 pods fit (main: 2/3): "
            "1 node(s) didn't satisfy plugin(s) [NodeAffinity], 2 Insufficient nvidia.com/gpu.");
}

TEST(GangFilter, placement_2_12_41_a_pre_filter_text_stands_alone) {
  GangWorld world;
  world.add(gpu_node("a", "1")).flavors({"f"});
  const auto outcome = world.filter(gpu_gang("g", 1).on_spec([&](api::PodSpec& spec) {
    spec.node_affinity.required = {{{.match_fields = {{.key = "metadata.name", .op = "In", .values = {"a"}},
                                                      {.key = "metadata.name", .op = "In", .values = {"b"}}}}}};
  }),
                                    "f");
  EXPECT_EQ(
      outcome.verdict.message(),
      "0/1 nodes are available for pod group \"ns/g\": 0 of 1 pods fit (main: 0/1): pod affinity terms conflict.");
}

TEST(GangFilter, placement_2_12_71_counts_are_sorted_as_text) {
  GangWorld world;
  world.flavors({"f"});
  for (int i = 0; i < 19; ++i) {
    NodeBuilder node = gpu_node("n" + std::to_string(i), "0");
    world.add(i < 10 ? node.unschedulable() : node);
  }
  EXPECT_EQ(world.filter(gpu_gang("g", 1), "f").verdict.message(),
            "0/19 nodes are available for pod group \"ns/g\": 0 of 1 pods fit (main: 0/1): "
            "10 node(s) were unschedulable, 9 Insufficient nvidia.com/gpu.");
}

TEST(GangFilter, placement_2_12_72_no_nodes) {
  GangWorld world;
  world.flavors({"f"});
  EXPECT_EQ(world.filter(gpu_gang("g", 1), "f").verdict.message(), "no nodes available to schedule pods");
}

TEST(GangFilter, FlavorLabelsAndTolerationsDecideAboutNodes) {
  GangWorld world;
  world.add(gpu_node("a", "4").label("pool", "x"))
      .add(gpu_node("b", "4").label("pool", "y").taint("y", "", "NoSchedule"));
  world.add(a_flavor("y").node_label("pool", "y").toleration(a_toleration("y", "Exists")));
  world.add(a_flavor("z").node_label("pool", "y"));
  EXPECT_EQ(spots_of(world.filter(gpu_gang("g", 2), "y").assignment.plan), (Spots{{"b", 2}}));
  EXPECT_EQ(world.filter(gpu_gang("h", 2), "z").verdict.message(),
            "0/2 nodes are available for pod group \"ns/h\": 0 of 2 pods fit (main: 0/2): "
            "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).");
}

TEST(GangFilter, PodsOfAnotherSchedulerAreNotPlaced) {
  GangWorld world;
  const auto outcome = world.filter(a_workload("ns", "w").count(3).request("cpu", "1"), "f");
  EXPECT_EQ(outcome.verdict.code(), Code::kSkip);
  EXPECT_FALSE(outcome.assignment.wants_nodes);
}

TEST(GangFilter, APodsetThatRequestsNothingIsPlaced) {
  GangWorld world;
  world.add(a_node("a").allocatable("pods", "2"));
  const WorkloadBuilder gang = a_workload("ns", "g").count(2).scheduler("muster");
  EXPECT_EQ(spots_of(world.filter(gang, "").assignment.plan), (Spots{{"a", 2}}));
  const auto outcome = world.filter(a_workload("ns", "h").count(3).scheduler("muster"), "");
  EXPECT_EQ(outcome.verdict.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_TRUE(outcome.rejected.empty());
  EXPECT_EQ(outcome.verdict.message(),
            "0/1 nodes are available for pod group \"ns/h\": 2 of 3 pods fit (main: 2/3): 1 Too many pods.");
}

TEST(GangFilter, ADisabledFlavorIsLeftToOthers) {
  GangWorld world;
  const auto outcome = world.filter(gpu_gang("g", 2), "f", R"({"disabledFlavors": ["f"]})");
  EXPECT_EQ(outcome.verdict.code(), Code::kSkip);
  EXPECT_FALSE(outcome.assignment.wants_nodes);
}

TEST(GangFilter, AFieldThatIsNotSupportedIsNamed) {
  GangWorld world;
  world.add(gpu_node("a", "8")).flavors({"f"});
  const auto outcome = world.filter(gpu_gang("g", 1).on_spec([](api::PodSpec& spec) {
    spec.unsupported_placement_fields = {"spec.affinity.podAffinity"};
  }),
                                    "f");
  EXPECT_EQ(outcome.verdict.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(outcome.verdict.reason(), "Misconfigured");
  EXPECT_EQ(outcome.verdict.message(), "spec.affinity.podAffinity is not supported for pods of scheduler muster");
  EXPECT_TRUE(outcome.rejected.empty());
}

// ---- who is to leave ----

TEST(GangFilter, PreemptionHelpsWhereOthersUseASuitableNode) {
  GangWorld world;
  world.add(gpu_node("a", "2")).add(a_pod("ns", "other").node("a").request("nvidia.com/gpu", "1")).flavors({"f"});
  const auto outcome = world.filter(gpu_gang("g", 2), "f");
  ASSERT_EQ(outcome.rejected.size(), 1u);
  EXPECT_TRUE(outcome.rejected[0].preemption_helps);
}

TEST(GangFilter, PreemptionDoesNotHelpOnNodesThatDoNotSuit) {
  GangWorld world;
  world.add(gpu_node("a", "2").unschedulable()).add(a_pod("ns", "other").node("a")).flavors({"f"});
  EXPECT_FALSE(world.filter(gpu_gang("g", 2), "f").rejected.at(0).preemption_helps);
}

TEST(GangFilter, AFlavorProposedAgainAsTheLastResortWaitsForVictims) {
  GangWorld world;
  world.add(gpu_node("a", "2")).add(a_pod("ns", "other").node("a").request("nvidia.com/gpu", "1")).flavors({"f"});
  const auto info = world.pending(gpu_gang("g", 2), "cq");
  const auto first = world.filter(info, GangWorld::assign(info, "f"));
  const auto second = world.filter(info, GangWorld::assign(info, "f"), first.rejected);
  EXPECT_TRUE(second.verdict.ok());
  EXPECT_TRUE(second.rejected.empty());
  EXPECT_EQ(second.assignment.mode, FitMode::kPreempt);
  EXPECT_TRUE(second.assignment.nodes_need_preemption);
  EXPECT_TRUE(second.assignment.plan.empty());
}

TEST(GangFilter, AQuotaPreemptionAlsoFreesNodes) {
  GangWorld world;
  world.add(gpu_node("a", "2")).add(a_pod("ns", "other").node("a").request("nvidia.com/gpu", "1")).flavors({"f"});
  const auto info = world.pending(gpu_gang("g", 2), "cq");
  auto assignment = GangWorld::assign(info, "f");
  assignment.mode = FitMode::kPreempt;
  const auto outcome = world.filter(info, assignment);
  EXPECT_TRUE(outcome.verdict.ok());
  EXPECT_TRUE(outcome.assignment.nodes_need_preemption);
}

TEST(GangFilter, WhatHasNoQuotaIsNotLookedAt) {
  GangWorld world;
  const auto info = world.pending(gpu_gang("g", 2), "cq");
  EXPECT_EQ(world.filter(info, framework::Assignment{}).verdict.code(), Code::kSkip);
}

TEST(GangPasses, SaysWhetherThePlanExistsNow) {
  GangWorld world;
  world.add(gpu_node("a", "2")).flavors({"f"});
  world.add(gpu_gang("v", 1).admitted("cq", "f"));
  world.model().replan({"ns", "v"}, {{.name = "main",
                                      .per_pod = {.requests = {{"nvidia.com/gpu", 1}}},
                                      .slots = {{framework::NodeSlots{NodeName("a"), 1}}}}});
  const auto info = world.pending(gpu_gang("g", 2), "cq");
  auto assignment = GangWorld::assign(info, "f");
  framework::Transaction transaction(world.model());
  framework::FilterContext context{info, transaction, world.node_plugins(), {}, {}, at(0)};
  const auto plugin = testing::make<Gang>();
  EXPECT_FALSE(plugin->passes(context, assignment));
  EXPECT_TRUE(assignment.plan.empty());
  transaction.remove_workload({"ns", "v"});
  EXPECT_TRUE(plugin->passes(context, assignment));
  EXPECT_EQ(spots_of(assignment.plan), (Spots{{"a", 2}}));
}

TEST(GangArgs, AreStrict) {
  EXPECT_EQ(parse_gang_args(nlohmann::json::parse(R"({"placements": "pack"})")).error().path, "placements");
  EXPECT_EQ(parse_gang_args(nlohmann::json::parse(R"({"placement": "tight"})")).error().path, "placement");
}

}  // namespace
}  // namespace muster::plugins::gang

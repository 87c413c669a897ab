#include "api/constants.h"
#include "plugins/gang/testing/gang_world.h"

namespace muster::plugins::gang {
namespace {

using framework::Code;

constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";
const ObjectKey kGang{"ns", "g"};

WorkloadBuilder admitted_gang(std::int32_t pods, const std::string& gpus = "1") {
  return gpu_gang("g", pods, gpus).owner("batch/v1", "Job", "g", "job-uid").admitted("cq", "f");
}

// A pod as the Job controller makes it.
PodBuilder gang_pod(const std::string& name, const std::string& gpus = "1") {
  return a_pod("ns", name)
      .owner("batch/v1", "Job", "g", "job-uid")
      .label(api::kPodSetLabel, "main")
      .scheduler("muster")
      .request("nvidia.com/gpu", gpus);
}

class RunningGang : public ::testing::Test {
 protected:
  // The gang is admitted with this plan; none: as after a restart.
  void admit(const WorkloadBuilder& workload, const Spots& spots) {
    world.flavors({"f"}).add(workload);
    const auto& requests = workload.obj().pod_sets[0].pod_template.spec.containers[0].requests;
    framework::PodSetPlan plan{.name = "main", .per_pod = {.requests = requests}};
    for (const auto& [node, count] : spots) {
      plan.slots.push_back({NodeName(node), count});
    }
    if (!spots.empty()) {
      world.model().replan(kGang, {plan});
    }
  }

  framework::Verdict permit(framework::PermitPhase phase = framework::PermitPhase::kPods) {
    return gang->permit(*world.model().workload(kGang), world.model(), phase, at(0));
  }

  struct Bound {
    framework::Verdict verdict{};
    std::map<std::string, std::string> pods{};  // pod -> node
    std::optional<Spots> new_plan{};
  };

  // Asks for bindings, and takes a new plan over as the core does.
  Bound bind() {
    Bound bound;
    std::optional<framework::PlacementPlan> plan;
    {
      framework::Transaction transaction(world.model());
      const std::uint64_t before = world.model().hash();
      framework::BindContext context{
          kGang, *world.model().workload(kGang), transaction, world.node_plugins(), at(0), {}, {}};
      bound.verdict = gang->bind(context);
      for (const framework::EffectBody& effect : context.effects) {
        const auto& binding = std::get<framework::BindPod>(effect);
        EXPECT_EQ(binding.workload, kGang);
        EXPECT_EQ(binding.pod.uid.str(), to_string(binding.pod.key));
        bound.pods[binding.pod.key.name] = binding.node.str();
      }
      plan = context.new_plan;
      EXPECT_EQ(world.model().hash(), before) << "bind left something on the nodes";
    }
    if (plan) {
      bound.new_plan = spots_of(*plan);
      world.model().replan(kGang, *plan);
    }
    return bound;
  }

  Spots open() const { return spots_of(world_model().workload(kGang)->open_slots); }

  const framework::Model& world_model() const { return const_cast<GangWorld&>(world).model(); }

  GangWorld world{};
  std::unique_ptr<Gang> gang = testing::make<Gang>();
};

using Pods = std::map<std::string, std::string>;

// ---- permit ----

TEST_F(RunningGang, WaitsUntilAllPodsExist) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3), {{"a", 3}});
  world.add(gang_pod("p0")).add(gang_pod("p1")).add(gang_pod("p2").gate("kueue.x-k8s.io/admission"));
  const auto verdict = permit();
  EXPECT_EQ(verdict.code(), Code::kWait);
  EXPECT_EQ(verdict.reason(), "WaitingForPods");
  EXPECT_EQ(verdict.message(), "2 of 3 pods of the gang exist (main: 2/3, 1 gated)");
  EXPECT_EQ(verdict.wakes(), (std::vector<framework::Wake>{{framework::WakeKind::kPods, "ns/g"}}));
  world.add(gang_pod("p2"));
  EXPECT_EQ(permit().code(), Code::kSuccess);
}

TEST_F(RunningGang, PodsThatEndedOrLeaveAreNotThere) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(2), {{"a", 2}});
  world.add(gang_pod("p0").phase("Failed")).add(gang_pod("p1").deleted(at(1))).add(gang_pod("p2"));
  EXPECT_EQ(permit().message(), "1 of 2 pods of the gang exist (main: 1/2)");
}

TEST_F(RunningGang, ReclaimedPodsAreNotWaitedFor) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3).reclaimable("main", 2), {{"a", 3}});
  world.add(gang_pod("p0"));
  EXPECT_EQ(permit().code(), Code::kSuccess);
  EXPECT_EQ(bind().pods, (Pods{{"p0", "a"}}));
}

TEST_F(RunningGang, AGangThatRunsDoesNotWaitForReplacements) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3), {{"a", 3}});
  world.add(gang_pod("p0").node("a").phase("Running")).add(gang_pod("p1"));
  EXPECT_EQ(permit().code(), Code::kSuccess);
}

TEST_F(RunningGang, OthersAreSkipped) {
  world.add(gpu_node("a", "4"));
  admit(a_workload("ns", "g").request("cpu", "1").admitted("cq", "f"), {});
  EXPECT_EQ(permit().code(), Code::kSkip);
  EXPECT_EQ(bind().verdict.code(), Code::kSkip);
}

TEST_F(RunningGang, AdmissionIsNotHeldUp) {
  admit(admitted_gang(3), {});
  EXPECT_EQ(permit(framework::PermitPhase::kAdmission).code(), Code::kSkip);
}

// ---- bind ----

TEST_F(RunningGang, BindsAllInOneGoByCompletionIndex) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "2"));
  admit(admitted_gang(4), {{"a", 2}, {"b", 2}});
  world.add(gang_pod("z").label(kIndex, "0")).add(gang_pod("y").annotation(kIndex, "2"));
  world.add(gang_pod("x").label(kIndex, "10")).add(gang_pod("w").label(kIndex, "1"));
  const Bound bound = bind();
  EXPECT_TRUE(bound.verdict.ok());
  EXPECT_EQ(bound.pods, (Pods{{"z", "a"}, {"w", "a"}, {"y", "b"}, {"x", "b"}}));
  EXPECT_EQ(bound.new_plan, std::nullopt);
}

TEST_F(RunningGang, BindsNoneWhileOneIsMissing) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3), {{"a", 3}});
  world.add(gang_pod("p0")).add(gang_pod("p1"));
  const Bound bound = bind();
  EXPECT_TRUE(bound.verdict.ok());
  EXPECT_TRUE(bound.pods.empty());
}

TEST_F(RunningGang, AsksForTheSameAgainAfterSomeBindings) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "2"));
  admit(admitted_gang(4), {{"a", 2}, {"b", 2}});
  world.add_all<PodBuilder>({gang_pod("p0"), gang_pod("p1"), gang_pod("p2"), gang_pod("p3")});
  const Pods first = bind().pods;
  for (const char* pod : {"p2", "p0"}) {
    world.add(gang_pod(pod).node(first.at(pod)));
    for (const auto& [name, node] : bind().pods) {
      EXPECT_EQ(node, first.at(name));
    }
  }
  EXPECT_EQ(bind().pods.size(), 2u);
}

TEST_F(RunningGang, placement_2_12_89_the_replacement_takes_the_open_slot) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "1"));
  admit(admitted_gang(3), {{"a", 2}, {"b", 1}});
  world.add(gang_pod("p0").node("a")).add(gang_pod("p1").node("b").phase("Failed")).add(gang_pod("p2").node("a"));
  world.add(gang_pod("p1b"));
  EXPECT_EQ(bind().pods, (Pods{{"p1b", "b"}}));
}

TEST_F(RunningGang, AReplacementWaitsForTheSlotOfAPodThatIsLeaving) {
  world.add(gpu_node("a", "2"));
  admit(admitted_gang(2), {{"a", 2}});
  world.add(gang_pod("p0").node("a")).add(gang_pod("p1").node("a").deleted(at(1))).add(gang_pod("p1b"));
  const Bound early = bind();
  EXPECT_TRUE(early.verdict.ok());
  EXPECT_TRUE(early.pods.empty());
  world.add(gang_pod("p1").node("a").phase("Failed"));
  EXPECT_EQ(bind().pods, (Pods{{"p1b", "a"}}));
}

// ---- repair ----

TEST_F(RunningGang, placement_2_12_95_a_node_taken_meanwhile_is_replaced) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "2")).add(gpu_node("c", "2"));
  admit(admitted_gang(4), {{"a", 2}, {"b", 2}});
  world.add_all<PodBuilder>({gang_pod("p0"), gang_pod("p1"), gang_pod("p2"), gang_pod("p3")});
  world.add(a_pod("ns", "other").node("b").request("nvidia.com/gpu", "1"));
  const Bound bound = bind();
  EXPECT_TRUE(bound.verdict.ok());
  EXPECT_EQ(bound.new_plan, (Spots{{"a", 2}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(bound.pods, (Pods{{"p0", "a"}, {"p1", "a"}, {"p2", "b"}, {"p3", "c"}}));
  EXPECT_EQ(open(), (Spots{{"a", 2}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(bind().new_plan, std::nullopt) << "once is enough";
}

TEST_F(RunningGang, ACordonedNodeIsReplacedBeforePodsAppear) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "2"));
  admit(admitted_gang(2), {{"a", 2}});
  world.add(gpu_node("a", "2").unschedulable());
  EXPECT_EQ(bind().new_plan, (Spots{{"b", 2}}));
}

TEST_F(RunningGang, ALostNodeWithoutReplacementSendsTheGangAway) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "1"));
  admit(admitted_gang(3), {{"a", 2}, {"b", 1}});
  world.add_all<PodBuilder>({gang_pod("p0"), gang_pod("p1"), gang_pod("p2")});
  world.add(gpu_node("b", "1").unschedulable());
  const Bound bound = bind();
  EXPECT_EQ(bound.verdict.code(), Code::kUnschedulable);
  EXPECT_EQ(bound.verdict.reason(), "NodeFailures");
  EXPECT_EQ(bound.verdict.message(),
            "0/2 nodes are available for pod group \"ns/g\": 0 of 1 pods fit (main: 0/1): "
            "1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable.");
  EXPECT_TRUE(bound.pods.empty());
}

TEST_F(RunningGang, placement_2_12_94_after_a_restart_bound_pods_are_fixed) {
  world.add(gpu_node("a", "4")).add(gpu_node("b", "2")).add(gpu_node("c", "4"));
  admit(admitted_gang(8), {});
  world.add(gang_pod("p0").node("b")).add(gang_pod("p1").node("b")).add(gang_pod("p2").node("a"));
  for (int i = 3; i < 8; ++i) {
    world.add(gang_pod("p" + std::to_string(i)));
  }
  const Bound bound = bind();
  EXPECT_TRUE(bound.verdict.ok());
  EXPECT_EQ(bound.new_plan, (Spots{{"a", 2}, {"b", 2}, {"c", 4}}));
  EXPECT_EQ(bound.pods, (Pods{{"p3", "a"}, {"p4", "c"}, {"p5", "c"}, {"p6", "c"}, {"p7", "c"}}));
}

TEST_F(RunningGang, placement_2_12_94_impossible_after_a_restart) {
  world.add(gpu_node("a", "2")).add(a_pod("ns", "other").node("a").request("nvidia.com/gpu", "1"));
  admit(admitted_gang(2), {});
  world.add(gang_pod("p0").node("a")).add(gang_pod("p1"));
  EXPECT_EQ(bind().verdict.code(), Code::kUnschedulable);
}

TEST_F(RunningGang, AfterARestartAGangWithoutPodsGetsItsPlanBack) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3), {});
  EXPECT_EQ(permit().code(), Code::kWait);
  EXPECT_EQ(bind().new_plan, (Spots{{"a", 3}}));
  EXPECT_EQ(open(), (Spots{{"a", 3}}));
}

TEST_F(RunningGang, PlanForIsThatPlan) {
  world.add(gpu_node("a", "4"));
  admit(admitted_gang(3), {});
  framework::Transaction transaction(world.model());
  const auto plan = gang->plan_for(*world.model().workload(kGang), transaction, world.node_plugins());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(spots_of(*plan), (Spots{{"a", 3}}));
}

TEST_F(RunningGang, PodsThatGrewAreFittedAnew) {
  world.add(gpu_node("a", "2")).add(gpu_node("b", "4"));
  admit(admitted_gang(2), {{"a", 2}});
  world.add(gang_pod("p0", "2")).add(gang_pod("p1", "2"));
  const Bound bound = bind();
  EXPECT_EQ(bound.pods, (Pods{{"p0", "a"}, {"p1", "b"}}));
  EXPECT_EQ(bound.new_plan, (Spots{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(world.model().nodes().free(*world.model().nodes().find(NodeName("a")), "nvidia.com/gpu"), 0);
  EXPECT_EQ(bind().new_plan, std::nullopt);
}

TEST_F(RunningGang, AFailedPodOfARunningGangIsNoReasonToSendItAway) {
  world.add(gpu_node("a", "1")).add(gpu_node("b", "1"));
  admit(admitted_gang(2), {{"a", 1}, {"b", 1}});
  world.add(gang_pod("p0").node("a")).add(gang_pod("p1").node("b").phase("Failed"));
  world.add(gpu_node("b", "1").unschedulable());
  EXPECT_TRUE(bind().verdict.ok()) << "nobody waits for the slot";
  world.add(gang_pod("p1b"));
  EXPECT_EQ(bind().verdict.code(), Code::kUnschedulable);
  world.add(gpu_node("c", "1"));
  EXPECT_EQ(bind().pods, (Pods{{"p1b", "c"}}));
}

TEST_F(RunningGang, APodWithAFieldThatIsNotSupportedIsRefused) {
  world.add(gpu_node("a", "1"));
  admit(admitted_gang(1), {{"a", 1}});
  world.add(gang_pod("p0").on_spec(
      [](api::PodSpec& spec) { spec.unsupported_placement_fields = {"spec.affinity.podAffinity"}; }));
  const Bound bound = bind();
  EXPECT_EQ(bound.verdict.message(), "spec.affinity.podAffinity is not supported for pods of scheduler muster");
  EXPECT_TRUE(bound.pods.empty());
}

TEST_F(RunningGang, PodsGoToTheSlotsOfTheirPodset) {
  world.add(gpu_node("a", "1")).add(gpu_node("b", "2"));
  world.flavors({"f"}).add(a_workload("ns", "g")
                               .owner("batch/v1", "Job", "g", "job-uid")
                               .pod_set("one", 1)
                               .scheduler("muster")
                               .request("nvidia.com/gpu", "1")
                               .pod_set("two", 1)
                               .scheduler("muster")
                               .request("nvidia.com/gpu", "2")
                               .admitted("cq", "f"));
  world.add(gang_pod("p", "2").label(api::kPodSetLabel, "two")).add(gang_pod("q").label(api::kPodSetLabel, "one"));
  EXPECT_EQ(bind().pods, (Pods{{"p", "b"}, {"q", "a"}}));
}

}  // namespace
}  // namespace muster::plugins::gang

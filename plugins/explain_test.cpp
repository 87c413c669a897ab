// What the default profile's plugins say when `explain` asks: on a core without reconcilers, fed with objects.
#include "api/constants.h"
#include "api/testing/builders.h"
#include "framework/core.h"
#include "plugins/register_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_flavor;
using api::testing::a_local_queue;
using api::testing::a_namespace;
using api::testing::a_node;
using api::testing::a_workload;
using api::testing::amount_of;
using api::testing::at;
using framework::Explanation;
using framework::FitMode;
using framework::FlavorAnswer;
using framework::NodesAnswer;
using framework::Position;
using framework::Standing;
using framework::WakeKind;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

framework::Profile default_profile() {
  framework::Registry registry;
  register_all(registry);
  return framework::make_profile({}, registry, default_plugins({}), {}).value();
}

// Objects in, one explanation out. The namespace `ns` and LocalQueue `lq` of ClusterQueue `cq` are there.
class Cluster {
 public:
  Cluster() { add(a_namespace("ns")).add(a_local_queue("ns", "lq").cluster_queue("cq")); }

  template <class Builder>
  Cluster& add(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    core_.apply(at(0),
                framework::ObjectEvent(framework::Upserted<Object>{std::make_shared<const Object>(builder.obj())}));
    return *this;
  }

  Cluster& flavors(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      add(a_flavor(name));
    }
    return *this;
  }

  Explanation explain(const std::string& workload, std::size_t holders = 5) {
    core_.apply(at(0), framework::Synced{});
    core_.settle(at(0));
    const std::uint64_t before = core_.model().hash();
    Explanation explanation = core_.explain(at(0), {"ns", workload}, {.holders = holders});
    EXPECT_EQ(core_.model().hash(), before);
    return explanation;
  }

 private:
  framework::Core core_{{}, default_profile(), {}};
};

api::testing::WorkloadBuilder waiting(const std::string& name, const std::string& cpu) {
  return a_workload("ns", name).queue("lq").request("cpu", cpu);
}

std::vector<std::string> cures(const Explanation& explanation) {
  std::vector<std::string> texts;
  for (const framework::Cure& cure : explanation.cures) {
    texts.push_back(cure.text);
  }
  return texts;
}

// `workload amount`
std::vector<std::string> holders(const FlavorAnswer& answer) {
  std::vector<std::string> texts;
  for (const framework::Holder& holder : answer.holders) {
    texts.push_back(holder.workload.name + " " + std::to_string(holder.amount / 1000));
  }
  return texts;
}

const FlavorAnswer& answer_for(const Explanation& explanation, const std::string& flavor,
                               const std::string& pod_set = "main") {
  static const FlavorAnswer kNone{};
  for (const FlavorAnswer& answer : explanation.flavors) {
    if (answer.finding.flavor.str() == flavor && answer.finding.pod_set == pod_set) {
      return answer;
    }
  }
  ADD_FAILURE() << "no answer for flavor " << flavor;
  return kNone;
}

TEST(Explain, SaysOfEveryFlavorWhatIsMissingAndWhoHoldsIt) {
  Cluster cluster;
  cluster.flavors({"spot", "big", "other"})
      .add(a_cluster_queue("cq")
               .cohort("team")
               .quota("cpu", "spot", "4")
               .quota("cpu", "big", "10")
               .quota("cpu", "other", "9"))
      .add(a_cluster_queue("sister").cohort("team").quota("cpu", "big", "2"))
      .add(waiting("small", "1").admitted("cq", "big"))
      .add(waiting("large", "6").priority(7).admitted("cq", "big"))
      .add(a_workload("ns", "loan").queue("x").request("cpu", "2").admitted("sister", "big"))
      .add(waiting("spotty", "3").admitted("cq", "spot"))
      .add(waiting("lucky", "8").admitted("cq", "other"))
      .add(waiting("w", "5"));
  const Explanation all = cluster.explain("w");
  EXPECT_EQ(all.standing, Standing::kParked);
  EXPECT_EQ(all.reason, "WaitingForQuota");
  EXPECT_EQ(all.flavors.size(), 3U);

  const FlavorAnswer& big = answer_for(all, "big");
  EXPECT_EQ(big.available, amount_of("cpu", "3"));
  EXPECT_EQ(big.missing, amount_of("cpu", "2"));
  EXPECT_EQ(big.most, amount_of("cpu", "12"));
  EXPECT_FALSE(big.exceeds);
  EXPECT_EQ(big.finding.text, "insufficient unused quota for cpu in flavor big, 2 more needed");
  EXPECT_THAT(holders(big), ::testing::ElementsAre("large 6", "loan 2", "small 1"));
  EXPECT_EQ(big.holders[0].priority, 7);
  EXPECT_EQ(big.holders[1].cluster_queue.str(), "sister");

  const FlavorAnswer& spot = answer_for(all, "spot");
  EXPECT_TRUE(spot.exceeds);
  EXPECT_THAT(spot.finding.text, HasSubstr("> maximum capacity (4)"));
  EXPECT_THAT(holders(spot), ::testing::ElementsAre("spotty 3"));
  EXPECT_EQ(answer_for(all, "other").missing, amount_of("cpu", "4"));
  EXPECT_THAT(cures(all), Contains("quota is released or raised in cohort team"));
}

TEST(Explain, ListsAtMostSoManyHolders) {
  Cluster cluster;
  cluster.flavors({"f"}).add(a_cluster_queue("cq").quota("cpu", "f", "6")).add(waiting("w", "5"));
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    cluster.add(waiting(name, "1").admitted("cq", "f"));
  }
  const Explanation two = cluster.explain("w", 2);
  EXPECT_THAT(holders(two.flavors.at(0)), ::testing::ElementsAre("a 1", "b 1"));
  EXPECT_EQ(two.flavors.at(0).more_holders, 3);
}

TEST(Explain, LooksAtFlavorsThatTheScanDidNotReach) {
  Cluster cluster;  // the first flavor fits: the second one is judged all the same
  cluster.flavors({"one", "two"})
      .add(a_cluster_queue("cq").stop(api::StopPolicy::kHold).quota("cpu", "one", "9").quota("cpu", "two", "2"))
      .add(waiting("w", "5"));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(answer_for(explanation, "one").finding.mode, FitMode::kFit);
  EXPECT_TRUE(answer_for(explanation, "two").exceeds);
  EXPECT_EQ(explanation.attempt, "It fits now.");
}

TEST(Explain, NamesTheTaint) {
  Cluster cluster;
  cluster.add(a_flavor("gpu").taint("gpu", "yes", "NoSchedule"))
      .add(a_cluster_queue("cq").quota("cpu", "gpu", "9"))
      .add(waiting("w", "5"));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.reason, "NoMatchingFlavor");
  EXPECT_EQ(answer_for(explanation, "gpu").finding.text, "untolerated taint {gpu yes NoSchedule <nil>} in flavor gpu");
  EXPECT_THAT(cures(explanation), Contains("ResourceFlavor gpu changes"));
}

TEST(Explain, CountsThePodSetsBefore) {
  Cluster cluster;
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq").quota("cpu", "f", "10"))
      .add(waiting("holder", "3").admitted("cq", "f"))
      .add(a_workload("ns", "w")
               .queue("lq")
               .pod_set("driver")
               .request("cpu", "2")
               .pod_set("worker", 6)
               .request("cpu", "1"));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(answer_for(explanation, "f", "driver").finding.mode, FitMode::kFit);
  const FlavorAnswer& worker = answer_for(explanation, "f", "worker");
  EXPECT_EQ(worker.finding.requested, amount_of("cpu", "6"));
  EXPECT_EQ(worker.finding.earlier, amount_of("cpu", "2"));
  EXPECT_EQ(worker.missing, amount_of("cpu", "1"));
}

TEST(Explain, JudgesPodSetsBehindOneThatCannotBeServed) {
  Cluster cluster;
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq").quota("cpu", "f", "4"))
      .add(a_workload("ns", "w")
               .queue("lq")
               .pod_set("driver")
               .request("cpu", "9")
               .pod_set("worker")
               .request("cpu", "1"));
  const Explanation explanation = cluster.explain("w");
  EXPECT_TRUE(answer_for(explanation, "f", "driver").exceeds);
  EXPECT_EQ(answer_for(explanation, "f", "worker").finding.mode, FitMode::kFit);
}

TEST(Explain, NamesAResourceThatNoFlavorOffers) {
  Cluster cluster;
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq").quota("cpu", "f", "4"))
      .add(waiting("w", "1").request("memory", "1Gi"));
  const Explanation explanation = cluster.explain("w");
  const FlavorAnswer& memory = answer_for(explanation, "");
  EXPECT_EQ(memory.finding.resource, "memory");
  EXPECT_EQ(memory.finding.text, "resource memory unavailable in ClusterQueue");
  EXPECT_EQ(answer_for(explanation, "f").finding.mode, FitMode::kFit);
}

TEST(Explain, CountsThePodsOfAGangThatFindNodesForEveryFlavor) {
  Cluster cluster;
  cluster.add(a_flavor("left").node_label("pool", "left"))
      .add(a_flavor("right").node_label("pool", "right"))
      .add(a_cluster_queue("cq").quota("cpu", "left", "100").quota("cpu", "right", "100"))
      .add(a_node("l0").label("pool", "left").allocatable("cpu", "4"))
      .add(a_node("r0").label("pool", "right").allocatable("cpu", "4"))
      .add(a_node("r1").label("pool", "right").allocatable("cpu", "2"))
      .add(a_workload("ns", "w").queue("lq").count(4).request("cpu", "2").scheduler(std::string(api::kSchedulerName)));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.reason, "TopologyPlacementFailed");
  ASSERT_EQ(explanation.nodes.size(), 2U);
  EXPECT_EQ(explanation.nodes[0].flavor.str(), "left");
  EXPECT_EQ(explanation.nodes[0].placed, 2);
  EXPECT_EQ(explanation.nodes[0].wanted, 4);
  EXPECT_THAT(explanation.nodes[0].text, HasSubstr("0/3 nodes are available"));
  EXPECT_EQ(explanation.nodes[1].flavor.str(), "right");
  EXPECT_EQ(explanation.nodes[1].placed, 3);
  EXPECT_THAT(cures(explanation), Contains("a node is added or changed, or pods leave one"));
}

TEST(Explain, AsksForNodesWithQuotaSetAside) {
  Cluster cluster;  // no quota is left, and the holder's pods are elsewhere: nodes would do
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq").quota("cpu", "f", "4"))
      .add(a_node("n").allocatable("cpu", "4"))
      .add(waiting("holder", "4").admitted("cq", "f"))
      .add(waiting("w", "2").scheduler(std::string(api::kSchedulerName)));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.reason, "WaitingForQuota");
  ASSERT_EQ(explanation.nodes.size(), 1U);
  EXPECT_EQ(explanation.nodes[0].placed, 1);
  EXPECT_EQ(explanation.nodes[0].text, "");
}

TEST(Explain, SaysWhomItWaitsBehindInAStrictQueue) {
  Cluster cluster;
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq").strict_fifo().quota("cpu", "f", "4"))
      .add(waiting("holder", "3").admitted("cq", "f"))
      .add(waiting("head", "2").created(at(1)))
      .add(a_local_queue("ns", "second").cluster_queue("cq"))
      .add(a_workload("ns", "other").queue("second").request("cpu", "1").created(at(2)))
      .add(waiting("w", "1").created(at(3)));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.standing, Standing::kBehind);
  ASSERT_TRUE(explanation.behind);
  EXPECT_EQ(explanation.behind->name, "head");
  EXPECT_EQ(explanation.in_cluster_queue, (Position{.index = 2, .of = 3}));
  EXPECT_EQ(explanation.in_local_queue, (Position{.index = 1, .of = 2}));
  EXPECT_EQ(explanation.attempt, "It fits now.");
  EXPECT_THAT(cures(explanation), Contains("Workload ns/head is admitted or leaves the queue"));
}

TEST(Explain, SaysThatVictimsAreLeaving) {
  Cluster cluster;
  cluster.flavors({"f"})
      .add(a_cluster_queue("cq")
               .preemption({.within_cluster_queue = api::WithinClusterQueuePolicy::kLowerPriority})
               .quota("cpu", "f", "4"))
      .add(waiting("victim", "4").admitted("cq", "f"))
      .add(waiting("w", "3").priority(9));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.reason, "WaitingForPreemptedWorkloads");
  EXPECT_THAT(explanation.message, HasSubstr("Pending the preemption of 1 workload(s)"));
  EXPECT_THAT(cures(explanation), Contains("its victims have left"));
  const FlavorAnswer& answer = answer_for(explanation, "f");
  ASSERT_EQ(holders(answer), std::vector<std::string>{"victim 4"});
  EXPECT_TRUE(answer.holders[0].leaving);
}

// What keeps a Workload out of the queue, and what does not wait at all.
struct StandingCase {
  std::string name{};
  api::testing::WorkloadBuilder workload = waiting("w", "1");
  api::testing::ClusterQueueBuilder queue = a_cluster_queue("cq").quota("cpu", "f", "4");
  api::testing::LocalQueueBuilder local = a_local_queue("ns", "lq").cluster_queue("cq");
  Standing want = Standing::kNotQueued;
  std::string message{};
  std::string cure{};
};

std::vector<StandingCase> standing_cases() {
  return {
      {.name = "deactivated",
       .workload = waiting("w", "1").inactive(),
       .want = Standing::kDeactivated,
       .message = "The workload is deactivated",
       .cure = "spec.active of the Workload is set to true"},
      {.name = "no_local_queue",
       .workload = a_workload("ns", "w").queue("gone").request("cpu", "1"),
       .message = "LocalQueue gone doesn't exist",
       .cure = "LocalQueue gone is created in namespace ns"},
      {.name = "stopped_local_queue",
       .local = a_local_queue("ns", "lq").cluster_queue("cq").stop(api::StopPolicy::kHold),
       .message = "LocalQueue lq is inactive",
       .cure = "spec.stopPolicy of LocalQueue lq is set to None"},
      {.name = "no_cluster_queue",
       .local = a_local_queue("ns", "lq").cluster_queue("nowhere"),
       .message = "ClusterQueue nowhere doesn't exist",
       .cure = "ClusterQueue nowhere is created"},
      {.name = "stopped_cluster_queue",
       .queue = a_cluster_queue("cq").stop(api::StopPolicy::kHold).quota("cpu", "f", "4"),
       .message = "ClusterQueue cq is inactive: Can't admit new workloads: is stopped.",
       .cure = "ClusterQueue cq becomes active (its condition Active says why it is not)"},
      {.name = "missing_flavor",
       .queue = a_cluster_queue("cq").quota("cpu", "nope", "4"),
       .message = "ClusterQueue cq is inactive: Can't admit new workloads: references missing ResourceFlavor(s): nope.",
       .cure = "ClusterQueue cq becomes active (its condition Active says why it is not)"},
      {.name = "gated",
       .workload = waiting("w", "1").annotation(std::string(api::kAdmissionGatedByAnnotation), "x/y"),
       .message = "Admission is gated by: x/y",
       .cure = "the owners of the gates remove them from the annotation of the job: x/y"},
      {.name = "other_namespaces",
       .queue = a_cluster_queue("cq").no_namespaces().quota("cpu", "f", "4"),
       .want = Standing::kParked,
       .message = "workload namespace doesn't match ClusterQueue selector",
       .cure = "the labels or LimitRanges of namespace ns change"},
      {.name = "backing_off",
       .workload = waiting("w", "1").requeue_at(1, at(60)),
       .want = Standing::kParked,
       .message = "The workload is backing off after an eviction",
       .cure = "the time it has to wait is over"},
      {.name = "finished", .workload = waiting("w", "1").finished(), .want = Standing::kFinished},
      {.name = "deleting",
       .workload = waiting("w", "1").finalizer("a/b").deleted(at(1)),
       .want = Standing::kDeleting,
       .message = "The Workload is being deleted"},
      {.name = "admitted", .workload = waiting("w", "1").admitted("cq", "f"), .want = Standing::kAdmitted},
      {.name = "reserved",
       .workload = waiting("w", "1").reserved("cq", "f").check_state("budget", api::CheckState::kPending),
       .want = Standing::kReserved,
       .cure = "admission checks become ready: budget"},
      {.name = "evicted",
       .workload = waiting("w", "1").admitted("cq", "f").evicted("Preempted"),
       .want = Standing::kEvicted,
       .cure = "its pods are gone and its job is suspended: then it gives its quota back and queues again if it may"},
      {.name = "unknown",
       .workload = waiting("somebody", "1"),
       .want = Standing::kUnknown,
       .message = "There is no Workload ns/w"},
  };
}

class ExplainStanding : public ::testing::TestWithParam<StandingCase> {};

TEST_P(ExplainStanding, IsSaidWithItsCure) {
  Cluster cluster;
  cluster.flavors({"f"}).add(GetParam().queue).add(GetParam().local).add(GetParam().workload);
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(to_string(explanation.standing), to_string(GetParam().want));
  if (!GetParam().message.empty()) {
    EXPECT_EQ(explanation.message, GetParam().message);
  }
  if (GetParam().cure.empty()) {
    EXPECT_THAT(explanation.cures, IsEmpty());
  } else {
    EXPECT_THAT(cures(explanation), Contains(GetParam().cure));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ExplainStanding, ::testing::ValuesIn(standing_cases()),
                         [](const auto& row) { return row.param.name; });

TEST(Explain, AnAdmissionThatIsNotWrittenYetIsSaid) {
  Cluster cluster;
  cluster.flavors({"f"}).add(a_cluster_queue("cq").quota("cpu", "f", "4")).add(waiting("w", "1"));
  const Explanation explanation = cluster.explain("w");
  EXPECT_EQ(explanation.standing, Standing::kAdmitted);
  EXPECT_THAT(explanation.message, HasSubstr("decided, and not written yet"));
}

TEST(CureText, NamesTheTree) {
  EXPECT_EQ(framework::cure_text({WakeKind::kQuota, "cohort/team"}), "quota is released or raised in cohort team");
  EXPECT_EQ(framework::cure_text({WakeKind::kQuota, "cq/alone"}), "quota is released or raised in ClusterQueue alone");
}

}  // namespace
}  // namespace muster::plugins

#include "controllers/status/queue_status.h"

#include "api/constants.h"
#include "controllers/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): builders read like manifests
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::World;

api::ClusterQueueStatus status_of(const World& world) {
  const Outcome got = world.reconcile(ClusterQueueReconciler(), {"", "cq"});
  for (const framework::EffectBody& effect : got.result.effects) {
    if (const auto* patch = std::get_if<framework::PatchClusterQueueStatus>(&effect)) {
      return patch->status;
    }
  }
  ADD_FAILURE() << "no status";
  return {};
}

struct ActiveCase {
  std::string name{};
  World world{};
  std::string want{};
};

World flavors() {
  return World().with(a_flavor("f")).with(a_flavor("t").topology("rack"));
}

ClusterQueueBuilder queue() {
  return a_cluster_queue("cq").quota("cpu", "f", "10");
}

class ClusterQueueActive : public ::testing::TestWithParam<ActiveCase> {};

TEST_P(ClusterQueueActive, Says) {
  const api::ClusterQueueStatus status = status_of(GetParam().world);
  ASSERT_EQ(status.conditions.size(), 1u);
  EXPECT_EQ(testing::brief(status.conditions[0]), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ClusterQueueActive,
    ::testing::Values(
        ActiveCase{
            .name = "ready", .world = flavors().with(queue()), .want = "Active=True Ready: Can admit new workloads"},
        ActiveCase{.name = "terminating",
                   .world = flavors().with(queue().stop(api::StopPolicy::kHold).deleted(at(0))),
                   .want = "Active=False Terminating: Can't admit new workloads; clusterQueue is terminating"},
        ActiveCase{.name = "stopped",
                   .world = flavors().with(queue().stop(api::StopPolicy::kHold)),
                   .want = "Active=False Stopped: Can't admit new workloads: is stopped."},
        ActiveCase{.name = "flavors_missing_in_spec_order",
                   .world = flavors().with(queue().quota("cpu", "z", "1").quota("cpu", "a", "1")),
                   .want = "Active=False FlavorNotFound: Can't admit new workloads: references missing "
                           "ResourceFlavor(s): z,a."},
        ActiveCase{.name = "checks_missing_sorted",
                   .world = flavors().with(queue().check("z").check("a")),
                   .want = "Active=False AdmissionCheckNotFound: Can't admit new workloads: references missing "
                           "AdmissionCheck(s): a,z."},
        ActiveCase{.name = "topology_missing",
                   .world = flavors().with(a_cluster_queue("cq").quota("cpu", "t", "1")),
                   .want = "Active=False TopologyNotFound: Can't admit new workloads: there is no Topology \"rack\" "
                           "for TAS flavor \"t\"."},
        ActiveCase{
            .name = "everything_wrong",
            .world = flavors().with(queue().quota("cpu", "z", "1").check("a").stop(api::StopPolicy::kHoldAndDrain)),
            .want = "Active=False Stopped: Can't admit new workloads: is stopped, references missing "
                    "ResourceFlavor(s): z, references missing AdmissionCheck(s): a."},
        ActiveCase{.name = "cohort_cycle",
                   .world = flavors()
                                .with(a_cohort("a").parent("b"))
                                .with(a_cohort("b").parent("a"))
                                .with(queue().cohort("a")),
                   .want = "Active=False Unknown: Can't admit new workloads."}),
    [](const auto& row) { return row.param.name; });

WorkloadBuilder workload(const std::string& name, const std::string& cpu) {
  return a_workload("ns", name).queue("lq").request("cpu", cpu);
}

World busy() {
  World world = flavors();
  world.with(queue().quota("memory", "f", "1Gi").cohort("team"));
  world.with(a_local_queue("ns", "lq").cluster_queue("cq"));
  world.with(a_local_queue("ns", "other").cluster_queue("cq"));
  world.with(workload("a", "8").admitted("cq", "f")).with(workload("b", "3").reserved("cq", "f"));
  return world.with(workload("c", "1").queue("other").admitted("cq", "f")).pending(4);
}

TEST(ClusterQueueNumbers, CountsAndUsage) {
  const api::ClusterQueueStatus status = status_of(busy());
  EXPECT_EQ(status.pending_workloads, 4);
  EXPECT_EQ(status.reserving_workloads, 3);
  EXPECT_EQ(status.admitted_workloads, 2);
  const api::FlavorUsage reserved{
      .name = FlavorName("f"), .resources = {{.name = "cpu", .total = 12'000, .borrowed = 2'000}, {.name = "memory"}}};
  EXPECT_THAT(status.flavors_reservation, ElementsAre(reserved));
  const api::FlavorUsage used{.name = FlavorName("f"),
                              .resources = {{.name = "cpu", .total = 9'000}, {.name = "memory"}}};
  EXPECT_THAT(status.flavors_usage, ElementsAre(used));
}

TEST(ClusterQueueNumbers, NothingIsWrittenTwice) {
  api::ClusterQueue queue = a_cluster_queue("cq").quota("cpu", "f", "10").finalizer(api::kResourceInUseFinalizer).obj();
  queue.status = status_of(flavors().with(queue));
  EXPECT_THAT(flavors().with(queue).now(60).reconcile(ClusterQueueReconciler(), {"", "cq"}).effects, IsEmpty());
}

// c1 > cq; cq has 10 and uses 15 of what c1 could lend it, 20 in all.
World borrowing() {
  World world = World().with(a_flavor("f"));
  world.with(a_cohort("root").quota("cpu", "f", "6")).with(a_cohort("c1").parent("root").quota("cpu", "f", "4"));
  world.with(queue().cohort("c1").weight("2")).with(a_local_queue("ns", "lq").cluster_queue("cq"));
  return world.with(workload("a", "15").admitted("cq", "f"));
}

std::optional<api::CohortStatus> cohort_status_of(const World& world, const std::string& cohort) {
  const Outcome got = world.reconcile(CohortReconciler(), {"", cohort});
  return got.result.effects.empty()
             ? std::nullopt
             : std::optional(std::get<framework::PatchCohortStatus>(got.result.effects.at(0)).status);
}

TEST(WeightedShare, OfAClusterQueueOnlyWithFairSharing) {
  const auto share = [](WeightedShares shares) {
    const Outcome got = borrowing().reconcile(ClusterQueueReconciler(shares), {"", "cq"});
    for (const framework::EffectBody& effect : got.result.effects) {
      if (const auto* patch = std::get_if<framework::PatchClusterQueueStatus>(&effect)) {
        return patch->status.weighted_share;
      }
    }
    return std::optional<std::int64_t>(-1);
  };
  EXPECT_EQ(share(WeightedShares::kShow), 125);  // 5 of 20, by 2
  EXPECT_EQ(share(WeightedShares::kOmit), std::nullopt);
}

TEST(WeightedShare, OfCohorts) {
  EXPECT_EQ(cohort_status_of(borrowing(), "c1")->weighted_share, 50);  // 15 of 14, the root has 20 to lend
  EXPECT_EQ(cohort_status_of(borrowing(), "root")->weighted_share, 0);
}

TEST(WeightedShare, NothingIsWrittenTwice) {
  api::Cohort cohort = a_cohort("c1").parent("root").quota("cpu", "f", "4").obj();
  cohort.status.weighted_share = 50;
  EXPECT_EQ(cohort_status_of(borrowing().with(cohort), "c1"), std::nullopt);
  EXPECT_EQ(cohort_status_of(borrowing().with(a_cohort("c1").parent("root").deleted(at(0))), "c1"), std::nullopt);
  EXPECT_EQ(cohort_status_of(borrowing(), "gone"), std::nullopt);
}

TEST(LocalQueueNumbers, OnlyItsOwnWorkloads) {
  const Outcome got = busy().reconcile(LocalQueueReconciler(), {"ns", "lq"});
  ASSERT_EQ(got.result.effects.size(), 1u);
  const auto& status = std::get<framework::PatchLocalQueueStatus>(got.result.effects[0]).status;
  EXPECT_EQ(status.pending_workloads, 4);
  EXPECT_EQ(status.reserving_workloads, 2);
  EXPECT_EQ(status.admitted_workloads, 1);
  const api::FlavorUsage reserved{.name = FlavorName("f"),
                                  .resources = {{.name = "cpu", .total = 11'000}, {.name = "memory"}}};
  EXPECT_THAT(status.flavors_reservation, ElementsAre(reserved));
  ASSERT_EQ(status.conditions.size(), 1u);
  EXPECT_EQ(testing::brief(status.conditions[0]), "Active=True Ready: Can submit new workloads to localQueue");
}

TEST(LocalQueueActive, Reasons) {
  const auto says = [](const World& world) {
    const Outcome got = world.reconcile(LocalQueueReconciler(), {"ns", "lq"});
    const auto& status = std::get<framework::PatchLocalQueueStatus>(got.result.effects.at(0)).status;
    return testing::brief(status.conditions.at(0));
  };
  const auto local = a_local_queue("ns", "lq").cluster_queue("cq");
  EXPECT_EQ(says(World().with(LocalQueueBuilder(local).stop(api::StopPolicy::kHold))),
            "Active=False Stopped: LocalQueue is stopped");
  EXPECT_EQ(says(World().with(local)),
            "Active=False ClusterQueueDoesNotExist: Can't submit new workloads to clusterQueue");
  EXPECT_EQ(says(flavors().with(local).with(queue().stop(api::StopPolicy::kHold))),
            "Active=False ClusterQueueIsInactive: Can't submit new workloads to clusterQueue");
}

// A LocalQueue that is as its status says, and the history of one core from the beginning on.
struct Consumption {
  api::LocalQueue queue = a_local_queue("ns", "lq").cluster_queue("cq");

  Outcome at_second(std::int64_t second) const {
    World world = flavors().with(a_cluster_queue("cq").quota("cpu", "f", "10").usage_based_fair_sharing()).with(queue);
    world.with(workload("a", "1").admitted("cq", "f", at(0)));
    world.prepare([this](framework::Model& model) {
      model.usage().configure({.half_life = std::chrono::minutes(10), .sampling = std::chrono::minutes(5)});
      api::LocalQueue fresh = queue;
      fresh.status.admission_fair_sharing.reset();
      model.usage().open(at(0), fresh);
      const framework::NanoAmounts core{{"cpu", kNanoPerUnit}};
      model.usage().note(at(0), {"ns", "a"},
                         framework::UsageFacts{.local_queue = queue.meta.key(),
                                               .reserved = true,
                                               .requests = core,
                                               .admitted_at = at(-1),
                                               .admitted = core});
    });
    return world.now(second).reconcile(LocalQueueReconciler(), {"ns", "lq"});
  }

  // Writes what the reconciler says, if anything.
  bool written_at(std::int64_t second) {
    const Outcome got = at_second(second);
    if (got.result.effects.empty()) {
      return false;
    }
    queue.status = std::get<framework::PatchLocalQueueStatus>(got.result.effects.front()).status;
    return true;
  }
};

TEST(LocalQueueConsumption, IsWrittenOnceASamplingInterval) {
  Consumption consumption;
  EXPECT_TRUE(consumption.written_at(0));  // at first sight
  EXPECT_EQ(consumption.queue.status.admission_fair_sharing->last_update, at(0));
  EXPECT_FALSE(consumption.written_at(299));
  EXPECT_EQ(consumption.at_second(299).result.again_at, at(300));
  EXPECT_TRUE(consumption.written_at(300));
  EXPECT_EQ(consumption.queue.status.admission_fair_sharing->consumed_resources.at("cpu"), 292'893'218);
  EXPECT_EQ(consumption.at_second(300).result.again_at, at(600));
}

TEST(LocalQueueConsumption, IsPartOfEveryOtherWrite) {
  Consumption consumption;
  EXPECT_TRUE(consumption.written_at(0));
  consumption.queue.status.pending_workloads = 7;
  EXPECT_TRUE(consumption.written_at(60));
  EXPECT_EQ(consumption.queue.status.admission_fair_sharing->last_update, at(60));
}

TEST(LocalQueueConsumption, RestsWhenNothingChangesAnyMore) {
  Consumption consumption;
  const std::int64_t much_later = 1'000'000;  // as much is consumed as is used
  EXPECT_TRUE(consumption.written_at(much_later));
  EXPECT_FALSE(consumption.written_at(much_later + 100'000));
  EXPECT_EQ(consumption.at_second(much_later + 100'000).result.again_at, std::nullopt);
}

TEST(LocalQueueConsumption, GoesWithTheMode) {
  api::LocalQueue queue = a_local_queue("ns", "lq").cluster_queue("cq");
  queue.status.admission_fair_sharing = api::AdmissionFairSharingStatus{};
  const World world = flavors().with(queue);
  const auto status = [](const World& w) {
    const Outcome got = w.reconcile(LocalQueueReconciler(), {"ns", "lq"});
    return std::get<framework::PatchLocalQueueStatus>(got.result.effects.front()).status;
  };
  EXPECT_TRUE(status(world).admission_fair_sharing);  // the ClusterQueue may come back
  EXPECT_FALSE(status(World(world).with(a_cluster_queue("cq").quota("cpu", "f", "1"))).admission_fair_sharing);
}

TEST(Finalizers, ComeAtOnceAndGoWhenUnused) {
  const auto held = [](auto builder) { return builder.finalizer(api::kResourceInUseFinalizer); };
  const std::string remove_queue = "RemoveFinalizer cq kueue.x-k8s.io/resource-in-use";
  const std::string remove_flavor = "RemoveFinalizer f kueue.x-k8s.io/resource-in-use";
  const ObjectKey cq{"", "cq"};
  const ObjectKey f{"", "f"};
  EXPECT_THAT(flavors().with(queue()).reconcile(ClusterQueueReconciler(), cq).effects,
              ::testing::Contains("AddFinalizer cq kueue.x-k8s.io/resource-in-use"));
  const World leaving = flavors().with(held(queue()).deleted(at(0)));
  EXPECT_THAT(leaving.reconcile(ClusterQueueReconciler(), cq).effects, ::testing::Contains(remove_queue));
  EXPECT_THAT(
      World(leaving).with(workload("a", "1").reserved("cq", "f")).reconcile(ClusterQueueReconciler(), cq).effects,
      ::testing::Not(::testing::Contains(remove_queue)));
  // workloads_10_62
  EXPECT_THAT(World(leaving)
                  .with(workload("a", "1").admitted("cq", "f").finished())
                  .reconcile(ClusterQueueReconciler(), cq)
                  .effects,
              ::testing::Contains(remove_queue));
  const World flavor = World().with(held(a_flavor("f")).deleted(at(0)));
  EXPECT_THAT(flavor.reconcile(ResourceFlavorReconciler(), f).effects, ElementsAre(remove_flavor));
  EXPECT_THAT(flavor.reconcile(ClusterQueueReconciler(), cq).effects, ElementsAre(remove_flavor));
  EXPECT_THAT(World(flavor).with(queue()).reconcile(ResourceFlavorReconciler(), f).effects, IsEmpty());
}

}  // namespace
}  // namespace muster::controllers

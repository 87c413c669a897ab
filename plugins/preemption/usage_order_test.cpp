// Admission fair sharing in the order of candidates (spec/admission.md §5.2).
#include "plugins/preemption/candidates.h"
#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_local_queue;
using api::testing::a_workload;
using api::testing::at;
using framework::Preemptor;
using ::testing::ElementsAre;

// `greedy` has consumed more than `modest`; the other ClusterQueue has a history as well.
class UsageOrder : public ::testing::Test {
 protected:
  UsageOrder() {
    world_.flavors({"f"});
    for (const char* queue : {"cq", "other"}) {
      world_.add(a_cluster_queue(queue)
                     .cohort("all")
                     .quota("cpu", "f", queue == std::string("cq") ? "6" : "0")
                     .preemption({.within_cluster_queue = api::WithinClusterQueuePolicy::kLowerPriority,
                                  .reclaim_within_cohort = api::ReclaimPolicy::kAny}));
    }
    world_.model().usage().configure({.half_life = std::chrono::minutes(10)});
    int consumed = 0;
    for (const char* local : {"gone", "modest", "greedy", "far-modest", "far-greedy"}) {
      api::LocalQueue queue = a_local_queue("ns", local);
      queue.status.admission_fair_sharing = {.consumed_resources = {{"cpu", Nano{++consumed} * kNanoPerUnit}},
                                             .last_update = at(0)};
      if (std::string(local) != "gone") {
        world_.model().usage().open(at(0), queue);
      }
    }
    world_.model().usage().refresh(at(0));
  }

  void running(const std::string& name, const std::string& local, int priority, const std::string& queue = "cq") {
    world_.add(a_workload("ns", name).queue(local).priority(priority).request("cpu", "1").admitted(queue, "f"));
  }

  std::vector<std::string> order() {
    const framework::WorkloadInfo incoming =
        world_.pending(a_workload("ns", "incoming").priority(9).request("cpu", "1"), "cq");
    const framework::FlavorResource cpu = testing::fr("f/cpu");
    const Preemptor preemptor{.workload = incoming,
                              .queue = *world_.model().objects().find<api::ClusterQueue>(ObjectKey{{}, "cq"}),
                              .node = *world_.model().quota().find(ClusterQueueName("cq")),
                              .request = {{cpu, 1000}},
                              .need = {cpu},
                              .now = at(9)};
    std::vector<std::string> names;
    for (const Candidate& candidate : find_candidates(world_.model(), preemptor).in_order) {
      names.push_back(candidate.key->name);
    }
    return names;
  }

  testing::World world_{};
};

TEST_F(UsageOrder, WithinTheClusterQueueMoreUsageGoesFirst) {
  running("of-gone", "gone", 0);
  running("of-modest", "modest", 0);
  running("of-greedy", "greedy", 5);
  running("of-greedy-too", "greedy", 1);
  EXPECT_THAT(order(), ElementsAre("of-greedy-too", "of-greedy", "of-modest", "of-gone"));
}

TEST_F(UsageOrder, AmongOtherClusterQueuesItDoesNotCount) {
  running("of-greedy", "greedy", 5);
  running("far-1", "far-greedy", 3, "other");
  running("far-2", "far-modest", 2, "other");
  EXPECT_THAT(order(), ElementsAre("far-2", "far-1", "of-greedy"));
}

}  // namespace
}  // namespace muster::plugins

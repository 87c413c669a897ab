// Worlds that once went wrong, as the random search found and shrank them.
#include "sim/reference/driver.h"
#include "sim/reference/trial.h"

#include <gtest/gtest.h>

namespace muster::sim::reference {
namespace {

constexpr Units kCore = 1000;

FlavorQuotas cores(int flavor, int nominal) {
  FlavorQuotas quotas{.flavor = flavor};
  quotas.quota[kCpu].nominal = nominal * kCore;
  return quotas;
}

WorkloadDef workload(int queue, int cpus, int arrives, int finishes = -1) {
  WorkloadDef def{.queue = queue, .created = arrives, .arrives = arrives, .finishes = finishes};
  def.pod_sets.emplace_back().request[kCpu] = cpus * kCore;
  return def;
}

// w00 evicts w02 for flavor f0 and is admitted in f1, where w01 has just ended. w02 was rejected in the same cycle,
// when f0 was still held for w00: it has to be tried again.
TEST(Stories, AHoldGivenUpWakesWhoWasRejectedInTheSameCycle) {
  World world;
  world.flavors.resize(2);
  world.cohorts.push_back({.object = false});
  world.queues.push_back({.cohort = 0, .reclaim = Reclaim::kAny, .groups = {{{kCpu}, {cores(1, 3), cores(0, 4)}}}});
  world.queues.push_back({.cohort = 0, .groups = {{{kCpu}, {cores(0, 0)}}}});
  world.workloads = {workload(0, 3, 1), workload(0, 2, 0, 2), workload(1, 2, 0)};
  const TrialResult result = run_trial(world, Profiles());
  EXPECT_EQ(result.difference, "");
  EXPECT_EQ(result.tally.victims, 1);
  EXPECT_EQ(result.tally.admitted, 4);  // w02 twice
}

// Each podset fits in f0 alone, so each stops there in turn while the other one is left with f1, which is full.
TEST(Stories, TwoPodSetsDoNotTakeTurnsForEver) {
  World world;
  world.flavors.resize(2);
  world.queues.push_back({.groups = {{{kCpu}, {cores(0, 3), cores(1, 3)}}}});
  world.flavors[0].pool = 0;
  world.workloads = {workload(0, 3, 0), workload(0, 2, 1)};
  world.workloads[0].pod_sets.front().pool = 1;  // it fills f1
  world.workloads[1].pod_sets.push_back(world.workloads[1].pod_sets.front());
  const TrialResult result = run_trial(world, Profiles());
  EXPECT_EQ(result.difference, "");
  EXPECT_EQ(result.tally.parked, 2);
}

}  // namespace
}  // namespace muster::sim::reference

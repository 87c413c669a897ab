// Simulations in which everything takes random time and much goes wrong: what must hold, holds after every step, and
// every job finishes. The seed of a failing run is in its message.
#include "plugins/register_all.h"
#include "sim/report.h"
#include "sim/testing/invariants.h"
#include "sim/testing/scene.h"

namespace muster::sim {
namespace {

using testing::bound_pods;
using testing::Scene;
using testing::violations;

framework::Registry all_plugins() {
  framework::Registry registry;
  plugins::register_all(registry);
  return registry;
}

FaultOptions slow(std::uint64_t seed) {
  return {.seed = seed,
          .max_watch_delay = Duration(700),
          .max_request_delay = Duration(150),
          .max_pod_delay = Duration(2000)};
}

FaultOptions hostile(std::uint64_t seed) {
  FaultOptions options = slow(seed);
  options.refused = 60;
  options.lost = 60;
  options.conflict = 60;
  return options;
}

// Random times in the first `span`, from the seed.
std::vector<Duration> random_times(std::uint64_t seed, int count, Duration span) {
  Faults random({.seed = seed * 7919});
  std::vector<Duration> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(random.up_to(span));
  }
  return times;
}

void expect_all_finished(const Simulator& simulator, std::uint64_t seed) {
  const Report report = make_report(simulator);
  for (const JobReport& job : report.jobs) {
    EXPECT_EQ(job.state, "Finished") << "seed " << seed << ": " << job.name << ": " << job.reason;
  }
}

TEST(TwoGangsThatNeedAllNodes, AreNeverBothPartlyBoundInTwoHundredRuns) {
  const framework::Registry registry = all_plugins();
  for (std::uint64_t seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) {
    const std::vector<Duration> at = random_times(seed, 2, std::chrono::seconds(3));
    Scene scene;
    scene.nodes(4, "4").queue({.cpu = "100"});
    scene.job({.name = "red", .pods = 8, .cpu = "2", .at = at[0], .runs_for = std::chrono::seconds(20)});
    scene.job({.name = "blue", .pods = 8, .cpu = "2", .at = at[1], .runs_for = std::chrono::seconds(20)});
    Simulator simulator({.faults = slow(seed), .until = std::chrono::hours(2)}, registry);
    simulator.submit(scene.submissions());
    std::uint64_t seen = 0;
    while (simulator.step()) {
      if (simulator.server().version() == seen) {
        continue;
      }
      seen = simulator.server().version();
      ASSERT_LE(bound_pods(simulator).size(), 1U) << "seed " << seed;
    }
    EXPECT_TRUE(violations(simulator).empty()) << "seed " << seed;
    expect_all_finished(simulator, seed);
  }
}

// Gangs of many sizes in two queues of a cohort, with preemption and reclaim, beside pods of another scheduler.
Scene busy_scene(std::uint64_t seed) {
  Scene scene;
  scene.nodes(5, "8").nodes(2, "8", "others").priority_class("high", 100).priority_class("low", -100);
  scene.queue({.name = "left", .cpu = "24", .cohort = "all", .within_queue = "LowerPriority", .within_cohort = "Any"});
  scene.queue({.name = "right", .cpu = "24", .cohort = "all", .within_queue = "LowerPriority", .within_cohort = "Any"});
  Faults random({.seed = seed * 104729});
  const auto draw = [&random](int limit) { return static_cast<int>(random.up_to(Duration(limit - 1)).count()); };
  for (int i = 0; i < 14; ++i) {
    const char* const classes[] = {"", "high", "low"};
    const bool ours = draw(4) != 0;  // two schedulers on one node would race, as they do on a real one
    scene.job({.name = "job-" + std::to_string(i),
               .queue = draw(2) == 0 ? "left" : "right",
               .priority_class = classes[draw(3)],
               .pods = 1 + draw(6),
               .cpu = std::to_string(1 + draw(4)),
               .at = std::chrono::seconds(draw(120)),
               .runs_for = std::chrono::seconds(5 + draw(60)),
               .scheduler = ours ? "muster" : "default-scheduler",
               .pool = ours ? "node" : "others"});
  }
  return scene;
}

void run_checked(Simulator& simulator, std::uint64_t seed) {
  std::uint64_t checked = 0;
  while (simulator.step()) {
    if (simulator.server().version() < checked + 5) {
      continue;  // the checks read everything: after every single write they would take minutes
    }
    checked = simulator.server().version();
    const std::vector<std::string> broken = violations(simulator);
    ASSERT_TRUE(broken.empty()) << "seed " << seed << ", " << format_duration(simulator.now() - kStartOfTime) << ": "
                                << broken.front();
  }
  expect_all_finished(simulator, seed);
}

class UnderFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(UnderFaults, NothingIsOverbookedAndEveryJobFinishes) {
  const framework::Registry registry = all_plugins();
  Simulator simulator({.faults = hostile(GetParam()), .until = std::chrono::hours(24)}, registry);
  simulator.submit(busy_scene(GetParam()).submissions());
  run_checked(simulator, GetParam());
}

TEST_P(UnderFaults, RestartsAtRandomMomentsLoseNothing) {
  const framework::Registry registry = all_plugins();
  Simulator simulator({.faults = hostile(GetParam()),
                       .until = std::chrono::hours(24),
                       .restarts = random_times(GetParam(), 6, std::chrono::seconds(200))},
                      registry);
  simulator.submit(busy_scene(GetParam()).submissions());
  run_checked(simulator, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, UnderFaults, ::testing::Range<std::uint64_t>(1, 9));

TEST(Simulation, OfTheSameSeedIsTheSame) {
  const framework::Registry registry = all_plugins();
  std::vector<std::string> reports;
  for (int i = 0; i < 2; ++i) {
    Simulator simulator({.faults = hostile(5), .until = std::chrono::hours(24)}, registry);
    simulator.submit(busy_scene(5).submissions());
    simulator.run();
    reports.push_back(to_json(make_report(simulator)));
  }
  EXPECT_EQ(reports[0], reports[1]);
}

}  // namespace
}  // namespace muster::sim

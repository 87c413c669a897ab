// Two LocalQueues of one ClusterQueue under admission fair sharing, with the real manager over a model API server.
#include "base/quantity.h"
#include "plugins/register_all.h"
#include "sim/report.h"
#include "sim/simulator.h"
#include "sim/testing/invariants.h"
#include "sim/testing/scene.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::sim {
namespace {

using testing::Scene;
using std::chrono::minutes;
using std::chrono::seconds;

SimulatorOptions options(bool on) {
  SimulatorOptions options;
  if (on) {
    options.manager.core.admission_fair_sharing =
        framework::UsageRules{.half_life = minutes(10), .sampling = minutes(5)};
  }
  return options;
}

// `hungry` submits six jobs, a second later `modest` submits two; two run at a time.
Scene hungry_and_modest() {
  Scene scene;
  scene.nodes(1, "8").queue({.cpu = "2", .more_local_queues = {"hungry", "modest"}, .usage_based = true});
  for (int i = 0; i < 6; ++i) {
    scene.job({.name = "hungry-" + std::to_string(i), .queue = "hungry"});
  }
  for (int i = 0; i < 2; ++i) {
    scene.job({.name = "modest-" + std::to_string(i), .queue = "modest", .at = seconds(1)});
  }
  return scene;
}

// How many of the hungry jobs started before the last of the modest ones.
int hungry_before_modest(SimulatorOptions how) {
  framework::Registry registry;
  plugins::register_all(registry);
  Simulator simulator(std::move(how), registry);
  simulator.submit(hungry_and_modest().submissions());
  while (simulator.step()) {
    EXPECT_TRUE(testing::violations(simulator).empty());
  }
  const Report report = make_report(simulator);
  Duration modest{};
  for (const JobReport& job : report.jobs) {
    EXPECT_EQ(job.state, "Finished") << job.name << ": " << job.reason;
    modest = job.queue == "modest" ? std::max(modest, job.started.value_or(Duration{})) : modest;
  }
  return static_cast<int>(std::count_if(report.jobs.begin(), report.jobs.end(), [&](const JobReport& job) {
    return job.queue == "hungry" && job.started < modest;
  }));
}

TEST(AdmissionFairSharing, WhoHasUsedLessGoesFirst) {
  EXPECT_EQ(hungry_before_modest(options(true)), 2);
  EXPECT_EQ(hungry_before_modest(options(false)), 6);
}

struct History {
  std::map<std::string, Nano> consumed{};
  int writes = 0;  // of the LocalQueue's status
};

class StatusWrites final : public ChangeListener {
 public:
  void on_change(const Change& change) override {
    const bool counts = std::string(change.kind->name) == "LocalQueue" && change.key.name == "hungry";
    writes += counts && change.before != nullptr ? 1 : 0;
  }

  int writes = 0;
};

// What the status says of the hungry queue when everything is over.
History history(std::vector<Duration> restarts) {
  framework::Registry registry;
  plugins::register_all(registry);
  SimulatorOptions how = options(true);
  how.restarts = std::move(restarts);
  Simulator simulator(std::move(how), registry);
  StatusWrites writes;
  simulator.server().listen(writes);
  Scene scene = hungry_and_modest();
  scene.job({.name = "last", .queue = "modest", .at = minutes(30), .runs_for = minutes(30)});
  simulator.submit(scene.submissions());
  simulator.run();
  History history{.writes = writes.writes};
  const Stored queue = simulator.server().find(kind_of("LocalQueue"), {"team", "hungry"});
  const api::Json& status = queue->at("status").at("fairSharing").at("admissionFairSharingStatus");
  for (const auto& entry : status.at("consumedResources").items()) {
    history.consumed[entry.key()] = parse_wide_nano(entry.value().get<std::string>()).value();
  }
  return history;
}

TEST(AdmissionFairSharing, ARestartKeepsTheHistory) {
  const History steady = history({});
  ASSERT_GT(steady.consumed.at("cpu"), 0);
  // Six changes of its numbers and a sample every five minutes of an hour, each at most once a second.
  EXPECT_LE(steady.writes, 40);
  const History restarted = history({seconds(20), seconds(90), minutes(7), minutes(40)});
  const auto difference = static_cast<double>(steady.consumed.at("cpu") - restarted.consumed.at("cpu"));
  EXPECT_LT(std::abs(difference), 0.02 * static_cast<double>(steady.consumed.at("cpu")));
}

}  // namespace
}  // namespace muster::sim

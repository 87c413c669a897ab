// A cluster in virtual time: the model API server, the manager's real core, controllers, plugins and API programs, and
// models of the Job controller, the scheduler of other pods, and the kubelets. The same input gives the same run.
// Single thread; nothing sleeps.
#pragma once

#include "sim/job_controller.h"
#include "sim/manager.h"
#include "sim/node_model.h"
#include "sim/recorder.h"
#include "sim/submission.h"
#include "webhook/options.h"

#include <string>
#include <vector>

namespace muster::sim {

struct SimulatorOptions {
  ManagerOptions manager{};
  webhook::Options webhooks{};
  NodeModelOptions nodes{};
  FaultOptions faults{};
  Duration until = std::chrono::hours(24 * 365);  // given up then
  std::vector<Duration> restarts{};               // the manager dies and comes back, at these times
};

class Simulator {
 public:
  // `registry` is borrowed. The options' profile must be valid (framework::make_profile says what is not).
  Simulator(SimulatorOptions options, const framework::Registry& registry);

  // Before the run. Namespaces that nobody submits are created as they are named.
  void submit(std::vector<Submission> submissions);

  // One action; false when nothing is left to happen before the end, or all Jobs finished a minute ago.
  bool step();

  void run() {
    while (step()) {
    }
  }

  TimePoint now() const { return timeline_.now(); }

  ApiServer& server() { return server_; }

  const ApiServer& server() const { return server_; }

  const Recorder& recorder() const { return recorder_; }

  const Manager& manager() const { return manager_; }

  Manager& manager() { return manager_; }

  // Submissions that the API server refused, with the reason.
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  void start_manager();
  void create(Submission submission);
  Result<Stored> store(const ResourceKind& kind, const ObjectKey& key, api::Json object);
  TimePoint end() const;

  SimulatorOptions options_;
  Timeline timeline_{kStartOfTime};
  ApiServer server_{kStartOfTime};
  Faults faults_;
  Recorder recorder_;
  JobController job_controller_;
  NodeModel node_model_;
  Manager manager_;
  std::size_t to_submit_ = 0;
  std::vector<std::string> refusals_{};
};

}  // namespace muster::sim

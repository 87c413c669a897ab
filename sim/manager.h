// The manager's shell in the simulation: watches the model API server, drives the core, and has its effects carried
// out. Stopped and started again it knows nothing but what the API server holds: a new core is fed a full list.
// Owner: the simulator. Single thread, virtual time.
#pragma once

#include "controllers/options.h"
#include "framework/core.h"
#include "framework/registry.h"
#include "sim/effect_runner.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim {

struct ManagerOptions {
  framework::CoreOptions core{};
  controllers::ControllerOptions controllers{};
  framework::PluginDeps plugins{};
  std::string profile{};  // YAML; empty: the default profile
  KeepEvents keep_events = KeepEvents::kYes;
  // What the core is given, for a recording: a new core begins, an event is applied.
  std::function<void()> on_start{};
  std::function<void(TimePoint now, const framework::Event& event)> on_apply{};
  // Called after every settle: what was decided and what is to be written, for people who want to read it.
  std::function<void(TimePoint now, const framework::Output& output)> on_settled{};
};

class Manager final : public ChangeListener, private EffectObserver {
 public:
  struct Parts {
    Timeline& timeline;
    ApiServer& server;
    Faults& faults;
    const framework::Registry& registry;
  };

  // The options' profile must be valid (check_profile). Listens to the server from now on.
  Manager(const Parts& parts, ManagerOptions options);

  void start();
  // The process dies: what it had sent may still arrive, what was on its way to it is lost.
  void stop();

  void on_change(const Change& change) override;

  bool running() const { return core_ != nullptr; }

  // Precondition: running.
  const framework::Core& core() const { return *core_; }

  framework::Core& core() { return *core_; }

  // Objects that could not be decoded: a bug of the simulation or of the codecs.
  const std::vector<std::string>& undecodable() const { return undecodable_; }

 private:
  // A process: its runner dies with it, and so does what was on its way to it.
  void on_result(framework::Event event) override;
  void deliver(TimePoint when, framework::Event event);
  void receive(framework::Event event);
  void wake_at(TimePoint when);
  void wake();
  std::optional<framework::Event> decoded(const Change& change);
  void list_everything();

  Parts parts_;
  ManagerOptions options_;
  std::uint64_t process_ = 0;  // grows with each restart
  std::unique_ptr<framework::Core> core_{};
  std::vector<std::unique_ptr<EffectRunner>> runners_{};  // the last one is alive
  std::vector<framework::Event> inbox_{};
  std::optional<TimePoint> wake_at_{};
  std::map<const ResourceKind*, TimePoint> watch_until_{};  // events of one kind keep their order
  std::vector<std::string> undecodable_{};
};

}  // namespace muster::sim

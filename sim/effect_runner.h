// Carries out effects against the model API server, as the live executor does against a real one: the same programs,
// one write in flight an object, newer effects replacing older unsent ones of their slot, repeated requests after
// refusals and lost answers. Owner: Manager. Single thread, virtual time.
#pragma once

#include "framework/request.h"
#include "sim/api_server.h"
#include "sim/faults.h"
#include "sim/timeline.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace muster::sim {

enum class KeepEvents : std::uint8_t { kNo, kYes };  // write Event objects, or drop them (large runs)

// Told how effects ended.
class EffectObserver {
 public:
  virtual ~EffectObserver() = default;
  virtual void on_result(framework::Event event) = 0;
};

class EffectRunner {
 public:
  // The parts are borrowed and outlive this.
  struct Parts {
    Timeline& timeline;
    ApiServer& server;
    Faults& faults;
    EffectObserver& observer;
  };

  EffectRunner(const Parts& parts, framework::ProgramFactory programs, KeepEvents keep_events)
      : parts_(parts), programs_(std::move(programs)), keep_events_(keep_events) {}

  void submit(framework::Effects effects);

  // As if the process had died: what was sent may still arrive, nothing more is done.
  void stop() { stopped_ = true; }

  bool idle() const { return lanes_.empty(); }

 private:
  struct Run {
    framework::Effect effect{};
    std::vector<framework::EffectId> ids{};  // it and those it has replaced
    std::unique_ptr<framework::Program> program{};
    framework::ApiRequest request{};
    int repeats = 0;
  };

  using RunPtr = std::shared_ptr<Run>;

  void add(framework::Effect effect);
  void start(const RunPtr& run);
  void start_next(const framework::ObjectRef& object);
  void take_step(const RunPtr& run, framework::Step step);
  void send(const RunPtr& run, Duration wait);
  void arrive(const RunPtr& run);
  void answer(const RunPtr& run, const Result<framework::ApiReply>& reply);
  void finish(const RunPtr& run, const framework::Step& end);

  Parts parts_;
  framework::ProgramFactory programs_;
  KeepEvents keep_events_;
  bool stopped_ = false;
  // Writes by object; the front is under way. Event objects go their own way, in no lane.
  std::map<framework::ObjectRef, std::deque<RunPtr>> lanes_{};
};

}  // namespace muster::sim

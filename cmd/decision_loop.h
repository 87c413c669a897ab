// The decision thread: the one owner of the core. Takes events from the queue, settles, hands effects to the executor,
// publishes a summary, and audits the ledger now and then. A shell: everything that decides is in framework/.
//
// Thread: start and stop by the owner; set_leading and summary from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "client/event_queue.h"
#include "framework/core.h"

namespace muster::cmd {

struct DecisionLoopOptions {
  std::size_t batch = 1024;                        // events applied before the core settles
  Duration audit_period = std::chrono::minutes(1);
};

// What the loop calls, on its own thread. None may block for long.
struct DecisionLoopHooks {
  std::function<void(framework::Effects)> submit{};
  std::function<void(const framework::Trace&)> on_trace = [](const framework::Trace&) {};
  // Before an event is applied.
  std::function<void(const framework::Event&, const framework::Core&)> on_event = [](const auto&, const auto&) {};
  // The core's inputs and answers, for a recording: before an event is applied, and after a settle.
  std::function<void(TimePoint now, const framework::Event&)> on_apply = [](TimePoint, const auto&) {};
  std::function<void(TimePoint now, const framework::Output&)> on_output = [](TimePoint, const auto&) {};
  // After every batch of events, leading or not, once the first lists are there.
  std::function<void(const framework::Core&)> on_batch = [](const framework::Core&) {};
  // After every settle, with the core at rest: publish summaries.
  std::function<void(const framework::Core&, Duration spent)> on_settled = [](const framework::Core&, Duration) {};
  // Differences between the ledger and the objects; empty when they agree.
  std::function<void(const std::vector<std::string>&)> on_audit = [](const std::vector<std::string>&) {};
};

class DecisionLoop {
 public:
  // `core` and `events` must outlive this.
  DecisionLoop(framework::Core& core, client::EventQueue& events, DecisionLoopHooks hooks,
               DecisionLoopOptions options = {});
  ~DecisionLoop();  // stops
  DecisionLoop(const DecisionLoop&) = delete;
  DecisionLoop& operator=(const DecisionLoop&) = delete;

  void start();
  void stop();
  // Only a leader decides; a standby keeps its picture of the cluster up to date.
  void set_leading(bool leading);
  bool synced() const { return synced_.load(); }

 private:
  void run(const std::stop_token& stop);
  void settle();
  void audit();
  Duration until_deadline() const;

  framework::Core& core_;
  client::EventQueue& events_;
  DecisionLoopHooks hooks_;
  DecisionLoopOptions options_;
  std::atomic<bool> leading_ = false;
  std::atomic<bool> synced_ = false;
  std::optional<TimePoint> deadline_{};  // of the decision thread
  TimePoint next_audit_{};
  std::jthread thread_{};
};

}  // namespace muster::cmd

#include "cmd/decision_loop.h"

#include <algorithm>

#include "client/clock.h"

namespace muster::cmd {

namespace {

constexpr Duration kIdle = std::chrono::seconds(5);

}  // namespace

DecisionLoop::DecisionLoop(framework::Core& core, client::EventQueue& events, DecisionLoopHooks hooks,
                           DecisionLoopOptions options)
    : core_(core), events_(events), hooks_(std::move(hooks)), options_(options) {}

DecisionLoop::~DecisionLoop() { stop(); }

void DecisionLoop::start() {
  thread_ = std::jthread([this](const std::stop_token& token) noexcept { run(token); });
}

void DecisionLoop::stop() {
  thread_.request_stop();
  events_.wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void DecisionLoop::set_leading(bool leading) {
  leading_.store(leading);
  events_.wake();
}

void DecisionLoop::run(const std::stop_token& token) {
  next_audit_ = client::wall_now() + options_.audit_period;
  while (!token.stop_requested()) {
    for (const framework::Event& event : events_.pop_batch(options_.batch, until_deadline())) {
      hooks_.on_event(event, core_);
      const TimePoint now = client::wall_now();
      hooks_.on_apply(now, event);
      core_.apply(now, event);
    }
    if (core_.synced()) {
      hooks_.on_batch(core_);
      synced_.store(true);
    }
    if (leading_.load() && core_.synced()) {
      settle();
    }
    if (client::wall_now() >= next_audit_) {
      audit();
    }
  }
}

void DecisionLoop::settle() {
  const client::MonoTime begin = client::mono_now();
  const TimePoint now = client::wall_now();
  framework::Output out = core_.settle(now);
  const Duration spent = client::mono_now() - begin;
  hooks_.on_output(now, out);
  deadline_ = out.more ? std::optional<TimePoint>(client::wall_now()) : out.next_deadline;
  if (!out.effects.empty()) {
    hooks_.submit(std::move(out.effects));
  }
  if (!out.trace.empty()) {
    hooks_.on_trace(out.trace);
  }
  hooks_.on_settled(core_, spent);
}

void DecisionLoop::audit() {
  next_audit_ = client::wall_now() + options_.audit_period;
  if (core_.synced()) {
    hooks_.on_audit(core_.model().audit());
  }
}

Duration DecisionLoop::until_deadline() const {
  const TimePoint now = client::wall_now();
  Duration wait = std::min(kIdle, next_audit_ - now);
  if (deadline_) {
    wait = std::min(wait, *deadline_ - now);
  }
  return std::max(wait, Duration(0));
}

}  // namespace muster::cmd

#include "sim/effect_runner.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace muster::sim {

using framework::ApiReply;
using framework::ApiRequest;
using framework::Effect;
using framework::ObjectRef;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

namespace {

constexpr int kMaxRepeats = 4;  // then the program hears of the error
constexpr Duration kFirstPause{200};

bool is_event(const Effect& effect) {
  return std::holds_alternative<framework::EmitEvent>(effect.body);
}

}  // namespace

void EffectRunner::submit(framework::Effects effects) {
  for (Effect& effect : effects) {
    if (!is_event(effect)) {
      add(std::move(effect));
    } else if (keep_events_ == KeepEvents::kYes) {
      auto run = std::make_shared<Run>();
      run->effect = std::move(effect);
      start(run);
    }
  }
}

void EffectRunner::add(Effect effect) {
  const ObjectRef object = framework::target(effect);
  const std::string slot = framework::merge_key(effect);
  auto run = std::make_shared<Run>();
  run->ids.push_back(effect.id);
  run->effect = std::move(effect);
  auto& lane = lanes_[object];
  const bool idle = lane.empty();
  for (auto it = idle ? lane.end() : std::next(lane.begin()); it != lane.end(); ++it) {
    if (!slot.empty() && framework::merge_key((*it)->effect) == slot) {
      run->ids.insert(run->ids.begin(), (*it)->ids.begin(), (*it)->ids.end());
      lane.erase(it);
      break;
    }
  }
  lane.push_back(std::move(run));
  if (idle) {
    start_next(object);
  }
}

void EffectRunner::start_next(const ObjectRef& object) {
  const auto lane = lanes_.find(object);
  if (lane->second.empty()) {
    lanes_.erase(lane);
    return;
  }
  start(lane->second.front());
}

void EffectRunner::start(const RunPtr& run) {
  run->program = programs_(run->effect, parts_.timeline.now());
  take_step(run, run->program->start());
}

void EffectRunner::take_step(const RunPtr& run, Step step) {
  if (auto* request = std::get_if<ApiRequest>(&step)) {
    run->request = std::move(*request);
    run->repeats = 0;
    send(run, Duration::zero());
    return;
  }
  // Later, so that the end of one effect never runs inside the start of another.
  parts_.timeline.after(Duration::zero(), [this, run, end = std::move(step)] { finish(run, end); });
}

void EffectRunner::send(const RunPtr& run, Duration wait) {
  parts_.timeline.after(wait + parts_.faults.request_delay(), [this, run] { arrive(run); });
}

void EffectRunner::arrive(const RunPtr& run) {
  if (stopped_ && run->repeats > 0) {
    return;
  }
  const bool is_write = run->request.method != "GET";
  const Fate fate = parts_.faults.fate_of_request(is_write);
  Result<ApiReply> reply = ApiReply{.status = 500, .body = "the simulation refuses this request"};
  if (fate == Fate::kConflict) {
    reply = ApiReply{.status = 409, .body = R"({"kind":"Status","reason":"Conflict","message":"injected conflict"})"};
  } else if (fate != Fate::kRefused) {
    reply = parts_.server.handle(run->request);
  }
  if (fate == Fate::kLost) {
    reply = Error{.code = ErrorCode::kTimeout, .message = "the answer was lost", .maybe_executed = true};
  }
  const Duration back = parts_.faults.request_delay();
  if (back == Duration::zero()) {
    answer(run, reply);
  } else {
    parts_.timeline.after(back, [this, run, reply = std::move(reply)] { answer(run, reply); });
  }
}

void EffectRunner::answer(const RunPtr& run, const Result<ApiReply>& reply) {
  if (stopped_) {
    return;
  }
  const bool answered = reply.ok() && reply->status < 500;
  if (!answered && run->request.replay_safe && run->repeats < kMaxRepeats) {
    send(run, kFirstPause * (1 << run->repeats));
    run->repeats += 1;
    return;
  }
  take_step(run, run->program->resume(reply));
}

void EffectRunner::finish(const RunPtr& run, const Step& end) {
  if (stopped_ || is_event(run->effect)) {
    return;
  }
  const ObjectRef object = framework::target(run->effect);
  const auto* done = std::get_if<ProgramDone>(&end);
  for (const framework::EffectId id : run->ids) {
    if (done != nullptr) {
      parts_.observer.on_result(framework::EffectDone{
          .id = id, .workload = done->workload, .written_version = done->written_version});
    } else if (const auto* failed = std::get_if<ProgramFailed>(&end)) {
      parts_.observer.on_result(
          framework::EffectFailed{.id = id, .error = failed->error, .workload = failed->workload});
    }
  }
  lanes_[object].pop_front();
  start_next(object);
  if (done != nullptr) {
    framework::Effects news;
    for (const framework::EmitEvent& event : done->events) {
      news.push_back({.body = event});
    }
    submit(std::move(news));
  }
}

}  // namespace muster::sim

#include "client/effect_run.h"

#include "client/api_error.h"

#include <algorithm>
#include <utility>

namespace muster::client {
namespace {

using framework::ApiReply;
using framework::ApiRequest;

// The answer as an Error for the program, or for the report.
Error as_error(const Result<net::Response>& answer) {
  return answer.ok() ? error_of(*answer) : answer.error();
}

}  // namespace

EffectRun::EffectRun(PendingWrite write, std::unique_ptr<framework::Program> program, const RetryPolicy& policy,
                     MonoTime now)
    : write_(std::move(write)),
      program_(std::move(program)),
      policy_(policy),
      deadline_(now + policy.deadline),
      backoff_(policy.backoff) {
  take_step(program_->start());
}

void EffectRun::take_step(framework::Step step) {
  request_.reset();
  if (auto* request = std::get_if<ApiRequest>(&step)) {
    request_ = std::move(*request);
  } else {
    end_ = std::move(step);
  }
}

EffectRun::Fate EffectRun::fate_of(const Result<net::Response>& answer) const {
  const bool reads = request_->method == "GET";
  if (!answer.ok()) {
    return reads || !answer.error().maybe_executed ? Fate::kNotExecuted : Fate::kUnknown;
  }
  if (answer->status == 401 || answer->status == 429) {
    return Fate::kNotExecuted;
  }
  if (answer->status < 500) {
    const bool told_nothing = reads && uncertain_ && answer->status >= 300 && answer->status != 404;
    return told_nothing ? Fate::kNotExecuted : Fate::kAnswered;
  }
  const bool turned_away = answer->status == 503 && net::find_header(answer->headers, "Retry-After") != nullptr;
  return reads || turned_away ? Fate::kNotExecuted : Fate::kUnknown;
}

bool EffectRun::may_repeat(Fate fate, MonoTime at) const {
  if (fate == Fate::kUnknown && !request_->replay_safe) {
    return false;
  }
  return uncertain_ || at < deadline_;
}

Duration EffectRun::on_answer(const Result<net::Response>& answer, MonoTime now, double unit) {
  const Fate fate = fate_of(answer);
  if (fate == Fate::kAnswered) {
    const bool known_now = answer->status < 300 || request_->method == "GET";
    uncertain_ = uncertain_ && !known_now;
    backoff_.reset();
    return give(ApiReply{.status = answer->status, .body = answer->body});
  }
  uncertain_ = policy_.settle_doubt && (uncertain_ || fate == Fate::kUnknown);
  const Duration asked = answer.ok() ? retry_after(answer->headers).value_or(Duration::zero()) : Duration::zero();
  const Duration wait = std::max(backoff_.next(unit), asked);
  if (may_repeat(fate, now + wait)) {
    return wait;
  }
  Error error = as_error(answer);
  error.maybe_executed = fate == Fate::kUnknown;
  give(std::move(error));
  return request_ ? wait : Duration::zero();
}

Duration EffectRun::give(const Result<ApiReply>& reply) {
  steps_ += 1;
  take_step(program_->resume(reply));
  if (request_ && steps_ >= policy_.max_steps && !uncertain_) {
    request_.reset();
    end_ = framework::ProgramFailed{
        .error = {.code = ErrorCode::kInternal,
                  .message = "no end after " + std::to_string(steps_) + " requests: " + describe(write_.effect)}};
  }
  return Duration::zero();
}

std::vector<framework::Event> EffectRun::reports() const {
  std::vector<framework::Event> events;
  if (!end_) {
    return events;
  }
  for (const framework::EffectId id : write_.ids) {
    if (const auto* done = std::get_if<framework::ProgramDone>(&*end_)) {
      events.emplace_back(framework::EffectDone{
          .id = id, .workload = done->workload, .written_version = done->written_version});
    } else if (const auto* failed = std::get_if<framework::ProgramFailed>(&*end_)) {
      events.emplace_back(framework::EffectFailed{.id = id, .error = failed->error, .workload = failed->workload});
    }
  }
  return events;
}

framework::Effects EffectRun::announcements() const {
  framework::Effects effects;
  if (const auto* done = end_ ? std::get_if<framework::ProgramDone>(&*end_) : nullptr) {
    for (const framework::EmitEvent& event : done->events) {
      effects.push_back({.body = event});
    }
  }
  return effects;
}

}  // namespace muster::client

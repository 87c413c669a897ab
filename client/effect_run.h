// One effect on its way to the API server: drives a framework::Program and decides, answer by answer, whether to go on,
// to repeat the request, or to end. No I/O, no clock; owned by one executor thread at a time.
//
// What it guarantees: a request is repeated only if it was surely not executed or if repeating it is harmless; a write
// whose answer was lost is given to the program as an Error with `maybe_executed`, and from then on the deadline does
// not end the effect until the program has read how things stand. So a reported failure is a certain one.
// Answers of 500, 502 and 504, and of 503 without Retry-After, count as lost: the server may have acted. A program
// therefore never sees a status of 500 or more, nor 401 or 429, nor, in doubt, a read that told it nothing.
#pragma once

#include "client/clock.h"
#include "client/pacing.h"
#include "client/write_queue.h"
#include "framework/request.h"
#include "net/transport.h"

#include <memory>
#include <optional>
#include <vector>

namespace muster::client {

struct RetryPolicy {
  Duration deadline{60'000};  // of one effect, as long as its fate is known
  BackoffLimits backoff{.first = Duration(100), .max = Duration(15'000)};
  int max_steps = 64;        // replies given to one program
  bool settle_doubt = true;  // false: the deadline ends the effect even while its fate is unknown (Events)
};

class EffectRun {
 public:
  EffectRun(PendingWrite write, std::unique_ptr<framework::Program> program, const RetryPolicy& policy, MonoTime now);

  // The request to send now, or null once the run has ended.
  const framework::ApiRequest* request() const { return request_ ? &*request_ : nullptr; }

  // Takes the answer to request(). Returns how long to wait before the next one. `unit` is random in [0, 1).
  Duration on_answer(const Result<net::Response>& answer, MonoTime now, double unit);

  // EffectDone or EffectFailed for every id, once the run has ended.
  std::vector<framework::Event> reports() const;
  // What users are to be told of it, as effects for the Events lane.
  framework::Effects announcements() const;

  const framework::ObjectRef& target() const { return write_.target; }

  // A write was sent and nobody knows yet whether it took effect.
  bool uncertain() const { return uncertain_; }

 private:
  enum class Fate { kAnswered, kNotExecuted, kUnknown };

  Fate fate_of(const Result<net::Response>& answer) const;
  Duration give(const Result<framework::ApiReply>& reply);
  void take_step(framework::Step step);
  bool may_repeat(Fate fate, MonoTime at) const;

  PendingWrite write_;
  std::unique_ptr<framework::Program> program_;
  RetryPolicy policy_;
  MonoTime deadline_;
  Backoff backoff_;
  std::optional<framework::ApiRequest> request_{};
  std::optional<framework::Step> end_{};  // ProgramDone or ProgramFailed
  bool uncertain_ = false;
  int steps_ = 0;
};

}  // namespace muster::client

// Programs of a single request, safe to repeat: statuses of queues, conditions of pods, deletions, events. Internal to
// controllers/requests.
#pragma once

#include "base/time.h"
#include "framework/request.h"

#include <string>
#include <utility>
#include <vector>

namespace muster::controllers {

class OneShotProgram final : public framework::Program {
 public:
  // What a refusal means: that the wish is fulfilled all the same (deleted already, told already), or failure.
  struct Outcome {
    bool absent_is_done = false;    // 404
    bool conflict_is_done = false;  // 409
    std::vector<framework::EmitEvent> events{};
  };

  OneShotProgram(framework::ApiRequest request, Outcome outcome)
      : request_(std::move(request)), outcome_(std::move(outcome)) {}

  framework::Step start() override { return request_; }

  framework::Step resume(const Result<framework::ApiReply>& reply) override;

 private:
  framework::ApiRequest request_;
  Outcome outcome_;
};

OneShotProgram status_program(const framework::PatchClusterQueueStatus& effect);
OneShotProgram status_program(const framework::PatchLocalQueueStatus& effect);
OneShotProgram status_program(const framework::PatchCohortStatus& effect);
OneShotProgram condition_program(const framework::PatchPodCondition& effect);
OneShotProgram delete_program(const framework::DeleteObject& effect);
// `instance` names this process in the event; `now` is its time.
OneShotProgram event_program(const framework::EmitEvent& effect, const std::string& instance, TimePoint now);

}  // namespace muster::controllers

// Creates a job's Workload from the job as it is read at that moment. Internal to controllers/requests.
#pragma once

#include "api/codec/json.h"
#include "framework/request.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::controllers {

// A Workload of that name that is there already is this job's (done) or somebody else's (failed): the name makes the
// creation safe to repeat.
class CreateProgram final : public framework::Program {
 public:
  CreateProgram(framework::CreateWorkload effect, std::vector<std::string> label_keys_to_copy)
      : effect_(std::move(effect)), label_keys_(std::move(label_keys_to_copy)) {}

  framework::Step start() override;
  framework::Step resume(const Result<framework::ApiReply>& reply) override;

 private:
  enum class State { kReadingJob, kCreating, kReadingWorkload };

  framework::Step on_job(const Result<framework::ApiReply>& reply);
  framework::Step on_created(const Result<framework::ApiReply>& reply);
  framework::Step on_existing(const Result<framework::ApiReply>& reply);
  framework::Step create();

  framework::CreateWorkload effect_;
  std::vector<std::string> label_keys_;
  State state_ = State::kReadingJob;
  std::string body_{};
  int creations_left_ = 3;
};

}  // namespace muster::controllers

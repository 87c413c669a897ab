// Writes a Workload's status: one server-side apply of everything Muster owns there, bound to the version the status
// was computed from. Internal to controllers/requests.
#pragma once

#include "framework/request.h"

#include <memory>
#include <string>

namespace muster::controllers {

// After anything but a success the Workload is read: it says the same as the effect -> done; unchanged since -> written
// again (a bounded number of times); anything else -> failed, with what was read. A Workload that cannot be read is
// asked for again and again: nobody may be told what became of the write before that is known.
class StatusProgram final : public framework::Program {
 public:
  explicit StatusProgram(framework::PatchWorkloadStatus effect) : effect_(std::move(effect)) {}

  framework::Step start() override { return write(); }

  framework::Step resume(const Result<framework::ApiReply>& reply) override;

 private:
  framework::Step write();
  framework::Step read();
  framework::Step on_written(const Result<framework::ApiReply>& reply);
  framework::Step on_read(const Result<framework::ApiReply>& reply);

  framework::PatchWorkloadStatus effect_;
  bool reading_ = false;
  int writes_left_ = 3;
  Error last_error_{};
};

}  // namespace muster::controllers

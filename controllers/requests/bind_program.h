// Binds one pod to its planned node (the answers of spec/placement.md §6.1). Internal to controllers/requests.
#pragma once

#include "framework/request.h"

#include <utility>

namespace muster::controllers {

// Done only when the pod sits on that node. After an uncertain answer the pod is read before anything is repeated.
class BindProgram final : public framework::Program {
 public:
  explicit BindProgram(framework::BindPod effect) : effect_(std::move(effect)) {}

  framework::Step start() override;
  framework::Step resume(const Result<framework::ApiReply>& reply) override;

 private:
  framework::Step on_bound(const Result<framework::ApiReply>& reply);
  framework::Step on_read(const Result<framework::ApiReply>& reply);
  framework::Step read();

  framework::BindPod effect_;
  bool reading_ = false;
  int binds_left_ = 5;
  Error last_error_{};
};

}  // namespace muster::controllers

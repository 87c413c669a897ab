// One reconcile of one Workload. Internal to controllers/workload.
#pragma once

#include "controllers/options.h"
#include "framework/reconciler.h"
#include "framework/status/workload_conditions.h"

#include <string>
#include <string_view>

namespace muster::controllers {

class WorkloadPass {
 public:
  WorkloadPass(const ControllerOptions& options, const framework::WorkloadState& state,
               const framework::ReconcileContext& context, framework::ReconcileResult& result)
      : options_(options), state_(state), context_(context), result_(result), status_(state.status) {}

  void run();

 private:
  enum class Next { kGoOn, kStop };

  bool is(std::string_view condition) const { return api::is_true(status_.conditions, condition); }

  const api::Workload& workload() const { return *state_.observed; }

  framework::Stamp stamp() const { return framework::stamp_of(workload(), context_.now); }

  void event(std::string_view reason, std::string note, bool warning = false);
  void evict(const framework::Eviction& eviction);
  void deactivate(std::string_view cause, std::string message);

  Next settle_orphan();
  Next retain_finished();
  Next follow_active();
  void wait_out_backoff();
  void requeue_after_restart();
  void follow_inactive();
  void explain_pending();
  void check_reservation();
  void check_stopped_queues();
  void check_pods_ready();
  void evict_unready(std::string_view cause);
  void check_execution_time();

  const ControllerOptions& options_;
  const framework::WorkloadState& state_;
  const framework::ReconcileContext& context_;
  framework::ReconcileResult& result_;
  api::WorkloadStatus status_;
};

}  // namespace muster::controllers

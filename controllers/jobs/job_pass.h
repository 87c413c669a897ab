// One reconcile of one job. Internal to controllers/jobs: made, run and dropped by JobReconciler.
#pragma once

#include "controllers/jobs/job_kind.h"
#include "controllers/options.h"
#include "framework/reconciler.h"
#include "framework/status/workload_conditions.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::controllers {

struct JobPassContext {
  const JobKind& kind;
  const ControllerOptions& options;
  const framework::ReconcileContext& context;
  framework::ReconcileResult& result;
};

class JobPass {
 public:
  JobPass(const JobPassContext& pass, JobView job) : pass_(pass), job_(std::move(job)) {}

  void run();

 private:
  // The job's Workload and what this pass makes of its status.
  struct Current {
    const framework::WorkloadState* state = nullptr;
    api::WorkloadStatus status{};

    const api::Workload& workload() const { return *state->observed; }

    bool assumed(std::string_view condition) const { return api::is_true(status.conditions, condition); }

    bool stored(std::string_view condition) const { return api::is_true(workload().status.conditions, condition); }
  };

  // Who is managed.
  bool is_managed() const;
  bool namespace_is_managed() const;
  const api::Job* managing_ancestor() const;
  void govern_child(const api::Job& ancestor);

  // Exactly one Workload (§1.3, §1.4). Nothing: this pass is over.
  std::optional<Current> ensure_workload();
  std::optional<Current> prebuilt_workload(const std::string& name);
  void resolve_mismatch(const std::vector<const framework::WorkloadState*>& extra);
  void remove_extra(const framework::WorkloadState& state);
  void create_workload();
  void sync_spec(const Current& current);
  void sync_priority(const Current& current, framework::PatchWorkloadSpec& patch);

  // What follows from the Workload's state.
  void finalize();
  void follow(Current& current);
  void follow_finished(const Current& current);
  void follow_deleted(const Current& current);
  void finish(Current& current);
  void follow_evicted(Current& current);
  void retain_deactivated(const Current& current);
  void start(Current& current);
  void store(const Current& current);

  StopRequest not_admitted(const Current& current) const;
  void stop(StopRequest request);

  void emit(framework::EffectBody effect) { pass_.result.effects.push_back(std::move(effect)); }

  const framework::Objects& objects() const { return pass_.context.model.objects(); }

  framework::Stamp stamp(const Current& current) const {
    return framework::stamp_of(current.workload(), pass_.context.now);
  }

  JobPassContext pass_;
  JobView job_;
};

}  // namespace muster::controllers

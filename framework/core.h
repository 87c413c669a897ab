// The core: (state, event, now) -> (state', effects). Owner: the decision thread (or a simulator, or a test). Not
// thread-safe, no I/O, deterministic: the same inputs give the same effects, byte for byte.
//
// A shell feeds observations with `apply` and, when its inbox is empty for the moment, calls `settle`: reconcilers run
// for every object that something touched, then scheduling cycles until nothing more can be decided. No decision is
// made before Synced. If nothing happens, the shell calls `settle` again at `next_deadline`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/cycle/cycle.h"
#include "framework/effects.h"
#include "framework/events.h"
#include "framework/model/model.h"
#include "framework/profile.h"
#include "framework/queue/queue.h"
#include "framework/reconciler.h"
#include "framework/totals.h"
#include "framework/trace.h"

namespace muster::framework {

struct CoreOptions {
  TotalsRules totals{};                       // which resources count, and how they are transformed
  Duration hold_timeout = std::chrono::minutes(5);  // a preemptor's claim on what its victims free
  Duration error_backoff = std::chrono::seconds(1);
  int cycles_per_settle = 1000;               // bound of one settle; `more` says that work is left
};

struct Output {
  Effects effects{};
  std::optional<TimePoint> next_deadline{};
  bool more = false;
  Trace trace{};
};

class Core {
 public:
  Core(CoreOptions options, Profile profile, std::vector<std::unique_ptr<Reconciler>> reconcilers);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void apply(TimePoint now, const Event& event);
  Output settle(TimePoint now);

  const Model& model() const { return model_; }
  const Queue& queue() const { return queue_; }
  bool synced() const { return synced_; }

 private:
  void apply_object(TimePoint now, const ObjectEvent& event);
  void on_done(const EffectDone& done);
  void on_failed(TimePoint now, const EffectFailed& failed);

  void touch(Kind kind, const ObjectKey& key) { dirty_[kind].insert(key); }
  void touch_workload(const ObjectKey& key);
  void touch_queues_of(const ObjectKey& workload);
  void touch_after(const ObjectEvent& event);
  void wake_after(TimePoint now, const ObjectEvent& event);
  void wake_quota(TimePoint now, const ClusterQueueName& queue);

  void reconcile_dirty(TimePoint now, Output& out);
  void take(const ReconcileResult& result, TimePoint now, Output& out);
  void refresh_queue(TimePoint now, const ObjectKey& workload, Output& out);
  void run_cycles(TimePoint now, Output& out);
  void carry_out(const CycleResult& result, TimePoint now, Output& out);
  void expire_holds(TimePoint now);
  void run_pod_stage(TimePoint now, Output& out);
  void bind_pods(TimePoint now, const ObjectKey& key, Output& out);
  void evict(TimePoint now, const ObjectKey& key, const Verdict& why, Output& out);
  void set_status(const ObjectKey& workload, api::WorkloadStatus status, std::optional<PlacementPlan> plan);
  void write_statuses(Output& out);
  void emit(EffectBody body, Output& out);
  std::optional<TimePoint> earliest_deadline() const;

  CoreOptions options_;
  Profile profile_;
  std::vector<std::unique_ptr<Reconciler>> reconcilers_;
  Model model_{};
  Queue queue_;
  Cycle cycle_;
  bool synced_ = false;
  EffectId next_id_ = 1;
  std::map<Kind, std::set<ObjectKey>> dirty_{};
  std::set<ObjectKey> unqueued_dirty_{};                // Workloads whose place in the queue must be looked at
  std::set<ObjectKey> status_dirty_{};                  // Workloads whose assumed status may need a write
  std::set<ObjectKey> bind_dirty_{};                    // admitted gangs whose pods or nodes changed
  std::map<EffectId, EffectBody> in_flight_{};
  std::map<std::string, EffectId> slots_in_flight_{};   // merge_key -> newest effect
  std::map<std::pair<Kind, ObjectKey>, TimePoint> again_{};
  std::map<ObjectKey, TimePoint> hold_deadlines_{};
};

}  // namespace muster::framework

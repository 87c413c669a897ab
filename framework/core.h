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
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/cycle/cycle.h"
#include "framework/effects.h"
#include "framework/events.h"
#include "framework/explain/explain.h"
#include "framework/model/model.h"
#include "framework/profile.h"
#include "framework/queue/queue.h"
#include "framework/reconciler.h"
#include "framework/timers.h"
#include "framework/totals.h"
#include "framework/trace.h"

namespace muster::framework {

struct CoreOptions {
  TotalsRules totals{};                             // how requests become what is counted
  CycleOptions cycle{};
  Duration hold_timeout = std::chrono::minutes(5);  // a preemptor's claim on what its victims free
  Duration min_backoff = std::chrono::seconds(1);   // after a refused write or a failed start; doubles
  Duration max_backoff = std::chrono::minutes(1);
  Duration watch_lag = std::chrono::seconds(3);            // how long an unseen write counts that named no version
  Duration queue_status_period = std::chrono::seconds(1);  // a queue's status is written at most this often
  std::optional<UsageRules> admission_fair_sharing{};      // absent: off
  int cycles_per_settle = 1000;                            // bound of one settle; Output::more says that work is left
};

struct Output {
  Effects effects{};
  std::optional<TimePoint> next_deadline{};
  bool more = false;
  Trace trace{};
};

class Core : private WritesView {
 public:
  Core(CoreOptions options, Profile profile, std::vector<std::unique_ptr<Reconciler>> reconcilers);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void apply(TimePoint now, const Event& event);
  Output settle(TimePoint now);

  // Why a Workload waits, with the core at rest. Changes nothing (it speculates, and rolls back).
  Explanation explain(TimePoint now, const ObjectKey& workload, const ExplainOptions& options = {});

  const Model& model() const { return model_; }
  const Queue& queue() const { return queue_; }
  bool synced() const { return synced_; }
  std::size_t effects_in_flight() const { return in_flight_.size(); }

 private:
  using Touched = std::pair<Kind, ObjectKey>;

  // A write of the object is under way, or made and not seen by the watch yet.
  bool pending(const ObjectRef& object) const override;

  // What went wrong for a Workload several times in a row, and until when it rests.
  struct Setback {
    int times = 0;
    TimePoint not_before{};
    std::string_view message{};
  };

  struct Rejection {  // of one write
    Setback setback{};
    std::string error{};
  };

  struct InFlight {
    Effect effect{};
    std::string seen_version{};  // of the object, when the effect was handed out (jobs and pods)
  };

  struct Holdings {  // of one Workload
    std::optional<Charge> charge{};
    std::optional<Charge> hold{};
  };

  struct BindOutcome {
    Verdict verdict{};
    std::vector<EffectBody> effects{};
    std::optional<PlacementPlan> new_plan{};
  };

  // core_events.cpp: what an event touches, and whom it wakes.
  void apply_object(const ObjectEvent& event);
  template <class T>
  void touch_object(const T* before, const T* after);
  void touch(Kind kind, const ObjectKey& key) { dirty_.insert({kind, key}); }
  void touch_workload(const ObjectKey& key);
  void touch_tree_of(const ClusterQueueName& queue);
  void touch_owner(const api::ObjectMeta& meta);
  void touch_jobs_without_workload();
  void touch_jobs_that_name(const ObjectKey& workload);
  std::set<std::string> roots_of(const api::ClusterQueue& queue) const;
  std::set<std::string> roots_of(const api::Cohort& cohort) const;
  void touch_workloads_in(const ObjectKey& local_queue);
  void touch_everything();
  void wake(WakeKind kind, std::string name) { queue_.wake({kind, std::move(name)}); }
  void wake_quota(const ClusterQueueName& queue);
  Holdings holdings(const ObjectKey& workload) const;
  void wake_released(const ObjectKey& workload, const Holdings& before);

  // core_writes.cpp: how writes ended.
  void on_done(TimePoint now, const EffectDone& done);
  std::optional<InFlight> take_effect(EffectId id);
  std::string version_of(const ObjectRef& object) const;
  void saw(Kind kind, const api::ObjectMeta& meta, bool gone);
  void await_sight(TimePoint now, const ObjectRef& object, const InFlight& write, const std::string& version);
  void on_failed(TimePoint now, const EffectFailed& failed);
  void on_status_written(const PatchWorkloadStatus& written, std::shared_ptr<const api::Workload> result, bool failed);
  TimePoint next_try(Setback& setback, TimePoint now) const;
  void refuse(TimePoint now, const ObjectKey& workload);
  void fall_back(TimePoint now, const ObjectKey& workload, std::string_view message);

  // core.cpp: the loop.
  bool reconcile_dirty(TimePoint now, Output& out);
  void reconcile(const Touched& object, TimePoint now, Output& out);
  void touch_cohorts_above(const ClusterQueueName& queue);
  bool is_known(const Touched& queue) const;
  void reconcile_queue_statuses(TimePoint now, Output& out);
  void refresh_cluster_queues();
  void refresh_places(TimePoint now, Output& out);
  void refresh_place(TimePoint now, const ObjectKey& key, Output& out);
  // Says whether it is new: not on its way already, not refused a moment ago.
  bool emit(TimePoint now, EffectBody body, Output& out);
  void write_statuses(TimePoint now, Output& out);
  void collect_due(TimePoint now);
  std::optional<TimePoint> earliest_deadline() const;
  void again_at(Kind kind, const ObjectKey& key, TimePoint when) { again_.at({kind, key}, when); }

  // core_usage.cpp: admission fair sharing.
  void open_usage(TimePoint now);
  void note_usage(TimePoint now, const ObjectKey& workload);
  void refresh_usage(TimePoint now);
  void take_usage_place(WorkloadInfo& workload) const;

  // core_decisions.cpp: decisions become statuses and effects.
  bool run_cycles(TimePoint now, Output& out);
  std::set<std::string> drop_holds(std::span<const Decision> rejected);
  void admit(TimePoint now, const Decision& decision);
  void preempt(TimePoint now, const Decision& decision);
  void park(TimePoint now, const Decision& decision);
  void evict_victim(TimePoint now, const Decision& decision, const Victim& victim);
  void stamp_pending(TimePoint now, const WorkloadInfo& workload, const ParkedReason& why);
  void stamp_class(TimePoint now, const WorkloadInfo& first, const ParkedReason& why);
  void tell(const ObjectKey& workload, EmitEvent event) { untold_[workload].push_back(std::move(event)); }
  void set_status(const ObjectKey& key, api::WorkloadStatus status, std::optional<PlacementPlan> plan = std::nullopt);
  void forget_unstamped(const WorkloadInfo& workload);
  void drop_hold(const ObjectKey& key);

  // core_pods.cpp: after admission.
  void run_pod_stage(TimePoint now, Output& out);
  void serve_pods(TimePoint now, const ObjectKey& key, Output& out);
  bool has_lost_a_node(const WorkloadState& state) const;
  void tell_bound(const ObjectKey& key, const WorkloadState& state);
  BindOutcome ask_bind(const ObjectKey& key, const WorkloadState& state, TimePoint now);
  Verdict permit(const ObjectKey& key, PermitPhase phase, TimePoint now) const;
  void evict_whole(TimePoint now, const ObjectKey& key, const Verdict& why, Output& out);

  CoreOptions options_;
  Profile profile_;
  std::vector<std::unique_ptr<Reconciler>> reconcilers_;
  Model model_{};
  Queue queue_;
  Cycle cycle_;
  bool synced_ = false;
  bool deciding_ = false;  // from the first settle on; until then (a standby) facts are kept, and nothing is noted of them
  bool cluster_queues_dirty_ = true;
  EffectId next_id_ = 1;

  std::set<Touched> dirty_{};            // to reconcile
  std::set<Touched> queue_dirty_{};      // ClusterQueues, LocalQueues, Cohorts: reconciled last, and not too often
  std::set<ObjectKey> places_dirty_{};   // Workloads whose place in the queue must be looked at
  std::set<ObjectKey> status_dirty_{};   // Workloads whose assumed status may need a write
  std::map<ObjectKey, std::vector<EmitEvent>> untold_{};  // by Workload: to be told once its assumed status is stored
  std::set<ObjectKey> usage_dirty_{};    // LocalQueues: does admission fair sharing apply to them, with which weight?
  std::set<ObjectKey> usage_leaving_{};  // it does not any more, once their Workloads have been looked at
  std::set<ObjectKey> pods_dirty_{};     // admitted Workloads whose pods or nodes changed
  std::set<ObjectKey> bound_{};          // PostBind has been told
  Timers<Touched> again_{};              // look again then
  std::map<Touched, TimePoint> queue_status_at_{};
  Timers<ObjectKey> hold_until_{};
  std::map<ObjectKey, Setback> refused_{};   // status writes; until one succeeds
  std::map<ObjectKey, Setback> setbacks_{};  // decisions that failed or did not last
  std::map<Touched, std::map<std::string, Rejection>> rejections_{};  // other writes, by object and merge_key; until one succeeds
  std::vector<EmitEvent> notices_{};               // to be told by the next settle
  std::map<EffectId, InFlight> in_flight_{};
  std::map<std::string, EffectId> newest_{};  // merge_key -> effect in flight
  std::map<Touched, int> writes_{};           // effects in flight, by object
  std::map<Touched, std::string> unseen_{};   // written, and not observed since: the version that will show it
  Timers<Touched> unseen_until_{};            // the same, where the answer named no version
  // Queued Workloads without a QuotaReserved condition, by class: they get the class's reason when it is parked.
  std::map<std::pair<ClusterQueueName, ClassId>, std::set<ObjectKey>> unstamped_{};
};

}  // namespace muster::framework

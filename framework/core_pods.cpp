// After admission: the barrier before a gang's pods are bound, the binding itself, repair, and eviction as a whole.
#include <algorithm>

#include "framework/core.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

void Core::run_pod_stage(TimePoint now, Output& out) {
  std::set<ObjectKey> batch;
  batch.swap(pods_dirty_);
  for (const ObjectKey& key : batch) {
    serve_pods(now, key, out);
  }
}

void Core::serve_pods(TimePoint now, const ObjectKey& key, Output& out) {
  const WorkloadState* state = model_.workload(key);
  if (state == nullptr || !Model::charge_of(*state->observed, state->status) ||
      api::is_true(state->status.conditions, api::kEvicted)) {
    return;
  }
  if (!api::is_true(state->status.conditions, api::kAdmitted)) {
    if (permit(key, PermitPhase::kAdmission, now).ok()) {
      api::WorkloadStatus status = state->status;
      sync_admitted(status, stamp_of(*state->observed, now));
      set_status(key, std::move(status));
    }
    return;
  }
  const Verdict permitted = permit(key, PermitPhase::kPods, now);
  if (permitted.rejected()) {
    evict_whole(now, key, permitted, out);
    return;
  }
  if (!permitted.ok() && !state->plan.empty() && !has_lost_a_node(*state)) {
    return;  // pods are missing; one of them appearing brings us back
  }
  BindOutcome bound = ask_bind(key, *state, now);
  if (bound.verdict.rejected()) {
    evict_whole(now, key, bound.verdict, out);
    return;
  }
  if (bound.new_plan) {
    model_.replan(key, std::move(*bound.new_plan));
    wake(WakeKind::kNodes, "");
  }
  if (!permitted.ok()) {
    return;
  }
  if (bound.effects.empty()) {
    tell_bound(key, *state);
    return;
  }
  const auto fresh = std::count_if(bound.effects.begin(), bound.effects.end(),
                                   [&](EffectBody& body) { return emit(now, std::move(body), out); });
  if (fresh > 0) {
    out.trace.push_back({.workload = key,
                         .cluster_queue = model_.workload(key)->charge->cluster_queue,
                         .outcome = Outcome::kBound,
                         .plugin = bound.verdict.plugin(),
                         .message = std::to_string(fresh) + " pods"});
  }
}

bool Core::has_lost_a_node(const WorkloadState& state) const {
  return std::any_of(state.open_slots.begin(), state.open_slots.end(), [this](const PodSetPlan& pod_set) {
    return std::any_of(pod_set.slots.begin(), pod_set.slots.end(), [this](const NodeSlots& slots) {
      return model_.objects().find<api::Node>({{}, slots.node.str()}) == nullptr;
    });
  });
}

// Once an admission.
void Core::tell_bound(const ObjectKey& key, const WorkloadState& state) {
  if (state.plan.empty() || !state.open_slots.empty() || !bound_.insert(key).second) {
    return;
  }
  for (const Enabled<PostBind>& entry : profile_.post_bind) {
    entry.plugin->post_bind(key, model_);
  }
}

// The first Bind plugin that does not skip decides. What it tried on the model is rolled back here.
Core::BindOutcome Core::ask_bind(const ObjectKey& key, const WorkloadState& state, TimePoint now) {
  for (const Enabled<Bind>& entry : profile_.bind) {
    Transaction tx(model_);
    BindContext context{key, state, tx, profile_.nodes, now, {}, {}};
    Verdict verdict = entry.plugin->bind(context);
    verdict.stamp(entry.name);
    if (verdict.code() != Code::kSkip) {
      return {std::move(verdict), std::move(context.effects), std::move(context.new_plan)};
    }
  }
  return {};
}

Verdict Core::permit(const ObjectKey& key, PermitPhase phase, TimePoint now) const {
  const WorkloadState& state = *model_.workload(key);
  for (const Enabled<Permit>& entry : profile_.permit) {
    Verdict verdict = entry.plugin->permit(state, model_, phase, now);
    if (!verdict.ok()) {
      verdict.stamp(entry.name);
      return verdict;
    }
  }
  return {};
}

void Core::evict_whole(TimePoint now, const ObjectKey& key, const Verdict& why, Output& out) {
  const WorkloadState* state = model_.workload(key);
  const std::shared_ptr<const api::Workload> workload = state->observed;
  api::WorkloadStatus status = state->status;
  set_evicted(status, {.reason = kEvictedNodeFailures, .message = why.message()}, stamp_of(*workload, now));
  out.trace.push_back({.workload = key,
                       .cluster_queue = state->charge->cluster_queue,
                       .outcome = Outcome::kEvicted,
                       .plugin = why.plugin(),
                       .reason = why.reason(),
                       .message = why.message()});
  set_status(key, std::move(status));
  fall_back(now, key, "The last placement of this Workload could not be completed, will retry");
  tell(key, {.regarding = {Kind::kWorkload, key, workload->meta.uid},
             .reason = "EvictedDueToNodeFailures",
             .action = "Evict",
             .note = why.message()});
}

}  // namespace muster::framework

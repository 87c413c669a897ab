// Decisions of a cycle become assumed statuses, holds, events; the texts are spec/admission.md §4.7, §4.8 and §5.6.
#include <fmt/format.h>

#include <algorithm>

#include "api/constants.h"
#include "framework/core.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

namespace {

api::Admission admission_of(const WorkloadInfo& workload, const Assignment& assignment) {
  api::Admission admission{.cluster_queue = workload.cluster_queue};
  for (const PodSetChoice& choice : assignment.pod_sets) {
    api::PodSetAssignment assigned{.name = choice.name, .count = choice.count};
    for (const auto& [resource, flavor] : choice.flavors) {
      assigned.flavors.emplace(resource, flavor.flavor);
      if (const auto amount = choice.requests.find(resource); amount != choice.requests.end()) {
        assigned.resource_usage.emplace(resource, amount->second);
      }
    }
    admission.pod_set_assignments.push_back(std::move(assigned));
  }
  return admission;
}

std::vector<api::PodSetRequest> requests_of(const WorkloadInfo& workload) {
  std::vector<api::PodSetRequest> requests;
  for (const PodSetTotals& totals : workload.pod_sets) {
    requests.push_back({totals.name, totals.requests});
  }
  return requests;
}

std::string_view preemption_text(const std::string& reason) {
  if (reason == "InCohortReclamation") {
    return "reclamation within the cohort";
  }
  if (reason == "InCohortFairSharing") {
    return "Fair Sharing within the cohort";
  }
  if (reason == "InCohortReclaimWhileBorrowing") {
    return "reclamation within the cohort while borrowing";
  }
  return "prioritization in the ClusterQueue";
}

std::string or_unknown(const std::string& text) { return text.empty() ? "UNKNOWN" : text; }

std::string job_uid(const api::Workload& workload) {
  const std::string* label = api::find(workload.meta.labels, api::kJobUidLabel);
  return label == nullptr ? std::string{} : *label;
}

std::string priorities(std::int64_t preemptor, std::int64_t preemptee) {
  return fmt::format(
      "; preemptor effective priority: {} (base: {}, boost: 0); preemptee effective priority: {} (base: {}, boost: 0)",
      preemptor, preemptor, preemptee, preemptee);
}

ObjectRef ref(const api::Workload& workload) { return {Kind::kWorkload, workload.meta.key(), workload.meta.uid}; }

}  // namespace

// Runs cycles until no head is left. Says whether anything was decided.
bool Core::run_cycles(TimePoint now, Output& out) {
  for (int i = 0; i < options_.cycles_per_settle; ++i) {
    for (const std::string& tree : queue_.take_unguarded()) {
      wake(WakeKind::kQuota, tree);
    }
    CycleResult result = cycle_.run(model_, queue_, now);
    if (result.decisions.empty()) {
      return i > 0;
    }
    out.trace.insert(out.trace.end(), result.trace.begin(), result.trace.end());
    // Whoever was skipped is tried again at once, unless nothing in this cycle can have made room.
    const bool progress = std::any_of(result.decisions.begin(), result.decisions.end(), [](const Decision& d) {
      return d.outcome != Outcome::kSkipped || d.progress != nullptr;
    });
    for (const Decision& decision : result.decisions) {
      queue_.set_progress(decision.workload->key, decision.progress);
    }
    const auto rejected = std::stable_partition(result.decisions.begin(), result.decisions.end(), [progress](const auto& d) {
      const bool goes_on = d.progress != nullptr;  // flavors are left: the next cycle looks at them
      return !goes_on && (d.outcome == Outcome::kParked || (d.outcome == Outcome::kSkipped && !progress));
    });
    // What was promised to those who can't use it is let go, and whoever was judged while it counted is asked again.
    const std::set<std::string> freed = drop_holds({result.decisions.begin(), rejected});
    // They sleep before the others act: these may give up a hold, too, and that has to wake them.
    std::for_each(result.decisions.begin(), rejected, [&](const Decision& d) { park(now, d); });
    for (auto decision = rejected; decision != result.decisions.end(); ++decision) {
      if (decision->outcome == Outcome::kAdmitted) {
        admit(now, *decision);
      } else if (decision->outcome == Outcome::kPreempting) {
        preempt(now, *decision);
      }
    }
    for (const std::string& root : freed) {
      wake(WakeKind::kQuota, root);
    }
    if (!freed.empty()) {
      wake(WakeKind::kNodes, "");
    }
  }
  out.more = true;
  return true;
}

// The decisions were made while these holds still counted: the quota trees that have to be asked again.
std::set<std::string> Core::drop_holds(std::span<const Decision> rejected) {
  std::set<std::string> roots;
  for (const Decision& decision : rejected) {
    const ObjectKey& key = decision.workload->key;
    if (model_.holds(key)) {
      roots.insert(model_.quota().root_key(model_.workload(key)->hold->cluster_queue));
      drop_hold(key);
    }
  }
  return roots;
}

void Core::admit(TimePoint now, const Decision& decision) {
  const WorkloadInfo& info = *decision.workload;
  const api::Workload& workload = *info.object;
  const Stamp stamp = stamp_of(workload, now);
  bound_.erase(info.key);
  drop_hold(info.key);  // wakes whoever slept because of it: it may be admitted elsewhere than it held
  api::WorkloadStatus status = model_.workload(info.key)->status;
  const api::Condition* requeued = api::find_condition(status.conditions, api::kRequeued);
  const TimePoint since = requeued != nullptr ? requeued->last_transition_time : workload.meta.creation_timestamp;
  set_quota_reserved(status, admission_of(info, decision.assignment), stamp);
  forget_unstamped(info);
  queue_.remove(info.key);
  set_status(info.key, status, decision.assignment.plan);
  if (permit(info.key, PermitPhase::kAdmission, now).ok()) {
    sync_admitted(status, stamp);
    set_status(info.key, status, decision.assignment.plan);
  }
  note_usage(now, info.key);  // before anybody else of its ClusterQueue is tried
  refresh_usage(now);
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - since).count();
  const std::string queue = info.cluster_queue.str();
  const std::string& considered = decision.assignment.flavors_considered;
  tell(info.key, {.regarding = ref(workload),
                  .reason = "QuotaReserved",
                  .action = "Admission",
                  .note = fmt::format("Quota reserved in ClusterQueue {}, wait time since queued was {}s{}{}", queue,
                                      std::max<std::int64_t>(0, waited),
                                      considered.empty() ? "" : "; Flavors considered: ", considered)});
  if (api::is_true(status.conditions, api::kAdmitted)) {
    tell(info.key, {.regarding = ref(workload),
                    .reason = "Admitted",
                    .action = "Admission",
                    .note = fmt::format("Admitted by ClusterQueue {}, wait time since reservation was 0s", queue)});
  }
}

void Core::preempt(TimePoint now, const Decision& decision) {
  const WorkloadInfo& info = *decision.workload;
  for (const Victim& victim : decision.victims) {
    evict_victim(now, decision, victim);
  }
  if (!model_.holds(info.key)) {
    hold_until_.at(info.key, now + options_.hold_timeout);
  }
  const Holdings held = holdings(info.key);
  model_.hold(info.key, Charge{info.cluster_queue, decision.assignment.usage}, decision.assignment.plan);
  wake_released(info.key, held);
  ParkedReason why = decision.why;
  why.wakes.push_back({WakeKind::kTime, to_string(info.key)});
  why.wakes.push_back({WakeKind::kNodes, ""});
  stamp_pending(now, info, why);
  queue_.block(info.key, std::move(why));
}

void Core::evict_victim(TimePoint now, const Decision& decision, const Victim& victim) {
  const WorkloadState* state = model_.workload(victim.workload);
  if (state == nullptr || api::is_true(state->status.conditions, api::kEvicted) ||
      !Model::charge_of(*state->observed, state->status)) {
    return;  // on its way out already
  }
  const WorkloadInfo& preemptor = *decision.workload;
  const std::shared_ptr<const api::Workload> workload = state->observed;
  const ClusterQueueName queue = state->charge ? state->charge->cluster_queue : ClusterQueueName{};
  const std::string message =
      fmt::format("Preempted to accommodate a workload (UID: {}, JobUID: {}) due to {}; preemptor path: {}; preemptee path: {}",
                  or_unknown(preemptor.uid().str()), or_unknown(job_uid(*preemptor.object)),
                  preemption_text(victim.reason), model_.quota().path_of(preemptor.cluster_queue),
                  model_.quota().path_of(queue));
  api::WorkloadStatus status = state->status;
  set_evicted(status, {.reason = kEvictedPreempted, .message = message}, stamp_of(*workload, now));
  set_preempted(status, victim.reason, message, now);
  set_status(victim.workload, std::move(status));
  const std::string suffix = priorities(preemptor.priority, api::effective_priority(*workload));
  const ObjectKey& key = victim.workload;
  tell(key, {.regarding = ref(*workload), .reason = "EvictedDueToPreempted", .action = "Evict", .note = message});
  tell(key, {.regarding = ref(*workload), .reason = "Preempted", .action = "Preempt", .note = message + suffix});
  tell(key, {.regarding = ref(*preemptor.object),
             .reason = "PreemptedWorkload",
             .action = "Preempt",
             .note = fmt::format("Preempted workload {} (UID: {}) in ClusterQueue {}{}", to_string(key),
                                 workload->meta.uid.str(), queue.str(), suffix)});
}

void Core::park(TimePoint now, const Decision& decision) {
  const WorkloadInfo& info = *decision.workload;
  drop_hold(info.key);  // what it was promised no longer helps it
  stamp_pending(now, info, decision.why);
  if (decision.why.reason == kSchedulerError) {  // not a matter of quota or nodes: only time may help
    fall_back(now, info.key, "The last attempt to schedule this Workload failed, will retry");
    queue_.park_alone(info.key, {.plugin = decision.why.plugin,
                                 .reason = decision.why.reason,
                                 .message = decision.why.message,
                                 .wakes = {{WakeKind::kTime, to_string(info.key)}}});
    return;
  }
  // A namespace that is not selected concerns this Workload alone; its class may live in other namespaces.
  const bool alone = decision.why.reason == kMisconfigured;
  if (alone) {
    queue_.park_alone(info.key, decision.why);
    return;
  }
  queue_.park(info.key, decision.why);
  if (decision.guards_quota) {
    queue_.guard(info.key, model_.quota().root_key(info.cluster_queue), decision.assignment);
  }
  stamp_class(now, info, decision.why);
}

void Core::stamp_pending(TimePoint now, const WorkloadInfo& info, const ParkedReason& why) {
  const WorkloadState* state = model_.workload(info.key);
  forget_unstamped(info);
  if (state == nullptr) {
    return;
  }
  api::WorkloadStatus status = state->status;
  set_pending(status, {.reason = why.reason, .message = why.message, .resource_requests = requests_of(info)},
              stamp_of(*info.object, now));
  if (status == state->status) {
    return;
  }
  set_status(info.key, std::move(status));
  tell(info.key, {.regarding = ref(*info.object),
                  .warning = true,
                  .reason = why.reason,
                  .action = "Pending",
                  .note = why.message});
}

// The others of a class that was parked get its reason once, although they were not tried (§1.8).
void Core::stamp_class(TimePoint now, const WorkloadInfo& first, const ParkedReason& why) {
  const auto it = unstamped_.find({first.cluster_queue, first.class_id});
  if (it == unstamped_.end()) {
    return;
  }
  const std::set<ObjectKey> members = std::move(it->second);
  unstamped_.erase(it);
  for (const ObjectKey& key : members) {
    const WorkloadInfo* info = queue_.find(key);
    const WorkloadState* state = model_.workload(key);
    if (info == nullptr || state == nullptr) {
      continue;
    }
    api::WorkloadStatus status = state->status;
    set_pending(status,
                {.reason = why.reason,
                 .message = "Bypassed scheduling evaluation because an equivalent workload recently failed",
                 .resource_requests = requests_of(*info)},
                stamp_of(*state->observed, now));
    set_status(key, std::move(status));
  }
}

void Core::forget_unstamped(const WorkloadInfo& workload) {
  const auto it = unstamped_.find({workload.cluster_queue, workload.class_id});
  if (it == unstamped_.end()) {
    return;
  }
  it->second.erase(workload.key);
  if (it->second.empty()) {
    unstamped_.erase(it);
  }
}

void Core::set_status(const ObjectKey& key, api::WorkloadStatus status, std::optional<PlacementPlan> plan) {
  const WorkloadState* state = model_.workload(key);
  if (state == nullptr || (state->status == status && !plan)) {
    return;
  }
  const Holdings held = holdings(key);
  model_.assume(key, std::move(status), std::move(plan));
  wake_released(key, held);
  touch_workload(key);
}

void Core::drop_hold(const ObjectKey& key) {
  if (!model_.holds(key)) {
    return;
  }
  const Holdings held = holdings(key);
  model_.drop_hold(key);
  wake_released(key, held);
}

}  // namespace muster::framework

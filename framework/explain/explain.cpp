#include "framework/explain/explain.h"

#include "framework/explain/flavors.h"
#include "framework/status/cluster_queue_active.h"
#include "framework/status/workload_conditions.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace muster::framework {
namespace {

// What a Workload that does not wait says about itself: `Finished`, `Admitted`, …
void say_condition(const api::WorkloadStatus& status, std::string_view type, Explanation& out) {
  if (const api::Condition* condition = api::find_condition(status.conditions, type)) {
    out.reason = condition->reason;
    out.message = condition->message;
  }
}

void cure(Explanation& out, std::string text) {
  out.cures.push_back({.text = std::move(text)});
}

void cure(Explanation& out, const Wake& wake) {
  out.cures.push_back({.wake = wake, .text = cure_text(wake)});
}

std::string unready_checks(const api::WorkloadStatus& status) {
  std::string names;
  for (const api::AdmissionCheckState& check : status.admission_checks) {
    if (check.state != api::CheckState::kReady) {
      names += (names.empty() ? "" : ", ") + check.name + (check.message.empty() ? "" : " (" + check.message + ")");
    }
  }
  return names;
}

// True when the Workload holds quota, or never will again.
bool explain_settled(const WorkloadState& state, Explanation& out) {
  const api::WorkloadStatus& status = state.status;
  if (api::is_true(status.conditions, api::kFinished)) {
    out.standing = Standing::kFinished;
    say_condition(status, api::kFinished, out);
    return true;
  }
  if (state.observed->meta.deletion_timestamp) {
    out.standing = Standing::kDeleting;
    out.message = "The Workload is being deleted";
    return true;
  }
  if (!state.charge) {
    return false;
  }
  if (api::is_true(status.conditions, api::kEvicted)) {
    out.standing = Standing::kEvicted;
    say_condition(status, api::kEvicted, out);
    cure(out, "its pods are gone and its job is suspended: then it gives its quota back and queues again if it may");
  } else if (api::is_true(status.conditions, api::kAdmitted)) {
    out.standing = Standing::kAdmitted;
    say_condition(status, api::kAdmitted, out);
  } else {
    out.standing = Standing::kReserved;
    say_condition(status, api::kQuotaReserved, out);
    const std::string checks = unready_checks(status);
    if (!checks.empty()) {
      cure(out, "admission checks become ready: " + checks);
    }
  }
  return true;
}

// Why a Workload without quota is not in the queue; false when nothing here is in the way.
bool explain_not_queued(const api::Workload& workload, const Model& model, Explanation& out) {
  const auto blocked = [&](Standing standing, std::string_view reason, std::string message) {
    out.standing = standing;
    out.reason = reason;
    out.message = std::move(message);
    return true;
  };
  if (!workload.active) {
    cure(out, "spec.active of the Workload is set to true");
    return blocked(Standing::kDeactivated, kEvictedDeactivated, "The workload is deactivated");
  }
  const std::string local_name = "LocalQueue " + workload.queue_name.str();
  const auto* local = model.objects().find<api::LocalQueue>({workload.meta.ns, workload.queue_name.str()});
  if (local == nullptr) {
    cure(out, local_name + " is created in namespace " + workload.meta.ns);
    return blocked(Standing::kNotQueued, kMisconfigured, local_name + " doesn't exist");
  }
  if (local->stop_policy != api::StopPolicy::kNone) {
    cure(out, "spec.stopPolicy of " + local_name + " is set to None");
    return blocked(Standing::kNotQueued, kSuspended, local_name + " is inactive");
  }
  const Activity activity = cluster_queue_activity(model, local->cluster_queue);
  if (!activity.active) {
    const std::string name = "ClusterQueue " + local->cluster_queue.str();
    const bool missing = !model.quota().contains(local->cluster_queue);
    cure(out, missing ? name + " is created" : name + " becomes active (its condition Active says why it is not)");
    return blocked(Standing::kNotQueued, missing ? kMisconfigured : kSuspended,
                   missing ? name + " doesn't exist" : name + " is inactive: " + activity.message);
  }
  if (const std::string* gate = api::admission_gate(workload)) {
    cure(out, "the owners of the gates remove them from the annotation of the job: " + *gate);
    return blocked(Standing::kNotQueued, kAdmissionGated, "Admission is gated by: " + *gate);
  }
  return false;
}

void explain_queued(const Queue& queue, const WorkloadState& state, Explanation& out) {
  const std::optional<ParkedReason> why = queue.reason(out.workload);
  if (!why) {
    out.standing = Standing::kReady;
    out.message = "It is queued and will be tried in the next cycle in which it is first in its ClusterQueue";
    return;
  }
  out.plugin = why->plugin;
  out.reason = why->reason;
  out.message = why->message;
  out.behind = queue.behind(out.workload);
  out.standing = out.behind ? Standing::kBehind : Standing::kParked;
  if (out.behind) {
    cure(out, "Workload " + to_string(*out.behind) + " is admitted or leaves the queue");
  }
  for (const Wake& wake : why->wakes) {
    cure(out, wake);
  }
  if (state.hold) {
    cure(out, "its victims have left");
  }
}

void explain_position(const Queue& queue, Explanation& out) {
  const WorkloadInfo* own = queue.find(out.workload);
  if (own == nullptr) {
    return;
  }
  Position in_queue;
  Position in_local;
  for (const WorkloadInfo* info : queue.in_order(own->cluster_queue)) {
    const bool same_local = info->key.ns == own->key.ns && info->object->queue_name == own->object->queue_name;
    if (info->key == own->key) {
      in_queue.index = in_queue.of;
      in_local.index = in_local.of;
    }
    ++in_queue.of;
    in_local.of += same_local ? 1 : 0;
  }
  out.in_cluster_queue = in_queue;
  out.in_local_queue = in_local;
}

// As the core last decided, which may be ahead of what was observed.
std::shared_ptr<const api::Workload> current(const WorkloadState& state) {
  if (state.status == state.observed->status) {
    return state.observed;
  }
  auto assumed = std::make_shared<api::Workload>(*state.observed);
  assumed->status = state.status;
  return assumed;
}

std::string of_tree(const std::string& root) {
  constexpr std::string_view kCohort = "cohort/";
  constexpr std::string_view kQueue = "cq/";
  if (root.starts_with(kCohort)) {
    return "cohort " + root.substr(kCohort.size());
  }
  return root.starts_with(kQueue) ? "ClusterQueue " + root.substr(kQueue.size()) : root;
}

}  // namespace

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::kUnknown:
      return "Unknown";
    case Standing::kFinished:
      return "Finished";
    case Standing::kDeleting:
      return "Deleting";
    case Standing::kAdmitted:
      return "Admitted";
    case Standing::kReserved:
      return "QuotaReserved";
    case Standing::kEvicted:
      return "Evicted";
    case Standing::kDeactivated:
      return "Deactivated";
    case Standing::kNotQueued:
      return "NotQueued";
    case Standing::kParked:
      return "Pending";
    case Standing::kBehind:
      return "Behind";
    case Standing::kReady:
      return "Queued";
  }
  return "Unknown";
}

std::string cure_text(const Wake& wake) {
  switch (wake.kind) {
    case WakeKind::kQuota:
      return "quota is released or raised in " + of_tree(wake.name);
    case WakeKind::kClusterQueue:
      return "ClusterQueue " + wake.name + " changes";
    case WakeKind::kLocalQueue:
      return "LocalQueue " + wake.name + " changes";
    case WakeKind::kFlavor:
      return "ResourceFlavor " + wake.name + " changes";
    case WakeKind::kNamespace:
      return "the labels or LimitRanges of namespace " + wake.name + " change";
    case WakeKind::kNodes:
      return "a node is added or changed, or pods leave one";
    case WakeKind::kPods:
      return "pods of Workload " + wake.name + " appear, change or go";
    case WakeKind::kWorkload:
      return "Workload " + wake.name + " itself changes";
    case WakeKind::kCheck:
      return "admission check " + wake.name + " changes its answer";
    case WakeKind::kTime:
      return "the time it has to wait is over";
  }
  return {};
}

Explanation explain(const ExplainParts& core, const ObjectKey& workload, const ExplainOptions& options) {
  Explanation out{.workload = workload};
  const WorkloadState* state = core.model.workload(workload);
  if (state == nullptr) {
    out.message = "There is no Workload " + to_string(workload);
    return out;
  }
  const std::shared_ptr<const api::Workload> object = current(*state);
  out.local_queue = object->queue_name;
  out.cluster_queue = state->charge ? state->charge->cluster_queue : core.model.cluster_queue_of(*object);
  out.priority = api::effective_priority(*object);
  if (explain_settled(*state, out)) {
    if (state->charge && !api::has_quota_reservation(*state->observed)) {
      out.message += (out.message.empty() ? "" : ": ") + std::string("decided, and not written yet");
    }
    return out;
  }
  explain_position(core.queue, out);
  const bool blocked = explain_not_queued(*object, core.model, out);
  if (!blocked && core.queue.contains(workload)) {
    explain_queued(core.queue, *state, out);
  } else if (!blocked) {
    out.standing = Standing::kNotQueued;
    say_condition(state->status, api::kQuotaReserved, out);
    cure(out, Wake{WakeKind::kWorkload, to_string(workload)});
  }
  if (core.model.quota().contains(out.cluster_queue)) {
    explain_flavors(core, build_info(object, out.cluster_queue, core.model.objects(), core.totals), options, out);
  }
  return out;
}

}  // namespace muster::framework

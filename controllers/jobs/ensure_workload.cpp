// JobPass: exactly one Workload for the job (spec/workloads.md §1.3 to §1.5).
#include "api/constants.h"
#include "controllers/jobs/equivalence.h"
#include "controllers/jobs/job_pass.h"
#include "controllers/jobs/orphan.h"
#include "controllers/jobs/priority.h"
#include "controllers/jobs/workload_name.h"
#include "framework/prebuilt.h"

#include <utility>

namespace muster::controllers {
namespace {

using framework::WorkloadState;

bool is_reserved(const WorkloadState& state) {
  return api::is_true(state.status.conditions, api::kQuotaReserved) || api::has_quota_reservation(*state.observed);
}

bool is_finished(const WorkloadState& state) {
  return api::is_true(state.status.conditions, api::kFinished);
}

// Of a finished Workload only a stub may be kept, without podsets: it belongs to its job as it was.
bool belongs(const JobView& job, const WorkloadState& state, const framework::Objects& objects) {
  const bool stub = is_finished(state) && state.observed->pod_sets.empty();
  return stub || is_equivalent(job, *state.observed, state.status, objects);
}

}  // namespace

std::optional<JobPass::Current> JobPass::ensure_workload() {
  if (const std::string* name = framework::prebuilt_name_of(*job_.meta)) {
    return prebuilt_workload(*name);
  }
  const WorkloadState* match = nullptr;
  std::vector<const WorkloadState*> extra;
  for (const ObjectKey& key : objects().workloads_of(job_.ref.uid)) {
    const WorkloadState* state = pass_.context.model.workload(key);
    if (state == nullptr) {
      continue;
    }
    if (match == nullptr && belongs(job_, *state, objects())) {
      match = state;
    } else {
      extra.push_back(state);
    }
  }
  if (match == nullptr) {
    resolve_mismatch(extra);
    return std::nullopt;
  }
  for (const WorkloadState* state : extra) {
    remove_extra(*state);
  }
  Current current{.state = match, .status = match->status};
  sync_spec(current);
  return current;
}

// A Workload made by somebody else and named by the job, which becomes its controller unless it has another one.
std::optional<JobPass::Current> JobPass::prebuilt_workload(const std::string& name) {
  const WorkloadState* state = pass_.context.model.workload({job_.ref.key.ns, name});
  const api::OwnerReference* owner = state == nullptr ? nullptr : api::controller_of(state->observed->meta);
  if (state != nullptr && owner == nullptr && !state->observed->meta.deletion_timestamp && !job_.outcome) {
    emit(framework::AdoptWorkload{.workload = workload_ref(*state->observed), .job = job_.ref});
  }
  if (owner == nullptr || owner->uid != job_.ref.uid) {
    if (!job_.outcome && !job_.suspended) {
      stop({.reason = kStopNoMatchingWorkload, .message = "missing workload"});
    }
    return std::nullopt;
  }
  Current current{.state = state, .status = state->status};
  if (!is_finished(*state) && !is_equivalent(job_, *state->observed, state->status, objects())) {
    framework::set_finished(current.status, "OutOfSync", "The prebuilt workload is out of sync with its user job",
                            stamp(current));
    store(current);
    return std::nullopt;
  }
  return current;
}

// No Workload says what the job says: stop the job, then rewrite or replace what there is.
void JobPass::resolve_mismatch(const std::vector<const WorkloadState*>& extra) {
  if (!job_.outcome && !job_.suspended) {
    const bool one = extra.size() == 1;
    stop({.reason = kStopNoMatchingWorkload,
          .message = one ? "No matching Workload; restoring pod templates according to existent Workload"
                         : "Missing Workload; unable to restore pod templates",
          .workload = one ? std::optional(workload_ref(*extra.front()->observed)) : std::nullopt});
    return;
  }
  if (job_.active) {
    return;
  }
  if (extra.empty()) {
    create_workload();
    return;
  }
  const WorkloadState& first = *extra.front();
  const api::Workload& workload = *first.observed;
  if (job_.outcome || is_reserved(first) || is_finished(first) || workload.meta.deletion_timestamp) {
    for (const WorkloadState* state : extra) {
      remove_extra(*state);
    }
    return;
  }
  const auto priority = priority_of(job_, objects());
  if (priority.ok()) {
    emit(framework::RewriteWorkload{
        .workload = workload_ref(workload),
        .job = job_.ref,
        .priority_class = priority->ref,
        .priority = priority->value,
        .event = job_event(job_, "UpdatedWorkload",
                           "Updated not matching Workload for suspended job: " + to_string(workload.meta.key()))});
  }
}

void JobPass::remove_extra(const WorkloadState& state) {
  const api::Workload& workload = *state.observed;
  if (workload.meta.deletion_timestamp) {
    drop_workload_finalizer(workload, pass_.result);
    return;
  }
  emit(framework::DeleteObject{
      .object = workload_ref(workload),
      .event = job_event(job_, "DeletedWorkload", "Deleted not matching Workload: " + to_string(workload.meta.key()))});
}

void JobPass::create_workload() {
  if (job_.outcome) {
    return;
  }
  const auto priority = priority_of(job_, objects());
  if (!priority.ok()) {
    if (priority.error().code == ErrorCode::kNotFound) {
      framework::EmitEvent warning = job_event(job_, "WorkloadPriorityClassNotFound", priority.error().message);
      warning.warning = true;
      emit(std::move(warning));
    }
    return;
  }
  const JobKindDescription& kind = pass_.kind.description();
  const std::string name =
      workload_name({.kind = kind.name, .group = kind.group, .name = job_.ref.key.name, .uid = job_.ref.uid});
  if (pass_.context.write_pending({framework::Kind::kWorkload, {job_.ref.key.ns, name}, {}})) {
    return;  // made already; its watch will say so
  }
  emit(framework::CreateWorkload{
      .job = job_.ref,
      .name = name,
      .priority_class = priority->ref,
      .priority = priority->value,
      .event = job_event(job_, "CreatedWorkload", "Created Workload: " + job_.ref.key.ns + "/" + name)});
}

// Gates, priority class and queue name follow the job: one patch, because a newer one replaces an older one.
void JobPass::sync_spec(const Current& current) {
  const api::Workload& workload = current.workload();
  if (is_finished(*current.state) || workload.meta.deletion_timestamp) {
    return;
  }
  framework::PatchWorkloadSpec patch{.workload = workload_ref(workload)};
  const std::string* queue = queue_name_of(*job_.meta);
  if (queue != nullptr && *queue != workload.queue_name.str() && job_.suspended && !is_reserved(*current.state)) {
    patch.queue_name = LocalQueueName(*queue);
  }
  const std::string* wanted = api::find(job_.meta->annotations, api::kAdmissionGatedByAnnotation);
  const std::string* have = api::find(workload.meta.annotations, api::kAdmissionGatedByAnnotation);
  const std::string gates = wanted == nullptr ? std::string() : *wanted;
  if (gates != (have == nullptr ? std::string() : *have)) {
    patch.admission_gated_by = gates;
    patch.event = job_event(job_, "UpdatedWorkload", "Updated workload AdmissionGatedBy to \"" + gates + "\"");
  }
  sync_priority(current, patch);
  if (patch.queue_name || patch.admission_gated_by || patch.priority) {
    emit(std::move(patch));
  }
}

void JobPass::sync_priority(const Current& current, framework::PatchWorkloadSpec& patch) {
  const api::Workload& workload = current.workload();
  const auto& ref = workload.priority_class_ref;
  const std::string* label = api::find(job_.meta->labels, api::kPriorityClassLabel);
  const bool fixed = ref ? ref->group != api::kKueueGroup : is_reserved(*current.state);
  if (fixed || label == nullptr || label->empty() || (ref && ref->name == *label)) {
    return;
  }
  const auto priority = priority_of(job_, objects());
  if (!priority.ok()) {
    framework::EmitEvent warning = job_event(job_, "WorkloadPriorityClassNotFound", priority.error().message);
    warning.warning = true;
    emit(std::move(warning));
    return;
  }
  patch.priority_class = priority->ref;
  patch.priority = priority->value;
  patch.event =
      job_event(job_, "UpdatedWorkload", "Updated workload priority class: " + to_string(workload.meta.key()));
}

}  // namespace muster::controllers

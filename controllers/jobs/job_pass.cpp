#include "controllers/jobs/job_pass.h"

#include "api/constants.h"
#include "controllers/jobs/orphan.h"
#include "controllers/jobs/pod_set_info.h"
#include "controllers/jobs/pods_ready.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {

using framework::WorkloadState;

void JobPass::run() {
  if (job_.deleting()) {
    finalize();
    return;
  }
  if (!namespace_is_managed()) {
    return;
  }
  if (const api::Job* ancestor = managing_ancestor()) {
    govern_child(*ancestor);
    return;
  }
  if (!is_managed()) {
    return;
  }
  std::optional<Current> current = ensure_workload();
  if (current) {
    follow(*current);
  }
}

bool JobPass::is_managed() const {
  return queue_name_of(*job_.meta) != nullptr || pass_.options.manage_jobs_without_queue_name;
}

bool JobPass::namespace_is_managed() const {
  const api::Namespace* ns = objects().all<api::Namespace>().find(job_.ref.key.ns);
  if (ns == nullptr) {
    return false;
  }
  const auto& selector = pass_.options.managed_namespaces;
  return !selector || api::matches(*selector, ns->meta.labels);
}

// A Job that controls this job and is itself managed.
const api::Job* JobPass::managing_ancestor() const {
  const api::OwnerReference* owner = api::controller_of(*job_.meta);
  if (!pass_.kind.looks_for_ancestors() || owner == nullptr || owner->kind != "Job" ||
      owner->api_version != "batch/v1") {
    return nullptr;
  }
  const api::Job* ancestor = objects().find<api::Job>({job_.ref.key.ns, owner->name});
  if (ancestor == nullptr || ancestor->meta.uid != owner->uid) {
    return nullptr;
  }
  const bool managed = queue_name_of(ancestor->meta) != nullptr || pass_.options.manage_jobs_without_queue_name;
  return managed ? ancestor : nullptr;
}

// A child has no Workload of its own: it may run while its ancestor's is admitted.
void JobPass::govern_child(const api::Job& ancestor) {
  if (job_.outcome || job_.suspended) {
    return;
  }
  const auto& owned = objects().workloads_of(ancestor.meta.uid);
  const bool admitted = std::any_of(owned.begin(), owned.end(), [this](const ObjectKey& key) {
    const WorkloadState* state = pass_.context.model.workload(key);
    return state != nullptr && !api::is_true(state->status.conditions, api::kFinished) &&
           api::is_true(state->status.conditions, api::kAdmitted);
  });
  if (!admitted) {
    stop({.reason = kStopNotAdmitted, .message = "Kueue managed child job suspended", .event = "Suspended"});
  }
}

// The job is being deleted. While pods of it run, its Workload keeps what it holds.
void JobPass::finalize() {
  if (job_.active) {
    return;
  }
  for (const ObjectKey& key : objects().workloads_of(job_.ref.uid)) {
    if (const WorkloadState* state = pass_.context.model.workload(key)) {
      finish_orphan(*state, pass_.context.now, pass_.result);
    }
  }
  for (framework::EffectBody& effect : pass_.kind.finalize(job_)) {
    emit(std::move(effect));
  }
}

void JobPass::follow(Current& current) {
  if (current.assumed(api::kFinished)) {
    follow_finished(current);
    return;
  }
  if (current.workload().meta.deletion_timestamp) {
    follow_deleted(current);
    return;
  }
  if (job_.outcome) {
    finish(current);
    return;
  }
  if (job_.reclaims) {
    current.status.reclaimable_pods = reclaimable_pods(current.workload(), current.status, job_.reclaimable);
  }
  if (current.assumed(api::kEvicted)) {
    follow_evicted(current);
  } else if (job_.stopping) {
    stop(not_admitted(current));
  } else if (job_.suspended) {
    start(current);
  } else if (!current.assumed(api::kAdmitted)) {
    stop(not_admitted(current));
  }
  if (pass_.options.wait_for_pods_ready && !current.assumed(api::kFinished)) {
    report_pods_ready(current.status, job_.pods_ready, stamp(current));
  }
  store(current);
}

StopRequest JobPass::not_admitted(const Current& current) const {
  return {.reason = kStopNotAdmitted,
          .message = "Not admitted by cluster queue",
          .workload = workload_ref(current.workload())};
}

void JobPass::follow_finished(const Current& current) {
  if (!current.stored(api::kFinished)) {
    return;  // the write is under way
  }
  if (!job_.outcome && !job_.suspended) {
    // Its Workload holds no quota any more, so it must not run.
    stop(not_admitted(current));
    return;
  }
  for (framework::EffectBody& effect : pass_.kind.finalize(job_)) {
    emit(std::move(effect));
  }
  drop_workload_finalizer(current.workload(), pass_.result);
}

// The finalizer, and with it the template to restore and the quota, stays until the job has stopped.
void JobPass::follow_deleted(const Current& current) {
  if (!job_.outcome && (job_.needs_stop || !pass_.kind.restartable())) {
    stop({.reason = kStopWorkloadDeleted,
          .message = "Workload is deleted",
          .workload = workload_ref(current.workload())});
  }
  if (job_.outcome || (job_.may_release && !pass_.context.write_pending(job_.ref))) {
    drop_workload_finalizer(current.workload(), pass_.result);
  }
}

void JobPass::finish(Current& current) {
  const api::Workload& workload = current.workload();
  framework::set_finished(current.status, job_.outcome->succeeded ? "Succeeded" : "Failed", job_.outcome->message,
                          stamp(current));
  emit(job_event(job_, "FinishedWorkload", "Workload '" + to_string(workload.meta.key()) + "' is declared finished"));
  store(current);
}

void JobPass::follow_evicted(Current& current) {
  const api::Condition evicted = *api::find_condition(current.status.conditions, api::kEvicted);
  if (job_.needs_stop && current.stored(api::kEvicted)) {
    stop({.reason = kStopWorkloadEvicted,
          .cause = evicted.reason,
          .message = evicted.message,
          .workload = workload_ref(current.workload())});
  }
  const bool reserved = current.assumed(api::kQuotaReserved);
  if (reserved && job_.may_release && !pass_.context.write_pending(job_.ref)) {
    const framework::Requeue requeue =
        pass_.kind.restartable() ? framework::Requeue::kAtOnce : framework::Requeue::kNever;
    framework::release_evicted(current.status, requeue, stamp(current));
  }
  retain_deactivated(current);
}

// objectRetentionPolicies.workloads.afterDeactivatedByKueue: a job that Muster deactivated is deleted after a while.
void JobPass::retain_deactivated(const Current& current) {
  const api::Condition& evicted = *api::find_condition(current.status.conditions, api::kEvicted);
  if (!pass_.options.retain_deactivated || current.workload().active ||
      evicted.reason.rfind("DeactivatedDueTo", 0) != 0) {
    return;
  }
  const TimePoint expiry = evicted.last_transition_time + *pass_.options.retain_deactivated;
  if (pass_.context.now < expiry) {
    pass_.result.requeue_at(expiry);
    return;
  }
  emit(framework::DeleteObject{
      .object = job_.ref, .event = job_event(job_, "Deleted", "Deleted job: deactivation retention period expired")});
}

void JobPass::start(Current& current) {
  if (!current.assumed(api::kAdmitted) || !current.stored(api::kAdmitted) || !current.status.admission) {
    return;
  }
  auto infos = pod_set_infos(current.workload(), current.status, objects());
  if (!infos.ok() && infos.error().code == ErrorCode::kNotFound) {
    return;  // the flavor's return touches the ClusterQueue, and that its Workloads
  }
  std::optional<std::string> failure = infos.ok() ? std::nullopt : std::optional(infos.error().message);
  for (std::size_t i = 0; !failure && i < infos->size(); ++i) {
    failure = i < job_.pod_sets.size() ? merge_conflict((*infos)[i], job_.pod_sets[i].pod_template) : std::nullopt;
  }
  if (failure) {
    framework::set_finished(current.status, "FailedToStart", *failure, stamp(current));
    return;
  }
  if (!job_.can_inject || pass_.context.write_pending(job_.ref)) {
    return;
  }
  const std::string& queue = current.status.admission->cluster_queue.str();
  emit(pass_.kind.start(job_, *std::move(infos), job_event(job_, "Started", "Admitted by clusterQueue " + queue)));
}

void JobPass::store(const Current& current) {
  if (current.status != current.state->status) {
    pass_.result.workload_statuses.emplace_back(current.workload().meta.key(), current.status);
  }
}

void JobPass::stop(StopRequest request) {
  const bool forced = request.reason == kStopWorkloadDeleted;
  if ((!job_.needs_stop && !forced) || pass_.context.write_pending(job_.ref)) {
    return;
  }
  request.now = pass_.context.now;
  for (framework::EffectBody& effect : pass_.kind.stop(job_, request)) {
    emit(std::move(effect));
  }
}

}  // namespace muster::controllers

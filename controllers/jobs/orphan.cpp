#include "controllers/jobs/orphan.h"

#include "api/constants.h"
#include "framework/status/workload_conditions.h"

#include <utility>

namespace muster::controllers {

namespace {

constexpr Duration kWatchesAgree = std::chrono::minutes(1);

template <class T>
bool exists(const ObjectKey& key, const Uid& uid, const framework::Objects& objects) {
  const T* object = objects.find<T>(key);
  return object != nullptr && object->meta.uid == uid;
}

}  // namespace

framework::ObjectRef workload_ref(const api::Workload& workload) {
  return {.kind = framework::Kind::kWorkload, .key = workload.meta.key(), .uid = workload.meta.uid};
}

void drop_workload_finalizer(const api::Workload& workload, framework::ReconcileResult& result) {
  if (api::has_finalizer(workload.meta, api::kResourceInUseFinalizer)) {
    result.effects.emplace_back(framework::ChangeFinalizer{.object = workload_ref(workload),
                                                           .finalizer = api::kResourceInUseFinalizer,
                                                           .change = framework::FinalizerChange::kRemove});
  }
}

TimePoint owner_expected_by(const api::Workload& workload) {
  return workload.meta.creation_timestamp + kWatchesAgree;
}

Owner owner_of(const api::Workload& workload, const framework::Objects& objects, TimePoint now) {
  const api::OwnerReference* owner = api::controller_of(workload.meta);
  if (owner == nullptr) {
    return Owner::kThere;
  }
  const ObjectKey key{workload.meta.ns, owner->name};
  const bool is_job = owner->kind == "Job" && owner->api_version.compare(0, 6, "batch/") == 0;
  const bool is_pod = owner->kind == "Pod" && owner->api_version == "v1";
  if ((!is_job && !is_pod) || (is_job && exists<api::Job>(key, owner->uid, objects)) ||
      (is_pod && exists<api::Pod>(key, owner->uid, objects))) {
    return Owner::kThere;
  }
  return objects.has_left(owner->uid) || now >= owner_expected_by(workload) ? Owner::kGone : Owner::kNotSeenYet;
}

void finish_orphan(const framework::WorkloadState& state, TimePoint now, framework::ReconcileResult& result) {
  const api::Workload& workload = *state.observed;
  if (workload.meta.deletion_timestamp || api::is_finished(workload)) {
    drop_workload_finalizer(workload, result);
    return;
  }
  if (api::is_true(state.status.conditions, api::kFinished)) {
    return;  // the write is under way
  }
  api::WorkloadStatus status = state.status;
  framework::set_finished(status, "OwnerNotFound", "The workload's owner no longer exists",
                          framework::stamp_of(workload, now));
  result.workload_statuses.emplace_back(workload.meta.key(), std::move(status));
}

}  // namespace muster::controllers

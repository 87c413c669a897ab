// How our writes ended, and what the model says of objects whose writes the watch has not shown yet.
#include <algorithm>

#include "framework/core.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

bool Core::pending(const ObjectRef& object) const {
  const Touched key{object.kind, object.key};
  return writes_.count(key) > 0 || unseen_.count(key) > 0 || unseen_until_.contains(key);
}

void Core::saw(Kind kind, const api::ObjectMeta& meta, bool gone) {
  const Touched key{kind, meta.key()};
  unseen_until_.erase(key);
  if (gone) {
    rejections_.erase(key);
  }
  if (const auto it = unseen_.find(key);
      it != unseen_.end() && (gone || !api::is_older_version(meta.resource_version, it->second))) {
    unseen_.erase(it);
  }
}

// Until the watch shows the write, what the model says of the object is old: nobody may conclude from it that the job
// has stopped, or has not.
void Core::await_sight(TimePoint now, const ObjectRef& object, const InFlight& write, const std::string& version) {
  const std::string seen = version_of(object);
  const bool is_here = object.kind == Kind::kJob || object.kind == Kind::kPod;
  if (!is_here || seen.empty()) {
    return;  // gone since
  }
  if (!version.empty()) {
    if (api::is_older_version(seen, version)) {
      unseen_[{object.kind, object.key}] = version;
    }
  } else if (seen == write.seen_version) {  // else the watch was faster than the answer
    unseen_until_.at({object.kind, object.key}, now + options_.watch_lag);
  }
}

std::string Core::version_of(const ObjectRef& object) const {
  if (object.kind == Kind::kJob) {
    const auto* job = model_.objects().find<api::Job>(object.key);
    return job == nullptr ? std::string{} : job->meta.resource_version;
  }
  if (object.kind == Kind::kPod) {
    const auto* pod = model_.objects().find<api::Pod>(object.key);
    return pod == nullptr ? std::string{} : pod->meta.resource_version;
  }
  return {};
}

std::optional<Core::InFlight> Core::take_effect(EffectId id) {
  const auto it = in_flight_.find(id);
  if (it == in_flight_.end()) {
    return std::nullopt;
  }
  InFlight taken = std::move(it->second);
  in_flight_.erase(it);
  if (const auto newest = newest_.find(merge_key(taken.effect)); newest != newest_.end() && newest->second == id) {
    newest_.erase(newest);
  }
  const ObjectRef object = target(taken.effect);
  if (const auto writes = writes_.find({object.kind, object.key}); --writes->second == 0) {
    writes_.erase(writes);
  }
  return taken;
}

void Core::on_done(TimePoint now, const EffectDone& done) {
  const std::optional<InFlight> taken = take_effect(done.id);
  if (!taken) {
    return;
  }
  const Effect* effect = &taken->effect;
  const ObjectRef object = target(*effect);
  touch(object.kind, object.key);  // whoever waited for the end of this write
  rejections_.erase({object.kind, object.key});
  if (std::holds_alternative<CreateWorkload>(effect->body)) {
    if (done.workload != nullptr && model_.workload(done.workload->meta.key()) == nullptr) {
      unseen_until_.at({Kind::kWorkload, done.workload->meta.key()}, now + options_.watch_lag);
      again_at(object.kind, object.key, now + options_.watch_lag);
    }
  } else {
    await_sight(now, object, *taken, done.written_version);
  }
  if (const auto* status = std::get_if<PatchWorkloadStatus>(&effect->body)) {
    refused_.erase(status->workload.key);
    on_status_written(*status, done.workload, false);
  } else if (const auto* bind = std::get_if<BindPod>(&effect->body)) {
    pods_dirty_.insert(bind->workload);
  }
}

void Core::on_failed(TimePoint now, const EffectFailed& failed) {
  const std::optional<InFlight> taken = take_effect(failed.id);
  if (!taken) {
    return;
  }
  const Effect* effect = &taken->effect;
  if (const auto* status = std::get_if<PatchWorkloadStatus>(&effect->body)) {
    refuse(now, status->workload.key);
    untold_.erase(status->workload.key);
    const WorkloadState* state = model_.workload(status->workload.key);
    const bool gone = failed.error.code == ErrorCode::kNotFound;
    // Without a reading the write was never made: what was observed last still stands.
    on_status_written(*status, failed.workload == nullptr && state != nullptr && !gone ? state->observed : failed.workload,
                      true);
    if (api::is_true(status->status.conditions, api::kQuotaReserved)) {
      model_.usage().drop_penalty(now, status->workload.key);
    }
    if (api::is_true(status->status.conditions, api::kEvicted)) {  // its preemptor has to ask again
      wake_quota(status->status.admission ? status->status.admission->cluster_queue : ClusterQueueName{});
      wake(WakeKind::kNodes, "");
    }
    return;
  }
  if (const auto* bind = std::get_if<BindPod>(&effect->body)) {
    again_at(Kind::kWorkload, bind->workload, now + options_.min_backoff);
    return;
  }
  const ObjectRef object = target(*effect);
  Rejection& rejection = rejections_[{object.kind, object.key}][merge_key(*effect)];
  again_at(object.kind, object.key, next_try(rejection.setback, now));
  if (std::holds_alternative<CreateWorkload>(effect->body) && rejection.error != failed.error.message) {
    notices_.push_back({.regarding = object,
                        .warning = true,
                        .reason = "ErrWorkloadCompose",
                        .action = "CreateWorkload",
                        .note = failed.error.message});
  }
  rejection.error = failed.error.message;
}

TimePoint Core::next_try(Setback& setback, TimePoint now) const {
  const Duration wait = std::min(options_.max_backoff, options_.min_backoff * (1 << std::min(setback.times, 10)));
  ++setback.times;
  setback.not_before = now + wait;
  return setback.not_before;
}

void Core::refuse(TimePoint now, const ObjectKey& workload) {
  Setback& refused = refused_[workload];
  refused.message = "The last write of this Workload failed, will retry";
  again_at(Kind::kWorkload, workload, next_try(refused, now));
}

// Trying again at once would fail again at once. What went well for long enough is forgotten.
void Core::fall_back(TimePoint now, const ObjectKey& workload, std::string_view message) {
  Setback& setback = setbacks_[workload];
  if (now > setback.not_before + 2 * options_.max_backoff) {
    setback = {};
  }
  setback.message = message;
  again_at(Kind::kWorkload, workload, next_try(setback, now));
}

// The object as the API server has it now becomes the truth; what was decided after the write was sent stays assumed.
void Core::on_status_written(const PatchWorkloadStatus& written, std::shared_ptr<const api::Workload> result,
                             bool failed) {
  const ObjectKey& key = written.workload.key;
  const WorkloadState* state = model_.workload(key);
  if (state == nullptr || state->observed->meta.uid != written.workload.uid) {
    return;  // gone, or recreated under the same name
  }
  const Holdings held = holdings(key);
  std::optional<api::WorkloadStatus> newer;
  if (!failed && !(state->status == written.status)) {
    newer = state->status;
  }
  const PlacementPlan plan = state->plan;
  touch_owner(state->observed->meta);
  model_.status_write_ended(key, std::move(result));
  touch_workload(key);
  state = model_.workload(key);
  if (state != nullptr && newer) {
    set_status(key, std::move(*newer), plan);
  } else if (state != nullptr && state->charge && !failed) {
    model_.replan(key, plan);
  }
  wake_released(key, held);
}

}  // namespace muster::framework

// What an event touches (to be reconciled, queued or bound anew) and whom it wakes.
#include <algorithm>
#include <type_traits>

#include "api/constants.h"
#include "framework/core.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

namespace {

bool occupies_node(const api::Pod* pod) {
  return pod != nullptr && !pod->spec.node_name.empty() && !api::is_terminal(*pod);
}

// Not merely a status written by ourselves.
template <class T>
bool spec_changed(const T* before, const T* after) {
  return before == nullptr || after == nullptr || before->meta.generation != after->meta.generation ||
         before->meta.deletion_timestamp != after->meta.deletion_timestamp;
}

bool references(const api::ClusterQueue& queue, const FlavorName& flavor) {
  return std::any_of(queue.resource_groups.begin(), queue.resource_groups.end(), [&](const auto& group) {
    return std::any_of(group.flavors.begin(), group.flavors.end(), [&](const auto& f) { return f.name == flavor; });
  });
}

// The status of a queue is our own report: that it was written changes nothing for the Workloads.
template <class Queue>
bool differs_beyond_status(const Queue* before, const Queue* after) {
  if (before == nullptr || after == nullptr) {
    return true;
  }
  Queue same = *before;
  same.status = after->status;
  same.meta.resource_version = after->meta.resource_version;
  return !(same == *after);
}

}  // namespace

void Core::apply_object(const ObjectEvent& event) {
  if (!deciding_) {
    model_.observe(event);
    return;
  }
  std::visit(
      [this, &event](const auto& e) {
        using T = std::decay_t<decltype(*e.object)>;
        constexpr bool kUpsert = std::is_same_v<std::decay_t<decltype(e)>, Upserted<T>>;
        const ObjectKey key = e.object->meta.key();
        const Ptr<T> before = model_.objects().all<T>().get(key);
        if constexpr (std::is_same_v<T, api::Workload>) {
          const Holdings held = holdings(key);
          model_.observe(event);
          wake_released(key, held);
        } else if constexpr (std::is_same_v<T, api::ClusterQueue> || std::is_same_v<T, api::Cohort>) {
          const std::set<std::string> left = roots_of(*e.object);  // a queue may move to another tree
          model_.observe(event);
          if (spec_changed<T>(before.get(), kUpsert ? e.object.get() : nullptr)) {
            for (const std::string& root : left) {
              wake(WakeKind::kQuota, root);
            }
          }
        } else {
          model_.observe(event);
        }
        touch_object<T>(before.get(), kUpsert ? e.object.get() : nullptr);
      },
      event);
}

std::set<std::string> Core::roots_of(const api::ClusterQueue& queue) const {
  return {model_.quota().root_key(ClusterQueueName(queue.meta.name))};
}

std::set<std::string> Core::roots_of(const api::Cohort& cohort) const {
  std::set<std::string> roots;
  for (const ClusterQueueName& queue : model_.quota().queues_under_root_of(CohortName(cohort.meta.name))) {
    roots.insert(model_.quota().root_key(queue));
  }
  return roots;
}

// ---- what each kind touches ----

template <class T>
void Core::touch_object(const T* before, const T* after) {
  const T* object = after != nullptr ? after : before;
  if (object == nullptr) {
    return;  // the end of something never seen
  }
  const ObjectKey key = object->meta.key();
  if constexpr (std::is_same_v<T, api::Workload>) {
    saw(Kind::kWorkload, object->meta, after == nullptr);
    touch_workload(key);
    if (before != nullptr) {
      touch_owner(before->meta);
      touch(Kind::kLocalQueue, {key.ns, before->queue_name.str()});
    }
    if (after == nullptr) {
      refused_.erase(key);
      setbacks_.erase(key);
      bound_.erase(key);
    }
    if (before == nullptr && api::controller_of(object->meta) == nullptr) {
      touch_jobs_that_name(key);
    }
    wake(WakeKind::kWorkload, to_string(key));
  } else if constexpr (std::is_same_v<T, api::Job>) {
    saw(Kind::kJob, object->meta, after == nullptr);
    touch(Kind::kJob, key);
    for (const ObjectKey& workload : model_.objects().workloads_of(object->meta.uid)) {
      touch_workload(workload);
    }
  } else if constexpr (std::is_same_v<T, api::Pod>) {
    saw(Kind::kPod, object->meta, after == nullptr);
    touch(Kind::kPod, key);
    touch_owner(object->meta);
    const api::OwnerReference* owner = api::controller_of(object->meta);
    for (const ObjectKey& workload : model_.objects().workloads_of(owner != nullptr ? owner->uid : object->meta.uid)) {
      pods_dirty_.insert(workload);
      wake(WakeKind::kPods, to_string(workload));
    }
    if (occupies_node(before) && !occupies_node(after)) {
      wake(WakeKind::kNodes, "");
    }
  } else if constexpr (std::is_same_v<T, api::Node>) {
    wake(WakeKind::kNodes, "");
    const std::set<ObjectKey>& expected = model_.expected_on(NodeName(key.name));
    pods_dirty_.insert(expected.begin(), expected.end());
  } else if constexpr (std::is_same_v<T, api::ClusterQueue>) {
    const ClusterQueueName name(key.name);
    cluster_queues_dirty_ = true;
    touch(Kind::kClusterQueue, key);
    if (after == nullptr) {
      queue_.remove_cluster_queue(name);
      queue_status_at_.erase({Kind::kClusterQueue, key});
      rejections_.erase({Kind::kClusterQueue, key});
    }
    if (differs_beyond_status(before, after)) {
      for (const ObjectKey& local : model_.objects().local_queues_of(name)) {
        touch_workloads_in(local);
      }
      wake(WakeKind::kClusterQueue, name.str());
      wake_quota(name);
      touch_tree_of(name);
    }
  } else if constexpr (std::is_same_v<T, api::Cohort>) {
    if (after == nullptr) {
      queue_status_at_.erase({Kind::kCohort, key});
    } else {
      touch(Kind::kCohort, key);
    }
    if (differs_beyond_status(before, after)) {
      cluster_queues_dirty_ = true;
      for (const ClusterQueueName& queue : model_.quota().queues_under_root_of(CohortName(key.name))) {
        touch(Kind::kClusterQueue, {{}, queue.str()});
        wake_quota(queue);
      }
      wake(WakeKind::kQuota, "cohort/" + key.name);
    }
  } else if constexpr (std::is_same_v<T, api::LocalQueue>) {
    touch(Kind::kLocalQueue, key);
    if (differs_beyond_status(before, after)) {
      touch_workloads_in(key);
      touch(Kind::kClusterQueue, {{}, object->cluster_queue.str()});
      wake(WakeKind::kLocalQueue, to_string(key));
    }
  } else if constexpr (std::is_same_v<T, api::ResourceFlavor>) {
    cluster_queues_dirty_ = true;
    touch(Kind::kResourceFlavor, key);
    wake(WakeKind::kFlavor, key.name);
    for (const auto& [queue_key, queue] : model_.objects().template all<api::ClusterQueue>().all()) {
      if (references(*queue, FlavorName(key.name))) {
        touch(Kind::kClusterQueue, queue_key);
        for (const ObjectKey& local : model_.objects().local_queues_of(ClusterQueueName(queue_key.name))) {
          touch_workloads_in(local);
        }
      }
    }
  } else if constexpr (std::is_same_v<T, api::Namespace>) {
    touch(Kind::kNamespace, key);
    wake(WakeKind::kNamespace, key.name);
    const auto& jobs = model_.objects().template all<api::Job>().all();
    for (auto it = jobs.lower_bound({key.name, ""}); it != jobs.end() && it->first.ns == key.name; ++it) {
      touch(Kind::kJob, it->first);
    }
    const auto& pods = model_.objects().template all<api::Pod>().all();
    for (auto it = pods.lower_bound({key.name, ""}); it != pods.end() && it->first.ns == key.name; ++it) {
      touch(Kind::kPod, it->first);
    }
  } else if constexpr (std::is_same_v<T, api::WorkloadPriorityClass>) {
    touch(Kind::kWorkloadPriorityClass, key);
    touch_jobs_without_workload();
    for (const auto& [workload, state] : model_.workloads()) {
      touch_workload(workload);
    }
  } else {  // LimitRange, RuntimeClass, PriorityClass change what pending Workloads ask for
    if constexpr (std::is_same_v<T, api::PriorityClass>) {
      touch_jobs_without_workload();
    }
    for (const auto& [workload, state] : model_.workloads()) {
      if (key.ns.empty() || key.ns == workload.ns) {
        places_dirty_.insert(workload);
        wake(WakeKind::kNamespace, workload.ns);
      }
    }
  }
}

// As their prebuilt Workload.
void Core::touch_jobs_that_name(const ObjectKey& workload) {
  const auto names_it = [&workload](const api::ObjectMeta& meta) {
    const std::string* annotation = api::find(meta.annotations, api::kPrebuiltWorkloadKey);
    const std::string* name = annotation != nullptr ? annotation : api::find(meta.labels, api::kPrebuiltWorkloadKey);
    return name != nullptr && *name == workload.name;
  };
  const auto look = [&](const auto& objects, Kind kind) {
    for (auto it = objects.lower_bound({workload.ns, ""}); it != objects.end() && it->first.ns == workload.ns; ++it) {
      if (names_it(it->second->meta)) {
        touch(kind, it->first);
      }
    }
  };
  look(model_.objects().all<api::Job>().all(), Kind::kJob);
  look(model_.objects().all<api::Pod>().all(), Kind::kPod);
}

// They may wait for a priority class.
void Core::touch_jobs_without_workload() {
  for (const auto& [key, job] : model_.objects().all<api::Job>().all()) {
    if (model_.objects().workloads_of(job->meta.uid).empty()) {
      touch(Kind::kJob, key);
    }
  }
}

void Core::touch_workload(const ObjectKey& key) {
  touch(Kind::kWorkload, key);
  places_dirty_.insert(key);
  status_dirty_.insert(key);
  const WorkloadState* state = model_.workload(key);
  if (state == nullptr) {
    return;
  }
  if (state->charge) {
    pods_dirty_.insert(key);
    touch(Kind::kClusterQueue, {{}, state->charge->cluster_queue.str()});
  }
  touch_owner(state->observed->meta);
  touch(Kind::kLocalQueue, {key.ns, state->observed->queue_name.str()});
  if (const ClusterQueueName queue = model_.cluster_queue_of(*state->observed); !queue.empty()) {
    touch(Kind::kClusterQueue, {{}, queue.str()});
  }
}

// What a member can lend is part of everybody's share.
void Core::touch_tree_of(const ClusterQueueName& queue) {
  if (!synced_) {
    return;  // everything will be touched then
  }
  for (const ClusterQueueName& member : model_.quota().tree_of(queue)) {
    touch(Kind::kClusterQueue, {{}, member.str()});
  }
}

void Core::touch_owner(const api::ObjectMeta& meta) {
  const api::OwnerReference* owner = api::controller_of(meta);
  if (owner != nullptr && (owner->kind == "Job" || owner->kind == "Pod")) {
    touch(owner->kind == "Job" ? Kind::kJob : Kind::kPod, {meta.ns, owner->name});
  }
}

void Core::touch_workloads_in(const ObjectKey& local_queue) {
  touch(Kind::kLocalQueue, local_queue);
  for (const ObjectKey& workload : model_.objects().workloads_in(local_queue)) {
    touch_workload(workload);
  }
}

void Core::touch_everything() {
  cluster_queues_dirty_ = true;
  for (const auto& [key, job] : model_.objects().all<api::Job>().all()) {
    touch(Kind::kJob, key);
  }
  for (const auto& [key, pod] : model_.objects().all<api::Pod>().all()) {
    touch(Kind::kPod, key);
  }
  for (const auto& [key, state] : model_.workloads()) {
    touch_workload(key);
  }
  for (const auto& [key, queue] : model_.objects().all<api::ClusterQueue>().all()) {
    touch(Kind::kClusterQueue, key);
  }
  for (const auto& [key, queue] : model_.objects().all<api::LocalQueue>().all()) {
    touch(Kind::kLocalQueue, key);
  }
  for (const auto& [key, cohort] : model_.objects().all<api::Cohort>().all()) {
    touch(Kind::kCohort, key);
  }
  for (const auto& [key, flavor] : model_.objects().all<api::ResourceFlavor>().all()) {
    touch(Kind::kResourceFlavor, key);
  }
}

Core::Holdings Core::holdings(const ObjectKey& workload) const {
  const WorkloadState* state = model_.workload(workload);
  return state == nullptr ? Holdings{} : Holdings{state->charge, state->hold};
}

// Something a Workload held is free again.
void Core::wake_released(const ObjectKey& workload, const Holdings& before) {
  const Holdings after = holdings(workload);
  if (before.hold && !after.hold) {
    hold_until_.erase(workload);
  }
  for (const auto& [was, is] : {std::tie(before.charge, after.charge), std::tie(before.hold, after.hold)}) {
    if (was && was != is) {
      wake_quota(was->cluster_queue);
      wake(WakeKind::kNodes, "");
      touch(Kind::kClusterQueue, {{}, was->cluster_queue.str()});
    }
  }
}

void Core::wake_quota(const ClusterQueueName& queue) {
  if (!queue.empty()) {
    wake(WakeKind::kQuota, model_.quota().root_key(queue));
  }
}

// ---- how our writes ended ----

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

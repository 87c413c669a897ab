// What an event touches (to be reconciled, queued or bound anew) and whom it wakes.
#include <algorithm>
#include <type_traits>

#include "api/constants.h"
#include "framework/core.h"
#include "framework/prebuilt.h"
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
    const std::string* name = prebuilt_name_of(meta);
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
  usage_dirty_.insert(local_queue);
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
    usage_dirty_.insert(key);
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

}  // namespace muster::framework

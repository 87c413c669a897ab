#include "framework/model/objects.h"

namespace muster::framework {

namespace {

const std::set<ObjectKey> kNone{};

template <class Map, class Key>
const std::set<ObjectKey>& lookup(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? kNone : it->second;
}

template <class Map, class Key>
void change(Map& map, const Key& key, const ObjectKey& member, bool add) {
  if (add) {
    map[key].insert(member);
    return;
  }
  const auto it = map.find(key);
  if (it == map.end()) {
    return;
  }
  it->second.erase(member);
  if (it->second.empty()) {
    map.erase(it);
  }
}

}  // namespace

const std::set<ObjectKey>& Objects::pods_of(const Uid& owner) const { return lookup(pods_by_owner_, owner); }

const std::set<ObjectKey>& Objects::workloads_of(const Uid& owner) const { return lookup(workloads_by_owner_, owner); }

const std::set<ObjectKey>& Objects::local_queues_of(const ClusterQueueName& queue) const {
  return lookup(local_queues_by_queue_, queue);
}

const std::set<ObjectKey>& Objects::workloads_in(const ObjectKey& local_queue) const {
  return lookup(workloads_by_local_queue_, local_queue);
}

void Objects::index(const api::Pod& pod, bool add) {
  if (const api::OwnerReference* owner = api::controller_of(pod.meta)) {
    change(pods_by_owner_, owner->uid, pod.meta.key(), add);
  }
}

void Objects::index(const api::Workload& workload, bool add) {
  if (const api::OwnerReference* owner = api::controller_of(workload.meta)) {
    change(workloads_by_owner_, owner->uid, workload.meta.key(), add);
  }
  change(workloads_by_local_queue_, ObjectKey{workload.meta.ns, workload.queue_name.str()}, workload.meta.key(), add);
}

void Objects::remember_leaving(const api::Workload& workload) {
  const api::OwnerReference* owner = api::controller_of(workload.meta);
  if (owner != nullptr && workloads_of(owner->uid).empty()) {
    left_.erase(owner->uid);
  }
}

void Objects::index(const api::LocalQueue& queue, bool add) {
  change(local_queues_by_queue_, queue.cluster_queue, queue.meta.key(), add);
}

}  // namespace muster::framework

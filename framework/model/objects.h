// The facts: last observed object of every kind, with the indexes that reconcilers and plugins read. Immutable values
// shared by pointer. Owner: Model. Decision thread only; no undo (facts are never speculated on).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "framework/events.h"

namespace muster::framework {

template <class T>
using Ptr = std::shared_ptr<const T>;

template <class T>
class Store {
 public:
  // The object, or null. Borrowed until the next change of that key.
  const T* find(const ObjectKey& key) const {
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second.get();
  }
  const T* find(const std::string& name) const { return find(ObjectKey{{}, name}); }
  Ptr<T> get(const ObjectKey& key) const {
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second;
  }
  const std::map<ObjectKey, Ptr<T>>& all() const { return objects_; }
  std::size_t size() const { return objects_.size(); }

  // Returns the object that was there before (null: none).
  Ptr<T> put(Ptr<T> object) {
    auto& slot = objects_[object->meta.key()];
    slot.swap(object);
    return object;
  }
  Ptr<T> erase(const ObjectKey& key) {
    const auto it = objects_.find(key);
    if (it == objects_.end()) {
      return nullptr;
    }
    Ptr<T> old = std::move(it->second);
    objects_.erase(it);
    return old;
  }

 private:
  std::map<ObjectKey, Ptr<T>> objects_{};
};

class Objects {
 public:
  template <class T>
  const Store<T>& all() const {
    return std::get<Store<T>>(stores_);
  }
  template <class T>
  const T* find(const ObjectKey& key) const {
    return all<T>().find(key);
  }

  // Pods whose controller has this uid, Workloads owned (as controller) by this uid, LocalQueues that name this
  // ClusterQueue, Workloads that name this LocalQueue. Ordered.
  const std::set<ObjectKey>& pods_of(const Uid& owner) const;
  const std::set<ObjectKey>& workloads_of(const Uid& owner) const;
  const std::set<ObjectKey>& local_queues_of(const ClusterQueueName& queue) const;
  const std::set<ObjectKey>& workloads_in(const ObjectKey& local_queue) const;
  // Was this owner of a Workload seen to go? An owner that was never seen may merely not have arrived yet.
  bool has_left(const Uid& owner) const { return left_.count(owner) > 0; }

  // Applies one observation; returns the previous object's existence through `Store` semantics. Called by Model only.
  template <class T>
  Ptr<T> upsert(Ptr<T> object);
  template <class T>
  Ptr<T> erase(const ObjectKey& key);

 private:
  void index(const api::Pod& pod, bool add);
  void index(const api::Workload& workload, bool add);
  void index(const api::LocalQueue& queue, bool add);
  template <class T>
  void index(const T& /*object*/, bool /*add*/) {}
  void remember_leaving(const api::Workload& workload);
  template <class T>
  void remember_leaving(const T& owner) {
    if (!workloads_of(owner.meta.uid).empty()) {
      left_.insert(owner.meta.uid);
    }
  }

  std::tuple<Store<api::ResourceFlavor>, Store<api::ClusterQueue>, Store<api::Cohort>, Store<api::LocalQueue>,
             Store<api::WorkloadPriorityClass>, Store<api::Workload>, Store<api::Job>, Store<api::Pod>, Store<api::Node>,
             Store<api::Namespace>, Store<api::PriorityClass>, Store<api::RuntimeClass>, Store<api::LimitRange>>
      stores_{};
  std::map<Uid, std::set<ObjectKey>> pods_by_owner_{};
  std::map<Uid, std::set<ObjectKey>> workloads_by_owner_{};
  std::map<ClusterQueueName, std::set<ObjectKey>> local_queues_by_queue_{};
  std::map<ObjectKey, std::set<ObjectKey>> workloads_by_local_queue_{};
  std::set<Uid> left_{};  // owners of Workloads that are still here
};

template <class T>
Ptr<T> Objects::upsert(Ptr<T> object) {
  const Ptr<T> fresh = object;
  Ptr<T> old = std::get<Store<T>>(stores_).put(std::move(object));
  if (old != nullptr) {
    index(*old, false);
  }
  index(*fresh, true);
  return old;
}

template <class T>
Ptr<T> Objects::erase(const ObjectKey& key) {
  Ptr<T> old = std::get<Store<T>>(stores_).erase(key);
  if (old != nullptr) {
    index(*old, false);
    remember_leaving(*old);
  }
  return old;
}

}  // namespace muster::framework

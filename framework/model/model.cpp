#include "framework/model/model.h"

#include <algorithm>
#include <type_traits>

#include "framework/model/hash.h"

namespace muster::framework {

namespace {

PodFootprint footprint_of(const api::PodSpec& spec) {
  return PodFootprint{.requests = api::pod_requests(spec), .host_ports = spec.host_ports};
}

bool sits_on_node(const api::Pod& pod) { return !pod.spec.node_name.empty() && !api::is_terminal(pod); }

bool same_quota(const api::ClusterQueue& a, const api::ClusterQueue& b) {
  return a.cohort == b.cohort && a.resource_groups == b.resource_groups && a.fair_weight_nano == b.fair_weight_nano;
}

bool same_quota(const api::Cohort& a, const api::Cohort& b) {
  return a.parent == b.parent && a.resource_groups == b.resource_groups && a.fair_weight_nano == b.fair_weight_nano;
}

// Of two charges of one Workload, resource by resource, the larger amount.
std::optional<Charge> larger(std::optional<Charge> a, const std::optional<Charge>& b) {
  if (!a || !b || a->cluster_queue != b->cluster_queue) {
    return a ? a : b;
  }
  for (const auto& [fr, amount] : b->usage) {
    Amount& most = a->usage[fr];
    most = std::max(most, amount);
  }
  return a;
}

// What a Workload has to be charged with: what is assumed, and what is stored or may be at any moment. What an assumed
// status gives up counts until the API server has it in writing: otherwise somebody else's admission could be stored
// before the release is.
std::optional<Charge> charge_due(const WorkloadState& state) {
  const api::Workload& workload = *state.observed;
  return larger(larger(Model::charge_of(workload, state.status), Model::charge_of(workload, workload.status)),
                state.sent);
}

}  // namespace

// ---- reading ----

const WorkloadState* Model::workload(const ObjectKey& key) const {
  const auto it = workloads_.find(key);
  return it == workloads_.end() ? nullptr : &it->second;
}

namespace {

template <class Key>
const std::set<ObjectKey>& members(const std::map<Key, std::set<ObjectKey>>& index, const Key& key) {
  static const std::set<ObjectKey> kNone{};
  const auto it = index.find(key);
  return it == index.end() ? kNone : it->second;
}

}  // namespace

const std::set<ObjectKey>& Model::reserving_in(const ClusterQueueName& queue) const {
  return members(reserving_, queue);
}

const std::set<ObjectKey>& Model::expected_on(const NodeName& node) const { return members(expected_on_, node); }

ClusterQueueName Model::cluster_queue_of(const api::Workload& workload) const {
  const api::LocalQueue* queue = objects_.find<api::LocalQueue>({workload.meta.ns, workload.queue_name.str()});
  return queue == nullptr ? ClusterQueueName{} : queue->cluster_queue;
}

std::vector<const api::Pod*> Model::pods_of(const ObjectKey& key) const {
  std::vector<const api::Pod*> pods;
  const WorkloadState* state = workload(key);
  const api::OwnerReference* owner = state == nullptr ? nullptr : api::controller_of(state->observed->meta);
  if (owner == nullptr) {
    return pods;
  }
  if (owner->kind == "Pod") {
    const api::Pod* pod = objects_.find<api::Pod>({key.ns, owner->name});
    if (pod != nullptr && pod->meta.uid == owner->uid) {
      pods.push_back(pod);
    }
    return pods;
  }
  for (const ObjectKey& pod : objects_.pods_of(owner->uid)) {
    pods.push_back(objects_.find<api::Pod>(pod));
  }
  return pods;
}

Model::BoundPods Model::bound_pods(const ObjectKey& key) const {
  BoundPods bound;
  for (const api::Pod* pod : pods_of(key)) {
    if (sits_on_node(*pod)) {
      const std::string pod_set = pod_set_of(*pod, *workload(key)->observed);
      ++bound.by_pod_set[pod_set][NodeName(pod->spec.node_name)];
      ++bound.total;
    }
  }
  return bound;
}

bool Model::holds(const ObjectKey& key) const {
  const WorkloadState* state = workload(key);
  return state != nullptr && state->hold.has_value();
}

std::optional<Charge> Model::charge_of(const api::Workload& workload, const api::WorkloadStatus& status) {
  if (!api::is_true(status.conditions, api::kQuotaReserved) || !status.admission ||
      api::is_true(status.conditions, api::kFinished)) {
    return std::nullopt;
  }
  Charge charge{.cluster_queue = status.admission->cluster_queue};
  for (const api::PodSetAssignment& assigned : status.admission->pod_set_assignments) {
    std::int32_t spec_count = assigned.count;
    for (const api::PodSet& pod_set : workload.pod_sets) {
      if (pod_set.name == assigned.name) {
        spec_count = pod_set.count;
      }
    }
    const std::int32_t left = std::max(0, spec_count - reclaimed_pods(status, assigned.name));
    const bool shrunk = assigned.count > 0 && left < assigned.count;
    for (const auto& [resource, amount] : assigned.resource_usage) {
      const auto flavor = assigned.flavors.find(resource);
      if (flavor == assigned.flavors.end()) {
        continue;
      }
      const Amount counted = shrunk ? sat_mul(amount / assigned.count, left) : amount;
      Amount& sum = charge.usage[FlavorResource{flavor->second, resource}];
      sum = sat_add(sum, counted);
    }
  }
  return charge;
}

// ---- observations ----

void Model::observe(const ObjectEvent& event) {
  MUSTER_CHECK(!undo_.recording()) << "facts change outside of transactions";
  std::visit(
      [this](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        using T = std::decay_t<decltype(*e.object)>;
        constexpr bool kUpsert = std::is_same_v<E, Upserted<T>>;
        if constexpr (std::is_same_v<T, api::Workload>) {
          kUpsert ? observe_workload(e.object) : erase_workload(e.object->meta.key());
        } else if constexpr (std::is_same_v<T, api::Pod>) {
          const ObjectKey key = e.object->meta.key();
          const Ptr<api::Pod> old = kUpsert ? objects_.upsert(e.object) : objects_.erase<api::Pod>(key);
          observe_pod(old.get(), kUpsert ? e.object.get() : nullptr);
        } else {
          const Ptr<T> old = kUpsert ? objects_.upsert(e.object) : objects_.erase<T>(e.object->meta.key());
          if constexpr (std::is_same_v<T, api::ClusterQueue> || std::is_same_v<T, api::Cohort>) {
            observe_quota(old.get(), kUpsert ? e.object.get() : nullptr, e.object->meta.name);
          } else if constexpr (std::is_same_v<T, api::Node>) {
            kUpsert ? nodes_.upsert(e.object) : nodes_.remove(NodeName(e.object->meta.name));
          }
        }
      },
      event);
}

// Rebuilding a tree costs as much as the tree is large: not for an echo of a status.
template <class T>
void Model::observe_quota(const T* before, const T* after, const std::string& name) {
  if (before != nullptr && after != nullptr && same_quota(*before, *after)) {
    return;
  }
  if constexpr (std::is_same_v<T, api::ClusterQueue>) {
    after != nullptr ? quota_.upsert_cluster_queue(*after) : quota_.remove_cluster_queue(ClusterQueueName(name));
  } else {
    after != nullptr ? quota_.upsert_cohort(*after) : quota_.remove_cohort(CohortName(name));
  }
}

void Model::observe_workload(std::shared_ptr<const api::Workload> workload) {
  const ObjectKey key = workload->meta.key();
  auto it = workloads_.find(key);
  if (it != workloads_.end() && it->second.observed->meta.uid != workload->meta.uid) {
    erase_workload(key);  // recreated under the same name
    it = workloads_.end();
  }
  if (it == workloads_.end()) {
    it = workloads_.emplace(key, WorkloadState{}).first;
    if (free_handles_.empty()) {
      free_handles_.push_back(static_cast<std::uint32_t>(handles_.size()));
      handles_.emplace_back();
    }
    it->second.handle = free_handles_.back();
    free_handles_.pop_back();
    handles_[it->second.handle] = key;
  } else if (api::is_older_version(workload->meta.resource_version, it->second.written_version)) {
    return;  // the watch lags behind our own write
  }
  WorkloadState& state = it->second;
  state.observed = workload;
  objects_.upsert(std::move(workload));
  if (!state.status_write) {
    state.status = state.observed->status;
  }
  settle(key, state);
}

void Model::erase_workload(const ObjectKey& key) {
  const auto it = workloads_.find(key);
  if (it == workloads_.end()) {
    return;
  }
  drop_hold(key);
  set_open_slots(key, it->second, {});
  unsettled_.erase(key);
  set_charge(key, it->second, std::nullopt);
  releasing_.erase(key);
  handles_[it->second.handle] = ObjectKey{};
  free_handles_.push_back(it->second.handle);
  workloads_.erase(it);
  objects_.erase<api::Workload>(key);
}

void Model::observe_pod(const api::Pod* before, const api::Pod* after) {
  if (before == nullptr && after == nullptr) {
    return;  // the end of a pod never seen
  }
  if (before != nullptr && sits_on_node(*before)) {
    nodes_.release(NodeName(before->spec.node_name), footprint_of(before->spec), 1);
  }
  if (after != nullptr && sits_on_node(*after)) {
    nodes_.add(NodeName(after->spec.node_name), footprint_of(after->spec), 1);
  }
  const api::Pod& pod = after != nullptr ? *after : *before;
  const api::OwnerReference* owner = api::controller_of(pod.meta);
  const std::set<ObjectKey>& workloads = objects_.workloads_of(owner != nullptr ? owner->uid : pod.meta.uid);
  unsettled_.insert(workloads.begin(), workloads.end());
}

// Open slots follow from the pods; of a gang's many pods the last one settles them all.
void Model::settle_pods() {
  std::set<ObjectKey> workloads;
  workloads.swap(unsettled_);
  for (const ObjectKey& key : workloads) {
    if (const auto it = workloads_.find(key); it != workloads_.end()) {
      set_open_slots(key, it->second, open_slots(key, it->second));
    }
  }
}

// Brings charge and open slots in line with the assumed status and the pods.
void Model::settle(const ObjectKey& key, WorkloadState& state) {
  const std::optional<Charge> assumed = charge_of(*state.observed, state.status);
  set_charge(key, state, charge_due(state));
  if (state.charge && !assumed) {
    releasing_.insert(key);
  } else {
    releasing_.erase(key);
  }
  if (!state.charge) {
    state.plan.clear();
  }
  set_open_slots(key, state, open_slots(key, state));
}

void Model::set_charge(const ObjectKey& key, WorkloadState& state, std::optional<Charge> charge) {
  if (state.charge == charge) {
    return;
  }
  if (state.charge) {
    quota_.remove_usage(state.charge->cluster_queue, state.charge->usage);
    reserving_[state.charge->cluster_queue].erase(key);
  }
  state.charge = std::move(charge);
  if (state.charge) {
    quota_.add_usage(state.charge->cluster_queue, state.charge->usage);
    reserving_[state.charge->cluster_queue].insert(key);
  }
}

PlacementPlan Model::open_slots(const ObjectKey& key, const WorkloadState& state) const {
  PlacementPlan open;
  if (state.plan.empty()) {
    return open;
  }
  const BoundPods bound = bound_pods(key);
  for (const PodSetPlan& planned : state.plan) {
    std::int32_t total = 0;
    for (const NodeSlots& slots : planned.slots) {
      total += slots.count;
    }
    total = std::min(total, pods_needed(*state.observed, state.status, planned.name));
    std::map<NodeName, std::int32_t> taken;
    if (const auto it = bound.by_pod_set.find(planned.name); it != bound.by_pod_set.end()) {
      taken = it->second;
    }
    for (const auto& [node, count] : taken) {
      total -= count;
    }
    PodSetPlan rest{.name = planned.name, .per_pod = planned.per_pod};
    for (const NodeSlots& slots : planned.slots) {
      const std::int32_t left = std::min(slots.count - taken[slots.node], total);
      if (left > 0) {
        rest.slots.push_back({slots.node, left});
        total -= left;
      }
    }
    if (!rest.slots.empty()) {
      open.push_back(std::move(rest));
    }
  }
  return open;
}

void Model::set_open_slots(const ObjectKey& key, WorkloadState& state, PlacementPlan slots) {
  if (state.open_slots == slots) {
    return;
  }
  count_slots(state.open_slots, -1);
  index_slots(key, state.open_slots, false);
  state.open_slots = std::move(slots);
  count_slots(state.open_slots, +1);
  index_slots(key, state.open_slots, true);
}

void Model::index_slots(const ObjectKey& key, const PlacementPlan& plan, bool add) {
  for (const PodSetPlan& pod_set : plan) {
    for (const NodeSlots& slots : pod_set.slots) {
      std::set<ObjectKey>& workloads = expected_on_[slots.node];
      add ? (void)workloads.insert(key) : (void)workloads.erase(key);
      if (workloads.empty()) {
        expected_on_.erase(slots.node);
      }
    }
  }
}

void Model::count_slots(const PlacementPlan& plan, Amount sign) {
  for (const PodSetPlan& pod_set : plan) {
    for (const NodeSlots& slots : pod_set.slots) {
      sign > 0 ? nodes_.add(slots.node, pod_set.per_pod, slots.count)
               : nodes_.release(slots.node, pod_set.per_pod, slots.count);
    }
  }
}

void Model::count_pods(const ObjectKey& workload, Amount sign) {
  for (const api::Pod* pod : pods_of(workload)) {
    if (sits_on_node(*pod)) {
      const NodeName node(pod->spec.node_name);
      sign > 0 ? nodes_.add(node, footprint_of(pod->spec), 1) : nodes_.release(node, footprint_of(pod->spec), 1);
    }
  }
}

// ---- decisions ----

void Model::assume(const ObjectKey& workload, api::WorkloadStatus status, std::optional<PlacementPlan> plan) {
  WorkloadState& state = workloads_.at(workload);
  state.status = std::move(status);
  if (plan) {
    state.plan = std::move(*plan);
  }
  settle(workload, state);
}

void Model::status_write_started(const ObjectKey& workload, EffectId id) {
  WorkloadState& state = workloads_.at(workload);
  state.status_write = id;
  state.sent = charge_of(*state.observed, state.status);
}

void Model::status_write_ended(const ObjectKey& workload, std::shared_ptr<const api::Workload> result) {
  const auto it = workloads_.find(workload);
  if (it == workloads_.end()) {
    return;
  }
  it->second.status_write.reset();
  it->second.sent.reset();
  if (result == nullptr) {
    erase_workload(workload);
    return;
  }
  if (result->meta.uid == it->second.observed->meta.uid) {
    it->second.written_version = result->meta.resource_version;
  }
  observe_workload(std::move(result));
}

void Model::replan(const ObjectKey& workload, PlacementPlan plan) {
  WorkloadState& state = workloads_.at(workload);
  state.plan = std::move(plan);
  settle(workload, state);
}

void Model::hold(const ObjectKey& workload, Charge charge, PlacementPlan plan) {
  drop_hold(workload);
  WorkloadState& state = workloads_.at(workload);
  quota_.add_usage(charge.cluster_queue, charge.usage);
  holding_.insert(workload);
  state.hold = std::move(charge);
  state.hold_slots = std::move(plan);
  count_slots(state.hold_slots, +1);
}

void Model::drop_hold(const ObjectKey& workload) {
  const auto it = workloads_.find(workload);
  if (it == workloads_.end() || !it->second.hold) {
    return;
  }
  quota_.remove_usage(it->second.hold->cluster_queue, it->second.hold->usage);
  count_slots(it->second.hold_slots, -1);
  holding_.erase(workload);
  it->second.hold.reset();
  it->second.hold_slots.clear();
}

// ---- audit ----

std::vector<std::string> Model::audit() const {
  std::map<ClusterQueueName, Usage> expected;
  const auto add = [&expected](const std::optional<Charge>& charge) {
    if (charge) {
      for (const auto& [fr, amount] : charge->usage) {
        Amount& sum = expected[charge->cluster_queue][fr];
        sum = sat_add(sum, amount);
      }
    }
  };
  for (const auto& [key, state] : workloads_) {
    add(charge_due(state));
    add(state.hold);
  }
  std::vector<std::string> drift;
  for (const auto& [name, queue] : objects_.all<api::ClusterQueue>().all()) {
    const ClusterQueueName queue_name(queue->meta.name);
    for (const FlavorResource& fr : quota_.resources_of(queue_name)) {
      const Amount ledger = quota_.usage(queue_name, fr);
      const Amount objects = expected[queue_name][fr];
      if (ledger != objects) {
        drift.push_back(queue_name.str() + " " + fr.flavor.str() + "/" + fr.resource + ": ledger " +
                        std::to_string(ledger) + ", objects " + std::to_string(objects));
      }
    }
  }
  return drift;
}

std::uint64_t Model::hash() const {
  Hash hash;
  hash.add(static_cast<Amount>(quota_.hash())).add(static_cast<Amount>(nodes_.hash()));
  for (const auto& [key, state] : workloads_) {
    hash.add(static_cast<Amount>(state.charged)).add(static_cast<Amount>(state.hold_charged));
  }
  return hash.value();
}

void Model::undo_to(std::size_t mark) {
  while (undo_.size() > mark) {
    const UndoEntry entry = undo_.pop();
    switch (entry.kind) {
      case UndoKind::kQuotaUsage:
        quota_.undo(entry);
        break;
      case UndoKind::kNodeUsed:
      case UndoKind::kNodePods:
      case UndoKind::kNodePort:
        nodes_.undo(entry);
        break;
      case UndoKind::kWorkloadCharged: {
        WorkloadState& state = workloads_.at(handles_[entry.owner]);
        (entry.slot == 0 ? state.charged : state.hold_charged) = entry.old_value != 0;
        break;
      }
    }
  }
}

}  // namespace muster::framework

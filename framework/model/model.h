// The one model of the cluster: observed objects, quota tree, nodes, and the state of every Workload including what the
// core has decided and not yet seen confirmed. Owner: the decision thread (or a test). Not thread-safe. No I/O.
//
// Observations change it through `observe`; decisions through `assume` and friends; speculation only inside a
// Transaction, which rolls back in its destructor unless committed, and nests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/events.h"
#include "framework/model/local_queue_usage.h"
#include "framework/model/node_table.h"
#include "framework/model/objects.h"
#include "framework/model/quota_tree.h"
#include "framework/model/undo_log.h"
#include "framework/workload_info.h"

namespace muster::framework {

// What a Workload holds: quota in its ClusterQueue, and slots on nodes for pods that are not bound yet.
struct Charge {
  ClusterQueueName cluster_queue{};
  Usage usage{};
  friend bool operator==(const Charge&, const Charge&) = default;
};

// A Workload as the core believes it to be: the last observation plus what was decided since.
struct WorkloadState {
  std::shared_ptr<const api::Workload> observed{};
  api::WorkloadStatus status{};              // assumed; equals observed->status when nothing is pending
  std::optional<Charge> charge{};            // present while quota is reserved, in writing or assumed
  PlacementPlan plan{};                      // slots of a gang; rebuilt after a restart
  PlacementPlan open_slots{};                // what of the plan no pod has taken yet: counted on the nodes
  bool charged = true;                       // charge, open slots and pods count now (a transaction may lift them)
  std::optional<Charge> hold{};              // a preemptor's claim, counted like a charge
  PlacementPlan hold_slots{};
  bool hold_charged = true;
  std::uint32_t handle = 0;                  // dense id for the undo log
  std::optional<EffectId> status_write{};    // in flight
  std::optional<Charge> sent{};              // what the status in flight reserves: it may be stored at any moment
  std::string written_version{};             // resourceVersion our last write gave; older observations lag behind it
};

// The podset a pod of the Workload belongs to: its label, else the first.
std::string pod_set_of(const api::Pod& pod, const api::Workload& workload);
// Pods of the podset that the job will not need again.
std::int32_t reclaimed_pods(const api::WorkloadStatus& status, const std::string& pod_set);
// How many pods of the podset may still run at once: what was admitted, less what the job has reclaimed since. A podset
// that is not admitted (yet) is bounded by its spec alone.
std::int32_t pods_needed(const api::Workload& workload, const api::WorkloadStatus& status, const std::string& pod_set);

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // ---- reading ----
  const Objects& objects() const { return objects_; }
  const QuotaTree& quota() const { return quota_; }
  const NodeTable& nodes() const { return nodes_; }
  // Kept by the core: what LocalQueues have consumed follows from what the Workloads are and were.
  const LocalQueueUsage& usage() const { return usage_; }
  LocalQueueUsage& usage() { return usage_; }
  // Null when unknown. Borrowed until the next observe of that key.
  const WorkloadState* workload(const ObjectKey& key) const;
  const std::map<ObjectKey, WorkloadState>& workloads() const { return workloads_; }
  // Workloads that hold quota in this ClusterQueue, in key order.
  const std::set<ObjectKey>& reserving_in(const ClusterQueueName& queue) const;
  // Workloads that have given their reservation up, but not in writing yet: what they hold is on its way.
  const std::set<ObjectKey>& releasing() const { return releasing_; }
  // Workloads with a pod to come on this node.
  const std::set<ObjectKey>& expected_on(const NodeName& node) const;
  // Preemptors that wait for their victims.
  const std::set<ObjectKey>& holding() const { return holding_; }
  // The ClusterQueue that the Workload's LocalQueue names; empty when either is unknown.
  ClusterQueueName cluster_queue_of(const api::Workload& workload) const;
  // Pods of a Workload that sit on a node and are not terminal, by podset name and node.
  struct BoundPods {
    std::map<std::string, std::map<NodeName, std::int32_t>> by_pod_set{};
    std::int32_t total = 0;
  };
  BoundPods bound_pods(const ObjectKey& workload) const;
  // All pods (any phase) that belong to the Workload: those of the job that owns it, or the pod it was made of.
  std::vector<const api::Pod*> pods_of(const ObjectKey& workload) const;

  // ---- observations ----
  void observe(const ObjectEvent& event);

  // ---- decisions (each is undone by `forget`) ----
  // The Workload now has this status; `charge` and `plan` follow from admission: set when it is reserved, lifted when
  // the reservation went away. `plan` is kept when absent.
  void assume(const ObjectKey& workload, api::WorkloadStatus status, std::optional<PlacementPlan> plan = std::nullopt);
  void status_write_started(const ObjectKey& workload, EffectId id);
  // The write ended; `result` is the object as the API server has it now (null: gone). Drops what was assumed.
  void status_write_ended(const ObjectKey& workload, std::shared_ptr<const api::Workload> result);
  // New slots for a running gang (repair); the reservation stays.
  void replan(const ObjectKey& workload, PlacementPlan plan);

  // A preemptor's hold on what its victims free: charged like a reservation until dropped (design.md §8.4).
  void hold(const ObjectKey& workload, Charge charge, PlacementPlan plan);
  void drop_hold(const ObjectKey& workload);
  bool holds(const ObjectKey& workload) const;

  // The charge that this status means for the Workload: none unless quota is reserved and it is not finished.
  static std::optional<Charge> charge_of(const api::Workload& workload, const api::WorkloadStatus& status);

  // Usage recomputed from the objects and holds, compared with the ledger; differences as text (the self-audit).
  std::vector<std::string> audit() const;
  std::uint64_t hash() const;

 private:
  friend class Transaction;

  template <class T>
  void observe_quota(const T* before, const T* after, const std::string& name);
  void observe_workload(std::shared_ptr<const api::Workload> workload);
  void erase_workload(const ObjectKey& key);
  void observe_pod(const api::Pod* before, const api::Pod* after);
  void settle(const ObjectKey& key, WorkloadState& state);
  void settle_pods();
  void set_charge(const ObjectKey& key, WorkloadState& state, std::optional<Charge> charge);
  void set_open_slots(const ObjectKey& key, WorkloadState& state, PlacementPlan slots);
  void index_slots(const ObjectKey& key, const PlacementPlan& plan, bool add);
  PlacementPlan open_slots(const ObjectKey& key, const WorkloadState& state) const;
  void count_slots(const PlacementPlan& plan, Amount sign);
  void count_pods(const ObjectKey& workload, Amount sign);
  void undo_to(std::size_t mark);

  UndoLog undo_{};
  Objects objects_{};
  QuotaTree quota_{undo_};
  NodeTable nodes_{undo_};
  LocalQueueUsage usage_{};
  std::map<ObjectKey, WorkloadState> workloads_{};
  std::map<ClusterQueueName, std::set<ObjectKey>> reserving_{};
  std::set<ObjectKey> releasing_{};
  std::set<ObjectKey> holding_{};
  std::map<NodeName, std::set<ObjectKey>> expected_on_{};
  std::set<ObjectKey> unsettled_{};  // whose pods changed: open slots to be looked at before anybody reads them
  std::vector<ObjectKey> handles_{};  // key of each WorkloadState::handle
  std::vector<std::uint32_t> free_handles_{};
};

// Speculation on the model. Everything done through it is rolled back by the destructor unless `commit` was called.
// Transactions nest; an inner commit still falls with the outer rollback.
class Transaction {
 public:
  explicit Transaction(Model& model);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const Model& model() const { return model_; }

  // As if the Workload had left: its quota, its planned slots and the node usage of its bound pods are free.
  void remove_workload(const ObjectKey& key);
  // Takes remove_workload back.
  void restore_workload(const ObjectKey& key);
  // Lifts a preemptor's own hold.
  void lift_hold(const ObjectKey& key);
  void add_usage(const ClusterQueueName& queue, const Usage& usage);
  void remove_usage(const ClusterQueueName& queue, const Usage& usage);
  void add_slots(const PlacementPlan& plan);
  void release_slots(const PlacementPlan& plan);
  void commit() { committed_ = true; }

 private:
  void set_workload_counted(const ObjectKey& key, bool counted);
  void set_hold_counted(const ObjectKey& key, bool counted);

  Model& model_;
  std::size_t mark_;
  std::optional<std::uint64_t> hash_before_{};  // debug builds, small models
  bool committed_ = false;
};

}  // namespace muster::framework

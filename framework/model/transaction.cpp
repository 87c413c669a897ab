#include "framework/model/model.h"

namespace muster::framework {

Transaction::Transaction(Model& model) : model_(model), mark_(model.undo_.size()) {
  if (!model_.undo_.recording()) {
    model_.settle_pods();
  }
#ifndef NDEBUG
  constexpr std::size_t kSmall = 64;  // hashing costs as much as the model is large
  if (model.workloads_.size() <= kSmall && model.nodes_.size() <= kSmall) {
    hash_before_ = model.hash();
  }
#endif
  model_.undo_.begin();
}

Transaction::~Transaction() {
  if (!committed_) {
    model_.undo_to(mark_);
    MUSTER_CHECK(!hash_before_ || model_.hash() == *hash_before_) << "a rollback did not restore the model";
  }
  model_.undo_.end();
}

void Transaction::set_workload_counted(const ObjectKey& key, bool counted) {
  const auto it = model_.workloads_.find(key);
  if (it == model_.workloads_.end() || it->second.charged == counted) {
    return;
  }
  WorkloadState& state = it->second;
  model_.undo_.record({.kind = UndoKind::kWorkloadCharged, .owner = state.handle, .slot = 0, .old_value = !counted});
  state.charged = counted;
  if (state.charge) {
    counted ? model_.quota_.add_usage(state.charge->cluster_queue, state.charge->usage)
            : model_.quota_.remove_usage(state.charge->cluster_queue, state.charge->usage);
  }
  const Amount sign = counted ? +1 : -1;
  model_.count_slots(state.open_slots, sign);
  model_.count_pods(key, sign);
}

void Transaction::set_hold_counted(const ObjectKey& key, bool counted) {
  const auto it = model_.workloads_.find(key);
  if (it == model_.workloads_.end() || !it->second.hold || it->second.hold_charged == counted) {
    return;
  }
  WorkloadState& state = it->second;
  model_.undo_.record({.kind = UndoKind::kWorkloadCharged, .owner = state.handle, .slot = 1, .old_value = !counted});
  state.hold_charged = counted;
  counted ? model_.quota_.add_usage(state.hold->cluster_queue, state.hold->usage)
          : model_.quota_.remove_usage(state.hold->cluster_queue, state.hold->usage);
  model_.count_slots(state.hold_slots, counted ? +1 : -1);
}

void Transaction::remove_workload(const ObjectKey& key) { set_workload_counted(key, false); }

void Transaction::restore_workload(const ObjectKey& key) { set_workload_counted(key, true); }

void Transaction::lift_hold(const ObjectKey& key) { set_hold_counted(key, false); }

void Transaction::add_usage(const ClusterQueueName& queue, const Usage& usage) { model_.quota_.add_usage(queue, usage); }

void Transaction::remove_usage(const ClusterQueueName& queue, const Usage& usage) {
  model_.quota_.remove_usage(queue, usage);
}

void Transaction::add_slots(const PlacementPlan& plan) { model_.count_slots(plan, +1); }

void Transaction::release_slots(const PlacementPlan& plan) { model_.count_slots(plan, -1); }

}  // namespace muster::framework

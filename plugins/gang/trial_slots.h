// Slots that are on the nodes only while a search lasts: the destructor takes them off again, so that no early return
// leaves any behind. Borrows the transaction.
#pragma once

#include "framework/model/model.h"

#include <utility>

namespace muster::plugins::gang {

class TrialSlots {
 public:
  explicit TrialSlots(framework::Transaction& transaction) : transaction_(transaction) {}

  ~TrialSlots() { clear(); }

  TrialSlots(const TrialSlots&) = delete;
  TrialSlots& operator=(const TrialSlots&) = delete;

  void add(framework::PodSetPlan slots) {
    framework::PlacementPlan plan;
    plan.push_back(std::move(slots));
    transaction_.add_slots(plan);
    added_.push_back(std::move(plan.front()));
  }

  void clear() {
    transaction_.release_slots(added_);
    added_.clear();
  }

 private:
  framework::Transaction& transaction_;
  framework::PlacementPlan added_{};
};

// The reverse: slots that are off the nodes while a search lasts.
class LiftedSlots {
 public:
  LiftedSlots(framework::Transaction& transaction, framework::PlacementPlan slots)
      : transaction_(transaction), slots_(std::move(slots)) {
    transaction_.release_slots(slots_);
  }

  ~LiftedSlots() { transaction_.add_slots(slots_); }

  LiftedSlots(const LiftedSlots&) = delete;
  LiftedSlots& operator=(const LiftedSlots&) = delete;

 private:
  framework::Transaction& transaction_;
  framework::PlacementPlan slots_;
};

}  // namespace muster::plugins::gang

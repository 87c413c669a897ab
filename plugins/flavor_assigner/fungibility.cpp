#include "plugins/flavor_assigner/fungibility.h"

#include <algorithm>
#include <tuple>

namespace muster::plugins {
namespace {

// Grades below kPreempt cannot be admitted in this attempt, whatever the ClusterQueue prefers: they rank by fitness.
Fitness viability(const Grade& grade) {
  return std::min(grade.fitness, Fitness::kPreempt);
}

}  // namespace

bool FlavorPreference::better(const Grade& a, const Grade& b) const {
  if (viability(a) != viability(b)) {
    return viability(a) > viability(b);
  }
  if (a.fitness == Fitness::kNoFit) {
    return false;
  }
  if (policy_ == nullptr) {
    return a.fitness > b.fitness;
  }
  if (policy_->preference == api::FungibilityPreference::kPreemptionOverBorrowing) {
    return std::tie(a.borrow_level, b.fitness) < std::tie(b.borrow_level, a.fitness);
  }
  return std::tie(b.fitness, a.borrow_level) < std::tie(a.fitness, b.borrow_level);
}

bool FlavorPreference::stops_search(const Grade& grade) const {
  if (policy_ == nullptr) {
    return grade.fitness == Fitness::kFit;
  }
  if (grade.fitness < Fitness::kPreempt) {
    return false;
  }
  const bool needs_victims = grade.fitness != Fitness::kFit;
  const bool tries_next_to_preempting = policy_->when_can_preempt == api::FungibilityPolicy::kTryNextFlavor;
  const bool tries_next_to_borrowing = policy_->when_can_borrow == api::FungibilityPolicy::kTryNextFlavor;
  return !(needs_victims && tries_next_to_preempting) && !(grade.borrow_level > 0 && tries_next_to_borrowing);
}

}  // namespace muster::plugins

// How well a flavor serves a podset, and which of two flavors the ClusterQueue prefers (spec/admission.md §3.1, §3.3).
// Plain values, pure functions.
#pragma once

#include "api/kueue/queues.h"

#include <cstdint>

namespace muster::plugins {

// Worst to best. The middle four are proposed as "needs victims".
enum class Fitness : std::uint8_t {
  kNoFit,
  kNoCandidates,  // victims would be needed and there are none
  kNodesLacking,  // a later plugin found no nodes until somebody leaves: the last resort among flavors
  kPreempt,       // victims in the own ClusterQueue
  kReclaim,       // victims only in others, which borrow
  kFit,
};

struct Grade {
  Fitness fitness = Fitness::kFit;
  int borrow_level = 0;
  friend bool operator==(const Grade&, const Grade&) = default;
};

// The fungibility rules of one ClusterQueue.
class FlavorPreference {
 public:
  // `policy` null: gate FlavorFungibility is off.
  explicit FlavorPreference(const api::FlavorFungibility* policy) : policy_(policy) {}

  // Strict: neither of two equal grades is better.
  bool better(const Grade& a, const Grade& b) const;

  Grade worse(const Grade& a, const Grade& b) const { return better(a, b) ? b : a; }

  // No later flavor is looked at.
  bool stops_search(const Grade& grade) const;

 private:
  const api::FlavorFungibility* policy_;
};

}  // namespace muster::plugins

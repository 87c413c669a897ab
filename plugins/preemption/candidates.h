// Who may be evicted for a preemptor, and in which order they are tried (spec/admission.md §5.2, §5.3). Pure reading.
#pragma once

#include "framework/preemption/candidate.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::plugins {

// By what right a candidate is evicted. The order is the order in which they are tried.
enum class Right : std::uint8_t {
  kHierarchicalReclaim,      // the preemptor stays within the quota of its own branch
  kReclaimWithoutBorrowing,  // only if the preemptor does not borrow
  kReclaimWhileBorrowing,    // borrowWithinCohort
  kWithinClusterQueue,
};

std::string_view reason_of(Right right);

struct Candidate : framework::Candidate {
  Right right = Right::kWithinClusterQueue;
  framework::QuotaTree::NodeIndex ancestor = 0;  // lowest common one with the preemptor; unused within its own queue
};

struct Candidates {
  std::vector<Candidate> in_order{};
  bool any_in_cohort = false;     // in another ClusterQueue
  bool any_hierarchical = false;  // of kHierarchicalReclaim
};

// O(candidates · log candidates) and one walk over the cohort tree.
Candidates find_candidates(const framework::Model& model, const framework::Preemptor& preemptor);

}  // namespace muster::plugins

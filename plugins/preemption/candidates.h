// Who may be evicted for a preemptor, and in which order they are tried (spec/admission.md §5.2, §5.3). Pure reading.
#pragma once

#include "api/kueue/queues.h"
#include "framework/model/model.h"
#include "framework/workload_info.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::plugins {

// Who wants room, how much of it, and where it is lacking.
struct Preemptor {
  const framework::WorkloadInfo& workload;
  const api::ClusterQueue& queue;
  framework::QuotaTree::NodeIndex node = 0;  // of the queue
  framework::Usage request{};                // positive amounts
  std::vector<framework::FlavorResource>
      need{};  // where quota or nodes are lacking; empty: nodes only, any user of them
  TimePoint now{};
};

// By what right a candidate is evicted. The order is the order in which they are tried.
enum class Right : std::uint8_t {
  kHierarchicalReclaim,      // the preemptor stays within the quota of its own branch
  kReclaimWithoutBorrowing,  // only if the preemptor does not borrow
  kReclaimWhileBorrowing,    // borrowWithinCohort
  kWithinClusterQueue,
};

std::string_view reason_of(Right right);

struct Candidate {
  const ObjectKey* key = nullptr;  // of the model's own entry
  const Uid* uid = nullptr;
  Right right = Right::kWithinClusterQueue;
  bool evicted = false;  // and still holding its quota
  std::int64_t priority = 0;
  TimePoint reserved_at{};
  framework::QuotaTree::NodeIndex queue = 0;
  framework::QuotaTree::NodeIndex ancestor = 0;  // lowest common one with the preemptor; unused within its own queue
};

struct Candidates {
  std::vector<Candidate> in_order{};
  bool any_in_cohort = false;     // in another ClusterQueue
  bool any_hierarchical = false;  // of kHierarchicalReclaim
};

// O(candidates · log candidates) and one walk over the cohort tree.
Candidates find_candidates(const framework::Model& model, const Preemptor& preemptor);

// All of its usage of `need` is covered by the node's own quota. True when there is nothing to cover.
bool within_nominal(const framework::QuotaTree& quota, framework::QuotaTree::NodeIndex node,
                    const std::vector<framework::FlavorResource>& need);

}  // namespace muster::plugins

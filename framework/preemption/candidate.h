// Who may be evicted for whom (spec/admission.md §5.1, §5.2): what every preemption algorithm starts from. In the
// framework because several PostFilter plugins need it and plugins do not include one another. Pure reading.
#pragma once

#include "framework/points.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::framework {

// Reasons of the condition Preempted.
inline constexpr std::string_view kInClusterQueue = "InClusterQueue";
inline constexpr std::string_view kInCohortReclamation = "InCohortReclamation";
inline constexpr std::string_view kInCohortFairSharing = "InCohortFairSharing";
inline constexpr std::string_view kInCohortReclaimWhileBorrowing = "InCohortReclaimWhileBorrowing";

// Who wants room, how much of it, and where it is lacking.
struct Preemptor {
  const WorkloadInfo& workload;
  const api::ClusterQueue& queue;
  QuotaTree::NodeIndex node = 0;       // of the queue
  Usage request{};                     // positive amounts
  std::vector<FlavorResource> need{};  // where quota or nodes are lacking; empty: nodes only, any user of them
  TimePoint now{};
};

// Nothing when the ClusterQueue is unknown or its policies evict nobody.
std::optional<Preemptor> preemptor_of(const PostFilterContext& context, Usage request,
                                      std::vector<FlavorResource> need);
// The preemptor that an assignment makes of its Workload; nothing also when it lacks nothing.
std::optional<Preemptor> preemptor_of(const PostFilterContext& context, const Assignment& assignment);

// All of its usage of `need` is covered by the node's own quota. True when there is nothing to cover.
bool within_nominal(const QuotaTree& quota, QuotaTree::NodeIndex node, const std::vector<FlavorResource>& need);

// Borrows from the model's own entry of the Workload.
struct Candidate {
  const ObjectKey* key = nullptr;
  const Uid* uid = nullptr;
  const Usage* usage = nullptr;
  bool evicted = false;  // and still holding its quota
  std::int64_t priority = 0;
  TimePoint reserved_at{};
  QuotaTree::NodeIndex queue = 0;
  // Of its LocalQueue, where admission fair sharing applies: who has used more goes first, but only among candidates of
  // the preemptor's own ClusterQueue. Compared among those of several it would make no order.
  Wide place = 0;
};

// Those in the ClusterQueue `queue` that use what is needed and yield to the preemptor: by withinClusterQueue in its
// own, by reclaimWithinCohort in another. Whoever is claimed by somebody else already is none. O(Workloads there).
std::vector<Candidate> candidates_in(const Model& model, const Preemptor& preemptor, QuotaTree::NodeIndex queue);

// The last rules of the order: lower priority, later reservation, smaller uid.
bool yields_before(const Candidate& a, const Candidate& b);

}  // namespace muster::framework

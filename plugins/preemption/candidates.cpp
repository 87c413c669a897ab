#include "plugins/preemption/candidates.h"

#include "plugins/preemption/preemption.h"

#include <algorithm>
#include <map>
#include <optional>

namespace muster::plugins {
namespace {

using framework::FlavorResource;
using framework::QuotaTree;
using framework::Usage;
using framework::WorkloadState;
using NodeIndex = QuotaTree::NodeIndex;

bool uses(const Usage& usage, const std::vector<FlavorResource>& need) {
  return need.empty() || std::any_of(need.begin(), need.end(), [&usage](const FlavorResource& fr) {
           const auto it = usage.find(fr);
           return it != usage.end() && it->second > 0;
         });
}

bool fits_into(const QuotaTree::Share& share, Amount more) {
  return sat_add(share.usage, more) <= share.subtree;
}

class Collector {
 public:
  Collector(const framework::Model& model, const Preemptor& preemptor)
      : model_(model), quota_(model.quota()), preemptor_(preemptor), policy_(preemptor.queue.preemption) {}

  Candidates run() && {
    collect_own();
    if (policy_.reclaim_within_cohort != api::ReclaimPolicy::kNever) {
      collect_cohort();
    }
    std::sort(found_.in_order.begin(), found_.in_order.end(), tried_before);
    return std::move(found_);
  }

 private:
  // Those leaving anyway first, then by right. Reclaims with and without borrowing are one list.
  static bool tried_before(const Candidate& a, const Candidate& b) {
    const auto list = [](const Candidate& candidate) {
      return candidate.right == Right::kReclaimWhileBorrowing ? Right::kReclaimWithoutBorrowing : candidate.right;
    };
    if (a.evicted != b.evicted) {
      return a.evicted;
    }
    if (list(a) != list(b)) {
      return list(a) < list(b);
    }
    if (a.priority != b.priority) {
      return a.priority < b.priority;
    }
    return a.reserved_at != b.reserved_at ? a.reserved_at > b.reserved_at : *a.uid < *b.uid;
  }

  void collect_own() {
    if (policy_.within_cluster_queue == api::WithinClusterQueuePolicy::kNever) {
      return;
    }
    collect_queue(preemptor_.node, 0, [this](const WorkloadState& state, std::int64_t priority) {
      return yields_within_queue(state, priority) ? std::optional(Right::kWithinClusterQueue) : std::nullopt;
    });
  }

  // From the own cohort up to the root; at each level what lies under it and not under the level before.
  void collect_cohort() {
    std::map<FlavorResource, Amount> rest;  // what the branch below has to take from above
    bool fits_branch = true;                // the request, into the own quota of some level below
    for (const auto& [fr, amount] : preemptor_.request) {
      const QuotaTree::Share share = quota_.share_of(preemptor_.node, fr);
      fits_branch = fits_branch && fits_into(share, amount);
      rest[fr] = std::max<Amount>(0, sat_sub(amount, share.local_available));
    }
    NodeIndex visited = preemptor_.node;
    for (auto at = quota_.parent_of(visited); at; visited = *at, at = quota_.parent_of(visited)) {
      for (const NodeIndex child : quota_.children_of(*at)) {
        if (child != visited) {
          collect_branch(child, *at, fits_branch);
        }
      }
      bool fits_here = true;
      for (auto& [fr, amount] : rest) {
        const QuotaTree::Share share = quota_.share_of(*at, fr);
        fits_here = fits_here && fits_into(share, amount);
        amount = std::max<Amount>(0, sat_sub(amount, share.local_available));
      }
      fits_branch = fits_branch || fits_here;
    }
  }

  void collect_branch(NodeIndex node, NodeIndex ancestor, bool hierarchical) {
    if (within_nominal(quota_, node, preemptor_.need)) {
      return;  // it borrows nothing that could be reclaimed
    }
    if (!quota_.is_queue(node)) {
      for (const NodeIndex child : quota_.children_of(node)) {
        collect_branch(child, ancestor, hierarchical);
      }
      return;
    }
    const auto right_to_reclaim = [this, hierarchical](const WorkloadState&, std::int64_t priority) {
      const bool yields =
          policy_.reclaim_within_cohort == api::ReclaimPolicy::kAny || priority < preemptor_.workload.priority;
      return yields ? std::optional(reclaim_right(priority, hierarchical)) : std::nullopt;
    };
    collect_queue(node, ancestor, right_to_reclaim);
  }

  template <class RightOf>
  void collect_queue(NodeIndex node, NodeIndex ancestor, RightOf right_of) {
    for (const ObjectKey& key : model_.reserving_in(ClusterQueueName(quota_.name_of(node)))) {
      const auto it = model_.workloads().find(key);
      if (it == model_.workloads().end() || !is_removable(it->second) || key == preemptor_.workload.key) {
        continue;
      }
      const WorkloadState& state = it->second;
      const std::int64_t priority = api::effective_priority(*state.observed);
      const std::optional<Right> right = right_of(state, priority);
      if (!right) {
        continue;
      }
      const bool in_cohort = *right != Right::kWithinClusterQueue;
      found_.any_in_cohort = found_.any_in_cohort || in_cohort;
      found_.any_hierarchical = found_.any_hierarchical || *right == Right::kHierarchicalReclaim;
      found_.in_order.push_back({.key = &it->first,
                                 .uid = &state.observed->meta.uid,
                                 .right = *right,
                                 .evicted = api::is_true(state.status.conditions, api::kEvicted),
                                 .priority = priority,
                                 .reserved_at = reserved_at(state),
                                 .queue = node,
                                 .ancestor = ancestor});
    }
  }

  // Still counted (nobody in this cycle has claimed it), and a user of what is lacking.
  bool is_removable(const WorkloadState& state) const {
    return state.charge && state.charged && uses(state.charge->usage, preemptor_.need);
  }

  bool yields_within_queue(const WorkloadState& state, std::int64_t priority) const {
    if (priority != preemptor_.workload.priority) {
      return priority < preemptor_.workload.priority;
    }
    return policy_.within_cluster_queue == api::WithinClusterQueuePolicy::kLowerOrNewerEqualPriority &&
           preemptor_.workload.queue_time < api::queue_order_time(state.observed->meta, state.status.conditions);
  }

  Right reclaim_right(std::int64_t priority, bool hierarchical) const {
    if (hierarchical) {
      return Right::kHierarchicalReclaim;
    }
    const std::optional<std::int32_t>& threshold = policy_.borrow_max_priority_threshold;
    const bool too_important = priority >= preemptor_.workload.priority || (threshold && priority > *threshold);
    return policy_.borrow_within_cohort == api::BorrowWithinCohortPolicy::kNever || too_important
               ? Right::kReclaimWithoutBorrowing
               : Right::kReclaimWhileBorrowing;
  }

  TimePoint reserved_at(const WorkloadState& state) const {
    const api::Condition* reserved = api::find_condition(state.status.conditions, api::kQuotaReserved);
    return reserved == nullptr ? preemptor_.now : reserved->last_transition_time;
  }

  const framework::Model& model_;
  const QuotaTree& quota_;
  const Preemptor& preemptor_;
  const api::Preemption& policy_;
  Candidates found_{};
};

}  // namespace

std::string_view reason_of(Right right) {
  switch (right) {
    case Right::kWithinClusterQueue:
      return kInClusterQueue;
    case Right::kReclaimWhileBorrowing:
      return kInCohortReclaimWhileBorrowing;
    case Right::kHierarchicalReclaim:
    case Right::kReclaimWithoutBorrowing:
      break;
  }
  return kInCohortReclamation;
}

Candidates find_candidates(const framework::Model& model, const Preemptor& preemptor) {
  return Collector(model, preemptor).run();
}

bool within_nominal(const QuotaTree& quota, NodeIndex node, const std::vector<FlavorResource>& need) {
  return std::all_of(need.begin(), need.end(), [&quota, node](const FlavorResource& fr) {
    const QuotaTree::Share share = quota.share_of(node, fr);
    return share.usage <= share.subtree;
  });
}

}  // namespace muster::plugins

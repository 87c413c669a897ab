#include "plugins/preemption/candidates.h"

#include <algorithm>
#include <map>

namespace muster::plugins {
namespace {

using framework::FlavorResource;
using framework::Preemptor;
using framework::QuotaTree;
using framework::within_nominal;
using NodeIndex = QuotaTree::NodeIndex;

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
    if (a.right == Right::kWithinClusterQueue && a.place != b.place) {
      return a.place > b.place;
    }
    return framework::yields_before(a, b);
  }

  void collect_own() {
    for (const framework::Candidate& candidate : candidates_in(model_, preemptor_, preemptor_.node)) {
      found_.in_order.push_back({candidate, Right::kWithinClusterQueue});
    }
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
    for (const framework::Candidate& candidate : candidates_in(model_, preemptor_, node)) {
      const Right right = reclaim_right(candidate.priority, hierarchical);
      found_.any_in_cohort = true;
      found_.any_hierarchical = found_.any_hierarchical || right == Right::kHierarchicalReclaim;
      found_.in_order.push_back({candidate, right, ancestor});
    }
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
      return framework::kInClusterQueue;
    case Right::kReclaimWhileBorrowing:
      return framework::kInCohortReclaimWhileBorrowing;
    case Right::kHierarchicalReclaim:
    case Right::kReclaimWithoutBorrowing:
      break;
  }
  return framework::kInCohortReclamation;
}

Candidates find_candidates(const framework::Model& model, const Preemptor& preemptor) {
  return Collector(model, preemptor).run();
}

}  // namespace muster::plugins

#include "plugins/preemption/search.h"

#include <algorithm>

namespace muster::plugins {

using framework::QuotaTree;
using framework::within_nominal;

bool VictimSearch::run() {
  candidates_ = find_candidates(transaction_.model(), preemptor_);
  if (candidates_.in_order.empty()) {
    return false;
  }
  const bool may_reclaim_for_borrowing =
      preemptor_.queue.preemption.borrow_within_cohort != api::BorrowWithinCohortPolicy::kNever;
  if (!candidates_.any_in_cohort || (!may_reclaim_for_borrowing && !has_unused_nominal())) {
    return attempt(Borrowing::kAllowed);
  }
  if (!may_reclaim_for_borrowing && !candidates_.any_hierarchical) {
    return attempt(Borrowing::kForbidden) || attempt(Borrowing::kAllowed);
  }
  return attempt(Borrowing::kAllowed) || attempt(Borrowing::kForbidden);
}

bool VictimSearch::attempt(Borrowing borrowing) {
  if (!remove_until_fits(borrowing)) {
    victims_.restore(0);
    return false;
  }
  victims_.fill_back([&] { return fits_now(borrowing); });
  return true;
}

bool VictimSearch::remove_until_fits(Borrowing borrowing) {
  const auto fits = [&] { return fits_now(borrowing); };
  for (const Candidate& candidate : candidates_.in_order) {
    if (!may_remove(candidate, borrowing)) {
      continue;
    }
    victims_.remove(candidate);
    if (victims_.fits_at_this_step(fits)) {
      return true;
    }
  }
  return !victims_.all().empty() && fits();
}

bool VictimSearch::fits_now(Borrowing borrowing) const {
  const QuotaTree& quota = transaction_.model().quota();
  const ClusterQueueName name(preemptor_.queue.meta.name);
  const bool stays_within_nominal =
      borrowing == Borrowing::kAllowed ||
      std::none_of(preemptor_.request.begin(), preemptor_.request.end(),
                   [&](const auto& wanted) { return quota.borrows(name, wanted.first, wanted.second); });
  return stays_within_nominal && fits_();
}

// Nobody is taken from a branch that no longer borrows.
bool VictimSearch::may_remove(const Candidate& candidate, Borrowing borrowing) const {
  if (candidate.right == Right::kWithinClusterQueue) {
    return true;
  }
  if (candidate.right == Right::kReclaimWithoutBorrowing && borrowing == Borrowing::kAllowed) {
    return false;
  }
  const QuotaTree& quota = transaction_.model().quota();
  for (std::optional<QuotaTree::NodeIndex> at = candidate.queue; at && *at != candidate.ancestor;
       at = quota.parent_of(*at)) {
    if (within_nominal(quota, *at, preemptor_.need)) {
      return false;
    }
  }
  return true;
}

bool VictimSearch::has_unused_nominal() const {
  const QuotaTree& quota = transaction_.model().quota();
  return std::all_of(preemptor_.need.begin(), preemptor_.need.end(), [&](const framework::FlavorResource& fr) {
    const QuotaTree::Share share = quota.share_of(preemptor_.node, fr);
    return share.usage < share.subtree;
  });
}

}  // namespace muster::plugins

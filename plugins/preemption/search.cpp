#include "plugins/preemption/search.h"

#include <algorithm>

namespace muster::plugins {

using framework::QuotaTree;

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
    restore(0);
    return false;
  }
  fill_back(borrowing);
  return true;
}

// Asking `fits_` is what costs when nodes are searched: it is asked after ever larger steps. A step too far is
// harmless, fill_back starts with what was removed last.
bool VictimSearch::remove_until_fits(Borrowing borrowing) {
  std::size_t ask_at = 1;
  for (const Candidate& candidate : candidates_.in_order) {
    if (!may_remove(candidate, borrowing)) {
      continue;
    }
    remove(candidate);
    if (victims_.size() == ask_at) {
      if (fits_now(borrowing)) {
        return true;
      }
      ask_at += 1 + victims_.size() / 4;
    }
  }
  return !victims_.empty() && fits_now(borrowing);
}

// Latest first, each one is put back if the preemptor fits beside it. Whole runs are tried at once, doubled while that
// works and halved when it does not; as `fits_` is monotone, the outcome is that of going one by one.
void VictimSearch::fill_back(Borrowing borrowing) {
  std::vector<const Candidate*> needed;  // latest first
  std::size_t run = 1;
  while (!victims_.empty()) {
    const std::size_t begin = victims_.size() - std::min(run, victims_.size());
    const std::vector<const Candidate*> tried(victims_.begin() + static_cast<std::ptrdiff_t>(begin), victims_.end());
    restore(begin);
    if (fits_now(borrowing)) {
      run = 2 * tried.size();
      continue;
    }
    for (const Candidate* candidate : tried) {
      remove(*candidate);
    }
    if (tried.size() == 1) {
      needed.push_back(victims_.back());
      victims_.pop_back();
    }
    run = std::max<std::size_t>(1, tried.size() / 2);
  }
  victims_.assign(needed.rbegin(), needed.rend());
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

void VictimSearch::remove(const Candidate& candidate) {
  transaction_.remove_workload(*candidate.key);
  victims_.push_back(&candidate);
}

void VictimSearch::restore(std::size_t kept) {
  while (victims_.size() > kept) {
    transaction_.restore_workload(*victims_.back()->key);
    victims_.pop_back();
  }
}

}  // namespace muster::plugins

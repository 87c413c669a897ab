#include "plugins/fair_preemption/fair_search.h"

#include <algorithm>

namespace muster::plugins {

using framework::DominantShare;

bool FairSearch::run() {
  collect();
  if (candidates_.empty()) {
    return false;
  }
  const ClusterQueueName& queue = preemptor_.workload.cluster_queue;
  transaction_.add_usage(queue, preemptor_.request);  // shares are compared as if it had been admitted
  const bool found = first_strategy() || (rules_.strategies.size() > 1 && second_strategy());
  transaction_.remove_usage(queue, preemptor_.request);
  if (!found) {
    victims_.restore(0);
    return false;
  }
  victims_.fill_back(fits_);
  return true;
}

void FairSearch::collect() {
  const auto add = [this](NodeIndex queue) {
    for (const framework::Candidate& candidate : candidates_in(transaction_.model(), preemptor_, queue)) {
      candidates_.push_back({candidate});
    }
  };
  add(preemptor_.node);
  if (preemptor_.queue.preemption.reclaim_within_cohort != api::ReclaimPolicy::kNever) {
    for (const ClusterQueueName& name : quota().tree_of(preemptor_.workload.cluster_queue)) {
      const NodeIndex queue = *quota().find(name);
      if (queue != preemptor_.node && !within_nominal(quota(), queue, preemptor_.need)) {
        add(queue);
      }
    }
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [this](const auto& a, const auto& b) { return asked_before(a, b, preemptor_.node); });
}

bool FairSearch::first_strategy() {
  std::vector<FairCandidate*> all;
  for (FairCandidate& candidate : candidates_) {
    all.push_back(&candidate);
  }
  TargetQueues targets(quota(), preemptor_.node, all);
  while (TargetQueues::Target* target = targets.next()) {
    const std::size_t before = victims_.all().size();
    ask(targets, *target);
    if (victims_.all().size() > before && victims_.fits_at_this_step([this] { return fits_without_incoming(); })) {
      return true;
    }
  }
  return !victims_.all().empty() && fits_without_incoming();
}

void FairSearch::ask(TargetQueues& targets, TargetQueues::Target& target) {
  if (target.queue() == preemptor_.node) {
    preempt(target.take(), framework::kInClusterQueue);
  } else if (rules_.reclaim_within_nominal && within_nominal(quota(), preemptor_.node, preemptor_.need)) {
    preempt(target.take(), framework::kInCohortReclamation);
  } else {
    ask_by_share(targets, target);
  }
}

// One after the other, until one passes; those that do not are kept for the second strategy.
void FairSearch::ask_by_share(TargetQueues& targets, TargetQueues::Target& target) {
  const Fork fork = fork_with(target.queue());
  const DominantShare preemptor = targets.share(fork.preemptor);
  const DominantShare before = targets.share(fork.target);
  const bool hopeless = preemptor.is_infinite() && !before.is_infinite();
  const auto passes = [&](const FairCandidate& candidate) {
    if (hopeless) {
      return false;
    }
    if (rules_.strategies.front() == FairStrategy::kLessThanInitialShare) {
      return compare(preemptor, before) < 0;
    }
    const framework::UsageDelta leaving = delta_of(quota(), {}, *candidate.usage);
    return compare(preemptor, share_after(quota(), target.queue(), leaving, fork.target)) <= 0;
  };
  while (!target.empty()) {
    FairCandidate& candidate = target.take();
    if (passes(candidate)) {
      preempt(candidate, framework::kInCohortFairSharing);
      return;
    }
    retry_.push_back(&candidate);
  }
}

// The ClusterQueues that had to wait are asked once more, one victim each, by the initial share.
bool FairSearch::second_strategy() {
  TargetQueues targets(quota(), preemptor_.node, retry_);
  while (TargetQueues::Target* target = targets.next()) {
    const Fork fork = fork_with(target->queue());
    const bool passes = compare(targets.share(fork.preemptor), targets.share(fork.target)) < 0;
    if (passes) {
      preempt(target->front(), framework::kInCohortFairSharing);
    }
    target->drop();
    if (passes && fits_without_incoming()) {
      return true;
    }
  }
  return false;
}

void FairSearch::preempt(FairCandidate& candidate, std::string_view reason) {
  candidate.reason = reason;
  victims_.remove(candidate);
}

bool FairSearch::fits_without_incoming() {
  const ClusterQueueName& queue = preemptor_.workload.cluster_queue;
  transaction_.remove_usage(queue, preemptor_.request);
  const bool fits = fits_();
  transaction_.add_usage(queue, preemptor_.request);
  return fits;
}

FairSearch::Fork FairSearch::fork_with(NodeIndex target) const {
  const std::vector<NodeIndex> ours = path_below_root(quota(), preemptor_.node);
  const std::vector<NodeIndex> theirs = path_below_root(quota(), target);
  auto mine = ours.rbegin();
  auto other = theirs.rbegin();
  while (*mine == *other) {  // both are ClusterQueues: the ways part before either ends
    ++mine;
    ++other;
  }
  return {*mine, *other};
}

}  // namespace muster::plugins

#include "plugins/fair_preemption/target_queues.h"

#include <algorithm>

namespace muster::plugins {

using framework::Branch;
using framework::DominantShare;

bool asked_before(const FairCandidate& a, const FairCandidate& b, framework::QuotaTree::NodeIndex own) {
  if (a.evicted != b.evicted) {
    return a.evicted;
  }
  if ((a.queue == own) != (b.queue == own)) {
    return b.queue == own;
  }
  if (a.queue == own && a.place != b.place) {
    return a.place > b.place;
  }
  return framework::yields_before(a, b);
}

TargetQueues::TargetQueues(const framework::QuotaTree& quota, NodeIndex preemptor,
                           const std::vector<FairCandidate*>& candidates)
    : quota_(quota), preemptor_(preemptor), preemptor_path_(path_below_root(quota, preemptor)) {
  std::vector<NodeIndex> queues;
  for (FairCandidate* candidate : candidates) {
    if (by_queue_.size() <= candidate->queue) {
      by_queue_.resize(candidate->queue + 1);
    }
    if (by_queue_[candidate->queue].empty()) {
      queues.push_back(candidate->queue);
    }
    by_queue_[candidate->queue].push_back(candidate);
  }
  root_ = build(branch_to(quota, quota.root_of(preemptor), queues));
  by_queue_.clear();
}

TargetQueues::Cohort TargetQueues::build(const Branch& branch) {
  Cohort cohort{.node = branch.node};
  for (const Branch& child : branch.cohorts) {
    cohort.cohorts.push_back(build(child));
  }
  for (const NodeIndex queue : branch.queues) {
    Target& target = cohort.queues.emplace_back();
    target.node_ = queue;
    target.candidates_ = std::move(by_queue_[queue]);
  }
  return cohort;
}

TargetQueues::Target* TargetQueues::next() {
  while (!root_.pruned) {
    if (Target* target = pick(root_)) {
      return target;
    }
  }
  return nullptr;
}

// Null when a cohort on the way turned out to have nobody left: it is pruned, and the search starts over.
TargetQueues::Target* TargetQueues::pick(Cohort& cohort) {
  Target* queue = best_queue(cohort);
  Cohort* child = best_cohort(cohort);
  if (queue == nullptr && child == nullptr) {
    cohort.pruned = true;
    return nullptr;
  }
  if (child != nullptr && (queue == nullptr || compare(share(child->node), share(queue->node_)) >= 0)) {
    return pick(*child);
  }
  return queue;
}

// The largest share; among equals the one whose first candidate is asked first.
TargetQueues::Target* TargetQueues::best_queue(Cohort& cohort) {
  Target* best = nullptr;
  for (Target& target : cohort.queues) {
    if (target.pruned_) {
      continue;
    }
    target.pruned_ = target.empty() || (target.node_ != preemptor_ && !share(target.node_).borrows);
    if (target.pruned_) {
      continue;
    }
    const auto order = best == nullptr ? std::weak_ordering::greater : compare(share(target.node_), share(best->node_));
    if (order > 0 || (order == 0 && asked_before(target.front(), best->front(), preemptor_))) {
      best = &target;
    }
  }
  return best;
}

// The largest share; among equals the last one by name.
TargetQueues::Cohort* TargetQueues::best_cohort(Cohort& cohort) {
  Cohort* best = nullptr;
  for (Cohort& child : cohort.cohorts) {
    if (child.pruned) {
      continue;
    }
    const bool leads_to_preemptor =
        std::find(preemptor_path_.begin(), preemptor_path_.end(), child.node) != preemptor_path_.end();
    child.pruned = !leads_to_preemptor && !share(child.node).borrows;
    if (!child.pruned && (best == nullptr || compare(share(child.node), share(best->node)) >= 0)) {
      best = &child;
    }
  }
  return best;
}

const DominantShare& TargetQueues::share(NodeIndex node) {
  if (known_.size() <= node) {
    known_.resize(node + 1);
  }
  Known& known = known_[node];
  if (known.version != quota_.version_of(node)) {
    known = {.version = quota_.version_of(node), .share = share_of(quota_, node)};
  }
  return known.share;
}

}  // namespace muster::plugins

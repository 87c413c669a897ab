#include "plugins/fair_sharing/tournament.h"

#include "framework/queue_order.h"

#include <algorithm>

namespace muster::plugins {

using framework::Branch;
using framework::Entry;
using framework::Model;
using framework::QuotaTree;

bool goes_before(const Standing& a, const Standing& b, const TournamentRules& rules) {
  if (rules.prefer_non_borrowing && a.borrows_requested != b.borrows_requested) {
    return b.borrows_requested;
  }
  if (const auto order = compare(a.share, b.share); order != 0) {
    return order < 0;
  }
  if (rules.priority && a.priority != b.priority) {
    return a.priority > b.priority;
  }
  return a.queue_time < b.queue_time;
}

Tournament::Tournament(std::vector<const Entry*> entries, const Model& model, TournamentRules rules)
    : entries_(std::move(entries)), rules_(rules) {
  const QuotaTree& quota = model.quota();
  std::map<NodeIndex, std::map<NodeIndex, Lane>> by_root;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const ClusterQueueName& name = entries_[i]->workload->cluster_queue;
    if (const auto queue = quota.find(name)) {
      by_root[quota.root_of(*queue)][*queue].contestants.push_back(contestant(i, *queue, model));
    } else {  // it has just gone
      add_tree(name.str(), {.lanes = {Lane{.contestants = {Contestant{.index = i}}}}}, 1);
    }
  }
  for (auto& [root, lanes] : by_root) {
    std::vector<NodeIndex> queues;
    std::size_t left = 0;
    for (auto& [queue, lane] : lanes) {
      queues.push_back(queue);
      left += lane.contestants.size();
      std::stable_sort(lane.contestants.begin(), lane.contestants.end(), [this](const auto& a, const auto& b) {
        return framework::queued_before(*entries_[a.index]->workload, *entries_[b.index]->workload);
      });
    }
    add_tree(quota.name_of(root), build(branch_to(quota, root, queues), lanes), left);
  }
  std::stable_sort(trees_.begin(), trees_.end(), [](const Tree& a, const Tree& b) { return a.name < b.name; });
}

void Tournament::add_tree(std::string name, Group root, std::size_t entries) {
  trees_.push_back({.name = std::move(name), .root = std::move(root), .left = entries});
}

Tournament::Group Tournament::build(const Branch& branch, std::map<NodeIndex, Lane>& lanes) {
  Group group;
  for (const Branch& child : branch.cohorts) {
    group.cohorts.push_back(build(child, lanes));
  }
  for (const NodeIndex queue : branch.queues) {
    group.lanes.push_back(std::move(lanes.at(queue)));
  }
  return group;
}

Tournament::Contestant Tournament::contestant(std::size_t index, NodeIndex queue, const Model& model) const {
  const Entry& entry = *entries_[index];
  const framework::WorkloadState* state = model.workload(entry.workload->key);
  const bool held = state != nullptr && state->hold && state->hold_charged &&
                    state->hold->cluster_queue == entry.workload->cluster_queue;
  static const framework::Usage kNothing{};
  Contestant contestant{.index = index,
                        .delta = delta_of(model.quota(), entry.assignment.usage, held ? state->hold->usage : kNothing),
                        .requested = delta_of(model.quota(), entry.assignment.usage)};
  for (const NodeIndex node : path_below_root(model.quota(), queue)) {
    contestant.levels.push_back(
        {.node = node, .standing = {.priority = entry.workload->priority, .queue_time = entry.workload->queue_time}});
  }
  return contestant;
}

std::size_t Tournament::next(const Model& model) {
  while (trees_[tree_].left == 0) {
    ++tree_;
  }
  Tree& tree = trees_[tree_];
  --tree.left;
  Lane* lane = winner(tree.root, 0, model.quota());
  return lane->contestants[lane->next++].index;
}

// Full ties go to whoever is met earlier: child cohorts before ClusterQueues, each by name.
Tournament::Lane* Tournament::winner(Group& group, std::size_t depth, const QuotaTree& quota) {
  Lane* best = nullptr;
  const auto standing = [&](const Lane& lane) -> const Standing& {
    const std::vector<Level>& levels = lane.contestants[lane.next].levels;
    return levels[levels.size() - 1 - depth].standing;
  };
  const auto meet = [&](Lane* lane) {
    if (lane != nullptr && (best == nullptr || goes_before(standing(*lane), standing(*best), rules_))) {
      best = lane;
    }
  };
  for (Group& child : group.cohorts) {
    meet(winner(child, depth + 1, quota));
  }
  for (Lane& lane : group.lanes) {
    if (lane.next < lane.contestants.size()) {
      weigh(lane.contestants[lane.next], quota);
      meet(&lane);
    }
  }
  return best;
}

// Only where something has changed on its way to the root since it was weighed last.
void Tournament::weigh(Contestant& contestant, const QuotaTree& quota) const {
  std::vector<Level>& levels = contestant.levels;
  const auto is_fresh = [&](const Level& level) { return level.version == quota.version_of(level.node); };
  if (contestant.weighed && std::all_of(levels.begin(), levels.end(), is_fresh)) {
    return;
  }
  contestant.weighed = true;
  framework::UsageDelta delta = contestant.delta;
  for (Level& level : levels) {
    level.version = quota.version_of(level.node);
    level.standing.share = share_of(quota, level.node, delta);
    level.standing.borrows_requested = borrows_any_of(quota, level.node, delta, contestant.requested);
    pass_up(quota, level.node, delta);
  }
}

}  // namespace muster::plugins

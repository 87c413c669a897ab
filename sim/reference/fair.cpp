#include "sim/reference/fair.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace muster::sim::reference {
namespace {

int sign(Big value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

int compare_ratios(const Share& a, const Share& b) {
  return sign(a.borrowed * b.lendable - b.borrowed * a.lendable);
}

std::string node_name(const QuotaState& quota, int node) {
  const int queues = quota.cohort_node(0);
  return node < queues ? queue_name(node) : cohort_name(node - queues);
}

// From the ClusterQueue to the root.
std::vector<int> path_of(const QuotaState& quota, int queue) {
  std::vector<int> path;
  for (int node = queue; node >= 0; node = quota.parent(node)) {
    path.push_back(node);
  }
  return path;
}

// ---- §4.3 ----

class Tournament {
 public:
  Tournament(const State& state, const QuotaState& quota, const std::vector<Contestant>& all)
      : state_(state), quota_(quota), all_(all) {}

  std::size_t next() {
    int root = -1;
    for (const Contestant& contestant : all_) {
      const int own = path_of(quota_, state_.def(contestant.workload).queue).back();
      if (root < 0 || node_name(quota_, own) < node_name(quota_, root)) {
        root = own;
      }
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const int queue = state_.def(all_[i].workload).queue;
      const QuotaState seen = quota_.without({all_[i].workload})
                                  .with({.queue = queue, .workload = all_[i].workload, .usage = all_[i].usage});
      at_[queue] = i;
      for (const int node : path_of(quota_, queue)) {
        keys_[{node, i}] = {.share = share_of(seen, node), .borrows = borrows_requested(seen, node, all_[i].usage)};
      }
    }
    return *winner(root);
  }

 private:
  struct Key {
    Share share{};
    bool borrows = false;
  };

  static bool borrows_requested(const QuotaState& seen, int node, const Usage& usage) {
    for (int fr = 0; fr < kFrs; ++fr) {
      if (usage.of(fr) > 0 && seen.borrows(node, fr, 0)) {
        return true;
      }
    }
    return false;
  }

  // Of a cohort: who is met first among the best of its child cohorts, then of its ClusterQueues.
  std::optional<std::size_t> winner(int node) const {
    if (node < quota_.cohort_node(0)) {
      const auto entry = at_.find(node);
      return entry == at_.end() ? std::nullopt : std::optional(entry->second);
    }
    std::optional<std::size_t> best;
    int best_child = -1;
    for (const bool cohorts : {true, false}) {
      for (const int child : quota_.children(node)) {
        const auto candidate =
            (child >= quota_.cohort_node(0)) == cohorts ? winner(child) : std::optional<std::size_t>{};
        if (candidate && (!best || goes_before(child, *candidate, best_child, *best))) {
          best = candidate;
          best_child = child;
        }
      }
    }
    return best;
  }

  bool goes_before(int node_a, std::size_t a, int node_b, std::size_t b) const {
    const Key& x = keys_.at({node_a, a});
    const Key& y = keys_.at({node_b, b});
    if (x.borrows != y.borrows) {
      return y.borrows;
    }
    if (const int order = compare(x.share, y.share); order != 0) {
      return order < 0;
    }
    const WorkloadDef& p = state_.def(all_[a].workload);
    const WorkloadDef& q = state_.def(all_[b].workload);
    return p.priority != q.priority ? p.priority > q.priority : p.created < q.created;
  }

  const State& state_;
  const QuotaState& quota_;
  const std::vector<Contestant>& all_;
  std::map<int, std::size_t> at_{};                    // by queue
  std::map<std::pair<int, std::size_t>, Key> keys_{};  // by node and contestant
};

// ---- §5.5 ----

class Search {
 public:
  Search(const State& state, const QuotaState& quota, const Preemptor& preemptor)
      : state_(state),
        quota_(quota),
        preemptor_(preemptor),
        queue_(state.def(preemptor.workload).queue),
        path_(path_of(quota, queue_)) {}

  std::vector<Victim> run() {
    const std::vector<int> candidates = collect();
    left_ = quota_.with({.queue = queue_, .workload = preemptor_.workload, .usage = preemptor_.usage});
    const bool found = first_strategy(candidates) || (rules() == FairSharing::kBoth && second_strategy());
    return found ? fill_back() : std::vector<Victim>{};
  }

 private:
  // The ClusterQueues to take from, by share.
  struct Targets {
    std::map<int, std::vector<int>> by_queue{};
    std::set<int> pruned{};
  };

  FairSharing rules() const { return state_.world->fair; }

  std::vector<int> collect() const {
    std::vector<int> result;
    for (const Charge& charge : quota_.charges()) {
      const bool own = charge.queue == queue_;
      const bool reserved = state_.at(charge.workload).place == Place::kReserved;
      const bool same_tree = path_of(quota_, charge.queue).back() == path_.back();
      const bool borrows = !quota_.within_nominal(charge.queue, preemptor_.need);
      if (reserved && same_tree && (charge.usage.named & preemptor_.need).any() && (own || borrows) &&
          yields(state_, preemptor_.workload, charge.workload)) {
        result.push_back(charge.workload);
      }
    }
    std::sort(result.begin(), result.end(), [this](int a, int b) { return yields_before(state_, queue_, a, b); });
    return result;
  }

  Targets targets_of(const std::vector<int>& candidates) const {
    Targets targets;
    for (const int candidate : candidates) {
      targets.by_queue[state_.def(candidate).queue].push_back(candidate);
    }
    return targets;
  }

  std::optional<int> next(Targets& targets) const {
    const int root = path_.back();
    if (root == queue_) {
      return targets.by_queue[queue_].empty() ? std::nullopt : std::optional(queue_);
    }
    while (targets.pruned.count(root) == 0) {
      if (const auto queue = pick(targets, root)) {
        return queue;
      }
    }
    return std::nullopt;
  }

  // Nothing: a cohort on the way had nobody left and is pruned now.
  std::optional<int> pick(Targets& targets, int cohort) const {
    int best_queue = -1;
    int best_cohort = -1;
    for (const int child : quota_.children(cohort)) {
      if (targets.pruned.count(child) > 0) {
        continue;
      }
      const bool is_queue = child < quota_.cohort_node(0);
      const bool leads_to_preemptor = std::find(path_.begin(), path_.end(), child) != path_.end();
      if ((!leads_to_preemptor && !share_of(*left_, child).borrows) || (is_queue && targets.by_queue[child].empty())) {
        targets.pruned.insert(child);
        continue;
      }
      int& best = is_queue ? best_queue : best_cohort;
      const int order = best < 0 ? 1 : compare(share_of(*left_, child), share_of(*left_, best));
      const bool among_equals =
          !is_queue || best < 0 ||
          yields_before(state_, queue_, targets.by_queue[child].front(), targets.by_queue[best].front());
      if (order > 0 || (order == 0 && among_equals)) {
        best = child;
      }
    }
    if (best_queue < 0 && best_cohort < 0) {
      targets.pruned.insert(cohort);
      return std::nullopt;
    }
    const bool down = best_cohort >= 0 &&
                      (best_queue < 0 || compare(share_of(*left_, best_cohort), share_of(*left_, best_queue)) >= 0);
    return down ? pick(targets, best_cohort) : best_queue;
  }

  // The children of the lowest common ancestor on the two paths: ours, theirs.
  std::pair<int, int> fork_with(int queue) const {
    const std::vector<int> theirs = path_of(quota_, queue);
    for (std::size_t i = 0;; ++i) {
      const int mine = path_[path_.size() - 1 - i];
      const int other = theirs[theirs.size() - 1 - i];
      if (mine != other) {
        return {mine, other};
      }
    }
  }

  void take(int workload, const char* reason) {
    gone_.push_back({workload, reason});
    left_ = left_->without({workload});
  }

  bool fits(const QuotaState& with_incoming) const {
    return with_incoming.without({preemptor_.workload}).has_room(queue_, preemptor_.usage);
  }

  bool first_strategy(const std::vector<int>& candidates) {
    Targets targets = targets_of(candidates);
    while (const auto queue = next(targets)) {
      std::vector<int>& waiting = targets.by_queue[*queue];
      const std::size_t before = gone_.size();
      const bool within = left_->within_nominal(queue_, preemptor_.need);
      if (*queue == queue_ || within) {
        take(waiting.front(), *queue == queue_ ? "InClusterQueue" : "InCohortReclamation");
        waiting.erase(waiting.begin());
      } else {
        ask_by_share(*queue, waiting);
      }
      if (gone_.size() > before && fits(*left_)) {
        return true;
      }
    }
    return false;
  }

  void ask_by_share(int queue, std::vector<int>& waiting) {
    const auto [ours, theirs] = fork_with(queue);
    const Share mine = share_of(*left_, ours);
    const Share before = share_of(*left_, theirs);
    const bool hopeless = mine.infinite() && !before.infinite();
    while (!waiting.empty()) {
      const int candidate = waiting.front();
      waiting.erase(waiting.begin());
      const Share after = share_of(left_->without({candidate}), theirs);
      const bool passes = rules() == FairSharing::kInitialShare ? compare(mine, before) < 0 : compare(mine, after) <= 0;
      if (!hopeless && passes) {
        take(candidate, "InCohortFairSharing");
        return;
      }
      retry_.push_back(candidate);
    }
  }

  bool second_strategy() {
    Targets targets = targets_of(retry_);
    while (const auto queue = next(targets)) {
      const auto [ours, theirs] = fork_with(*queue);
      const bool passes = compare(share_of(*left_, ours), share_of(*left_, theirs)) < 0;
      if (passes) {
        take(targets.by_queue[*queue].front(), "InCohortFairSharing");
      }
      targets.by_queue[*queue].clear();
      if (passes && fits(*left_)) {
        return true;
      }
    }
    return false;
  }

  std::vector<Victim> fill_back() const {
    std::vector<Victim> kept = gone_;
    for (int i = static_cast<int>(kept.size()) - 2; i >= 0; --i) {
      std::vector<Victim> fewer = kept;
      fewer.erase(fewer.begin() + i);
      if (fits(quota_.without(workloads_of(fewer)))) {
        kept = std::move(fewer);
      }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }

  const State& state_;
  const QuotaState& quota_;
  const Preemptor& preemptor_;
  int queue_;
  std::vector<int> path_;
  std::optional<QuotaState> left_{};  // with the incoming usage, without whoever is gone
  std::vector<Victim> gone_{};
  std::vector<int> retry_{};
};

}  // namespace

int compare(const Share& a, const Share& b) {
  if (a.infinite() && b.infinite()) {
    return compare_ratios(a, b);
  }
  if (a.infinite() || b.infinite()) {
    return a.infinite() ? 1 : -1;
  }
  if (a.borrowed == 0 || b.borrowed == 0) {
    return sign(a.borrowed) - sign(b.borrowed);
  }
  return sign(a.borrowed * b.lendable * b.weight - b.borrowed * a.lendable * a.weight);
}

Share share_of(const QuotaState& quota, int node) {
  Share share{.weight = quota.weight(node)};
  const int parent = quota.parent(node);
  if (parent < 0) {
    return share;
  }
  for (int resource = 0; resource < kResources; ++resource) {
    Share own = share;
    own.borrowed = 0;
    own.lendable = 0;
    for (int flavor = 0; flavor < kMaxFlavors; ++flavor) {
      const int fr = fr_of(flavor, resource);
      own.borrowed += std::max(Big{0}, quota.usage(node, fr) - quota.subtree(node, fr));
      own.lendable += quota.potential(parent, fr);
    }
    share.borrows = share.borrows || own.borrowed > 0;
    if (own.lendable > 0 && compare_ratios(own, share) > 0) {
      share.borrowed = own.borrowed;
      share.lendable = own.lendable;
    }
  }
  return share;
}

std::size_t next_by_share(const State& state, const QuotaState& quota, const std::vector<Contestant>& all) {
  return Tournament(state, quota, all).next();
}

std::vector<Victim> find_victims_by_share(const State& state, const QuotaState& quota, const Preemptor& preemptor) {
  return Search(state, quota, preemptor).run();
}

}  // namespace muster::sim::reference

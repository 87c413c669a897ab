#include "sim/reference/preempt.h"

#include "sim/reference/fair.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

enum class Variant : std::uint8_t { kWithinQueue, kHierarchical, kWithoutBorrowing, kWhileBorrowing };

struct Candidate {
  int workload = 0;
  Variant variant = Variant::kWithinQueue;
  int lca = -1;
};

const char* reason_of(Variant variant) {
  switch (variant) {
    case Variant::kWithinQueue:
      return "InClusterQueue";
    case Variant::kWhileBorrowing:
      return "InCohortReclaimWhileBorrowing";
    default:
      return "InCohortReclamation";
  }
}

class Search {
 public:
  Search(const State& state, const QuotaState& quota, const Preemptor& preemptor)
      : state_(state), quota_(quota), preemptor_(preemptor), queue_(state.def(preemptor.workload).queue) {}

  std::vector<Victim> run() {
    collect();
    const std::vector<Candidate> ordered = in_order();
    for (const bool borrowing : attempts()) {
      std::vector<Victim> victims = attempt(ordered, borrowing);
      if (!victims.empty()) {
        return victims;
      }
    }
    return {};
  }

  bool fits(const QuotaState& quota, bool borrowing) const {
    for (int fr = 0; fr < kFrs; ++fr) {
      if (!preemptor_.usage.names(fr)) {
        continue;
      }
      const Big asked = preemptor_.usage.of(fr);
      if ((!borrowing && quota.borrows(queue_, fr, asked)) || asked > quota.available_in_queue(queue_, fr)) {
        return false;
      }
    }
    return true;
  }

 private:
  const QueueDef& policy() const { return state_.queue_of(preemptor_.workload); }

  bool forbidden() const { return !policy().borrow_while_preempting; }

  bool lower(int workload) const { return state_.def(preemptor_.workload).priority > state_.def(workload).priority; }

  // Reserved Workloads of a ClusterQueue that use something of what is lacking.
  std::vector<int> users(int queue) const {
    std::vector<int> result;
    for (const Charge& charge : quota_.charges()) {
      const bool reserved = state_.at(charge.workload).place == Place::kReserved;
      if (charge.queue == queue && reserved && (charge.usage.named & preemptor_.need).any()) {
        result.push_back(charge.workload);
      }
    }
    return result;
  }

  Variant variant_of(int workload, bool advantage) const {
    if (advantage) {
      return Variant::kHierarchical;
    }
    const bool above = policy().threshold && state_.def(workload).priority > *policy().threshold;
    return forbidden() || !lower(workload) || above ? Variant::kWithoutBorrowing : Variant::kWhileBorrowing;
  }

  void collect() {
    for (const int workload : users(queue_)) {
      if (yields(state_, preemptor_.workload, workload)) {
        same_.push_back({.workload = workload});
      }
    }
    if (quota_.parent(queue_) < 0 || policy().reclaim == Reclaim::kNever) {
      return;
    }
    bool advantage = true;
    Usage rest = preemptor_.usage;
    for (int fr = 0; fr < kFrs; ++fr) {
      advantage = advantage && !(rest.names(fr) && quota_.borrows(queue_, fr, rest.of(fr)));
    }
    take_from(rest, queue_);
    int visited = queue_;
    for (int cohort = quota_.parent(queue_); cohort >= 0; cohort = quota_.parent(cohort)) {
      walk(cohort, visited, cohort, advantage);
      bool enough = true;
      for (int fr = 0; fr < kFrs; ++fr) {
        enough = enough && !(rest.names(fr) && quota_.borrows(cohort, fr, rest.of(fr)));
      }
      advantage = advantage || enough;
      take_from(rest, cohort);
      visited = cohort;
    }
  }

  void take_from(Usage& rest, int node) const {
    for (int fr = 0; fr < kFrs; ++fr) {
      Big& amount = rest.amount[static_cast<std::size_t>(fr)];
      amount = std::max(Big{0}, amount - quota_.local_available(node, fr));
    }
  }

  void walk(int cohort, int skipped, int lca, bool advantage) {
    for (const int child : quota_.children(cohort)) {
      if (child == skipped || quota_.within_nominal(child, preemptor_.need)) {
        continue;
      }
      if (child >= quota_.cohort_node(0)) {
        walk(child, -1, lca, advantage);
        continue;
      }
      for (const int workload : users(child)) {
        if (yields(state_, preemptor_.workload, workload)) {
          (advantage ? hierarchical_ : other_)
              .push_back({.workload = workload, .variant = variant_of(workload, advantage), .lca = lca});
        }
      }
    }
  }

  std::vector<Candidate> in_order() {
    std::vector<Candidate> result;
    for (const bool evicted : {true, false}) {
      for (std::vector<Candidate>* list : {&hierarchical_, &other_, &same_}) {
        std::sort(list->begin(), list->end(), [this](const auto& a, const auto& b) {
          return yields_before(state_, queue_, a.workload, b.workload);
        });
        for (const Candidate& candidate : *list) {
          if (state_.at(candidate.workload).evicted == evicted) {
            result.push_back(candidate);
          }
        }
      }
    }
    return result;
  }

  std::vector<bool> attempts() const {
    const bool nobody_else = hierarchical_.empty() && other_.empty();
    bool own_full = false;
    for (int fr = 0; fr < kFrs; ++fr) {
      own_full = own_full || (preemptor_.need.test(static_cast<std::size_t>(fr)) &&
                              quota_.usage(queue_, fr) >= quota_.nominal(queue_, fr));
    }
    if (nobody_else || (forbidden() && own_full)) {
      return {true};
    }
    return forbidden() && hierarchical_.empty() ? std::vector<bool>{false, true} : std::vector<bool>{true, false};
  }

  bool still_borrows(const QuotaState& quota, const Candidate& candidate) const {
    for (int node = state_.def(candidate.workload).queue; node != candidate.lca; node = quota.parent(node)) {
      if (quota.within_nominal(node, preemptor_.need)) {
        return false;
      }
    }
    return true;
  }

  std::vector<Victim> attempt(const std::vector<Candidate>& ordered, bool borrowing) const {
    std::vector<Candidate> gone;
    QuotaState left = quota_;
    for (const Candidate& candidate : ordered) {
      if (candidate.variant != Variant::kWithinQueue &&
          ((borrowing && candidate.variant == Variant::kWithoutBorrowing) || !still_borrows(left, candidate))) {
        continue;
      }
      gone.push_back(candidate);
      left = left.without({candidate.workload});
      if (fits(left, borrowing)) {
        return fill_back(std::move(gone), borrowing);
      }
    }
    return {};
  }

  std::vector<Victim> fill_back(std::vector<Candidate> gone, bool borrowing) const {
    for (int i = static_cast<int>(gone.size()) - 2; i >= 0; --i) {
      std::vector<Candidate> fewer = gone;
      fewer.erase(fewer.begin() + i);
      if (fits(quota_.without(workloads_of(fewer)), borrowing)) {
        gone = std::move(fewer);
      }
    }
    std::vector<Victim> victims;
    for (const Candidate& candidate : gone) {
      victims.push_back({candidate.workload, reason_of(candidate.variant)});
    }
    std::sort(victims.begin(), victims.end());
    return victims;
  }

  static std::vector<int> workloads_of(const std::vector<Candidate>& candidates) {
    std::vector<int> result;
    for (const Candidate& candidate : candidates) {
      result.push_back(candidate.workload);
    }
    return result;
  }

  const State& state_;
  const QuotaState& quota_;
  const Preemptor& preemptor_;
  int queue_;
  std::vector<Candidate> same_{};
  std::vector<Candidate> hierarchical_{};
  std::vector<Candidate> other_{};
};

}  // namespace

std::vector<int> workloads_of(const std::vector<Victim>& victims) {
  std::vector<int> result;
  for (const Victim& victim : victims) {
    result.push_back(victim.workload);
  }
  return result;
}

bool yields(const State& state, int preemptor, int workload) {
  const WorkloadDef& mine = state.def(preemptor);
  const WorkloadDef& other = state.def(workload);
  const QueueDef& policy = state.queue_of(preemptor);
  const bool lower = mine.priority > other.priority;
  if (mine.queue != other.queue) {
    return policy.reclaim == Reclaim::kAny || (policy.reclaim == Reclaim::kLower && lower);
  }
  const bool newer_equal = mine.priority == other.priority && mine.created < other.created;
  return policy.within != Within::kNever && (lower || (policy.within == Within::kLowerOrNewer && newer_equal));
}

bool yields_before(const State& state, int queue, int a, int b) {
  const WorkloadNow& x = state.at(a);
  const WorkloadNow& y = state.at(b);
  if (x.evicted != y.evicted) {
    return x.evicted;
  }
  const bool x_own = state.def(a).queue == queue;
  if (x_own != (state.def(b).queue == queue)) {
    return !x_own;
  }
  if (state.def(a).priority != state.def(b).priority) {
    return state.def(a).priority < state.def(b).priority;
  }
  return x.reserved_at != y.reserved_at ? x.reserved_at > y.reserved_at : a < b;
}

std::vector<Victim> find_victims(const State& state, const QuotaState& quota, const Preemptor& preemptor) {
  if (state.world->fair != FairSharing::kOff) {
    return find_victims_by_share(state, quota, preemptor);
  }
  return Search(state, quota, preemptor).run();
}

bool is_minimal(const State& state, const QuotaState& quota, const Preemptor& preemptor,
                const std::vector<Victim>& victims) {
  const Search search(state, quota, preemptor);
  const std::vector<int> all = workloads_of(victims);
  for (const bool borrowing : {true, false}) {
    bool minimal = search.fits(quota.without(all), borrowing);
    for (std::size_t i = 0; minimal && i < all.size(); ++i) {
      std::vector<int> fewer = all;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      minimal = !search.fits(quota.without(fewer), borrowing);
    }
    if (minimal) {
      return true;
    }
  }
  return false;
}

}  // namespace muster::sim::reference

#include "plugins/fair_preemption/fair_search.h"

#include "plugins/testing/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_workload;
using api::testing::at;
using framework::Preemptor;
using framework::QuotaTree;
using NodeIndex = QuotaTree::NodeIndex;

// A cohort tree of three levels with random quotas, weights, policies and running Workloads. `cq` is the preemptor's.
class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {
    world_.flavors({"f"}).add(a_cohort("root").quota("cpu", "f", std::to_string(draw(6))));
    world_.add(a_cohort("left").parent("root").quota("cpu", "f", std::to_string(draw(4))).weight(weight()));
    world_.add(
        a_cohort("right").parent("root").quota("cpu", "f", std::to_string(draw(4)), "", limit()).weight(weight()));
    world_.add(a_cohort("deep").parent("right").weight(weight()));
    add_queue("cq", draw(2) == 0 ? "left" : "deep");
    add_queue("near", "left");
    add_queue("far", "right");
    add_queue("deepest", "deep");
    add_queue("top", "root");
    for (int i = 0; i < 15 + draw(25); ++i) {
      add_running("w" + std::to_string(i));
    }
    workload_ = world_.pending(
        a_workload("ns", "incoming").request("cpu", std::to_string(1 + draw(8))).priority(draw(4)).created(at(draw(9))),
        "cq");
    rules_ = {.strategies = strategies(), .reclaim_within_nominal = draw(3) > 0};
  }

  framework::Model& model() { return world_.model(); }

  const FairRules& rules() const { return rules_; }

  Preemptor preemptor() {
    const framework::FlavorResource fr = testing::fr("f/cpu");
    return {.workload = workload_,
            .queue = *model().objects().find<api::ClusterQueue>(ObjectKey{{}, "cq"}),
            .node = *model().quota().find(ClusterQueueName("cq")),
            .request = {{fr, workload_.pod_sets.front().requests.at("cpu")}},
            .need = {fr},
            .now = at(100)};
  }

 private:
  int draw(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string weight() {
    return std::vector<std::string>{"0", "0.5", "1", "1", "2"}[static_cast<std::size_t>(draw(5))];
  }

  std::string limit() { return draw(2) == 0 ? "" : std::to_string(draw(4)); }

  std::vector<FairStrategy> strategies() {
    constexpr auto kFinal = FairStrategy::kLessThanOrEqualToFinalShare;
    constexpr auto kInitial = FairStrategy::kLessThanInitialShare;
    return std::vector<std::vector<FairStrategy>>{
        {kFinal}, {kInitial}, {kFinal, kInitial}, {kFinal, kInitial}}[static_cast<std::size_t>(draw(4))];
  }

  void add_queue(const std::string& name, const std::string& cohort) {
    world_.add(a_cluster_queue(name)
                   .cohort(cohort)
                   .quota("cpu", "f", std::to_string(draw(5)), "", limit())
                   .weight(weight())
                   .preemption({.within_cluster_queue = static_cast<api::WithinClusterQueuePolicy>(draw(3)),
                                .reclaim_within_cohort = static_cast<api::ReclaimPolicy>(draw(3))}));
  }

  // Wherever there is room; what does not fit is not started.
  void add_running(const std::string& name) {
    static const std::vector<std::string> kQueues = {"cq", "near", "far", "deepest", "top"};
    const std::string queue = kQueues[static_cast<std::size_t>(draw(5))];
    const int cpu = 1 + draw(3);
    if (model().quota().available(ClusterQueueName(queue), testing::fr("f/cpu")) >= 1000 * cpu) {
      auto workload = a_workload("ns", name).request("cpu", std::to_string(cpu)).priority(draw(4)).created(at(draw(9)));
      workload.admitted(queue, "f", at(draw(5)));
      world_.add(draw(6) == 0 ? workload.evicted("Preempted") : workload);
    }
  }

  std::mt19937 random_;
  testing::World world_{};
  framework::WorkloadInfo workload_{};
  FairRules rules_{};
};

// spec/admission.md §5.5 word for word: nothing is remembered, the tree is changed and changed back for every question.
class PlainSearch {
 public:
  PlainSearch(framework::Transaction& transaction, const Preemptor& preemptor, const FairRules& rules)
      : tx_(transaction), preemptor_(preemptor), rules_(rules) {}

  std::vector<ObjectKey> run() {
    collect();
    tx_.add_usage(name_, preemptor_.request);
    const bool found = first() || (rules_.strategies.size() == 2 && second());
    tx_.remove_usage(name_, preemptor_.request);
    if (!found) {
      return {};
    }
    for (std::size_t i = targets_.size() - 1; i-- > 0;) {
      tx_.restore_workload(targets_[i]);
      if (quota().fits(name_, preemptor_.request)) {
        targets_.erase(targets_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        tx_.remove_workload(targets_[i]);
      }
    }
    return targets_;
  }

 private:
  const QuotaTree& quota() const { return tx_.model().quota(); }

  framework::DominantShare share(NodeIndex node) const { return share_of(quota(), node); }

  void collect() {
    for (const ClusterQueueName& name : quota().tree_of(name_)) {
      const NodeIndex queue = *quota().find(name);
      if (queue == preemptor_.node || !within_nominal(quota(), queue, preemptor_.need)) {
        for (const framework::Candidate& candidate : candidates_in(tx_.model(), preemptor_, queue)) {
          left_.push_back({candidate});
        }
      }
    }
    std::sort(left_.begin(), left_.end(),
              [this](const auto& a, const auto& b) { return asked_before(a, b, preemptor_.node); });
  }

  bool leads_to(NodeIndex cohort, NodeIndex queue) const {
    const auto path = path_below_root(quota(), queue);
    return std::find(path.begin(), path.end(), cohort) != path.end();
  }

  const FairCandidate* first_of(NodeIndex queue) const {
    const auto it = std::find_if(left_.begin(), left_.end(), [&](const auto& c) { return c.queue == queue; });
    return it == left_.end() ? nullptr : &*it;
  }

  std::optional<NodeIndex> next(NodeIndex cohort) {
    std::optional<NodeIndex> best_queue;
    std::optional<NodeIndex> best_cohort;
    std::vector<NodeIndex> children = quota().children_of(cohort);
    std::sort(children.begin(), children.end(),
              [&](NodeIndex a, NodeIndex b) { return quota().name_of(a) < quota().name_of(b); });
    for (const NodeIndex child : children) {
      const bool ours = child == preemptor_.node || leads_to(child, preemptor_.node);
      if (pruned_.contains(child) || (!share(child).borrows && !ours) ||
          (quota().is_queue(child) && first_of(child) == nullptr)) {
        pruned_.insert(child);
        continue;
      }
      std::optional<NodeIndex>& best = quota().is_queue(child) ? best_queue : best_cohort;
      const auto order = best ? compare(share(child), share(*best)) : std::weak_ordering::greater;
      const bool wins_tie =
          !quota().is_queue(child) || (best && asked_before(*first_of(child), *first_of(*best), preemptor_.node));
      if (order > 0 || (order == 0 && wins_tie)) {
        best = child;
      }
    }
    if (!best_queue && !best_cohort) {
      pruned_.insert(cohort);
      return cohort == quota().root_of(preemptor_.node) ? std::nullopt : next(quota().root_of(preemptor_.node));
    }
    if (best_cohort && (!best_queue || compare(share(*best_cohort), share(*best_queue)) >= 0)) {
      return next(*best_cohort);
    }
    return best_queue;
  }

  std::optional<NodeIndex> next() { return next(quota().root_of(preemptor_.node)); }

  FairCandidate take(NodeIndex queue) {
    const FairCandidate taken = *first_of(queue);
    left_.erase(left_.begin() + (first_of(queue) - left_.data()));
    return taken;
  }

  bool preempt(const FairCandidate& candidate) {
    tx_.remove_workload(*candidate.key);
    targets_.push_back(*candidate.key);
    tx_.remove_usage(name_, preemptor_.request);
    const bool fits = quota().fits(name_, preemptor_.request);
    tx_.add_usage(name_, preemptor_.request);
    return fits;
  }

  // The children of the lowest common ancestor.
  std::pair<NodeIndex, NodeIndex> sides(NodeIndex target) const {
    NodeIndex theirs = target;
    while (!leads_to(*quota().parent_of(theirs), preemptor_.node) &&
           *quota().parent_of(theirs) != quota().root_of(target)) {
      theirs = *quota().parent_of(theirs);
    }
    NodeIndex ours = preemptor_.node;
    while (quota().parent_of(ours) != quota().parent_of(theirs)) {
      ours = *quota().parent_of(ours);
    }
    return {ours, theirs};
  }

  bool first() {
    while (const auto queue = next()) {
      const bool own = *queue == preemptor_.node;
      if (own || (rules_.reclaim_within_nominal && within_nominal(quota(), preemptor_.node, preemptor_.need))) {
        if (preempt(take(*queue))) {
          return true;
        }
        continue;
      }
      const auto [ours, theirs] = sides(*queue);
      const auto mine = share(ours);
      const auto old = share(theirs);
      while (first_of(*queue) != nullptr) {
        const FairCandidate candidate = take(*queue);
        tx_.remove_workload(*candidate.key);
        const auto fresh = share(theirs);
        tx_.restore_workload(*candidate.key);
        const bool passes = !(mine.is_infinite() && !old.is_infinite()) &&
                            (rules_.strategies[0] == FairStrategy::kLessThanInitialShare ? compare(mine, old) < 0
                                                                                         : compare(mine, fresh) <= 0);
        if (passes) {
          if (preempt(candidate)) {
            return true;
          }
          break;
        }
        retry_.push_back(candidate);
      }
    }
    return false;
  }

  bool second() {
    left_ = retry_;
    pruned_.clear();
    while (const auto queue = next()) {
      const auto [ours, theirs] = sides(*queue);
      const bool fits = compare(share(ours), share(theirs)) < 0 && preempt(take(*queue));
      pruned_.insert(*queue);
      if (fits) {
        return true;
      }
    }
    return false;
  }

  framework::Transaction& tx_;
  const Preemptor& preemptor_;
  const FairRules& rules_;
  const ClusterQueueName name_{"cq"};
  std::vector<FairCandidate> left_{};
  std::vector<FairCandidate> retry_{};
  std::vector<ObjectKey> targets_{};
  std::set<NodeIndex> pruned_{};
};

TEST(FairSearch, FindsWhatGoingWordForWordFinds) {
  const unsigned first_seed = std::random_device{}();
  int found = 0;
  for (unsigned seed = first_seed; seed < first_seed + 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world(seed);
    const Preemptor preemptor = world.preemptor();
    const ClusterQueueName name("cq");
    if (world.model().quota().fits(name, preemptor.request)) {
      continue;
    }
    const std::uint64_t before = world.model().hash();
    std::vector<ObjectKey> want;
    {
      framework::Transaction transaction(world.model());
      want = PlainSearch(transaction, preemptor, world.rules()).run();
    }
    framework::Transaction transaction(world.model());
    std::vector<ObjectKey> got;
    {
      FairSearch search(transaction, preemptor, world.rules(),
                        [&] { return world.model().quota().fits(name, preemptor.request); });
      if (search.run()) {
        for (const FairCandidate* victim : search.victims()) {
          got.push_back(*victim->key);
        }
      }
    }
    ASSERT_EQ(got, want);
    ASSERT_EQ(world.model().hash(), before);
    found += got.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 50) << "seeds from " << first_seed << ": the worlds are too easy or too full";
}

}  // namespace
}  // namespace muster::plugins

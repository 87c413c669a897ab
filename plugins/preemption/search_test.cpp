#include "plugins/preemption/search.h"

#include "plugins/testing/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_workload;
using api::testing::at;
using framework::Preemptor;
using framework::within_nominal;

// A cohort tree of two levels with random quotas, policies and running Workloads. `cq` is the preemptor's.
class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {
    world_.flavors({"f"}).add(a_cohort("root").quota("cpu", "f", std::to_string(draw(4))));
    world_.add(a_cohort("left").parent("root").quota("cpu", "f", std::to_string(draw(4))));
    add_queue("cq", "left");
    add_queue("near", "left");
    add_queue("far", "root");
    for (int i = 0; i < 12 + draw(20); ++i) {
      add_running("w" + std::to_string(i));
    }
    workload_ = world_.pending(
        a_workload("ns", "incoming").request("cpu", std::to_string(1 + draw(8))).priority(draw(4)).created(at(draw(9))),
        "cq");
  }

  framework::Model& model() { return world_.model(); }

  const framework::WorkloadInfo& workload() const { return workload_; }

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

  void add_queue(const std::string& name, const std::string& cohort) {
    world_.add(a_cluster_queue(name)
                   .cohort(cohort)
                   .quota("cpu", "f", std::to_string(draw(8)))
                   .preemption({.within_cluster_queue = static_cast<api::WithinClusterQueuePolicy>(draw(3)),
                                .reclaim_within_cohort = static_cast<api::ReclaimPolicy>(draw(3)),
                                .borrow_within_cohort = static_cast<api::BorrowWithinCohortPolicy>(draw(2)),
                                .borrow_max_priority_threshold = draw(4)}));
  }

  // Wherever there is room; what does not fit is not started.
  void add_running(const std::string& name) {
    static const std::vector<std::string> kQueues = {"cq", "near", "far"};
    const std::string queue = kQueues[static_cast<std::size_t>(draw(3))];
    const int cpu = 1 + draw(3);
    if (model().quota().available(ClusterQueueName(queue), testing::fr("f/cpu")) >= 1000 * cpu) {
      auto workload = a_workload("ns", name).request("cpu", std::to_string(cpu)).priority(draw(4)).created(at(draw(9)));
      workload.admitted(queue, "f", at(draw(5)));
      world_.add(draw(5) == 0 ? workload.evicted("Preempted") : workload);
    }
  }

  std::mt19937 random_;
  testing::World world_{};
  framework::WorkloadInfo workload_{};
};

// spec/admission.md §5.3 word for word: one by one, without a short cut.
class PlainSearch {
 public:
  PlainSearch(framework::Transaction& transaction, const Preemptor& preemptor)
      : tx_(transaction), preemptor_(preemptor), candidates_(find_candidates(transaction.model(), preemptor)) {}

  std::vector<ObjectKey> run() {
    const bool forbidden = preemptor_.queue.preemption.borrow_within_cohort == api::BorrowWithinCohortPolicy::kNever;
    const auto share = quota().share_of(preemptor_.node, preemptor_.need.front());
    std::vector<bool> attempts = {true, false};
    if (!candidates_.any_in_cohort || (forbidden && share.usage >= share.subtree)) {
      attempts = {true};
    } else if (forbidden && !candidates_.any_hierarchical) {
      attempts = {false, true};
    }
    for (const bool borrowing : attempts) {
      if (attempt(borrowing)) {
        return targets_;
      }
    }
    return {};
  }

 private:
  const framework::QuotaTree& quota() const { return tx_.model().quota(); }

  bool fits(bool borrowing) const {
    const ClusterQueueName name("cq");
    const auto& [fr, amount] = *preemptor_.request.begin();
    return (borrowing || !quota().borrows(name, fr, amount)) && quota().fits(name, preemptor_.request);
  }

  bool skip(const Candidate& candidate, bool borrowing) const {
    if (candidate.right == Right::kWithinClusterQueue) {
      return false;
    }
    if (borrowing && candidate.right == Right::kReclaimWithoutBorrowing) {
      return true;
    }
    for (auto at = candidate.queue; at != candidate.ancestor; at = *quota().parent_of(at)) {
      if (within_nominal(quota(), at, preemptor_.need)) {
        return true;
      }
    }
    return false;
  }

  bool attempt(bool borrowing) {
    targets_.clear();
    for (const Candidate& candidate : candidates_.in_order) {
      if (skip(candidate, borrowing)) {
        continue;
      }
      tx_.remove_workload(*candidate.key);
      targets_.push_back(*candidate.key);
      if (fits(borrowing)) {
        fill_back(borrowing);
        return true;
      }
    }
    for (const ObjectKey& key : targets_) {
      tx_.restore_workload(key);
    }
    return false;
  }

  void fill_back(bool borrowing) {
    for (std::size_t i = targets_.size() - 1; i-- > 0;) {
      tx_.restore_workload(targets_[i]);
      if (fits(borrowing)) {
        targets_.erase(targets_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        tx_.remove_workload(targets_[i]);
      }
    }
  }

  framework::Transaction& tx_;
  const Preemptor& preemptor_;
  Candidates candidates_;
  std::vector<ObjectKey> targets_{};
};

TEST(VictimSearch, FindsWhatGoingOneByOneFinds) {
  const unsigned first_seed = std::random_device{}();
  int found = 0;
  for (unsigned seed = first_seed; seed < first_seed + 400; ++seed) {
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
      want = PlainSearch(transaction, preemptor).run();
    }
    framework::Transaction transaction(world.model());
    std::vector<ObjectKey> got;
    {
      VictimSearch search(transaction, preemptor, [&] { return world.model().quota().fits(name, preemptor.request); });
      if (search.run()) {
        for (const Candidate* victim : search.victims()) {
          got.push_back(*victim->key);
        }
      }
    }
    ASSERT_EQ(got, want);
    ASSERT_EQ(world.model().hash(), before);
    found += got.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 20) << "seeds from " << first_seed << ": the worlds are too easy or too full";
}

}  // namespace
}  // namespace muster::plugins

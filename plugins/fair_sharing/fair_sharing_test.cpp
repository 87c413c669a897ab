#include "plugins/fair_sharing/fair_sharing.h"

#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;
using api::testing::a_workload;
using api::testing::at;
using framework::Entry;
using ::testing::ElementsAre;

// Heads of one cycle in a small cluster; all that is requested is cpu of flavor f, in whole cpus.
class Heads {
 public:
  Heads() { world_.flavors({"f"}); }

  template <class Built>
  Heads& with(const Built& built) {
    world_.add(built);
    return *this;
  }

  Heads& queue(const std::string& name, const std::string& cohort, int nominal, int used,
               const std::string& weight = "1") {
    world_.add(a_cluster_queue(name).cohort(cohort).quota("cpu", "f", std::to_string(nominal)).weight(weight));
    if (used > 0) {
      world_.add(a_workload("ns", "runs-in-" + name).request("cpu", std::to_string(used)).admitted(name, "f", at(0)));
    }
    return *this;
  }

  Heads& head(const std::string& queue, int cpu, std::int32_t priority = 0, int created = 0) {
    const auto workload = a_workload("ns", "for-" + queue + std::to_string(workloads_.size()))
                              .request("cpu", std::to_string(cpu))
                              .priority(priority)
                              .created(at(created));
    workloads_.push_back(world_.pending(workload, queue));
    entries_.push_back(
        {.workload = &workloads_.back(), .assignment = {.usage = {{testing::fr("f/cpu"), Amount{cpu} * 1000}}}});
    return *this;
  }

  // The ClusterQueues of the heads in the order in which they are processed, each charged in its turn.
  std::vector<std::string> order(const TournamentRules& rules = {}) {
    framework::Transaction cycle(world_.model());
    const auto order = FairSharing(rules).entry_order(pointers(), world_.model());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[order->next(world_.model())];
      names.push_back(entry.workload->cluster_queue.str());
      cycle.lift_hold(entry.workload->key);
      cycle.add_usage(entry.workload->cluster_queue, entry.assignment.usage);
    }
    return names;
  }

  // spec/admission.md §4.3 word for word: the tree is changed and changed back for every question.
  std::vector<std::string> plain_order(const TournamentRules& rules);

  framework::Model& model() { return world_.model(); }

  const ObjectKey& key_of_head(std::size_t i) const { return workloads_[i].key; }

 private:
  std::vector<const Entry*> pointers() const {
    std::vector<const Entry*> pointers;
    for (const Entry& entry : entries_) {
      pointers.push_back(&entry);
    }
    return pointers;
  }

  testing::World world_{};
  std::deque<framework::WorkloadInfo> workloads_{};
  std::vector<Entry> entries_{};
};

// ---- the example of spec/admission.md §4.3 ----

void fill_example(Heads& heads) {
  heads.with(a_cohort("ROOT").quota("cpu", "f", "2")).with(a_cohort("L").parent("ROOT"));
  heads.with(a_cohort("M").parent("ROOT"));
  heads.queue("a", "L", 2, 3).queue("b", "L", 2, 0).queue("c", "M", 4, 4);
  heads.head("a", 1).head("b", 1).head("c", 1, 100);
}

TEST(FairSharing, WorkedExample43) {
  Heads heads;
  fill_example(heads);
  EXPECT_THAT(heads.order(), ElementsAre("b", "c", "a"));
}

TEST(FairSharing, WorkedExample43WithoutPriorities) {
  Heads heads;
  fill_example(heads);
  EXPECT_THAT(heads.order({.priority = false}), ElementsAre("b", "a", "c")) << "a full tie: the first by name";
}

TEST(FairSharing, Case67TheSmallerShareAfterAdmission) {
  Heads heads;
  heads.queue("a", "all", 0, 1).queue("b", "all", 0, 0).queue("lender", "all", 10, 0);
  heads.head("a", 1, 0, 1).head("b", 1, 0, 2);
  EXPECT_THAT(heads.order(), ElementsAre("b", "a"));
}

TEST(FairSharing, Case67WhoBorrowsNothingOfWhatItRequests) {
  Heads heads;
  heads.queue("a", "all", 1, 0).queue("b", "all", 0, 0).queue("lender", "all", 10, 0);
  heads.head("b", 1, 100).head("a", 1);
  EXPECT_THAT(heads.order(), ElementsAre("a", "b"));
}

TEST(FairSharing, NonBorrowingGoesBeforeASmallerShare) {
  // m uses another flavor's quota of a resource: its cohort borrows nothing that it requests, yet has a share.
  Heads heads;
  heads.with(a_cluster_queue("m").cohort("all").quota("cpu", "f", "5").quota("gpu", "f", "0"));
  heads.with(a_cluster_queue("lender").cohort("all").quota("cpu", "f", "50").quota("gpu", "f", "10"));
  heads.with(a_workload("ns", "gpus").request("gpu", "9").admitted("m", "f", at(0)));
  heads.queue("n", "all", 0, 0).head("m", 1, 0, 2).head("n", 1, 0, 1);
  EXPECT_THAT(heads.order(), ElementsAre("m", "n"));
  EXPECT_THAT(heads.order({.prefer_non_borrowing = false}), ElementsAre("n", "m"));
}

TEST(FairSharing, WeightZeroGoesLast) {
  Heads heads;
  heads.queue("a", "all", 0, 0, "0").queue("b", "all", 0, 5).queue("lender", "all", 10, 0);
  heads.head("a", 1, 100).head("b", 1);
  EXPECT_THAT(heads.order(), ElementsAre("b", "a"));
}

TEST(FairSharing, TreesFollowByTheNameOfTheirRoot) {
  Heads heads;
  heads.queue("q1", "z", 1, 0).queue("q2", "y", 1, 0).queue("x", "", 1, 0).queue("q3", "z", 1, 0);
  heads.head("q1", 1).head("q3", 1, 5).head("q2", 1).head("x", 1);
  EXPECT_THAT(heads.order(), ElementsAre("x", "q2", "q3", "q1"));
}

TEST(FairSharing, EveryEntryOfAClusterQueueHasItsTurn) {
  Heads heads;
  heads.queue("a", "all", 4, 0).queue("b", "all", 4, 0);
  heads.head("a", 1, 0, 1).head("a", 1, 0, 2).head("b", 1, 0, 3);
  EXPECT_THAT(heads.order(), ElementsAre("a", "a", "b"));
}

TEST(FairSharing, AnOwnHoldIsNotCountedTwice) {
  Heads heads;
  heads.queue("a", "all", 0, 0).queue("b", "all", 0, 0).queue("lender", "all", 10, 0);
  heads.head("a", 2, 0, 1).head("b", 3, 0, 2);
  heads.model().hold(heads.key_of_head(0), {ClusterQueueName("a"), {{testing::fr("f/cpu"), 2000}}}, {});
  EXPECT_THAT(heads.order(), ElementsAre("a", "b"));
}

TEST(FairSharing, WithinAClusterQueueByPriorityAndTime) {
  testing::World world;
  const FairSharing plugin;
  const auto high = world.pending(a_workload("ns", "high").priority(1).created(at(9)), "q");
  const auto early = world.pending(a_workload("ns", "early").created(at(1)), "q");
  const auto late = world.pending(a_workload("ns", "late").created(at(2)), "q");
  EXPECT_TRUE(plugin.less(high, early));
  EXPECT_TRUE(plugin.less(early, late));
  EXPECT_FALSE(plugin.less(late, early));
}

TEST(FairSharing, TakesNoArguments) {
  EXPECT_TRUE(FairSharing::create(nlohmann::json::object(), {}).ok());
  EXPECT_FALSE(FairSharing::create(nlohmann::json{{"x", 1}}, {}).ok());
}

// ---- properties ----

TEST(GoesBefore, IsAStrictWeakOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto up_to = [&](unsigned n) { return static_cast<int>(random() % (n + 1)); };
  for (const TournamentRules rules : {TournamentRules{}, TournamentRules{false, true}, TournamentRules{true, false}}) {
    std::vector<Standing> all;
    for (int i = 0; i < 50; ++i) {
      const framework::DominantShare share{.borrowed = up_to(2), .lendable = 1 + up_to(2), .weight_nano = up_to(2)};
      all.push_back({share, up_to(1) == 1, up_to(2), at(up_to(2))});
    }
    const auto equal = [&](const Standing& a, const Standing& b) {
      return !goes_before(a, b, rules) && !goes_before(b, a, rules);
    };
    for (const Standing& a : all) {
      ASSERT_FALSE(goes_before(a, a, rules));
      for (const Standing& b : all) {
        for (const Standing& c : all) {
          ASSERT_TRUE(!(goes_before(a, b, rules) && goes_before(b, c, rules)) || goes_before(a, c, rules));
          ASSERT_TRUE(!(equal(a, b) && equal(b, c)) || equal(a, c));
        }
      }
    }
  }
}

struct Plain {
  const Entry* entry = nullptr;
  std::map<framework::QuotaTree::NodeIndex, Standing> at_cohort{};
};

std::vector<std::string> Heads::plain_order(const TournamentRules& rules) {
  using framework::QuotaTree;
  framework::Transaction cycle(world_.model());
  const QuotaTree& quota = world_.model().quota();
  std::vector<const Entry*> left = pointers();
  std::vector<std::string> names;
  const auto standings = [&](const Entry& entry) {
    framework::Transaction trial(world_.model());
    trial.add_usage(entry.workload->cluster_queue, entry.assignment.usage);
    Plain plain{.entry = &entry};
    QuotaTree::NodeIndex node = *quota.find(entry.workload->cluster_queue);
    for (auto parent = quota.parent_of(node); parent; parent = quota.parent_of(node)) {
      const QuotaTree::Share used = quota.share_of(node, testing::fr("f/cpu"));
      plain.at_cohort[*parent] = {share_of(quota, node), used.usage > used.subtree, entry.workload->priority,
                                  entry.workload->queue_time};
      node = *parent;
    }
    return plain;
  };
  while (!left.empty()) {
    std::map<QuotaTree::NodeIndex, std::vector<Plain>> meeting;  // at each cohort: the queues' entries, then winners
    std::optional<Plain> champion;
    std::vector<std::pair<int, QuotaTree::NodeIndex>> cohorts;  // deepest first
    for (const Entry* entry : left) {
      QuotaTree::NodeIndex node = *quota.find(entry->workload->cluster_queue);
      meeting[*quota.parent_of(node)].push_back(standings(*entry));
    }
    for (int i = 5; i >= 0; --i) {
      const auto cohort = quota.find(CohortName("c" + std::to_string(i)));
      if (!cohort || meeting[*cohort].empty()) {
        continue;
      }
      std::vector<Plain>& group = meeting[*cohort];
      const Plain* best = &group.front();
      for (const Plain& other : group) {
        if (goes_before(other.at_cohort.at(*cohort), best->at_cohort.at(*cohort), rules)) {
          best = &other;
        }
      }
      const Plain winner = *best;
      if (const auto parent = quota.parent_of(*cohort)) {
        meeting[*parent].push_back(winner);
      } else {
        champion = winner;
      }
    }
    names.push_back(champion->entry->workload->cluster_queue.str());
    cycle.add_usage(champion->entry->workload->cluster_queue, champion->entry->assignment.usage);
    left.erase(std::find(left.begin(), left.end(), champion->entry));
  }
  return names;
}

TEST(Tournament, IsTheTournamentPlayedByHand) {
  const unsigned first_seed = std::random_device{}();
  for (unsigned seed = first_seed; seed < first_seed + 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
    Heads heads;
    for (int i = 0; i < 6; ++i) {
      auto cohort =
          a_cohort("c" + std::to_string(i)).quota("cpu", "f", std::to_string(up_to(9)), "", up_to(2) == 0 ? "3" : "");
      heads.with(i == 0 ? cohort : cohort.parent("c" + std::to_string(up_to(i - 1))).weight(std::to_string(up_to(3))));
    }
    for (int i = 0; i < 8; ++i) {
      const std::string name = "q" + std::to_string(i);
      heads.queue(name, "c" + std::to_string(up_to(5)), up_to(6), up_to(9), std::to_string(up_to(3)));
      heads.head(name, 1 + up_to(4), up_to(2), i);  // no two at the same time: no full ties
    }
    ASSERT_EQ(heads.order(), heads.plain_order({}));
  }
}

}  // namespace
}  // namespace muster::plugins

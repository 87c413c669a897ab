#include "framework/model/quota_tree.h"

#include <gtest/gtest.h>

#include <random>

#include "api/testing/builders.h"

namespace muster::framework {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;

const FlavorResource kGpu{FlavorName("f"), "gpu"};

Usage gpus(Amount amount) { return {{kGpu, amount}}; }

// The worked example of spec/admission.md §2.5.
class WorkedExample : public ::testing::Test {
 protected:
  WorkedExample() {
    tree_.upsert_cohort(a_cohort("R").quota("gpu", "f", "10"));
    tree_.upsert_cohort(a_cohort("A").parent("R").quota("gpu", "f", "0", "", "5"));
    tree_.upsert_cluster_queue(a_cluster_queue("a1").cohort("A").quota("gpu", "f", "10", "", "6"));
    tree_.upsert_cluster_queue(a_cluster_queue("a2").cohort("A").quota("gpu", "f", "5"));
    tree_.upsert_cluster_queue(a_cluster_queue("b").cohort("R").quota("gpu", "f", "8", "2"));
    tree_.add_usage(ClusterQueueName("a1"), gpus(7));
    tree_.add_usage(ClusterQueueName("a2"), gpus(2));
    tree_.add_usage(ClusterQueueName("b"), gpus(9));
  }

  UndoLog undo_{};
  QuotaTree tree_{undo_};
};

TEST_F(WorkedExample, SubtreeLocalAndUsage) {
  const auto row = [&](const auto& name) {
    const QuotaTree::Cell& cell = *tree_.find_cell(*tree_.find(name), *tree_.id_of(kGpu));
    return std::vector<Amount>{cell.subtree, cell.local_quota(), cell.usage};
  };
  EXPECT_EQ(row(ClusterQueueName("a1")), (std::vector<Amount>{10, 4, 7}));
  EXPECT_EQ(row(ClusterQueueName("a2")), (std::vector<Amount>{5, 0, 2}));
  EXPECT_EQ(row(CohortName("A")), (std::vector<Amount>{11, 6, 5}));
  EXPECT_EQ(row(ClusterQueueName("b")), (std::vector<Amount>{8, 0, 9}));
  EXPECT_EQ(row(CohortName("R")), (std::vector<Amount>{23, 0, 9}));
}

TEST_F(WorkedExample, Available) {
  EXPECT_EQ(tree_.available(ClusterQueueName("a1"), kGpu), 15);
  EXPECT_EQ(tree_.available(ClusterQueueName("a2"), kGpu), 15);
  EXPECT_EQ(tree_.available(ClusterQueueName("b"), kGpu), 1);
}

TEST_F(WorkedExample, Potential) {
  EXPECT_EQ(tree_.potential(ClusterQueueName("a1"), kGpu), 33);
  EXPECT_EQ(tree_.potential(ClusterQueueName("a2"), kGpu), 29);
  EXPECT_EQ(tree_.potential(ClusterQueueName("b"), kGpu), 10);
}

TEST_F(WorkedExample, BorrowLevel) {
  const BorrowLevel want{2, false};
  EXPECT_EQ(tree_.borrow_level(ClusterQueueName("a1"), kGpu, 12), want);
}

TEST_F(WorkedExample, UsageBubblesUpAndBack) {
  const std::uint64_t before = tree_.hash();
  tree_.add_usage(ClusterQueueName("a1"), gpus(12));
  EXPECT_EQ(tree_.available(ClusterQueueName("a2"), kGpu), 3);  // 23 - 20 at the root, nothing local left in A
  tree_.remove_usage(ClusterQueueName("a1"), gpus(12));
  EXPECT_EQ(tree_.hash(), before);
}

TEST_F(WorkedExample, PathsAndRoots) {
  EXPECT_EQ(tree_.path_of(ClusterQueueName("a1")), "/R/A/a1");
  EXPECT_EQ(tree_.root_key(ClusterQueueName("a1")), "cohort/R");
  EXPECT_EQ(tree_.tree_of(ClusterQueueName("b")).size(), 3u);
}

TEST(QuotaTree, ACycleOfCohortsExcludesTheQueuesUnderIt) {
  UndoLog undo;
  QuotaTree tree(undo);
  tree.upsert_cluster_queue(a_cluster_queue("q").cohort("x").quota("gpu", "f", "4"));
  tree.upsert_cohort(a_cohort("x").parent("y"));
  tree.upsert_cohort(a_cohort("y").parent("x"));
  EXPECT_TRUE(tree.in_cycle(ClusterQueueName("q")));
  EXPECT_EQ(tree.available(ClusterQueueName("q"), kGpu), 4);
  tree.upsert_cohort(a_cohort("y"));
  EXPECT_FALSE(tree.in_cycle(ClusterQueueName("q")));
}

TEST(QuotaTree, UsageOutlivesTheQueueObject) {
  UndoLog undo;
  QuotaTree tree(undo);
  tree.add_usage(ClusterQueueName("q"), gpus(3));  // the Workload is seen before its ClusterQueue
  EXPECT_FALSE(tree.contains(ClusterQueueName("q")));
  tree.upsert_cluster_queue(a_cluster_queue("q").quota("gpu", "f", "4"));
  EXPECT_EQ(tree.available(ClusterQueueName("q"), kGpu), 1);
  tree.upsert_cluster_queue(a_cluster_queue("q").quota("gpu", "f", "2"));
  EXPECT_EQ(tree.available(ClusterQueueName("q"), kGpu), 0);
  EXPECT_EQ(tree.usage(ClusterQueueName("q"), kGpu), 3);
}

TEST(QuotaTree, UnlimitedQuotaNeverRunsOut) {
  UndoLog undo;
  QuotaTree tree(undo);
  api::ClusterQueue queue = a_cluster_queue("q").quota("gpu", "f", "1");
  queue.resource_groups[0].flavors[0].resources[0].nominal = kUnlimited;
  tree.upsert_cluster_queue(queue);
  tree.add_usage(ClusterQueueName("q"), gpus(kUnlimited - 1));
  EXPECT_EQ(tree.available(ClusterQueueName("q"), kGpu), kUnlimited);
}

// Whatever is done inside, undoing restores every amount; usage equals a rebuild from the leaves.
// Amounts at the ends of int64, in every order: nothing negative is stored, nothing negative is offered.
TEST(QuotaTree, UsageSaturatesAndIsNeverNegative) {
  for (const char* nominal : {"0", "1e3", "1Ei", "9223372036854775806", "9223372036854775807"}) {
    for (const std::vector<Amount>& amounts :
         {std::vector<Amount>{0, 5, kUnlimited}, {kUnlimited, kUnlimited, 1}, {kUnlimited - 1, 5, kUnlimited - 1}}) {
      UndoLog undo;
      QuotaTree tree{undo};
      tree.upsert_cohort(a_cohort("c").quota("gpu", "f", nominal));
      tree.upsert_cluster_queue(a_cluster_queue("q").cohort("c").quota("gpu", "f", nominal, "", "3"));
      const ClusterQueueName q("q");
      Amount sum = 0;
      for (const Amount amount : amounts) {
        tree.add_usage(q, gpus(amount));
        sum = sat_add(sum, amount);
        EXPECT_EQ(tree.usage(q, kGpu), sum);
        EXPECT_GE(tree.available(q, kGpu), 0);
        EXPECT_GE(tree.potential(q, kGpu), 0);
      }
      for (auto amount = amounts.rbegin(); amount != amounts.rend(); ++amount) {
        tree.remove_usage(q, gpus(*amount));
        for (auto node = tree.find(q); node; node = tree.parent_of(*node)) {
          EXPECT_GE(tree.share_of(*node, kGpu).usage, 0) << nominal;
        }
      }
    }
  }
}

TEST(QuotaTree, RandomTreesUndoExactlyAndMatchARebuild) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
  for (int world = 0; world < 200; ++world) {
    UndoLog undo;
    QuotaTree tree(undo);
    std::vector<api::ClusterQueue> queues;
    for (int i = 0; i < 4; ++i) {
      auto cohort = a_cohort("c" + std::to_string(i)).quota("gpu", "f", std::to_string(up_to(9)), "",
                                                            up_to(1) ? std::to_string(up_to(5)) : "");
      if (i > 0) {
        cohort.parent("c" + std::to_string(up_to(i - 1)));
      }
      tree.upsert_cohort(cohort);
    }
    for (int i = 0; i < 5; ++i) {
      const std::string borrow = up_to(1) ? std::to_string(up_to(5)) : "";
      const std::string lend = up_to(1) ? std::to_string(up_to(5)) : "";
      queues.push_back(a_cluster_queue("q" + std::to_string(i))
                           .cohort("c" + std::to_string(up_to(3)))
                           .quota("gpu", "f", std::to_string(up_to(9)), borrow, lend));
      tree.upsert_cluster_queue(queues.back());
    }
    std::map<std::string, Amount> used;
    const auto step = [&] {
      const std::string name = queues[static_cast<std::size_t>(up_to(4))].meta.name;
      const Amount amount = up_to(6);
      if (up_to(2) > 0 || used[name] < amount) {
        tree.add_usage(ClusterQueueName(name), gpus(amount));
        used[name] += amount;
      } else {
        tree.remove_usage(ClusterQueueName(name), gpus(amount));
        used[name] -= amount;
      }
    };
    for (int i = 0; i < 10; ++i) {
      step();
    }
    const std::uint64_t before = tree.hash();
    const auto kept = used;
    undo.begin();
    for (int i = 0; i < 10; ++i) {
      step();
    }
    while (!undo.empty()) {
      tree.undo(undo.pop());
    }
    undo.end();
    used = kept;
    ASSERT_EQ(tree.hash(), before);
    for (const api::ClusterQueue& queue : queues) {
      tree.upsert_cluster_queue(queue);  // rebuilds every ancestor from its children
    }
    ASSERT_EQ(tree.hash(), before);
  }
}

}  // namespace
}  // namespace muster::framework

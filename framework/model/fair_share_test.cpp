#include "framework/model/fair_share.h"

#include "api/testing/builders.h"
#include "base/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace muster::framework {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_cohort;

// A tree filled by hand; amounts are quantities.
class Tree {
 public:
  Tree& with(const api::Cohort& cohort) {
    quota.upsert_cohort(cohort);
    return *this;
  }

  Tree& with(const api::ClusterQueue& queue) {
    quota.upsert_cluster_queue(queue);
    return *this;
  }

  Tree& uses(const std::string& queue, const std::string& resource, const std::string& amount,
             const std::string& flavor = "f") {
    quota.add_usage(ClusterQueueName(queue),
                    {{{FlavorName(flavor), resource}, parse_amount(resource, amount).value()}});
    return *this;
  }

  DominantShare of_queue(const std::string& name) const { return share_of(quota, *quota.find(ClusterQueueName(name))); }

  DominantShare of_cohort(const std::string& name) const { return share_of(quota, *quota.find(CohortName(name))); }

  UndoLog undo{};
  QuotaTree quota{undo};
};

// ---- the examples of spec/admission.md §5.4 ----

TEST(DominantShare, Example54TheLargerOfTwoResources) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("cpu", "f", "2").quota("gpu", "f", "5"))
      .with(a_cluster_queue("lender").cohort("c").quota("cpu", "f", "8").quota("gpu", "f", "5"))
      .uses("cq", "cpu", "3")
      .uses("cq", "gpu", "7");
  const DominantShare share = tree.of_queue("cq");
  EXPECT_EQ(weighted_share(share), 200);
  EXPECT_EQ(share.resource, tree.quota.resource_of(*tree.quota.id_of({FlavorName("f"), "gpu"})));
  EXPECT_EQ(weighted_share(tree.of_queue("lender")), 0);
}

TEST(DominantShare, Example54StatusRoundsUp) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("gpu", "f", "500"))
      .with(a_cluster_queue("lender").cohort("c").quota("gpu", "f", "1000"))
      .uses("cq", "gpu", "501");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 1);
}

TEST(DominantShare, Example54ACohortIsWeighedAmongItsSiblings) {
  Tree tree;
  tree.with(a_cohort("root").quota("gpu", "f", "45"))
      .with(a_cohort("child").parent("root").weight("2"))
      .with(a_cluster_queue("cq").cohort("child").quota("gpu", "f", "5"))
      .uses("cq", "gpu", "10");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 100);
  EXPECT_EQ(weighted_share(tree.of_cohort("child")), 50);
  EXPECT_EQ(weighted_share(tree.of_cohort("root")), 0);
}

TEST(DominantShare, Example54ABorrowingLimitMakesLess) {
  Tree tree;
  tree.with(a_cohort("root").quota("gpu", "f", "50"))
      .with(a_cohort("child").parent("root").quota("gpu", "f", "0", "10"))
      .with(a_cluster_queue("cq").cohort("child").quota("gpu", "f", "0"))
      .uses("cq", "gpu", "10");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 1000);
  EXPECT_EQ(weighted_share(tree.of_cohort("child")), 200);
}

TEST(DominantShare, Case29BorrowingFromUnlimitedQuota) {
  Tree tree;
  api::ClusterQueue lender = a_cluster_queue("lender").cohort("c").quota("cpu", "f", "1");
  lender.resource_groups[0].flavors[0].resources[0].nominal = kUnlimited;
  tree.with(lender).with(a_cluster_queue("cq").cohort("c").quota("cpu", "f", "0")).uses("cq", "cpu", "1");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 1);
}

// ---- what the rules say beside the examples ----

TEST(DominantShare, FlavorsOfAResourceAreOneResource) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("gpu", "f", "0").quota("gpu", "g", "0"))
      .with(a_cluster_queue("lender").cohort("c").quota("gpu", "f", "5").quota("gpu", "g", "15"))
      .uses("cq", "gpu", "1", "f")
      .uses("cq", "gpu", "3", "g");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 200);
}

TEST(DominantShare, EqualResourcesGiveTheFirstByName) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("z", "f", "0").quota("a", "f", "0"))
      .with(a_cluster_queue("lender").cohort("c").quota("z", "f", "4").quota("a", "f", "4"))
      .uses("cq", "z", "1")
      .uses("cq", "a", "1");
  EXPECT_EQ(tree.of_queue("cq").resource, tree.quota.resource_of(*tree.quota.id_of({FlavorName("f"), "a"})));
}

TEST(DominantShare, BorrowsEvenWhatNobodyLends) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("gpu", "f", "0")).uses("cq", "gpu", "2");
  EXPECT_TRUE(tree.of_queue("cq").borrows);
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 0);
}

TEST(DominantShare, WithoutCohortThereIsNone) {
  Tree tree;
  tree.with(a_cluster_queue("cq").quota("gpu", "f", "1")).uses("cq", "gpu", "5");
  EXPECT_FALSE(tree.of_queue("cq").borrows);
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 0);
}

TEST(DominantShare, QuotaThatChangesChangesWhatCanBeLent) {
  Tree tree;
  tree.with(a_cluster_queue("cq").cohort("c").quota("gpu", "f", "0"))
      .with(a_cluster_queue("lender").cohort("c").quota("gpu", "f", "10"))
      .uses("cq", "gpu", "1");
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 100);
  tree.with(a_cluster_queue("lender").cohort("c").quota("gpu", "f", "10", "", "5"));
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 200) << "lendingLimit";
  tree.with(a_cluster_queue("cq").cohort("c").quota("gpu", "f", "0").weight("4"));
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 50) << "weight";
  tree.with(a_cluster_queue("lender").cohort("elsewhere").quota("gpu", "f", "10"));
  EXPECT_EQ(weighted_share(tree.of_queue("cq")), 0) << "nothing left to lend";
}

DominantShare share(Amount borrowed, Amount lendable, const std::string& weight) {
  return {
      .borrowed = borrowed, .lendable = lendable, .weight_nano = parse_nano(weight).value(), .borrows = borrowed > 0};
}

TEST(CompareShares, ZeroWeights) {
  EXPECT_TRUE(compare(share(1, 10, "0"), share(9, 10, "1")) > 0) << "the only infinite one is greater";
  EXPECT_TRUE(compare(share(2, 10, "0"), share(1, 10, "0")) > 0) << "among infinite ones, the ratio";
  EXPECT_TRUE(compare(share(1, 10, "0"), share(2, 20, "0")) == 0);
  EXPECT_TRUE(compare(share(0, 1, "0"), share(0, 7, "3")) == 0) << "who borrows nothing has no share";
  EXPECT_TRUE(compare(share(0, 1, "0"), share(1, 1000, "1")) < 0);
  EXPECT_EQ(weighted_share(share(1, 10, "0")), kUnlimited);
  EXPECT_EQ(weighted_share(share(0, 10, "0")), 0);
}

TEST(CompareShares, TellsApartWhatAFloatCannot) {
  const Amount big = kUnlimited - 1;
  EXPECT_TRUE(compare(share(big - 1, big, "1"), share(big, big, "1")) < 0);
  EXPECT_TRUE(compare(share(big, big, "9223372036"), share(big, big - 1, "9223372036")) < 0);
  EXPECT_TRUE(compare(share(big, big, "2"), share(big / 2, big / 2, "2")) == 0);
  EXPECT_EQ(weighted_share(share(big, 1, "2n")), kUnlimited) << "saturates";
  EXPECT_EQ(weighted_share(share(1, 1, "2n")), 500'000'000'000);
}

// A few values of each kind, so that equal, infinite and empty shares all meet.
DominantShare random_share(std::mt19937& random) {
  static const std::vector<Amount> kAmounts = {1, 2, 3, 4, 6, kUnlimited / 2, kUnlimited - 1, kUnlimited};
  static const std::vector<Amount> kWeights = {0, 2, 500'000'000, 1'000'000'000, 2'000'000'000, kUnlimited};
  const auto pick = [&](const std::vector<Amount>& from) { return from[random() % from.size()]; };
  return {
      .borrowed = random() % 4 == 0 ? 0 : pick(kAmounts), .lendable = pick(kAmounts), .weight_nano = pick(kWeights)};
}

TEST(CompareShares, IsAStrictWeakOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<DominantShare> shares;
  for (int i = 0; i < 60; ++i) {
    shares.push_back(random_share(random));
  }
  for (const DominantShare& a : shares) {
    ASSERT_TRUE(compare(a, a) == 0);
    for (const DominantShare& b : shares) {
      ASSERT_EQ(compare(a, b) < 0, compare(b, a) > 0);
      for (const DominantShare& c : shares) {
        ASSERT_TRUE(!(compare(a, b) < 0 && compare(b, c) < 0) || compare(a, c) < 0);
        ASSERT_TRUE(!(compare(a, b) == 0 && compare(b, c) == 0) || compare(a, c) == 0);
      }
    }
  }
}

// What would be is computed without touching the tree; it must be what is once it has happened.
TEST(ShareAfter, IsTheShareOnceItHasHappened) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
  for (int round = 0; round < 300; ++round) {
    Tree tree;
    const auto limit = [&] { return up_to(1) ? std::to_string(up_to(6)) : std::string(); };
    for (int i = 0; i < 3; ++i) {
      auto cohort = a_cohort("c" + std::to_string(i)).quota("gpu", "f", std::to_string(up_to(6)), limit(), limit());
      tree.with(i == 0 ? cohort : cohort.parent("c" + std::to_string(up_to(i - 1))));
    }
    for (int i = 0; i < 4; ++i) {
      tree.with(a_cluster_queue("q" + std::to_string(i))
                    .cohort("c" + std::to_string(up_to(2)))
                    .quota("gpu", "f", std::to_string(up_to(6)), "", limit())
                    .quota("cpu", "f", "1"));
      tree.uses("q" + std::to_string(i), "gpu", std::to_string(up_to(9)));
    }
    const ClusterQueueName queue("q0");
    const QuotaTree::NodeIndex start = *tree.quota.find(queue);
    const FlavorResource gpu{FlavorName("f"), "gpu"};
    const Usage charged{{gpu, up_to(5)}, {{FlavorName("f"), "cpu"}, up_to(3) * 1000}};
    const Usage released{{gpu, std::min<Amount>(up_to(9), tree.quota.usage(queue, gpu))}};
    std::vector<std::pair<QuotaTree::NodeIndex, DominantShare>> foretold;
    for (std::optional<QuotaTree::NodeIndex> at = start; at; at = tree.quota.parent_of(*at)) {
      foretold.emplace_back(*at, share_after(tree.quota, start, delta_of(tree.quota, charged, released), *at));
    }
    tree.quota.remove_usage(queue, released);
    tree.quota.add_usage(queue, charged);
    for (const auto& [node, want] : foretold) {
      const DominantShare got = share_of(tree.quota, node);
      ASSERT_EQ(got.borrowed, want.borrowed) << tree.quota.name_of(node);
      ASSERT_EQ(got.lendable, want.lendable) << tree.quota.name_of(node);
      ASSERT_EQ(got.borrows, want.borrows) << tree.quota.name_of(node);
    }
  }
}

}  // namespace
}  // namespace muster::framework

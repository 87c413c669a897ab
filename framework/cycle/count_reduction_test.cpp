#include "framework/cycle/count_reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace muster::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

PodSetTotals pods(std::int32_t count, std::int32_t min_count) {
  return {.count = count, .min_count = min_count};
}

TEST(CountReduction, Example_3_8_OnePodSet) {
  const CountReduction reduction({pods(50, 20)});
  EXPECT_EQ(reduction.steps(), 30);
  EXPECT_THAT(reduction.first([&](std::int64_t step) { return reduction.counts(step)[0] <= 25; }), Optional(25));
  EXPECT_THAT(reduction.counts(25), ElementsAre(25));
}

TEST(CountReduction, Example_3_8_ThreePodSets) {
  const CountReduction reduction({pods(20, 20), pods(30, 10), pods(15, 5)});
  const auto total = [&](std::int64_t step) {
    const auto counts = reduction.counts(step);
    return counts[0] + counts[1] + counts[2];
  };
  EXPECT_EQ(reduction.steps(), 30);
  EXPECT_THAT(reduction.first([&](std::int64_t step) { return total(step) <= 50; }), Optional(15));
  EXPECT_THAT(reduction.counts(15), ElementsAre(20, 20, 10));
}

TEST(CountReduction, Case54_NothingToSearchWhenMinCountIsCount) {
  EXPECT_EQ(CountReduction({pods(8, 8), pods(1, 1)}).steps(), 0);
}

TEST(CountReduction, NoneWhenNotEvenTheFewestWork) {
  const CountReduction reduction({pods(5, 1)});
  EXPECT_EQ(reduction.first([](std::int64_t) { return false; }), std::nullopt);
  EXPECT_THAT(reduction.first([](std::int64_t step) { return step == 4; }), Optional(4));
  EXPECT_THAT(reduction.counts(4), ElementsAre(1));
}

TEST(CountReduction, LargestCountsDoNotOverflow) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const CountReduction reduction(std::vector<PodSetTotals>(8, pods(kMost, 0)));
  EXPECT_EQ(reduction.counts(reduction.steps()), std::vector<std::int32_t>(8, 0));
  int asked = 0;
  EXPECT_THAT(reduction.first([&](std::int64_t step) { return ++asked, step == reduction.steps(); }),
              Optional(reduction.steps()));
  EXPECT_LE(asked, 36);
}

}  // namespace
}  // namespace muster::framework

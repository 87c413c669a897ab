#include "base/nano.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Nano, CountsInNaturalUnits) {
  EXPECT_EQ(to_nano("cpu", 1500), 1'500'000'000);
  EXPECT_EQ(to_nano("memory", 2), 2'000'000'000);
  EXPECT_EQ(to_nano("memory", kUnlimited), kMaxNano);
  EXPECT_EQ(clamp_nano(kMaxWide), kMaxNano);
  EXPECT_EQ(clamp_nano(-kMaxWide), -kMaxNano);
}

TEST(ScaleDown, RoundsDownAlsoBelowZero) {
  EXPECT_EQ(scale_down(7, 1, 2), 3);
  EXPECT_EQ(scale_down(-7, 1, 2), -4);
  EXPECT_EQ(scale_down(-1, 1, kUnlimited), -1);
  EXPECT_EQ(scale_down(0, 5, 3), 0);
  EXPECT_EQ(scale_down(10, 3, 1), 30);
}

TEST(ScaleDown, IsExactBeyond64BitsAndSaturates) {
  const Wide big = Wide{kUnlimited} * kUnlimited;
  EXPECT_EQ(scale_down(big, kUnlimited, kUnlimited), big);
  EXPECT_EQ(scale_down(kMaxNano, 292'893'218'813'452, 1'000'000'000'000'000) / kNanoPerUnit, 2701463124188380314);
  EXPECT_EQ(scale_down(kMaxWide, 3, 2), kMaxWide);
  EXPECT_EQ(scale_down(-kMaxWide, 3, 2), kMinWide);
}

}  // namespace
}  // namespace muster

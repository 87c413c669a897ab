#include "base/arith.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr Amount kU = kUnlimited;
constexpr Amount kMin = kMinAmount;

struct Case {
  Amount a = 0;
  Amount b = 0;
  Amount want = 0;
};

class SatAdd : public ::testing::TestWithParam<Case> {};

class SatSub : public ::testing::TestWithParam<Case> {};

class SatMul : public ::testing::TestWithParam<Case> {};

TEST_P(SatAdd, Saturates) {
  EXPECT_EQ(sat_add(GetParam().a, GetParam().b), GetParam().want);
}

TEST_P(SatSub, Saturates) {
  EXPECT_EQ(sat_sub(GetParam().a, GetParam().b), GetParam().want);
}

TEST_P(SatMul, Saturates) {
  EXPECT_EQ(sat_mul(GetParam().a, GetParam().b), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Table, SatAdd,
                         ::testing::Values(Case{1, 2, 3}, Case{-1, 1, 0}, Case{kU, 1, kU}, Case{kU, -1, kU},
                                           Case{-5, kU, kU}, Case{kU, kU, kU}, Case{kU, kMin, kU}, Case{kU - 1, 1, kU},
                                           Case{kU - 1, 5, kU}, Case{kMin, -1, kMin}, Case{kMin, 1, kMin + 1}));

INSTANTIATE_TEST_SUITE_P(Table, SatSub,
                         ::testing::Values(Case{3, 2, 1}, Case{2, 3, -1}, Case{kU, 7, kU}, Case{kU, -7, kU},
                                           Case{kU, kU, 0}, Case{7, kU, kMin}, Case{-7, kU, kMin}, Case{kMin, 1, kMin},
                                           Case{0, kMin, kU}, Case{kMin, kMin, 0}, Case{-2, kU - 1, kMin + 0}));

INSTANTIATE_TEST_SUITE_P(Table, SatMul,
                         ::testing::Values(Case{3, 4, 12}, Case{-3, 4, -12}, Case{0, kU, 0}, Case{kU, 1, kU},
                                           Case{kU, 2, kU}, Case{kU, -2, kMin}, Case{kMin, -1, kU}, Case{kMin, 2, kMin},
                                           Case{1LL << 32, 1LL << 31, kU}));

}  // namespace
}  // namespace muster

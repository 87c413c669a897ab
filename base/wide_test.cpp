#include "base/wide.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(CompareProducts, NeverOverflows) {
  const Amount max = kUnlimited;
  EXPECT_EQ(compare_products({max, max, max}, {max, max, max}), std::strong_ordering::equal);
  EXPECT_EQ(compare_products({max, max, max - 1}, {max, max, max}), std::strong_ordering::less);
  EXPECT_EQ(compare_products({max, max - 1, max}, {max - 1, max, max - 1}), std::strong_ordering::greater);
  EXPECT_EQ(compare_products({0, max, max}, {1, 1, 1}), std::strong_ordering::less);
  EXPECT_EQ(compare_products({6, 35, 143}, {10, 21, 143}), std::strong_ordering::equal);
  EXPECT_EQ(compare_products({1, 1, max}, {max, 1, 1}), std::strong_ordering::equal);
}

}  // namespace
}  // namespace muster

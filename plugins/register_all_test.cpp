#include "plugins/register_all.h"

#include "framework/profile.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

TEST(RegisterAll, NamesAreUniqueAndTheDefaultProfileIsComplete) {
  framework::Registry registry;
  register_all(registry);
  ASSERT_TRUE(registry.check().ok());
  const auto profile = framework::make_profile("", registry, default_plugins(), {});
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  EXPECT_EQ(profile->queue_sort.size(), 1U);
  ASSERT_FALSE(profile->filter.empty());
  EXPECT_EQ(profile->filter.front().name, "FlavorAssigner") << "later filters refine its assignment";
  EXPECT_EQ(profile->post_filter.size(), 1U);
}

}  // namespace
}  // namespace muster::plugins

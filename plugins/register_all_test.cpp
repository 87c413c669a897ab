#include "plugins/register_all.h"

#include "framework/profile.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

TEST(RegisterAll, NamesAreUniqueAndTheDefaultProfileIsComplete) {
  framework::Registry registry;
  register_all(registry);
  ASSERT_TRUE(registry.check().ok());
  const auto profile = framework::make_profile("", registry, default_plugins({}), {});
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  EXPECT_EQ(profile->queue_sort.size(), 1U);
  ASSERT_FALSE(profile->filter.empty());
  EXPECT_EQ(profile->filter.front().name, "FlavorAssigner") << "later filters refine its assignment";
  EXPECT_EQ(profile->filter.back().name, "Gang");
  EXPECT_EQ(profile->post_filter.size(), 1U);
  EXPECT_EQ(profile->permit.size(), 1U);
  EXPECT_EQ(profile->bind.size(), 1U);
}

TEST(RegisterAll, FairSharingChoosesItsPlugins) {
  framework::Registry registry;
  register_all(registry);
  const auto names = [&](const framework::PluginDeps& deps) {
    const auto profile = framework::make_profile("", registry, default_plugins(deps), deps);
    EXPECT_TRUE(profile.ok());
    return std::vector<std::string>{profile->queue_sort.front().name, profile->post_filter.front().name};
  };
  EXPECT_EQ(names({}), (std::vector<std::string>{"PrioritySort", "Preemption"}));
  EXPECT_EQ(names({.fair_sharing = api::FairSharingConfig{}}),
            (std::vector<std::string>{"FairSharing", "FairPreemption"}));
}

TEST(RegisterAll, NodePluginsHaveKubeSchedulersOrderAndWeights) {
  framework::Registry registry;
  register_all(registry);
  const auto profile = framework::make_profile("", registry, default_plugins({}), {});
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  std::vector<std::string> filters;
  for (const auto& entry : profile->nodes.filters) {
    filters.push_back(entry.name);
  }
  EXPECT_EQ(filters, (std::vector<std::string>{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity",
                                               "NodePorts", "NodeResourcesFit"}));
  std::map<std::string, std::int64_t> weights;
  for (const auto& entry : profile->nodes.scores) {
    weights[entry.name] = entry.weight;
  }
  EXPECT_EQ(weights, (std::map<std::string, std::int64_t>{
                         {"TaintToleration", 3}, {"NodeAffinity", 2}, {"NodeResourcesFit", 1}}));
}

}  // namespace
}  // namespace muster::plugins

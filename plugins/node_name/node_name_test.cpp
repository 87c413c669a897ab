#include "plugins/node_name/node_name.h"

#include "plugins/testing/judged.h"

#include <gtest/gtest.h>

namespace muster::plugins {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace)

TEST(NodeNameFilter, ATemplateThatNamesANodeFitsThatOneOnly) {
  testing::World world;
  world.add(a_node("a")).add(a_node("b"));
  testing::Shape shape(a_pod("ns", "p").node("a").obj());
  const auto plugin = testing::make<RequestedNodeName>();
  EXPECT_TRUE(plugin->filter_static(shape.shape(), testing::info(world, "a")).ok());
  const auto verdict = plugin->filter_static(shape.shape(), testing::info(world, "b"));
  EXPECT_EQ(verdict.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(verdict.message(), "node(s) didn't match the requested node name");
}

TEST(NodeNameFilter, ATemplateThatNamesNoneFitsAll) {
  testing::World world;
  world.add(a_node("a"));
  testing::Shape shape(a_pod("ns", "p").obj());
  EXPECT_TRUE(testing::make<RequestedNodeName>()->filter_static(shape.shape(), testing::info(world, "a")).ok());
}

}  // namespace
}  // namespace muster::plugins

// What a profile and the configuration make of the plugin.
#include "plugins/flavor_assigner/flavor_assigner.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace muster::plugins {
namespace {

struct StrategyCase {
  std::string name{};
  std::string args{};
  framework::PluginDeps deps{};
  QuotaCheckStrategy want = QuotaCheckStrategy::kBlockUndeclared;
};

class FlavorAssignerStrategy : public ::testing::TestWithParam<StrategyCase> {};

TEST_P(FlavorAssignerStrategy, ComesFromArgumentsElseConfiguration) {
  const StrategyCase& c = GetParam();
  const auto plugin = FlavorAssigner::create(api::Json::parse(c.args), c.deps);
  ASSERT_TRUE(plugin.ok());
  EXPECT_EQ((*plugin)->args().quota_check_strategy, c.want);
}

constexpr char kIgnore[] = R"({"quotaCheckStrategy": "IgnoreUndeclared"})";
constexpr char kBlock[] = R"({"quotaCheckStrategy": "BlockUndeclared"})";

INSTANTIATE_TEST_SUITE_P(
    Table, FlavorAssignerStrategy,
    ::testing::Values(
        StrategyCase{.name = "default", .args = "{}"},
        StrategyCase{.name = "argument", .args = kIgnore, .want = QuotaCheckStrategy::kIgnoreUndeclared},
        StrategyCase{.name = "configuration",
                     .args = "{}",
                     .deps = {.ignore_undeclared_resources = true},
                     .want = QuotaCheckStrategy::kIgnoreUndeclared},
        StrategyCase{
            .name = "argument_over_configuration", .args = kBlock, .deps = {.ignore_undeclared_resources = true}},
        StrategyCase{.name = "gate_off", .args = kIgnore, .deps = {.feature_gates = {{"QuotaCheckStrategy", false}}}}),
    [](const auto& row) { return row.param.name; });

TEST(FlavorAssignerArgs, AreStrict) {
  const auto make = [](const char* text) { return FlavorAssigner::create(api::Json::parse(text), {}); };
  EXPECT_EQ(make(R"({"quotaCheckStrategy": "Maybe"})").error().path, "quotaCheckStrategy");
  EXPECT_EQ(make(R"({"quotaCheckStrateg": "IgnoreUndeclared"})").error().path, "quotaCheckStrateg");
}

}  // namespace
}  // namespace muster::plugins

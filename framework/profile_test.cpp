#include "framework/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::framework {
namespace {

class Sorter final : public QueueSort {
 public:
  static constexpr std::string_view kName = "Sorter";
  static Result<std::unique_ptr<Sorter>> create(const api::Json&, const PluginDeps&) { return std::make_unique<Sorter>(); }
  bool less(const WorkloadInfo& a, const WorkloadInfo& b) const override { return a.uid() < b.uid(); }
  bool entry_less(const Entry& a, const Entry& b) const override { return less(*a.workload, *b.workload); }
};

class Anything : public Filter, public NodeScore {
 public:
  static constexpr std::string_view kName = "Anything";
  static Result<std::unique_ptr<Anything>> create(const api::Json& args, const PluginDeps&) {
    if (!args.empty()) {
      return invalid("unknown field", args.items().begin().key());
    }
    return std::make_unique<Anything>();
  }
  Verdict filter(FilterContext&, Assignment&, std::vector<FlavorExclusion>&) const override { return {}; }
  bool passes(FilterContext&, Assignment&) const override { return true; }
  std::int64_t score(const PodShape&, const NodeInfo&) const override { return 0; }
};

class Another final : public Anything {
 public:
  static constexpr std::string_view kName = "Another";
  static Result<std::unique_ptr<Another>> create(const api::Json&, const PluginDeps&) { return std::make_unique<Another>(); }
};

Registry registry() {
  Registry r;
  r.add<Sorter>().add<Anything>().add<Another>();
  return r;
}

Result<Profile> make(const std::string& profile) {
  const std::string yaml = profile.empty() ? "" : "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + profile;
  return make_profile(yaml, registry(), {"Sorter", "Anything"}, {});
}

std::string filters(const Profile& profile) {
  std::string names;
  for (const auto& entry : profile.filter) {
    names += entry.name + " ";
  }
  return names;
}

TEST(Profile, DefaultsRunEveryPluginAtItsPoints) {
  const Result<Profile> profile = make("");
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  EXPECT_EQ(filters(*profile), "Anything ");
  EXPECT_EQ(profile->nodes.scores.size(), 1u);
  EXPECT_EQ(profile->queue_sort.size(), 1u);
}

TEST(Profile, OwnOrderComesFirstThenMultiPoint) {
  const Result<Profile> profile = make(R"(
profiles:
- schedulerName: muster
  plugins:
    multiPoint: {enabled: [{name: Another, weight: 7}]}
    filter: {enabled: [{name: Another}]}
)");
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  EXPECT_EQ(filters(*profile), "Another Anything ");
  EXPECT_EQ(profile->nodes.scores[1].weight, 7);
}

TEST(Profile, AStarDisablesTheDefaultsOfAPoint) {
  const Result<Profile> profile = make(R"(
profiles:
- schedulerName: muster
  plugins:
    filter: {disabled: [{name: "*"}], enabled: [{name: Another}]}
)");
  ASSERT_TRUE(profile.ok()) << to_string(profile.error());
  EXPECT_EQ(filters(*profile), "Another ");
}

struct Bad {
  std::string name{};
  std::string yaml{};
  std::string error{};
};

class BadProfile : public ::testing::TestWithParam<Bad> {};

TEST_P(BadProfile, IsAnErrorThatNamesThePath) {
  const Result<Profile> profile = make(GetParam().yaml);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(to_string(profile.error()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadProfile,
    ::testing::Values(
        Bad{"unknown_key", "profile: []", "profile: unknown field \"profile\""},
        Bad{"unknown_point", "profiles: [{schedulerName: muster, plugins: {score: {}}}]",
            "profiles[0].plugins.score: unknown field \"score\""},
        Bad{"unknown_plugin", "profiles: [{schedulerName: muster, plugins: {filter: {enabled: [{name: Nope}]}}}]",
            "profiles[0].plugins.filter: unknown plugin \"Nope\""},
        Bad{"wrong_point", "profiles: [{schedulerName: muster, plugins: {bind: {enabled: [{name: Sorter}]}}}]",
            "profiles[0].plugins.bind: plugin \"Sorter\" does not implement this point"},
        Bad{"no_sort", "profiles: [{schedulerName: muster, plugins: {queueSort: {disabled: [{name: Sorter}]}}}]",
            "profiles[0].plugins.queueSort: exactly one plugin must be enabled, got 0"},
        Bad{"bad_args", "profiles: [{schedulerName: muster, pluginConfig: [{name: Anything, args: {x: 1}}]}]",
            "profiles[0].pluginConfig[Anything].args.x: unknown field"},
        Bad{"bad_weight",
            "profiles: [{schedulerName: muster, plugins: {filter: {enabled: [{name: Anything, weight: -1}]}}}]",
            "profiles[0].plugins.filter.enabled[0].weight: must be an integer from 0 to 2147483647"},
        Bad{"other_scheduler", "profiles: [{schedulerName: default-scheduler}]",
            "profiles[0].schedulerName: must be \"muster\", got \"default-scheduler\""},
        Bad{"extenders", "extenders: [{urlPrefix: x}]",
            "extenders: extenders are not supported: write a plugin (docs/write-your-first-plugin.md)"}),
    [](const auto& row) { return row.param.name; });

TEST(Registry, ANameRegisteredTwiceIsAnErrorAtStart) {
  Registry twice;
  twice.add<Sorter>().add<Sorter>();
  EXPECT_EQ(twice.check().error().message, "plugin \"Sorter\" is registered twice");
}

}  // namespace
}  // namespace muster::framework

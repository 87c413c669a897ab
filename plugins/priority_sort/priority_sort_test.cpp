#include "plugins/priority_sort/priority_sort.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace muster::plugins {
namespace {

using framework::Entry;
using framework::WorkloadInfo;

std::unique_ptr<PrioritySort> make(const framework::PluginDeps& deps = {}) {
  return PrioritySort::create(api::Json::object(), deps).value();
}

struct Item {
  std::string uid{};
  std::int64_t priority = 0;
  int queued_at = 0;
  int borrow_level = 0;
};

WorkloadInfo info(const Item& item) {
  auto object = std::make_shared<api::Workload>();
  object->meta.uid = Uid(item.uid);
  return {.object = object, .priority = item.priority, .queue_time = TimePoint(Duration(item.queued_at))};
}

struct Case {
  std::string name{};
  Item first{};
  Item second{};
};

class WithinQueue : public ::testing::TestWithParam<Case> {};

TEST_P(WithinQueue, OneIsTriedFirst) {
  const WorkloadInfo a = info(GetParam().first);
  const WorkloadInfo b = info(GetParam().second);
  EXPECT_TRUE(make()->less(a, b));
  EXPECT_FALSE(make()->less(b, a));
}

INSTANTIATE_TEST_SUITE_P(Table, WithinQueue,
                         ::testing::Values(Case{"higher_priority", {"z", 2, 9}, {"a", 1, 1}},
                                           Case{"earlier_of_equal_priority", {"z", 1, 1}, {"a", 1, 2}},
                                           Case{"admission_8_5_smaller_uid", {"a", 1, 1}, {"b", 1, 1}},
                                           Case{"negative_priority_last", {"z", 0, 9}, {"a", -1, 1}},
                                           Case{"borrow_level_does_not_count", {"a", 1, 1, 3}, {"b", 0, 1, 0}}),
                         [](const auto& row) { return row.param.name; });

class AmongHeads : public ::testing::TestWithParam<Case> {};

TEST_P(AmongHeads, OneGoesFirst) {
  const WorkloadInfo a = info(GetParam().first);
  const WorkloadInfo b = info(GetParam().second);
  const Entry x{.workload = &a, .assignment = {.borrow_level = GetParam().first.borrow_level}};
  const Entry y{.workload = &b, .assignment = {.borrow_level = GetParam().second.borrow_level}};
  EXPECT_TRUE(make()->entry_less(x, y));
  EXPECT_FALSE(make()->entry_less(y, x));
}

INSTANTIATE_TEST_SUITE_P(Table, AmongHeads,
                         ::testing::Values(Case{"admission_8_58_nearer_quota", {"z", 0, 9, 0}, {"a", 10, 1, 1}},
                                           Case{"admission_8_59_priority", {"z", 5, 9, 1}, {"a", 1, 1, 1}},
                                           Case{"then_time", {"z", 5, 1, 1}, {"a", 5, 2, 1}},
                                           Case{"then_uid", {"a", 5, 1, 1}, {"b", 5, 1, 1}}),
                         [](const auto& row) { return row.param.name; });

TEST(PrioritySort, GateOffIgnoresPriorityAmongHeadsOnly) {
  const auto sort = make({.feature_gates = {{"PrioritySortingWithinCohort", false}}});
  const WorkloadInfo important = info({"a", 9, 2});
  const WorkloadInfo earlier = info({"b", 0, 1});
  EXPECT_TRUE(sort->entry_less({.workload = &earlier}, {.workload = &important}));
  EXPECT_TRUE(sort->less(important, earlier));
}

TEST(PrioritySort, TakesNoArguments) {
  EXPECT_EQ(PrioritySort::create(api::Json{{"x", 1}}, {}).error().path, "x");
}

// Few distinct values, so that ties are common.
TEST(PrioritySort, IsATotalStrictOrderOnRandomData) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto draw = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<WorkloadInfo> infos;
  for (int i = 0; i < 40; ++i) {
    infos.push_back(info({std::string(1, static_cast<char>('a' + draw(20))), draw(3) - 1, draw(3)}));
  }
  std::vector<Entry> entries;
  for (const WorkloadInfo& workload : infos) {
    entries.push_back({.workload = &workload, .assignment = {.borrow_level = draw(2)}});
  }
  const auto sort = make();
  const auto less = [&](const Entry& a, const Entry& b) { return sort->entry_less(a, b); };
  for (const Entry& a : entries) {
    EXPECT_FALSE(less(a, a));
    for (const Entry& b : entries) {
      const bool same = a.workload->uid() == b.workload->uid() && a.workload->priority == b.workload->priority &&
                        a.workload->queue_time == b.workload->queue_time &&
                        a.assignment.borrow_level == b.assignment.borrow_level;
      EXPECT_EQ(less(a, b) || less(b, a), !same);
      EXPECT_FALSE(less(a, b) && less(b, a));
      EXPECT_FALSE(sort->less(*a.workload, *b.workload) && sort->less(*b.workload, *a.workload));
      for (const Entry& c : entries) {
        EXPECT_TRUE(!(less(a, b) && less(b, c)) || less(a, c));
      }
    }
  }
}

}  // namespace
}  // namespace muster::plugins

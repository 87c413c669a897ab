#include "api/core/meta.h"

#include "api/constants.h"
#include "api/testing/builders.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using testing::a_condition;
using testing::at;

TEST(SetCondition, KeepsTheTransitionTimeWhileTheStatusStays) {
  Conditions conditions = {a_condition("Ready", ConditionStatus::kFalse, "Old", at(1), "m")};
  EXPECT_TRUE(set_condition(conditions, a_condition("Ready", ConditionStatus::kFalse, "New", at(9), "n")));
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0], a_condition("Ready", ConditionStatus::kFalse, "New", at(1), "n"));
}

TEST(SetCondition, MovesTheTransitionTimeWithTheStatus) {
  Conditions conditions = {a_condition("Ready", ConditionStatus::kFalse, "A", at(1))};
  EXPECT_TRUE(set_condition(conditions, a_condition("Ready", ConditionStatus::kTrue, "A", at(9))));
  EXPECT_EQ(conditions[0].last_transition_time, at(9));
}

TEST(SetCondition, SaysWhenNothingChanged) {
  Conditions conditions = {a_condition("Ready", ConditionStatus::kTrue, "A", at(1), "m")};
  EXPECT_FALSE(set_condition(conditions, a_condition("Ready", ConditionStatus::kTrue, "A", at(9), "m")));
  Condition newer = a_condition("Ready", ConditionStatus::kTrue, "A", at(9), "m");
  newer.observed_generation = 3;
  EXPECT_TRUE(set_condition(conditions, newer));
}

TEST(SetCondition, AddsOtherTypes) {
  Conditions conditions;
  EXPECT_TRUE(set_condition(conditions, a_condition("A", ConditionStatus::kTrue, "R")));
  EXPECT_TRUE(set_condition(conditions, a_condition("B", ConditionStatus::kFalse, "R")));
  EXPECT_TRUE(is_true(conditions, "A"));
  EXPECT_TRUE(is_false(conditions, "B"));
  EXPECT_FALSE(is_true(conditions, "C"));
  EXPECT_FALSE(is_false(conditions, "C"));
  EXPECT_TRUE(remove_condition(conditions, "A"));
  EXPECT_FALSE(remove_condition(conditions, "A"));
  EXPECT_EQ(conditions.size(), 1u);
}

TEST(SetCondition, CutsLongMessagesToExactlyTheLimit) {
  Conditions conditions;
  const auto message_of = [&conditions](const std::string& text) {
    set_condition(conditions, a_condition("A", ConditionStatus::kTrue, "R", at(0), text));
    return conditions[0].message;
  };
  EXPECT_EQ(message_of(std::string(kMaxConditionMessage, 'x')), std::string(kMaxConditionMessage, 'x'));
  const std::string cut = message_of(std::string(kMaxConditionMessage + 1, 'x'));
  EXPECT_EQ(cut.size(), kMaxConditionMessage);
  EXPECT_TRUE(cut.ends_with("x ..."));
}

TEST(SetCondition, NeverCutsInsideACharacter) {
  std::string message = "x";
  while (message.size() < kMaxConditionMessage + 10) {
    message += "\xE2\x82\xAC";  // three bytes
  }
  Conditions conditions;
  set_condition(conditions, a_condition("A", ConditionStatus::kTrue, "R", at(0), message));
  const std::string& cut = conditions[0].message;
  EXPECT_LE(cut.size(), kMaxConditionMessage);
  EXPECT_TRUE(cut.ends_with("\xE2\x82\xAC ..."));
}

struct SelectorCase {
  std::string name{};
  LabelSelector selector{};
  bool want = false;
};

class SelectorMatch : public ::testing::TestWithParam<SelectorCase> {};

TEST_P(SelectorMatch, JudgesLabels) {
  EXPECT_EQ(matches(GetParam().selector, {{"team", "a"}, {"env", "prod"}}), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SelectorMatch,
    ::testing::Values(
        SelectorCase{"empty_matches_all", {}, true}, SelectorCase{"label", {.match_labels = {{"team", "a"}}}, true},
        SelectorCase{"other_value", {.match_labels = {{"team", "b"}}}, false},
        SelectorCase{"absent_label", {.match_labels = {{"x", ""}}}, false},
        SelectorCase{"in", {.match_expressions = {{"team", "In", {"b", "a"}}}}, true},
        SelectorCase{"in_without_values", {.match_expressions = {{"team", "In", {}}}}, false},
        SelectorCase{"not_in", {.match_expressions = {{"team", "NotIn", {"a"}}}}, false},
        SelectorCase{"not_in_absent", {.match_expressions = {{"x", "NotIn", {"a"}}}}, true},
        SelectorCase{"exists", {.match_expressions = {{"env", "Exists", {}}}}, true},
        SelectorCase{"does_not_exist", {.match_expressions = {{"env", "DoesNotExist", {}}}}, false},
        SelectorCase{"does_not_exist_absent", {.match_expressions = {{"x", "DoesNotExist", {}}}}, true},
        SelectorCase{"unknown_operator", {.match_expressions = {{"env", "Like", {"prod"}}}}, false},
        SelectorCase{"anded", {.match_labels = {{"team", "a"}}, .match_expressions = {{"env", "In", {"dev"}}}}, false}),
    [](const auto& row) { return row.param.name; });

TEST(Meta, FindsTheController) {
  ObjectMeta meta;
  EXPECT_EQ(controller_of(meta), nullptr);
  meta.owner_references = {{.kind = "A"}, {.kind = "B", .controller = true}};
  ASSERT_NE(controller_of(meta), nullptr);
  EXPECT_EQ(controller_of(meta)->kind, "B");
}

TEST(Meta, FindsFinalizersAndKeys) {
  const ObjectMeta meta{.labels = {{"k", "v"}}, .finalizers = {"f"}};
  EXPECT_TRUE(has_finalizer(meta, "f"));
  EXPECT_FALSE(has_finalizer(meta, "g"));
  EXPECT_EQ(*find(meta.labels, "k"), "v");
  EXPECT_EQ(find(meta.labels, "x"), nullptr);
}

}  // namespace
}  // namespace muster::api

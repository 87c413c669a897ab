#include "api/validation/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

struct NameCase {
  std::string name{};
  std::string value{};
  bool valid = false;
};

class LabelKey : public ::testing::TestWithParam<NameCase> {};

class LabelValue : public ::testing::TestWithParam<NameCase> {};

TEST_P(LabelKey, IsAQualifiedName) {
  EXPECT_EQ(qualified_name_problems(GetParam().value).empty(), GetParam().valid);
}

TEST_P(LabelValue, IsANamePartOrEmpty) {
  EXPECT_EQ(label_value_problems(GetParam().value).empty(), GetParam().valid);
}

INSTANTIATE_TEST_SUITE_P(
    Table, LabelKey,
    ::testing::Values(NameCase{"plain", "app", true}, NameCase{"prefixed", "example.com/App_1.x", true},
                      NameCase{"one_letter", "a", true}, NameCase{"longest", std::string(63, 'a'), true},
                      NameCase{"longest_prefix", std::string(253, 'a') + "/x", true}, NameCase{"empty", ""},
                      NameCase{"only_prefix", "example.com/"}, NameCase{"only_name", "/x"},
                      NameCase{"two_slashes", "a/b/c"}, NameCase{"too_long", std::string(64, 'a')},
                      NameCase{"prefix_too_long", std::string(254, 'a') + "/x"}, NameCase{"dash_first", "-a"},
                      NameCase{"dot_last", "a."}, NameCase{"space", "a b"}, NameCase{"upper_prefix", "Example.com/x"},
                      NameCase{"empty_prefix_label", "a..b/x"}, NameCase{"not_ascii", "\xC3\xA9"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(Table, LabelValue,
                         ::testing::Values(NameCase{"empty", "", true}, NameCase{"plain", "v1.2_x-Y", true},
                                           NameCase{"longest", std::string(63, 'v'), true},
                                           NameCase{"too_long", std::string(64, 'v')}, NameCase{"slash", "a/b"},
                                           NameCase{"dash_last", "a-"}),
                         [](const auto& row) { return row.param.name; });

struct SelectorCase {
  std::string name{};
  LabelSelector selector{};
  std::string want{};
};

class SelectorRules : public ::testing::TestWithParam<SelectorCase> {};

TEST_P(SelectorRules, ReportKubernetesErrors) {
  EXPECT_EQ(to_string(validate_label_selector(GetParam().selector, "s")), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SelectorRules,
    ::testing::Values(
        SelectorCase{"valid", {.match_labels = {{"a", "b"}}, .match_expressions = {{"k", "In", {"v"}}}}, ""},
        SelectorCase{
            "in_without_values",
            {.match_expressions = {{"k", "In", {}}}},
            "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
        SelectorCase{"exists_with_values",
                     {.match_expressions = {{"k", "Exists", {"v"}}}},
                     "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
                     "'DoesNotExist'"},
        SelectorCase{"operator",
                     {.match_expressions = {{"k", "Gt", {"1"}}}},
                     "s.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator"},
        SelectorCase{"empty_key",
                     {.match_labels = {{"example.com/", "v"}}},
                     "[s.matchLabels: Invalid value: \"example.com/\": name part must be non-empty, s.matchLabels: "
                     "Invalid value: \"example.com/\": name part must consist of alphanumeric characters, '-', '_' or "
                     "'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
                     "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"}),
    [](const auto& row) { return row.param.name; });

struct GateCase {
  std::string name{};
  std::string value{};
  std::optional<std::string> old{};
  std::string want{};  // detail; empty: accepted
};

class AdmissionGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(AdmissionGates, FollowSection56) {
  const std::optional<std::string>& old = GetParam().old;
  const FieldErrors errors = validate_admission_gates(GetParam().value, old ? &*old : nullptr);
  if (GetParam().want.empty()) {
    EXPECT_TRUE(errors.empty()) << to_string(errors);
  } else {
    ASSERT_EQ(errors.size(), 1u) << to_string(errors);
    EXPECT_TRUE(errors[0].text.ends_with(GetParam().want)) << errors[0].text;
    EXPECT_EQ(errors[0].path, "metadata.annotations[kueue.x-k8s.io/admission-gated-by]");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdmissionGates,
    ::testing::Values(
        GateCase{"create", "acme.io/foo, acme.io/bar", std::nullopt, ""}, GateCase{"none", "", std::nullopt, ""},
        GateCase{"empty_entry", "acme.io/foo,", std::nullopt, "cannot contain empty gate names"},
        GateCase{"twice", "a.io/x, a.io/x", std::nullopt, "duplicate gate name: a.io/x"},
        GateCase{"no_path", "foo", std::nullopt, "must be a domain-prefixed path (such as \"acme.io/foo\")"},
        GateCase{"bad_domain", "Acme/foo", std::nullopt, "must be a domain-prefixed path (such as \"acme.io/foo\")"},
        GateCase{"added_later", "a.io/x", "", "cannot add admission gate after creation"},
        GateCase{"one_removed", "a.io/x", "a.io/x,a.io/y", ""}, GateCase{"all_removed", "", "a.io/x", ""},
        GateCase{"another", "a.io/z", "a.io/x", "can only remove gates, not add new ones"}),
    [](const auto& row) { return row.param.name; });

TEST(FieldErrors, PrintAsKubernetes) {
  EXPECT_EQ(to_string(FieldErrors{}), "");
  EXPECT_EQ(to_string(FieldErrors{duplicate_value("a.b[0]", "x")}), "a.b[0]: Duplicate value: \"x\"");
  EXPECT_EQ(to_string(FieldErrors{not_found("a", "x"), required_value("b"), not_found("a", "x")}),
            "[a: Not found: \"x\", b: Required value]");
  EXPECT_EQ(to_string(not_supported("a", "x", {"p", "q"})),
            "a: Unsupported value: \"x\": supported values: \"p\", \"q\"");
  EXPECT_EQ(to_string(too_many("l", 25, 20)), "l: Too many: 25: must have at most 20 items");
}

}  // namespace
}  // namespace muster::api

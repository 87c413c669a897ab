#include "api/codec/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

struct Case {
  std::string name{};
  std::string yaml{};
  std::string want{};  // JSON of the list of documents
};

class YamlToJson : public ::testing::TestWithParam<Case> {};

TEST_P(YamlToJson, TypesAsKubernetes) {
  const Result<std::vector<Json>> got = yaml_to_json(GetParam().yaml);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(Json(*got).dump(), GetParam().want);
}

std::string row_name(const ::testing::TestParamInfo<Case>& row) {
  return row.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Scalars, YamlToJson,
    ::testing::Values(
        Case{"quoted_word", "a: 'on'", R"([{"a":"on"}])"}, Case{"double_quoted", "a: \"yes\"", R"([{"a":"yes"}])"},
        Case{"block_scalar", "a: |\n  on\n", R"([{"a":"on\n"}])"},
        Case{"words_of_truth", "[y, Yes, TRUE, on, n, No, FALSE, Off]",
             "[[true,true,true,true,false,false,false,false]]"},
        Case{"odd_case_is_text", "[yES, oN, trUE]", R"([["yES","oN","trUE"]])"},
        Case{"go_prefixes", "[0x1F, 0o14, 0b101, -0x10]", "[[31,12,5,-16]]"},
        Case{"underscores", "[1_000, -1_0]", "[[1000,-10]]"},
        Case{"exponent", "[1e3, 1E-1, 1.5e+1]", "[[1000,0.1,15]]"},
        Case{"fraction", "[0.5, .5, 1., -0.25, 1.0]", "[[0.5,0.5,1,-0.25,1]]"},
        Case{"base_60_is_text", "1:30", R"(["1:30"])"}, Case{"quantity", "100m", R"(["100m"])"},
        Case{"gibi", "a: 1.5Gi", R"([{"a":"1.5Gi"}])"}, Case{"date", "a: 2026-12-01", R"([{"a":"2026-12-01"}])"},
        Case{"int64_max", "a: 9223372036854775807", R"([{"a":9223372036854775807}])"},
        Case{"int64_min", "a: -9223372036854775808", R"([{"a":-9223372036854775808}])"},
        Case{"two_to_63", "a: 9223372036854775808", R"([{"a":9223372036854775808}])"},
        Case{"nulls", "[~, null, NULL, '~', ]", R"([[null,null,null,"~"]])"},
        Case{"empty_value", "a:", R"([{"a":null}])"}, Case{"empty_string", "a: ''", R"([{"a":""}])"},
        Case{"string_tag", "a: !!str 5", R"([{"a":"5"}])"}, Case{"minus_word", "a: -x", R"([{"a":"-x"}])"},
        Case{"plus_word", "a: +x", R"([{"a":"+x"}])"}, Case{"ip", "a: 10.0.0.1", R"([{"a":"10.0.0.1"}])"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Structure, YamlToJson,
    ::testing::Values(Case{"many_documents", "a: 1\n---\nb: 2\n", R"([{"a":1},{"b":2}])"},
                      Case{"empty_documents", "---\n# nothing\n---\na: 1\n---\n", R"([{"a":1}])"},
                      Case{"nothing", "", "[]"}, Case{"only_comment", "# hi\n", "[]"},
                      Case{"json_is_yaml", R"({"a": [1, "x", null], "b": {}})", R"([{"a":[1,"x",null],"b":{}}])"},
                      Case{"alias", "a: &x [1]\nb: *x", R"([{"a":[1],"b":[1]}])"},
                      Case{"merge", "p: &x {a: 1, b: 2}\nq: {b: 3, <<: *x}",
                           R"([{"p":{"a":1,"b":2},"q":{"a":1,"b":3}}])"},
                      Case{"merge_list", "- &x {a: 1}\n- &y {a: 2, b: 2}\n- {<<: [*x, *y]}",
                           R"([[{"a":1},{"a":2,"b":2},{"a":1,"b":2}]])"},
                      Case{"quoted_merge_key_is_a_key", "'<<': 1", R"([{"<<":1}])"},
                      Case{"number_key", "1: a", R"([{"1":"a"}])"}, Case{"truth_key", "on: a", R"([{"true":"a"}])"}),
    row_name);

struct Refusal {
  std::string name{};
  std::string yaml{};
  std::string message{};
  ErrorCode code = ErrorCode::kInvalid;
};

class RefusedYaml : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedYaml, NamesTheLine) {
  const Result<std::vector<Json>> got = yaml_to_json(GetParam().yaml, {.bytes = 5000, .depth = 20, .nodes = 1000});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, GetParam().code);
  EXPECT_NE(got.error().message.find(GetParam().message), std::string::npos) << got.error().message;
}

std::string alias_bomb() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous + ", " + previous + ", " + previous +
            ", " + previous + "]\n";
  }
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedYaml,
    ::testing::Values(Refusal{"duplicate_key", "a: 1\nb: 2\na: 3\n", "line 3: key \"a\" already set in map"},
                      Refusal{"duplicate_after_typing", "1: a\n'1': b\n", "line 2: key \"1\" already set"},
                      Refusal{"nested_duplicate", "x:\n  - k: 1\n    k: 2\n", "line 3:"},
                      Refusal{"leading_zero", "mode: 012\n", "line 1: 012 is octal"},
                      Refusal{"leading_zero_decimal", "mode: 08\n", "line 1: 08 is octal"},
                      Refusal{"beyond_64_bits", "a: 18446744073709551616\n", "line 1: 18446744073709551616 is out of"},
                      Refusal{"below_int64", "a: -9223372036854775809\n", "out of range"},
                      Refusal{"infinity", "\na: .inf\n", "line 2: .inf has no JSON form"},
                      Refusal{"nan", "a: .NaN\n", ".NaN has no JSON form"},
                      Refusal{"huge_float", "a: 1e999\n", "1e999 is out of range"},
                      Refusal{"tag", "a: !!binary aGk=\n", "is not supported"},
                      Refusal{"custom_tag", "a: !x 5\n", "is not supported"}, Refusal{"syntax", "a: [1\nb: 2", "line "},
                      Refusal{"tab", "a:\n\t- 1\n", "line "},
                      Refusal{"token_that_yaml_cpp_never_consumes", "a: 1\n---\n,", "line 3: unexpected token"},
                      Refusal{"unknown_alias", "a: *nope\n", "line 1"},
                      Refusal{"null_key", "~: 1\n", "must not be null"},
                      Refusal{"list_key", "? [a]\n: 1\n", "must be strings"},
                      Refusal{"merge_of_scalar", "<<: 1\n", "map merge requires"},
                      Refusal{"cycle", "&a [*a]\n", "nested deeper than 20", ErrorCode::kTooLarge},
                      Refusal{"depth", std::string(30, '[') + std::string(30, ']'), "nested deeper",
                              ErrorCode::kTooLarge},
                      Refusal{"parser_depth", std::string(2000, '['), "line 1"},
                      Refusal{"alias_bomb", alias_bomb(), "more than 1000 nodes", ErrorCode::kTooLarge},
                      Refusal{"bytes", std::string(6000, ' '), "longer than", ErrorCode::kTooLarge}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::api
